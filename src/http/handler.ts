import { httpDate, type Clock } from "../domain/clock.ts";
import { refusal, refuse } from "./errors.ts";
import type { Admission } from "../service/admission.ts";
import type { Logger } from "../service/log.ts";
import { accessLog } from "./access-log.ts";
import type { Cors } from "./cors.ts";
import { versionSegment } from "./edge.ts";
import { attach, RequestRecord, type Peers, type Reachable } from "./record.ts";
import { idleTimeoutSeconds } from "./server.ts";

/** The timeout that clients see: less, so that they do not send to a closing connection. */
const keepAlive = `timeout=${idleTimeoutSeconds - 5}`;

export type OnResponse = (request: AnsweredRequest) => void;

/** A request that was answered, as the log and the features hear of it. */
export interface AnsweredRequest {
  readonly record: Readonly<RequestRecord>;
  readonly method: string;
  readonly status: number;
  /** The length of the body that was sent, where it is known. */
  readonly bytes: number | undefined;
  readonly durationMs: number;
}

interface HandlerOptions extends Reachable {
  readonly app: { fetch(request: Request): Response | Promise<Response> };
  /** The guard's decision on a request that does not come to the application. */
  readonly admit: (request: Request) => Admission | Promise<Admission>;
  readonly clock: Clock;
  readonly cors: Cors | undefined;
  /** What distinguishes this process's request ids from another's. */
  readonly idPrefix: string;
  readonly log: Logger | undefined;
  readonly onResponse: readonly OnResponse[];
}

/** Responds to a request; `peers` knows the address that it came from. */
export type Handler = (request: Request, peers?: Peers) => Response | Promise<Response>;

/**
 * The handler of the service, a function around the web application. It makes the record of a
 * request, and refuses an invalid Host. It adds the headers that every response has (those of a
 * refusal are errors.ts's), and informs the log and the features.
 */
export function createHandler(options: HandlerOptions): Handler {
  const { app, admit, log, idPrefix } = options;
  const finish = finisher(options);
  const routable = routableRequests();
  // Reading the address costs a system call.
  const needsAddress = log?.isOn("info") === true;
  let lastId = 0;

  return (received, peers) => {
    const id = sentId(received) ?? `${idPrefix}-${(lastId += 1).toString(36)}`;
    const record = new RequestRecord(id, received, peers, options);
    // Read now: a client that has hung up has no address.
    if (needsAddress) record.address();
    const request = routable(received, peers);
    attach(record, request ?? received);
    if (request === undefined) return refuseHost(received, record);
    const response = app.fetch(request);
    return response instanceof Promise
      ? response.then((late) => finish(record, request, late))
      : finish(record, request, response);
  };

  async function refuseHost(request: Request, record: RequestRecord): Promise<Response> {
    if (isVersioned(request.url)) {
      record.admission = await admit(request);
      const refused = record.admission.refusal;
      // RFC 9112, section 3.2: an invalid Host gets 400, with or without a valid credential.
      if (refused !== undefined && refused.kind !== "unauthorized") {
        return finish(record, request, refuse(request, refused));
      }
    }
    return finish(record, request, refuse(request, invalidHost));
  }
}

const invalidHost = refusal("invalid_request", "The Host header is not valid.");

/** Adds headers, then logs the response. */
function finisher({ clock, cors, log, onResponse }: HandlerOptions) {
  const writeLine = log === undefined ? undefined : accessLog(log);
  return (record: RequestRecord, request: Request, response: Response): Response => {
    const { method } = request;
    const { headers, status } = response;
    headers.set("X-Request-Id", record.id);
    if (record.admission !== undefined) {
      const { limit, remaining, resetSeconds } = record.admission.view;
      headers.set("X-RateLimit-Limit", `${limit}`);
      headers.set("X-RateLimit-Remaining", `${remaining}`);
      headers.set("X-RateLimit-Reset", `${resetSeconds}`);
    }
    // Pages set their own caching. Everything else is true for this moment only.
    if (!headers.has("Cache-Control")) headers.set("Cache-Control", "no-store");
    if (asksToClose(request)) headers.set("Connection", "close");
    else headers.set("Keep-Alive", keepAlive);
    cors?.show(request, headers);
    // Bun adds the Date to every response except these.
    if (method === "HEAD") headers.set("Date", httpDate(clock()));
    if (writeLine === undefined && onResponse.length === 0) return response;
    const durationMs = performance.now() - record.startMs;
    const bytes = method === "HEAD" ? 0 : record.bytes;
    const answered = { record, method, status, bytes, durationMs };
    writeLine?.(answered);
    for (const hear of onResponse) hear(answered);
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

/** True for a path under /v1, in a URL that may have no origin, or one that is not valid. */
function isVersioned(url: string): boolean {
  const path = url.slice(url.startsWith("/") ? 0 : url.indexOf("/", url.indexOf("//") + 2));
  const [end] = path.slice(versionSegment.length);
  return path.startsWith(versionSegment) && (end === undefined || end === "/" || end === "?");
}

/** Where the path must begin at the earliest for the router, in a URL with https://. */
const httpsPathMin = 11;
/** Letters, digits, `-`, `.`, `_` and `~`, percent-encoded (RFC 3986, section 2.3). */
const encodedUnreserved = /%(?:2[de]|3\d|[46][1-9a-f]|[57][\da]|5f|7e)/gi;

/**
 * Makes of a request what the router can read; undefined for an invalid Host or port (RFC 9110,
 * section 7.2). The last good origin is cached, because nearly all requests have the same one.
 */
function routableRequests() {
  let knownOrigin: string | undefined;

  function isGood(url: string): boolean {
    if (knownOrigin !== undefined && url.startsWith(knownOrigin)) return true;
    const pathStart = url.indexOf("/", "https://".length);
    const isReadable =
      url.startsWith("http://") || (url.startsWith("https://") && pathStart >= httpsPathMin);
    const origin = url.slice(0, pathStart + 1);
    if (!isReadable || !URL.canParse(origin)) return false;
    knownOrigin = origin;
    return true;
  }

  return (request: Request, peers: Peers | undefined): Request | undefined => {
    const { headers, url } = request;
    const host = headers.get("host");
    // Bun lets HTTP/1.0 alone come without a Host.
    if (host === null && url.startsWith("/") && peers?.url !== undefined) {
      return new Request(peers.url.origin + url, request);
    }
    // Bun joins several (RFC 9112, section 3.2) and takes the first. An invalid one has no origin.
    if (host?.includes(",") === true || !isGood(url)) return undefined;
    if (!url.includes("%")) return request;
    const [path = "", ...query] = url.split("?");
    const plain = path.replace(encodedUnreserved, decodeURIComponent);
    return plain === path ? request : new Request([plain, ...query].join("?"), request);
  };
}
