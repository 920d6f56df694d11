import { isUtf8 } from "node:buffer";
import { type Message, message, messageText } from "../messages.ts";

/** A file, a pipe or standard input: its bytes in pieces of any size. */
export type ByteChunks = AsyncIterable<Uint8Array>;

/**
 * Input that cannot be read to its end. The message names the line (from 1) and what was expected
 * there; line 0 stands for the input as a whole.
 */
export class UnreadableInput extends Error {
  override readonly name = "UnreadableInput";
  readonly line: number;
  readonly problem: Message;

  constructor(line: number, problem: Message) {
    const text = messageText(problem);
    super(line > 0 ? `line ${line}: ${text}` : text);
    this.line = line;
    this.problem = problem;
  }
}

const newline = 10;
const nothing = new Uint8Array(0);
/** Enough bytes to tell a byte order mark. */
const beginningBytes = 3;

/**
 * The same bytes, proven to be UTF-8 and cut between characters, without a leading byte order mark.
 * Throws UnreadableInput naming the first line that is not UTF-8.
 */
export async function* utf8Chunks(chunks: ByteChunks): AsyncGenerator<Uint8Array> {
  let held: Uint8Array = nothing;
  let line = 1;
  let begun = false;
  for await (const chunk of chunks) {
    let bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    if (!begun) {
      if (bytes.length < beginningBytes) {
        held = bytes.slice();
        continue;
      }
      bytes = afterBeginning(bytes);
      begun = true;
    }
    const end = wholeCharactersEnd(bytes);
    held = bytes.slice(end);
    const whole = bytes.subarray(0, end);
    if (!isUtf8(whole)) throw notUtf8(whole, line);
    line += newlinesIn(whole);
    if (end > 0) yield whole;
  }
  if (!isUtf8(held)) throw notUtf8(held, line);
  if (held.length > 0) yield held;
}

/** All of an input in one piece. Throws UnreadableInput with `tooMany` above `bytesMax` bytes. */
export async function wholeInput(
  chunks: ByteChunks,
  bytesMax: number,
  tooMany: Message,
): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    pieces.push(chunk);
    size += chunk.length;
    if (size > bytesMax) throw new UnreadableInput(0, tooMany);
  }
  return Buffer.concat(pieces);
}

export function startsWith(bytes: Uint8Array, beginning: readonly number[]): boolean {
  return beginning.every((byte, index) => bytes[index] === byte);
}

function afterBeginning(bytes: Uint8Array): Uint8Array {
  return startsWith(bytes, [0xef, 0xbb, 0xbf]) ? bytes.subarray(3) : bytes;
}

/** Where the last complete character of `bytes` ends: at most three bytes before its end. */
function wholeCharactersEnd(bytes: Uint8Array): number {
  const end = bytes.length;
  for (let back = 1; back <= Math.min(3, end); back += 1) {
    const byte = bytes[end - back] ?? 0;
    if (byte < 0x80) return end;
    if (byte >= 0xc0) {
      const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return needed > back ? end - back : end;
    }
  }
  return end;
}

function newlinesIn(bytes: Uint8Array): number {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let count = 0;
  for (let at = buffer.indexOf(newline); at >= 0; at = buffer.indexOf(newline, at + 1)) count += 1;
  return count;
}

function notUtf8(bytes: Uint8Array, firstLine: number): UnreadableInput {
  let line = firstLine;
  let start = 0;
  for (;;) {
    const end = bytes.indexOf(newline, start);
    if (end < 0 || !isUtf8(bytes.subarray(start, end))) break;
    start = end + 1;
    line += 1;
  }
  return new UnreadableInput(line, message("notUtf8"));
}

/** How many bytes enter the window at once, so that one huge chunk does not make one huge batch. */
const portionBytes = 64 * 1024;
/** The largest single record (JSON value or line). An animal with all its texts is far below. */
export const recordBytesMax = 16 * 1024 * 1024;

/**
 * The part of the input that is being looked at. Bytes before `start` are done with; reading on
 * moves what is left to the front, so positions are good only until the next `readOn`.
 */
export class Window {
  bytes: Uint8Array = new Uint8Array(4 * portionBytes);
  start = 0;
  end = 0;
  ended = false;
  readonly #chunks: AsyncIterator<Uint8Array>;
  #chunk: Uint8Array = nothing;

  constructor(chunks: ByteChunks) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** Reads until twice as much as now is left, or to the end. So re-reading stays linear. */
  async readOn(line: number): Promise<void> {
    const left = this.end - this.start;
    if (left > recordBytesMax) {
      throw new UnreadableInput(line, message("recordLong", String(recordBytesMax)));
    }
    this.bytes.copyWithin(0, this.start, this.end);
    this.start = 0;
    this.end = left;
    const wanted = Math.max(left * 2, left + 1);
    while (this.end < wanted && !this.ended) {
      if (this.#chunk.length === 0) await this.#nextChunk();
      else this.#append(this.#chunk.subarray(0, portionBytes));
    }
  }

  async #nextChunk(): Promise<void> {
    const next = await this.#chunks.next();
    if (next.done === true) this.ended = true;
    else this.#chunk = next.value;
  }

  #append(portion: Uint8Array): void {
    if (this.end + portion.length > this.bytes.length) {
      const larger = new Uint8Array(2 * this.bytes.length);
      larger.set(this.bytes.subarray(0, this.end));
      this.bytes = larger;
    }
    this.bytes.set(portion, this.end);
    this.end += portion.length;
    this.#chunk = this.#chunk.subarray(portion.length);
  }

  /** Lets the source go, when reading stops before its end. */
  async close(): Promise<void> {
    await this.#chunks.return?.();
  }
}
