import { isDeeperThan, isJsonObject, nestingMax, parseJson } from "../domain/exact-json.ts";
import type { ErrorKind } from "../domain/errors.ts";
import type { Refusal } from "../service/admission.ts";
import { encodedBody, jsonType, refusal } from "./errors.ts";

/** The largest request body. */
export const bodyLimitBytes = 64 * 1024;

const tooLarge = Symbol("a body above the limit");
const unreadable = Symbol("a body that ended before its time");
/** A body as it came in. */
export type RawBody = Uint8Array | typeof tooLarge | typeof unreadable;

/** Reads a request's body, and stops at the limit, whether the length was announced or the body comes in chunks. */
export async function readBody(request: Request): Promise<RawBody> {
  try {
    return await readUpToLimit(request);
  } catch {
    // The caller hung up, or Bun ended the request.
    return unreadable;
  }
}

async function readUpToLimit(request: Request): Promise<RawBody> {
  const announced = request.headers.get("content-length");
  if (announced !== null) {
    return Number(announced) > bodyLimitBytes ? tooLarge : await request.bytes();
  }
  if (request.body === null) return new Uint8Array();
  const reader = request.body.getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return Buffer.concat(chunks);
    length += value.length;
    if (length > bodyLimitBytes) {
      await reader.cancel();
      return tooLarge;
    }
    chunks.push(value);
  }
}

function refused(kind: ErrorKind, message: string): { readonly refusal: Refusal } {
  return { refusal: refusal(kind, message) };
}

/** What is nested some ten thousand deep takes seconds to look at. */
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
  if (body === unreadable) return refused("invalid_request", "The body could not be read.");
  if (body.length === 0) {
    return refused("invalid_request", "The request has no body; it must be a JSON object.");
  }
  const mediaType = headers["content-type"]?.split(";", 1)[0]?.trim().toLowerCase();
  if (mediaType !== jsonType) {
    return refused("unsupported_media_type", `The body must be sent as Content-Type: ${jsonType}.`);
  }
  const coding = headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
  if (coding !== "identity") return { refusal: encodedBody };
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
