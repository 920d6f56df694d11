import { clientAddress, isTrusted, type Cidr } from "../domain/address.ts";
import type { Admission, Refusal } from "../service/admission.ts";
import { versionSegment } from "./edge.ts";

/** What knows the connections: Bun's server. */
export interface Peers {
  readonly url?: URL;
  requestIP(request: Request): { readonly address: string } | null;
  /** Ends the connection when this request, and what comes after it, takes longer. */
  timeout(request: Request, seconds: number): void;
}

export interface Reachable {
  readonly trustedProxies: readonly Cidr[];
  /** The address of /v1, if the operator set it. */
  readonly baseUrl: string | undefined;
}

/** What is known of a request, for its headers, the log and the observers. */
export class RequestRecord {
  readonly id: string;
  readonly startMs = performance.now();
  readonly #request: Request;
  readonly #peers: Peers | undefined;
  readonly #reachable: Reachable;
  #address: string | undefined;
  #isLocated = false;
  /** The route's template, such as `/v1/pets/:petId`, if any. Never the path itself. */
  route: string | undefined = undefined;
  /** The guard's decision; undefined for a request that does not pass it. */
  admission: Admission | undefined = undefined;
  /** Why the request was refused, by the guard or later: `refuse` sets it. */
  refusal: Refusal | undefined = undefined;
  /** The length of the response's body, where it is known. */
  bytes: number | undefined = undefined;

  constructor(id: string, request: Request, peers: Peers | undefined, reachable: Reachable) {
    this.id = id;
    this.#request = request;
    this.#peers = peers;
    this.#reachable = reachable;
  }

  /** Ends the connection if it takes longer than this from now on; 0 is no limit. */
  limitTime(seconds: number): void {
    this.#peers?.timeout(this.#request, seconds);
  }

  /** False once the response is sent or the connection has ended: until then Bun knows its peer. */
  isUnderWay(): boolean {
    return this.#peer() !== undefined;
  }

  /** The client's address, behind trusted proxies too; undefined without one (a Unix socket). */
  address(): string | undefined {
    if (this.#isLocated) return this.#address;
    this.#isLocated = true;
    const peer = this.#peer();
    const { trustedProxies } = this.#reachable;
    this.#address =
      peer === undefined || trustedProxies.length === 0
        ? peer
        : clientAddress(peer, this.#request.headers.get("x-forwarded-for"), trustedProxies);
    return this.#address;
  }

  /** The address of /v1 as the caller of `url` knows it: see `baseUrlOf`. */
  baseUrl(url: string): string {
    const { baseUrl, trustedProxies } = this.#reachable;
    if (baseUrl !== undefined) return baseUrl;
    const origin = url.slice(0, url.indexOf("/", "https://".length));
    const peer = trustedProxies.length === 0 ? undefined : this.#peer();
    const isProxied = peer !== undefined && isTrusted(peer, trustedProxies);
    return (isProxied ? forwardedOrigin(this.#request.headers, origin) : origin) + versionSegment;
  }

  #peer(): string | undefined {
    return this.#peers?.requestIP(this.#request)?.address;
  }
}

const recordKey = Symbol("the record of a request");
type Recorded = Request & { [recordKey]?: RequestRecord };

export function attach(record: RequestRecord, request: Request): void {
  (request as Recorded)[recordKey] = record;
}

/** The record of `request`. Throws for a request that did not come in through the handler. */
export function recordOf(request: Request): RequestRecord {
  const record = (request as Recorded)[recordKey];
  if (record === undefined) throw new Error("the request did not come in through the handler");
  return record;
}

/**
 * The public address of /v1: the one that the operator set, or the one that the request came to. A
 * trusted proxy tells that one in X-Forwarded-Proto and X-Forwarded-Host, or in Forwarded.
 */
export function baseUrlOf(request: Request): string {
  return recordOf(request).baseUrl(request.url);
}

const host = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

/** `origin` as the proxy's client sees it. Of several values the last is the proxy's own. */
function forwardedOrigin(headers: Headers, origin: string): string {
  const last = (name: string) => headers.get(name)?.split(",").at(-1)?.trim();
  // RFC 7239, section 4.
  const parameter = (name: string) =>
    new RegExp(`(?:^|;)[ \\t]*${name}="?([^";]+)"?`, "i").exec(last("forwarded") ?? "")?.[1];
  const [scheme, authority] = origin.split("://") as [string, string];
  const proto = (last("x-forwarded-proto") ?? parameter("proto") ?? scheme).toLowerCase();
  const name = last("x-forwarded-host") ?? parameter("host") ?? authority;
  const forwarded = `${proto === "https" || proto === "http" ? proto : scheme}://${name}`;
  return host.test(name) && URL.canParse(forwarded) ? forwarded : origin;
}
