import { Elysia } from "elysia";
import type { Cidr } from "../domain/address.ts";
import { httpDate, type Clock } from "../domain/clock.ts";
import type { Logger } from "../service/log/logger.ts";
import type { Admission } from "../service/admission.ts";
import { accessLog } from "./access-log.ts";
import { atOnce } from "./hooks.ts";
import { attachRecord, recordOf, RequestRecord, type Peers } from "./record.ts";

/** A request that was answered. */
export interface Answered {
  readonly record: RequestRecord;
  readonly method: string;
  readonly status: number;
  readonly bytes: number | undefined;
  readonly durationMs: number;
}

/** What is told of every request once it is answered, beside the log. */
export interface RequestObserver {
  answered(request: AnsweredRequest): void;
}

/** A request that was answered, as an observer is told of it. */
export interface AnsweredRequest {
  /** The route's template; undefined where there is none. */
  readonly route: string | undefined;
  readonly method: string;
  readonly status: number;
  readonly durationMs: number;
  /** What the gate decided; undefined outside of it. */
  readonly admission: Admission | undefined;
}

export interface ObserveOptions {
  readonly clock: Clock;
  /** What knows the addresses of connections, once there is one. */
  readonly peers: () => Peers | null;
  readonly trustedProxies: readonly Cidr[];
  /** What distinguishes this process's request ids from another's. */
  readonly idPrefix: string;
  readonly log: Logger | undefined;
  readonly observers: readonly RequestObserver[];
}

/** Ids from outside are taken as they are when they cannot hurt a log or a header. */
const wellFormedId = /^[\w.-]{1,64}$/;
/** An id is shown in the log: a key that was sent in its place must not be. */
const keyLike = /rehome_(?:live|test)_/;
const requestIdHeader = "X-Request-Id";

type Handler = (request: Request) => Response | Promise<Response>;

/**
 * Sees every request from its arrival to its answer, whichever way it takes through the framework: it stands around
 * the handlers themselves. (Elysia's hooks each miss something: errors, refusals by a derive, unknown routes, or the
 * request's own headers.)
 */
export function observe(options: ObserveOptions) {
  const around = watch(options);
  // Elysia asks for the wrapped handler anew with each request.
  const wrapped = new WeakMap<Handler, Handler>();
  const wrap = (handler: Handler): Handler => {
    const known = wrapped.get(handler);
    if (known !== undefined) return known;
    const made = around(handler);
    wrapped.set(handler, made);
    return made;
  };
  return new Elysia({ name: "observe" })
    .wrap((handler) => wrap(handler as unknown as Handler))
    .onRequest(
      atOnce(({ request, set }) => {
        set.headers[requestIdHeader] = recordOf(request).id;
      }),
    )
    .onAfterHandle({ as: "global" }, ({ request, responseValue, route }) => {
      const record = recordOf(request);
      record.route = route;
      if (typeof responseValue === "string") record.bytes = Buffer.byteLength(responseValue);
    });
}

/** A handler like the given one that gives each request its record, and tells of it when it is answered. */
function watch({ clock, trustedProxies, idPrefix, log, observers, peers }: ObserveOptions) {
  const writeLine = log === undefined ? undefined : accessLog(log);
  // To ask for an address costs a system call.
  const needsAddress = log?.isOn("info") === true;
  let lastId = 0;

  const begin = (request: Request): RequestRecord => {
    const startMs = performance.now();
    const id = sentId(request) ?? `${idPrefix}-${(lastId += 1).toString(36)}`;
    const record = new RequestRecord(request, { id, startMs, peers: peers(), trustedProxies });
    attachRecord(request, record);
    // Asked for now: a client that hangs up has no address any more.
    if (needsAddress) record.address();
    return record;
  };

  const end = (record: RequestRecord, { method }: Request, response: Response): Response => {
    // Bun dates every answer but these.
    if (method === "HEAD") response.headers.set("date", httpDate(clock()));
    if (writeLine === undefined && observers.length === 0) return response;
    const { status } = response;
    const durationMs = performance.now() - record.startMs;
    const bytes = method === "HEAD" ? 0 : record.bytes;
    writeLine?.({ record, method, status, bytes, durationMs });
    const { route, admission } = record;
    for (const observer of observers) {
      observer.answered({ route, method, status, durationMs, admission });
    }
    return response;
  };

  return (handler: Handler): Handler =>
    (request) => {
      const record = begin(request);
      const answer = handler(request);
      return answer instanceof Promise
        ? answer.then((response) => end(record, request, response))
        : end(record, request, answer);
    };
}

/** The id that the caller gave the request, if it is one. */
function sentId(request: Request): string | undefined {
  const id = request.headers.get(requestIdHeader);
  return id !== null && wellFormedId.test(id) && !keyLike.test(id) ? id : undefined;
}
