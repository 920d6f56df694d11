/**
 * Errors for callers: the status of each kind, the Error body, and the one place where a refusal
 * becomes a response. The messages about keys and limits are the service's (admission.ts).
 */
import { status } from "elysia";
import { AppError, type ErrorKind } from "../domain/errors.ts";
import type { Refusal } from "../service/admission.ts";
import type { RequestRecord } from "./handler.ts";

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

/** An Error as a client gets it. */
export interface ErrorBody {
  readonly code: ErrorKind;
  readonly message: string;
  readonly status: number;
}

/** The refusal of an invalid request, in one sentence. */
export function refusal(kind: ErrorKind, message: string): Refusal {
  return { kind, message };
}

/** The refusal of an unknown address. */
export const nothingHere = refusal("not_found", "There is nothing at this address.");
/** The refusal of an unknown id, valid or not. */
export const noSuchPet = refusal("not_found", "There is no animal with this id.");
/** The refusal of a create with the Idempotency-Key of another animal. */
export const otherBody = refusal(
  "invalid_request",
  "This Idempotency-Key came with another body within the last 24 hours; use a new one for another animal.",
);
export const invalidHost = refusal("invalid_request", "The Host header is not valid.");
/** The one refusal with status 415 that is not about the media type (RFC 9110, section 12.5.3). */
export const encodedBody = refusal(
  "unsupported_media_type",
  "The body must be sent without Content-Encoding.",
);

/** The refusal of a request whose client would wait for a 100 that does not come. */
export const unknownExpectation = refusal(
  "invalid_request",
  "Send the request without the header Expect, or with Expect: 100-continue in lower case.",
);

/** The refusal of a method that an address does not take. */
export function otherMethod(method: string, allowed: string): Refusal {
  return refusal(
    "method_not_allowed",
    `This address does not take ${method}; it takes ${allowed}.`,
  );
}

/** The Error body. */
export function errorBody({ kind, message }: Pick<Refusal, "kind" | "message">): ErrorBody {
  return { code: kind, message, status: statusOf[kind] };
}

/** Refusals repeat, so the body of each is made once. */
const bodies = new WeakMap<Refusal, Blob>();

function bodyOf(refused: Refusal): Blob {
  let body = bodies.get(refused);
  if (body === undefined) {
    body = new Blob([JSON.stringify(errorBody(refused))]);
    bodies.set(refused, body);
  }
  return body;
}

/** What the record of a request notes of its refusal. */
type RefusalRecord = Pick<RequestRecord, "refusal" | "bytes">;

/** The response to a refused request. The handler adds its headers (`showRefusal`). */
export function errorAnswer(record: RefusalRecord, refused: Refusal): Response {
  const body = bodyOf(refused);
  record.refusal = refused;
  record.bytes = body.size;
  return new Response(body, { status: statusOf[refused.kind] });
}

/**
 * The same for a hook: Elysia ends the request with it. The Response has a status of its own; 200
 * leaves it as it is.
 */
export function refuse(record: RefusalRecord, refused: Refusal) {
  return status(200, errorAnswer(record, refused));
}

/** After this time a retry of a failed request makes sense (RFC 9110, section 10.2.3). */
const unavailableForSeconds = 1;

/** Adds the headers that go with a refusal. The challenges are those of RFC 6750, section 3. */
export function showRefusal(refused: Refusal, request: Request, headers: Headers): void {
  const { kind } = refused;
  const retryAfterSeconds =
    kind === "unavailable" ? unavailableForSeconds : refused.retryAfterSeconds;
  // Not as the type of the Blob: Bun would add a charset, which JSON does not have (RFC 8259,
  // section 11).
  headers.set("Content-Type", jsonType);
  if (retryAfterSeconds !== undefined) headers.set("Retry-After", `${retryAfterSeconds}`);
  if (kind === "unauthorized") {
    const credential = request.headers.get("authorization");
    headers.set("WWW-Authenticate", credential ? 'Bearer error="invalid_token"' : "Bearer");
  }
  if (kind === "forbidden") {
    headers.set("WWW-Authenticate", 'Bearer error="insufficient_scope"');
  }
  if (refused === encodedBody) headers.set("Accept-Encoding", "identity");
}

/** The refusal of a request that failed with `error`. An unknown one goes to `report` only. */
export function refusalOf(error: unknown, report: (error: unknown) => void): Refusal {
  if (error instanceof AppError) {
    if (error.kind === "internal_error" || error.kind === "unavailable") report(error);
    return refusal(error.kind, error.message);
  }
  report(error);
  return refusal("internal_error", "Something went wrong on the server; it was logged.");
}
