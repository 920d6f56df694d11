/**
 * Errors for callers: the status of each kind, and the one place where a refusal or a failure
 * becomes a response. The messages about keys and limits are the service's (admission.ts).
 */
import { AppError, type ErrorKind } from "../domain/errors.ts";
import { unauthorized, type Refusal } from "../service/admission.ts";
import { contextOf } from "./context.ts";

/** The HTTP status of each kind of error: the only table of them. */
export const statusOf = {
  invalid_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  payload_too_large: 413,
  unsupported_media_type: 415,
  rate_limited: 429,
  key_banned: 429,
  internal_error: 500,
  unavailable: 503,
} as const satisfies Record<ErrorKind, number>;

export const jsonType = "application/json";

export function refusal(kind: ErrorKind, message: string): Refusal {
  return { kind, message };
}

export function otherMethod(method: string, allowed: string): Refusal {
  return refusal("method_not_allowed", `${method} is not allowed here. Allowed: ${allowed}.`);
}

/** The one refusal with status 415 that is not about the media type. */
export const encodedBody = refusal(
  "unsupported_media_type",
  "The body must be sent without Content-Encoding.",
);

export function errorBody({ kind, message }: Pick<Refusal, "kind" | "message">) {
  return { code: kind, message, status: statusOf[kind] };
}

/** After this time a retry of a failed request makes sense (RFC 9110, section 10.2.3). */
const unavailableForSeconds = 1;

/** The headers that go with a refusal. The challenges are those of RFC 6750, section 3. */
function headersOf(refused: Refusal): Headers {
  const { kind } = refused;
  // Not as the type of the Blob: Bun would add a charset, which JSON does not have (RFC 8259,
  // section 11).
  const headers = new Headers({ "Content-Type": jsonType });
  const seconds = kind === "unavailable" ? unavailableForSeconds : refused.retryAfterSeconds;
  if (seconds !== undefined) headers.set("Retry-After", `${seconds}`);
  if (kind === "unauthorized") {
    const isSent = refused !== unauthorized["no credential"];
    headers.set("WWW-Authenticate", isSent ? 'Bearer error="invalid_token"' : "Bearer");
  }
  if (kind === "forbidden") headers.set("WWW-Authenticate", 'Bearer error="insufficient_scope"');
  // RFC 9110, section 12.5.3.
  if (refused === encodedBody) headers.set("Accept-Encoding", "identity");
  return headers;
}

const prepare = (refused: Refusal) => ({
  body: new Blob([JSON.stringify(errorBody(refused))]),
  init: { status: statusOf[refused.kind], headers: headersOf(refused) },
});

/** Refusals repeat, so what is sent for each is made once. */
const prepared = new WeakMap<Refusal, ReturnType<typeof prepare>>();

/** The whole response to a refused request. `more` are the headers of the route. */
export function refuse(
  request: Request,
  refused: Refusal,
  more: Readonly<Record<string, string>> = {},
): Response {
  const { body, init } = prepared.getOrInsertComputed(refused, prepare);
  const context = contextOf(request);
  context.refusal = refused;
  context.bytes = body.size;
  const response = new Response(body, init);
  for (const name in more) response.headers.set(name, more[name] as string);
  return response;
}

const unread = refusal("unavailable", "Too many large responses are still being sent; try again.");

/**
 * A response whose size the log gets. Responses that share a Blob share its bytes; it is refused
 * while too much is sent that nobody has read.
 */
export function respond(request: Request, body: Blob | string, init: ResponseInit): Response {
  const context = contextOf(request);
  if (typeof body !== "string" && !context.mayReceive(body)) return refuse(request, unread);
  context.bytes = typeof body === "string" ? Buffer.byteLength(body) : body.size;
  return new Response(body, init);
}

/** A refusal where only an error ends the work: within Elysia's parser. */
export class RefusalError extends Error {
  constructor(readonly refusal: Refusal) {
    super(refusal.message);
  }
}

/** The refusal of a request that failed with `error`. An unknown one goes to `report` only. */
export function refusalOf(error: unknown, report: (error: unknown) => void): Refusal {
  if (error instanceof RefusalError) return error.refusal;
  if (error instanceof AppError) {
    if (error.kind === "internal_error" || error.kind === "unavailable") report(error);
    return refusal(error.kind, error.message);
  }
  report(error);
  return refusal("internal_error", "Something went wrong on the server; it was logged.");
}
