/**
 * The Error body, the status of each kind of it, and how a request is ended with one. What was thrown gets here by
 * failures.ts; the words for who may not call, and how often, are the service's (refusals.ts).
 */
import { status, type ElysiaCustomStatusResponse } from "elysia";
import type { ErrorKind } from "../domain/errors.ts";
import type { Refusal } from "../service/admission.ts";
import { packed, type AnswerHeaders } from "./headers.ts";
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

/** What a refusal needs of Elysia's context: whose it is, and the headers of the answer. */
export interface AnswerContext {
  readonly request: Request;
  readonly set: { headers: unknown };
}

/** The Error body. */
export function errorBody({ kind, message }: Pick<Refusal, "kind" | "message">): string {
  return JSON.stringify({ code: kind, message, status: statusOf[kind] });
}

/** The bodies of refusals that come again and again, such as those over a limit. */
const bodies = new WeakMap<Refusal, { readonly text: string; readonly bytes: number }>();

function bodyOf(refused: Refusal) {
  let body = bodies.get(refused);
  if (body === undefined) {
    const text = errorBody(refused);
    bodies.set(refused, (body = { text, bytes: Buffer.byteLength(text) }));
  }
  return body;
}

type Refused = ElysiaCustomStatusResponse<(typeof statusOf)[ErrorKind], ErrorBody>;

/**
 * The answer to a refused request, with the headers that go with its kind. A hook that returns it ends the request
 * there. `sentCredential` tells the two challenges of RFC 6750, section 3, apart.
 */
export function refuse(
  { request, set }: AnswerContext,
  refusal: Refusal,
  sentCredential = false,
): Refused {
  const headers = set.headers as AnswerHeaders;
  headers["content-type"] = jsonType;
  if (refusal.retryAfterSeconds !== undefined) headers["retry-after"] = refusal.retryAfterSeconds;
  if (refusal.kind === "unauthorized") {
    headers["www-authenticate"] = sentCredential ? 'Bearer error="invalid_token"' : "Bearer";
  }
  const { text, bytes } = bodyOf(refusal);
  const record = recordOf(request);
  record.refusal = refusal;
  record.bytes = bytes;
  const answer = new Response(text, { status: statusOf[refusal.kind], headers: packed(headers) });
  // The answer is whole: with no header left to add and no status but 200, Elysia sends it as it is.
  set.headers = {};
  return status(200, answer) as unknown as Refused;
}

/** A refusal of what the caller sent, in one sentence. */
export function refusal(kind: ErrorKind, message: string): Refusal {
  return { kind, message };
}

/** `refuse` for a transform hook: Elysia ends the request with what one returns, but types it as returning nothing. */
export function refuseEarly(context: AnswerContext, refused: Refusal): void {
  return refuse(context, refused) as unknown as void;
}
