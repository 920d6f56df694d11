import { clientAddress, isTrusted, type Cidr, bucketOf } from "../domain/address.ts";
import type { Admission, Refusal } from "../service/admission.ts";

/** What every path of the interface begins with, and its base address ends with. */
export const versionSegment = "/v1";

export function isVersioned(path: string): boolean {
  return path.startsWith(versionSegment) && (path.length === 3 || path.charAt(3) === "/");
}

/** What knows the connections: Bun's server. */
export interface Peers {
  readonly url?: URL;
  requestIP(request: Request): { readonly address: string } | null;
  /** Ends the connection when this request, and what comes after it, takes longer. */
  timeout(request: Request, seconds: number): void;
}

export interface ContextOptions {
  readonly trustedProxies: readonly Cidr[];
  /** The address of /v1, if the operator set it. */
  readonly baseUrl: string | undefined;
  readonly backpressure: Backpressure;
}

/** What is known of a request until its response, for its headers, the log and the hooks. */
export class RequestContext {
  readonly startMs = performance.now();
  /** Null until somebody asks. */
  #address: string | undefined | null = null;
  #bucket: string | undefined;
  /** The route's template, such as `/v1/pets/:petId`, if any. Never the path itself. */
  route: string | undefined = undefined;
  /** The guard's decision; undefined for a request that does not pass it. */
  admission: Admission | undefined = undefined;
  /** Why the request was refused, by the guard or later: `refuse` sets it. */
  refusal: Refusal | undefined = undefined;
  /** The length of the response's body, where it is known. */
  bytes: number | undefined = undefined;

  constructor(
    readonly id: string,
    private readonly request: Request,
    private readonly peers: Peers | undefined,
    private readonly options: ContextOptions,
  ) {}

  /** The guard's decision on a request that an operation serves. Throws if it was not admitted. */
  admitted(): Admission {
    if (this.admission === undefined || this.admission.refusal !== undefined) {
      throw new Error("no guard admitted the request");
    }
    return this.admission;
  }

  /** Counts a body that is sent. False when it would be too much that is not read yet. */
  mayReceive(body: Blob): boolean {
    return this.options.backpressure.add(this, body);
  }

  /** Ends the connection if it takes longer than this from now on; 0 is no limit. */
  limitTime(seconds: number): void {
    this.peers?.timeout(this.request, seconds);
  }

  /** False once the response is sent or the connection has ended: until then Bun knows its peer. */
  isUnderWay(): boolean {
    return this.#peer() !== undefined;
  }

  /** The client's address, behind trusted proxies too; undefined without one (a Unix socket). */
  address(): string | undefined {
    if (this.#address !== null) return this.#address;
    const peer = this.#peer();
    const { trustedProxies } = this.options;
    this.#address =
      peer === undefined || trustedProxies.length === 0
        ? peer
        : clientAddress(peer, this.request.headers.get("x-forwarded-for"), trustedProxies);
    return this.#address;
  }

  /** Who shares bounds with the client: found when somebody asks, because it costs most. */
  bucket(): string {
    return (this.#bucket ??= bucketOf(this.address()) ?? "");
  }

  /**
   * The public address of /v1: the one that the operator set, or the one that `url` came to. A
   * trusted proxy tells that one in X-Forwarded-Proto and X-Forwarded-Host.
   */
  baseUrl(url: string): string {
    const { baseUrl, trustedProxies } = this.options;
    if (baseUrl !== undefined) return baseUrl;
    const origin = url.slice(0, url.indexOf("/", "https://".length));
    const peer = trustedProxies.length === 0 ? undefined : this.#peer();
    const isProxied = peer !== undefined && isTrusted(peer, trustedProxies);
    return (isProxied ? forwardedOrigin(this.request.headers, origin) : origin) + versionSegment;
  }

  #peer(): string | undefined {
    const address = this.peers?.requestIP(this.request)?.address;
    // A listener on :: has IPv4 addresses in the form of IPv6.
    return address?.startsWith(mapped) === true ? address.slice(mapped.length) : address;
  }
}

const mapped = "::ffff:";

/** The requests under way. A Map, which holds its keys, costs a create some 4 us of 60 more. */
export const contexts = new WeakMap<Request, RequestContext>();

/** The context of a request under way. Throws for one that did not come in through the handler. */
export function contextOf(request: Request): RequestContext {
  const context = contexts.get(request);
  if (context === undefined) throw new Error("the request did not come in through the handler");
  return context;
}

const host = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

/** `origin` as the proxy's client sees it. Of several values the last is the proxy's own. */
function forwardedOrigin(headers: Headers, origin: string): string {
  const last = (name: string) => headers.get(name)?.split(",").at(-1)?.trim();
  const [scheme, authority] = origin.split("://") as [string, string];
  const proto = (last("x-forwarded-proto") ?? scheme).toLowerCase();
  const name = last("x-forwarded-host") ?? authority;
  const forwarded = `${proto === "https" || proto === "http" ? proto : scheme}://${name}`;
  return host.test(name) && URL.canParse(forwarded) ? forwarded : origin;
}

/** A smaller body is not counted: the buffers of the system take it at once. */
const countedFromBytes = 16 * 1024;
/** Below this nobody has to be looked for who has read everything. */
const lookFromBytes = 4 * 1024 * 1024;

export const unsentMaxBytes = { inAll: 64 * 1024 * 1024, perAddress: 16 * 1024 * 1024 } as const;

type Receiver = Pick<RequestContext, "bucket" | "isUnderWay">;

interface Sending {
  readonly receiver: Receiver;
  readonly bucket: string;
  readonly body: Blob;
}

/**
 * The large responses that clients have not read yet: they stay in memory. Bun reports only when a
 * whole response is sent, so a body counts in full until then. Shared bodies count once.
 */
export class Backpressure {
  #sending: Sending[] = [];
  /** No less than the bytes of all that is on its way. */
  #bytes = 0;

  /** Counts `body`. Returns false, and counts nothing, when it would be too much. */
  add(receiver: Receiver, body: Blob): boolean {
    const { size } = body;
    if (size < countedFromBytes) return true;
    const bucket = receiver.bucket();
    if (this.#bytes + size > lookFromBytes) {
      this.#look();
      if (!this.#hasRoom(bucket, body)) return false;
    }
    this.#sending.push({ receiver, bucket, body });
    this.#bytes += size;
    return true;
  }

  #look(): void {
    this.#sending = this.#sending.filter(({ receiver }) => receiver.isUnderWay());
    this.#bytes = bytesOf(this.#sending);
  }

  /** The first one for an address may be larger than what one may have. */
  #hasRoom(bucket: string, body: Blob): boolean {
    const toSame = this.#sending.filter((each) => each.bucket === bucket);
    const own = bytesOf(toSame, body);
    const all = bytesOf(this.#sending, body);
    const { inAll, perAddress } = unsentMaxBytes;
    return (own <= perAddress || own === body.size) && all <= inAll;
  }
}

function bytesOf(sending: readonly Sending[], more?: Blob): number {
  const bodies = new Set(sending.map(({ body }) => body));
  if (more !== undefined) bodies.add(more);
  let bytes = 0;
  for (const { size } of bodies) bytes += size;
  return bytes;
}
