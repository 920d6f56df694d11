import { clientAddress, type Cidr } from "../domain/address.ts";
import { httpDate, type Clock } from "../domain/clock.ts";
import type { Admission, Refusal } from "../service/admission.ts";
import type { Logger } from "../service/log/logger.ts";
import { accessLog } from "./access-log.ts";
import type { Cors } from "./cors.ts";
import { versionSegment } from "./edge.ts";
import { errorAnswer, invalidHost, showRefusal } from "./errors.ts";

/** What knows the connections: Bun's server. */
interface Peers {
  requestIP(request: Request): { readonly address: string } | null;
  /** Ends the connection when this request, and what comes after it, takes longer. */
  timeout(request: Request, seconds: number): void;
}

/** How long a connection may be idle. Pools of clients keep theirs for 60 to 90 s. */
export const idleTimeoutSeconds = 80;
/** The timeout that clients see: less, so that they do not send to a closing connection. */
const keepAlive = `timeout=${idleTimeoutSeconds - 5}`;

/**
 * The record of a request, for the log, the observers and the headers. The guard, the operations
 * and the error table fill it in. The handler reads it at the response.
 */
export class RequestRecord {
  readonly id: string;
  readonly startMs = performance.now();
  readonly #request: Request;
  readonly #peers: Peers | undefined;
  readonly #trustedProxies: readonly Cidr[];
  #address: string | undefined;
  #isLocated = false;
  /** The route's template, such as `/v1/pets/:petId`, if any. Never the path itself. */
  route: string | undefined;
  /** What the guard decided; undefined for a request that does not pass it. */
  admission: Admission | undefined = undefined;
  /** Why the request was refused, by the guard or later. */
  refusal: Refusal | undefined = undefined;
  /** The length of the answer's body, where it is known. */
  bytes: number | undefined = undefined;
  /** Headers of the answer, whatever it will be, beside those that every answer carries. */
  headers: Readonly<Record<string, string>> | undefined = undefined;

  constructor(
    request: Request,
    id: string,
    peers: Peers | undefined,
    trustedProxies: readonly Cidr[],
  ) {
    this.id = id;
    this.#request = request;
    this.#peers = peers;
    this.#trustedProxies = trustedProxies;
  }

  /** Ends the connection if it takes longer than this from now on. */
  limitTime(seconds: number): void {
    this.#peers?.timeout(this.#request, seconds);
  }

  /** False once the answer is sent or the connection has ended: until then Bun knows its peer. */
  isUnderWay(): boolean {
    return this.#peers !== undefined && this.#peers.requestIP(this.#request) !== null;
  }

