import { httpDate } from "../domain/clock.ts";
import { type Logger, MinuteCounts, oneLine } from "../service/log.ts";
import { Backpressure, contexts, type Peers, RequestContext } from "./context.ts";
import type { AppOptions } from "./app.ts";
import type { Cors } from "./methods.ts";
import { statusOf } from "./errors.ts";
import { idleTimeoutSeconds } from "./server.ts";

/** The timeout that clients see: less, so that they do not send to a closing connection. */
const keepAlive = `timeout=${idleTimeoutSeconds - 5}`;

export type OnResponse = (request: AnsweredRequest) => void;

/** A request that was answered, as the log and the features hear of it. */
export interface AnsweredRequest {
  readonly context: Readonly<RequestContext>;
  readonly method: string;
  readonly status: number;
  /** The length of the body that was sent, where it is known. */
  readonly bytes: number | undefined;
  readonly durationMs: number;
}

/** Responds to a request; `peers` knows the address that it came from. */
export type Handler = (request: Request, peers?: Peers) => Promise<Response>;

/**
 * The function around the web application. It makes the context of a request, adds the headers
 * that every response has, and informs the log and the features.
 */
export function createHandler(
  app: { fetch(request: Request): Response | Promise<Response> },
  cors: Cors | undefined,
  options: AppOptions,
): Handler {
  const { log, requestIdPrefix: idPrefix = "request" } = options;
  const ofContext = { ...options, backpressure: new Backpressure() };
  const finish = finisher(options, cors);
  // Reading the address costs a system call.
  const needsAddress = log?.isOn("info") === true;
  let lastId = 0;

  return async (received, peers) => {
    const id = sentId(received) ?? `${idPrefix}-${(lastId += 1).toString(36)}`;
    const context = new RequestContext(id, received, peers, ofContext);
    // Read now: a client that has hung up has no address.
    if (needsAddress) context.address();
    const request = withOrigin(received, peers);
    contexts.set(request, context);
    try {
      return finish(context, request, await app.fetch(request));
    } finally {
      contexts.delete(request);
    }
  };
}

/** Bun lets HTTP/1.0 alone come without a Host, and then there is no origin in the URL. */
function withOrigin(request: Request, peers: Peers | undefined): Request {
  const { headers, url } = request;
  const isComplete = !url.startsWith("/") || headers.has("host") || peers?.url === undefined;
  return isComplete ? request : new Request(peers.url.origin + url, request);
}

function finisher(
  { log, onResponse = [], services: { clock } }: AppOptions,
  cors: Cors | undefined,
) {
  const writeLine = log === undefined ? undefined : accessLog(log);
  return (context: RequestContext, request: Request, response: Response): Response => {
    const { method } = request;
    const { headers, status } = response;
    headers.set("X-Request-Id", context.id);
    if (context.admission !== undefined) {
      const { limit, remaining, resetSeconds } = context.admission.view;
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
    const durationMs = performance.now() - context.startMs;
    const bytes = method === "HEAD" ? 0 : context.bytes;
    const answered = { context, method, status, bytes, durationMs };
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

/** Ids from outside are used if they cannot harm a log or a header, and show no key. */
const wellFormedId = /^(?!.*rehome_(?:live|test)_)[\w.-]{1,64}$/;

/** The id that the caller gave the request, if it is one. */
function sentId(request: Request): string | undefined {
  const id = request.headers.get("X-Request-Id");
  return id !== null && wellFormedId.test(id) ? id : undefined;
}

/**
 * One line for each request that a key was charged for, which its plan bounds. All others, and
 * failures of the service, are counted by kind: a stranger or an outage must not fill the disk.
 */
function accessLog(log: Logger): (answered: AnsweredRequest) => void {
  const counts = new MinuteCounts(log, "info");
  if (!log.isOn("info")) return () => undefined;
  return (answered) => {
    if (!isCharged(answered)) return void counts.count(kindOf(answered));
    return log.event(lineOf(log.now(), answered), textOf);
  };
}

function isCharged({ context: { admission }, status }: AnsweredRequest): boolean {
  const isAdmitted = admission?.key !== undefined && admission.refusal === undefined;
  return isAdmitted && status < statusOf.internal_error;
}

const probes = ["/health", "/ready"];

/** What a request without a line was, in a closed list of words. */
function kindOf({ context: { refusal, route }, method }: AnsweredRequest): string {
  if (refusal?.kind === "unauthorized") return refusal.detail ?? refusal.kind;
  if (refusal !== undefined) return refusal.kind;
  if (method === "OPTIONS") return "preflight";
  return route !== undefined && probes.includes(route) ? "probe" : "page";
}

const reasonLengthMax = 500;

function lineOf(time: string, answered: AnsweredRequest) {
  const { context, method, status, bytes, durationMs } = answered;
  const { id, route, refusal } = context;
  const key = context.admission?.key;
  return {
    time,
    level: "info",
    message: "request",
    id,
    method,
    route,
    status,
    durationUs: Math.round(durationMs * 1000),
    bytes,
    keyId: key?.id,
    plan: key?.plan,
    address: context.address(),
    refused: refusal?.kind,
    why: refusal && (refusal.detail ?? refusal.message).slice(0, reasonLengthMax),
  };
}

function textOf(line: ReturnType<typeof lineOf>): string {
  const { time, level, method, route = "-", status, bytes, keyId, address = "-", id } = line;
  const duration = `${(line.durationUs / 1000).toFixed(2)}ms`;
  const size = bytes === undefined ? "-" : `${bytes}B`;
  const key = keyId === undefined ? "-" : `${keyId} (${line.plan})`;
  const parts = [time, level, method, route, status, duration, size, key, address, id];
  if (line.why !== undefined) parts.push(line.refused ?? "-", oneLine(line.why));
  return parts.join(" ");
}
