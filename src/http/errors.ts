import { status } from "elysia";
import type { ErrorKind } from "../domain/errors.ts";
import type { Refusal } from "../service/admission.ts";
import type { ErrorBody } from "./json.ts";
import { recordOf } from "./record.ts";

/** The HTTP status of each kind of error: the only table of them. */
export const statusOf = {
  invalid_request: 400,
  unauthorized: 401,
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

/** Headers of an answer as Elysia keeps them until it is sent. */
export type AnswerHeaders = Record<string, string | number>;

/** What a refusal needs of Elysia's context: whose it is, and the headers of the answer. */
export interface AnswerContext {
  readonly request: Request;
  readonly set: { readonly headers: unknown };
}

/** The Error body. */
export function errorBody(kind: ErrorKind, message: string): string {
  return JSON.stringify({ code: kind, message, status: statusOf[kind] });
}

/**
 * The answer to a refused request, with the headers that go with its kind. A hook that returns it ends the request
 * there. `sentCredential` tells the two challenges of RFC 6750, section 3, apart.
 */
export function refuse({ request, set }: AnswerContext, refusal: Refusal, sentCredential = false) {
  const headers = set.headers as AnswerHeaders;
  headers["content-type"] = jsonType;
  if (refusal.retryAfterSeconds !== undefined) headers["retry-after"] = refusal.retryAfterSeconds;
  if (refusal.kind === "unauthorized") {
    headers["www-authenticate"] = sentCredential ? 'Bearer error="invalid_token"' : "Bearer";
  }
  const body = errorBody(refusal.kind, refusal.message);
  const record = recordOf(request);
  record.refusal = refusal;
  record.bytes = Buffer.byteLength(body);
  return status(statusOf[refusal.kind], body as unknown as ErrorBody);
}

/** A refusal of what the caller sent, in one sentence. */
export function refusal(kind: ErrorKind, message: string): Refusal {
  return { kind, message };
}

/** `refuse` for a transform hook: Elysia ends the request with what one returns, but types it as returning nothing. */
export function refuseEarly(context: AnswerContext, refused: Refusal): void {
  return refuse(context, refused) as unknown as void;
}
