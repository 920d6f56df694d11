import type { ErrorKind } from "../domain/errors.ts";
import { isDeeperThan, isJsonObject, nestingMax, parseJson } from "../domain/exact-json.ts";
import type { Refusal } from "../service/admission.ts";
import { jsonType } from "./errors.ts";

/** The largest request body. A name has no limit of its own, so this is what bounds it. */
export const bodyLimitBytes = 64 * 1024;

const tooLarge = Symbol("a body above the limit");
/** A body as it came in, not looked at yet: the gate decides first whether it will be. */
export type RawBody = Uint8Array | typeof tooLarge;

/** Reads a request's body, and stops at the limit, whether the length was announced or the body comes in chunks. */
export async function readBody(request: Request): Promise<RawBody> {
  const announced = request.headers.get("content-length");
  if (announced !== null) {
    return Number(announced) > bodyLimitBytes ? tooLarge : await request.bytes();
  }
  if (request.body === null) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
    length += chunk.length;
    if (length > bodyLimitBytes) return tooLarge;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function refused(kind: ErrorKind, message: string): { readonly refusal: Refusal } {
  return { refusal: { kind, message } };
}

/** The one refusal with status 415 that is not about the media type (RFC 9110, section 12.5.3). */
export const encodedBody = refused(
  "unsupported_media_type",
  "The body must be sent without Content-Encoding.",
);
/** Elysia writes a refused body out as JSON, and what is nested some ten thousand deep takes it seconds. */
const nestedTooDeeply = refused("invalid_request", "The body is nested too deeply.");
/** Each level takes a bracket at either end, so a text of this length is not nested too deeply. */
const shortLength = 2 * nestingMax;

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** The JSON object in a body, or why there is none. */
export function decodeObject(
  body: RawBody,
  headers: Readonly<Record<string, string | undefined>>,
): { readonly value: Record<string, unknown> } | { readonly refusal: Refusal } {
  if (body === tooLarge) {
    return refused("payload_too_large", `The body is larger than ${bodyLimitBytes / 1024} KiB.`);
  }
  if (body.length === 0) {
    return refused("invalid_request", "The request has no body; it must be a JSON object.");
  }
  const mediaType = headers["content-type"]?.split(";", 1)[0]?.trim().toLowerCase();
  if (mediaType !== jsonType) {
    return refused("unsupported_media_type", `The body must be sent as Content-Type: ${jsonType}.`);
  }
  const coding = headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
  if (coding !== "identity") return encodedBody;
  let text: string;
  try {
    text = utf8.decode(body);
  } catch {
    return refused("invalid_request", "The body is not valid UTF-8.");
  }
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    return error instanceof RangeError
      ? nestedTooDeeply
      : refused("invalid_request", "The body is not valid JSON.");
  }
  if (text.length > shortLength && isDeeperThan(nestingMax, value)) return nestedTooDeeply;
  return isJsonObject(value)
    ? { value }
    : refused("invalid_request", "The body must be a JSON object.");
}
