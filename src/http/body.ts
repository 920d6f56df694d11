import { isDeeperThan, isJsonObject, nestingMax, parseJson } from "../domain/exact-json.ts";
import { readOnlyKey, type Refusal } from "../service/admission.ts";
import type { RequestContext } from "./context.ts";
import { encodedBody, jsonType, refusal, RefusalError } from "./errors.ts";
import { idleTimeoutSeconds } from "./server.ts";

interface BodyBounds {
  readonly bytes: number;
  /** The time for one body. Bytes that drip in do not prolong it. */
  readonly seconds: number;
  /** Bodies that may be unfinished at the same time: in all, of one address, and of one key. */
  readonly atOnce: number;
  readonly perAddress: number;
  readonly perKey?: number;
}

/** Who sends a body; one address counts as one caller. */
export type Sender = Pick<RequestContext, "bucket" | "limitTime">;

/** Why a body was not read: too large, too many others, or the caller hung up. */
type BodyFailure = "too large" | "too many" | "interrupted";

/** A body under way. */
interface Place {
  readonly sender: Sender;
  readonly keyId: string | undefined;
}

export class BodyReader {
  readonly #taken = new Set<Place>();

  constructor(private readonly bounds: BodyBounds) {}

  async read(request: Request, sender: Sender, keyId?: string): Promise<Uint8Array | BodyFailure> {
    const place = { sender, keyId };
    if (!this.#hasRoom(place)) return "too many";
    this.#taken.add(place);
    sender.limitTime(this.bounds.seconds);
    try {
      return (await readUpTo(request, this.bounds.bytes)) ?? "too large";
    } catch {
      // The caller hung up, or Bun ended the request.
      return "interrupted";
    } finally {
      this.#taken.delete(place);
      // The time of a request stays with its connection.
      sender.limitTime(idleTimeoutSeconds);
    }
  }

  #hasRoom({ sender, keyId }: Place): boolean {
    const { atOnce, perAddress, perKey = perAddress } = this.bounds;
    if (this.#taken.size < Math.min(perAddress, perKey)) return true;
    if (this.#taken.size >= atOnce) return false;
    let ofAddress = 0;
    let ofKey = 0;
    for (const other of this.#taken) {
      if (other.sender.bucket() === sender.bucket()) ofAddress += 1;
      if (keyId !== undefined && other.keyId === keyId) ofKey += 1;
    }
    return ofAddress < perAddress && ofKey < perKey;
  }
}

/** A request's body, or undefined when it has more than `bytesMax`; it reads no further. */
export async function readUpTo(
  request: Request,
  bytesMax: number,
): Promise<Uint8Array | undefined> {
  const announced = request.headers.get("content-length");
  if (announced !== null) return Number(announced) > bytesMax ? undefined : request.bytes();
  if (request.body === null) return new Uint8Array();
  const reader = request.body.getReader();
  // One growing buffer: an array per chunk would cost a hundred times a byte.
  let buffer = new Uint8Array(1_024);
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return buffer.subarray(0, length);
    const needed = length + value.length;
    if (needed > bytesMax) return undefined;
    if (needed > buffer.length) {
      const bytes = Math.max(needed, 2 * buffer.length);
      buffer = new Uint8Array(buffer.buffer.transfer(bytes));
    }
    buffer.set(value, length);
    length = needed;
  }
}

/**
 * True when the request is still open one turn of the event loop later. Bun finds stray bytes and
 * trailers only after a complete body. It then responds with 400 and aborts the request, which must
 * not be carried out.
 */
export async function isStillOpen(request: Request): Promise<boolean> {
  await new Promise(setImmediate);
  return !request.signal.aborted;
}

export const bodyLimitBytes = 64 * 1024;
const bodies = new BodyReader({
  bytes: bodyLimitBytes,
  seconds: 30,
  atOnce: 1_024,
  perAddress: 256,
  // Less than of an address, which several keys may share.
  perKey: 128,
});

export const unreadableBody = refusal("invalid_request", "The body could not be read.");

const failures: Readonly<Record<BodyFailure, Refusal>> = {
  "too large": refusal(
    "payload_too_large",
    `The body is larger than ${bodyLimitBytes / 1024} KiB.`,
  ),
  "too many": refusal("unavailable", "Too many requests with a body are under way; try again."),
  interrupted: unreadableBody,
};

/** Reads the JSON object that an admitted request sends. Throws RefusalError for another body. */
export async function parseBody(
  request: Request,
  context: RequestContext,
): Promise<Record<string, unknown>> {
  const { key } = context.admitted();
  if (key?.readOnly === true) throw new RefusalError(readOnlyKey);
  const body = await bodies.read(request, context, key?.id);
  if (!(body instanceof Uint8Array)) throw new RefusalError(failures[body]);
  if (body.length === 0) throw invalid("The request has no body; it must be a JSON object.");
  requireJson(request.headers);
  return decodeObject(body);
}

const invalid = (message: string) => new RefusalError(refusal("invalid_request", message));

/** The media type of JSON, with any parameters (RFC 9110, section 8.3.1). */
const anyJson = /^[ \t]*application\/json[ \t]*(?:;|$)/i;

function requireJson(headers: Headers): void {
  const type = headers.get("content-type");
  if (!anyJson.test(type ?? "")) {
    const came = type === null ? "and came without one" : `not ${type.slice(0, 100)}`;
    const message = `The body must be sent as Content-Type: ${jsonType}, ${came}.`;
    throw new RefusalError(refusal("unsupported_media_type", message));
  }
  const coding = headers.get("content-encoding")?.trim().toLowerCase() ?? "identity";
  if (coding !== "identity") throw new RefusalError(encodedBody);
}

const utf8 = new TextDecoder("utf-8", { fatal: true });
const nestedTooDeeply = "The body is nested too deeply.";
/** Each level needs two brackets, so a text of this length is not nested too deeply. */
const shortLength = 2 * nestingMax;

function decodeObject(body: Uint8Array): Record<string, unknown> {
  let text: string;
  try {
    text = utf8.decode(body);
  } catch {
    throw invalid("The body is not valid UTF-8.");
  }
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    // Nesting of some ten thousand levels takes seconds to check.
    throw invalid(error instanceof RangeError ? nestedTooDeeply : "The body is not valid JSON.");
  }
  if (text.length > shortLength && isDeeperThan(nestingMax, value)) throw invalid(nestedTooDeeply);
  if (!isJsonObject(value)) throw invalid("The body must be a JSON object.");
  return value;
}
