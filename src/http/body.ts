import { bucketOfText } from "../domain/address.ts";
import { isDeeperThan, isJsonObject, nestingMax, parseJson } from "../domain/exact-json.ts";
import type { ErrorKind } from "../domain/errors.ts";
import type { Refusal } from "../service/admission.ts";
import { idleTimeoutSeconds, type RequestRecord } from "./handler.ts";
import { encodedBody, jsonType, refusal, unknownExpectation } from "./errors.ts";

export const bodyLimitBytes = 64 * 1024;

/** Requests whose bodies are read at the same time, in all and of one address. */
const bodiesMax = 1_024;
const bodiesPerAddressMax = 256;

/** How long the body of one request may take. Bytes that drip in do not prolong it. */
const bodyTimeoutSeconds = 30;

/** Whose body is read; one address counts as one caller. */
type Caller = Pick<RequestRecord, "address" | "limitTime">;

/** A request whose body is not read yet, and its headers by their names. */
export interface UnreadBody {
  readonly request: Request;
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/** Whose bodies are being read: memory per body is bounded, so their number must be too. */
const reading = new Set<Caller>();

/** Why a request's body is not taken. */
interface Refused {
  readonly refusal: Refusal;
}

/** Reads a request's body, and stops at the limit, with a length or in chunks. */
export async function readBody(
  { request, headers }: UnreadBody,
  caller: Caller,
): Promise<Uint8Array | Refused> {
  if (waitsInVain(headers.expect)) return { refusal: unknownExpectation };
  if (!hasRoom(caller)) return { refusal: crowded };
  reading.add(caller);
  caller.limitTime(bodyTimeoutSeconds);
  try {
    return (await readUpTo(request, bodyLimitBytes)) ?? tooLarge;
  } catch {
    // The caller hung up, or Bun ended the request.
    return { refusal: unreadableBody };
  } finally {
    reading.delete(caller);
    // The time of a request stays with its connection.
    caller.limitTime(idleTimeoutSeconds);
  }
}

/** Bun answers 100 to this spelling only, though case does not matter (RFC 9110, 10.1.1). */
function waitsInVain(expect: string | undefined): boolean {
  return expect !== undefined && expect !== "100-continue";
}

function hasRoom(caller: Caller): boolean {
  if (reading.size < bodiesPerAddressMax) return true;
  if (reading.size >= bodiesMax) return false;
  const bucket = bucketOfText(caller.address());
  let own = 0;
  for (const other of reading) if (bucketOfText(other.address()) === bucket) own += 1;
  return own < bodiesPerAddressMax;
}

/** A request's body, or undefined when it has more than `limitBytes`; it reads no further. */
export function readUpTo(request: Request, limitBytes: number): Promise<Uint8Array | undefined> {
  const announced = request.headers.get("content-length");
  if (announced === null) return readChunks(request.body, limitBytes);
  return Number(announced) > limitBytes ? Promise.resolve(undefined) : request.bytes();
}

async function readChunks(
  body: Request["body"],
  limitBytes: number,
): Promise<Uint8Array | undefined> {
  if (body === null) return new Uint8Array();
  const reader = body.getReader();
  // One growing buffer: an array per chunk would cost a hundred times a byte.
  let buffer = new Uint8Array(bufferStartBytes);
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return buffer.subarray(0, length);
    const needed = length + value.length;
    if (needed > limitBytes) return undefined;
    if (needed > buffer.length) {
      const bytes = Math.max(needed, 2 * buffer.length);
      buffer = new Uint8Array(buffer.buffer.transfer(bytes));
    }
    buffer.set(value, length);
    length = needed;
  }
}

const bufferStartBytes = 1_024;

/**
 * True when the request is still open one turn of the event loop later. Bun finds stray bytes and
 * trailers only after a complete body. It then responds with 400 and aborts the request, which must
 * not be carried out.
 */
export async function stillStands(request: Request): Promise<boolean> {
  await new Promise(setImmediate);
  return !request.signal.aborted;
}

function refused(kind: ErrorKind, message: string): Refused {
  return { refusal: refusal(kind, message) };
}

export const unreadableBody = refusal("invalid_request", "The body could not be read.");
const tooLarge = refused(
  "payload_too_large",
  `The body is larger than ${bodyLimitBytes / 1024} KiB.`,
);
const crowded = refusal("unavailable", "Too many requests with a body are under way; try again.");
/** Nesting of some ten thousand levels takes seconds to check. */
const nestedTooDeeply = refused("invalid_request", "The body is nested too deeply.");
/** Each level needs two brackets, so a text of this length is not nested too deeply. */
const shortLength = 2 * nestingMax;

/** The media type of JSON, with any parameters (RFC 9110, section 8.3.1). */
const anyJson = /^[ \t]*application\/json[ \t]*(?:;|$)/i;

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** The JSON object in a body, or why there is none. */
export function decodeObject(
  body: Uint8Array,
  headers: UnreadBody["headers"],
): { readonly value: Record<string, unknown> } | Refused {
  if (body.length === 0) {
    return refused("invalid_request", "The request has no body; it must be a JSON object.");
  }
  if (!anyJson.test(headers["content-type"] ?? "")) {
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