  /** The client's address, behind trusted proxies too; undefined without one (a Unix socket). */
  address(): string | undefined {
    if (this.#isLocated) return this.#address;
    this.#isLocated = true;
    const peer = this.#peers?.requestIP(this.#request)?.address;
    this.#address =
      peer === undefined || this.#trustedProxies.length === 0
        ? peer
        : clientAddress(peer, this.#request.headers.get("x-forwarded-for"), this.#trustedProxies);
    return this.#address;
  }
}

const recordKey = Symbol("the record of a request");
type Recorded = Request & { [recordKey]?: RequestRecord };

/** The record of `request`. Throws for a request that did not come in through the handler. */
export function recordOf(request: Request): RequestRecord {
  const record = (request as Recorded)[recordKey];
  if (record === undefined) throw new Error("the request did not come in through the handler");
  return record;
}

/** What hears of every request once it is answered, beside the log. */
export interface RequestObserver {
  answered(request: AnsweredRequest): void;
}

/** A request that was answered, as the log and the observers hear of it. */
export interface AnsweredRequest {
  readonly record: Readonly<RequestRecord>;
  readonly method: string;
  readonly status: number;
  /** The length of the body that was sent, where it is known. */
  readonly bytes: number | undefined;
  readonly durationMs: number;
}

interface HandlerOptions {
  /** The web application inside. */
  readonly app: { fetch(request: Request): Response | Promise<Response> };
  /** The guard's decision on a request that does not come to the application. */
  readonly admit: (request: Request, record: RequestRecord) => Admission | Promise<Admission>;
  readonly clock: Clock;
  readonly cors: Cors | undefined;
  readonly trustedProxies: readonly Cidr[];
  /** What distinguishes this process's request ids from another's. */
  readonly idPrefix: string;
  readonly log: Logger | undefined;
  readonly observers: readonly RequestObserver[];
}

/** Answers a request; `peers` knows the address that it came from. */
export type Handler = (request: Request, peers?: Peers) => Response | Promise<Response>;

/**
 * The handler of the service, a function around the web application. It makes the record of a
 * request, and refuses an invalid Host. It adds the headers of every response, and informs the log
 * and the observers.
 */
export function createHandler(options: HandlerOptions): Handler {
  const { app, admit, log, trustedProxies, idPrefix } = options;
  const end = wayOut(options);
  const isRoutable = urlCheck();
  // Reading the address costs a system call.
  const needsAddress = log?.isOn("info") === true;
  let lastId = 0;

  return (request, peers) => {
    const id = sentId(request) ?? `${idPrefix}-${(lastId += 1).toString(36)}`;
    const record = new RequestRecord(request, id, peers, trustedProxies);
    (request as Recorded)[recordKey] = record;
    // Read now: a client that has hung up has no address.
    if (needsAddress) record.address();
    if (!isRoutable(request.url) || hasTwoHosts(request)) return refuseHost(request, record);
    const answer = app.fetch(request);
    return answer instanceof Promise
      ? answer.then((response) => end(record, request, response))
      : end(record, request, answer);
  };

  async function refuseHost(request: Request, record: RequestRecord): Promise<Response> {
    if (!isVersioned(request.url)) return end(record, request, errorAnswer(record, invalidHost));
    record.admission = await admit(request, record);
    const { refusal } = record.admission;
    // RFC 9112, section 3.2: an invalid Host gets 400, with or without a valid credential.
    const isOverLimit = refusal !== undefined && refusal.kind !== "unauthorized";
    return end(record, request, errorAnswer(record, isOverLimit ? refusal : invalidHost));
  }
}

/** Finishes an answer and tells of it. */
function wayOut({ clock, cors, log, observers }: HandlerOptions) {
  const writeLine = log === undefined ? undefined : accessLog(log);
  return (record: RequestRecord, request: Request, response: Response): Response => {
    const { method } = request;
    const { headers, status } = response;
    const { admission, refusal } = record;
    headers.set("X-Request-Id", record.id);
    if (admission !== undefined) {
      const { limit, remaining, resetSeconds } = admission.view;
      headers.set("X-RateLimit-Limit", `${limit}`);
      headers.set("X-RateLimit-Remaining", `${remaining}`);
      headers.set("X-RateLimit-Reset", `${resetSeconds}`);
    }
    // Files set their own caching. Everything else is true for this moment only.
    if (!headers.has("Cache-Control")) headers.set("Cache-Control", "no-store");
    if (asksToClose(request)) headers.set("Connection", "close");
    else headers.set("Keep-Alive", keepAlive);
    if (refusal !== undefined) showRefusal(refusal, request, headers);
    for (const name in record.headers) headers.set(name, record.headers[name] as string);
    cors?.show(request, headers);
    // Bun adds the Date to every response except these.
    if (method === "HEAD") headers.set("Date", httpDate(clock()));
    if (writeLine === undefined && observers.length === 0) return response;
    const durationMs = performance.now() - record.startMs;
    const bytes = method === "HEAD" ? 0 : record.bytes;
    const answered = { record, method, status, bytes, durationMs };
    writeLine?.(answered);
    for (const observer of observers) observer.answered(answered);
    return response;
  };
}

const closeOption = /(?:^|,)[ \t]*close[ \t]*(?:,|$)/i;

/** True when Bun ends the connection after the response, without a word (RFC 9112, section 9.6). */
function asksToClose(request: Request): boolean {
  const options = request.headers.get("connection");
  return options !== null && closeOption.test(options);
}

/** Ids from outside are used if they cannot harm a log or a header. */
const wellFormedId = /^[\w.-]{1,64}$/;
/** The log shows the id, so it must not be a key. */
const keyLike = /rehome_(?:live|test)_/;

/** The id that the caller gave the request, if it is one. */
function sentId(request: Request): string | undefined {
  const id = request.headers.get("X-Request-Id");
  return id !== null && wellFormedId.test(id) && !keyLike.test(id) ? id : undefined;
}

/** True for more than one Host (RFC 9112, section 3.2): Bun joins them, and takes the first. */
function hasTwoHosts(request: Request): boolean {
  return request.headers.get("host")?.includes(",") === true;
}

/** True for a path under /v1, in a URL that may have no origin, or one that is not valid. */
function isVersioned(url: string): boolean {
  const path = url.slice(url.startsWith("/") ? 0 : url.indexOf("/", url.indexOf("//") + 2));
  const [end] = path.slice(versionSegment.length);
  return path.startsWith(versionSegment) && (end === undefined || end === "/" || end === "?");
}

/** Where the path must begin at the earliest for the router, in a URL with https://. */
const httpsPathMin = 11;

/**
 * A check that is false for a URL whose path the router would misread, and for an invalid host or
 * port (RFC 9110, section 7.2). Bun gives a URL without origin for an invalid Host. The last good
 * host is cached, because nearly all requests have the same one.
 */
function urlCheck(): (url: string) => boolean {
  let knownOrigin: string | undefined;
  return (url) => {
    if (knownOrigin !== undefined && url.startsWith(knownOrigin)) return true;
    const pathStart = url.indexOf("/", "https://".length);
    const isRoutable =
      url.startsWith("http://") || (url.startsWith("https://") && pathStart >= httpsPathMin);
    const origin = url.slice(0, pathStart + 1);
    if (!isRoutable || !URL.canParse(origin)) return false;
    knownOrigin = origin;
    return true;
  };
}
