import { nestingMax, parseJson } from "../../../domain/exact-json.ts";
import { explainJson } from "./explain-json.ts";
import { type ByteChunks, UnreadableInput, Window } from "./input.ts";
import type { RecordBatch } from "./records.ts";
import { message } from "../messages.ts";

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const openList = 0x5b;
const closeList = 0x5d;
const openObject = 0x7b;
const closeObject = 0x7d;
/** From an opening bracket's code to that of its closing one, of either kind. */
const closerOffset = 2;
const newline = 0x0a;
const space = 0x20;
const endOfInput = -1;

/** Names under which services wrap the list of their records. */
const listNames: ReadonlySet<string> = new Set([
  "animals",
  "data",
  "pets",
  "items",
  "results",
  "records",
]);
/** JSON:API's second list: what the records refer to. */
const includedName = "included";

/** True for a field whose list makes the object around it a wrapper and not a record. */
export function isListName(name: string): boolean {
  return name === includedName || listNames.has(name);
}

const batchRecordsMax = 512;

interface JsonOptions {
  /** True when top-level objects wrap a list of records, false when they are records. */
  readonly wrapped: boolean;
  /** Gets each element of a JSON:API `included` list, before or after what refers to it. */
  readonly onIncluded?: (value: unknown) => void;
  /** Gets what stands beside the list in the objects that wrap it. */
  readonly onBeside?: (name: string, value: unknown) => void;
  /** The fields that lead to the list of records, where it has none of the usual names. */
  readonly records?: readonly string[];
}

/**
 * The records of JSON text: the elements of arrays, objects after one another, or the elements of
 * the lists within wrapping objects; several documents may follow each other. Memory is bounded by
 * the largest record. Throws UnreadableInput at the line where the text stops being JSON.
 */
export async function* readJson(
  chunks: ByteChunks,
  options: JsonOptions,
): AsyncGenerator<RecordBatch> {
  const reader = new JsonReader(chunks, options);
  try {
    yield* reader.documents();
  } finally {
    await reader.close();
  }
}

/** An element that is not parsed yet: its place in the window, and its first line. */
interface Found {
  readonly start: number;
  readonly end: number;
  readonly line: number;
}

/** True for what stands behind a number, true, false or null. */
function endsScalar(byte: number | undefined): boolean {
  return (
    byte === undefined ||
    byte <= space ||
    byte === comma ||
    byte === closeList ||
    byte === closeObject ||
    byte === colon
  );
}

class JsonReader {
  readonly #window: Window;
  readonly #options: JsonOptions;
  readonly #decoder = new TextDecoder();
  /** Closing brackets awaited within the value being scanned. */
  readonly #closers = new Uint8Array(nestingMax);
  #at = 0;
  #line = 1;
  #hasRecords = false;

  constructor(chunks: ByteChunks, options: JsonOptions) {
    this.#window = new Window(chunks);
    this.#options = options;
  }

  async close(): Promise<void> {
    await this.#window.close();
  }

  async *documents(): AsyncGenerator<RecordBatch> {
    for (;;) {
      const first = await this.#token();
      if (first === endOfInput) return this.#requireRecords();
      if (first === openList) yield* this.#list();
      else if (first !== openObject) throw this.#expected("a JSON array or object");
      else if (this.#options.wrapped) yield* this.#wrapper(this.#options.records);
      else yield await this.#single();
    }
  }

  #requireRecords(): void {
    const { records } = this.#options;
    if (records === undefined || this.#hasRecords) return;
    throw new UnreadableInput(0, message("noList", records.join(".")));
  }

  /** An object around the list of records, which `path` leads to if its name is unusual. */
  async *#wrapper(path: readonly string[] | undefined): AsyncGenerator<RecordBatch> {
    this.#at += 1;
    let next = await this.#token();
    while (next !== closeObject) {
      if (next !== quote) throw this.#expected("a field name in double quotes");
      const [name] = (await this.#single()).records;
      if ((await this.#token()) !== colon) throw this.#expected("':' after the field name");
      this.#at += 1;
      yield* path === undefined ? this.#field(String(name)) : this.#step(String(name), path);
      next = await this.#token();
      if (next === comma) {
        this.#at += 1;
        next = await this.#token();
        if (next === closeObject) throw this.#expected("a field name in double quotes");
      } else if (next !== closeObject) throw this.#expected("',' or '}'");
    }
    this.#at += 1;
  }

  async *#field(name: string): AsyncGenerator<RecordBatch> {
    const first = await this.#token();
    if (first === openList && name === includedName) {
      for await (const batch of this.#list()) {
        batch.records.forEach((value) => this.#options.onIncluded?.(value));
      }
    } else if (first === openList && listNames.has(name)) yield* this.#list();
    else if (first === openObject && listNames.has(name)) yield await this.#single();
    // What stands beside the lists (counts, links) must be JSON too, but says nothing about
    // animals.
    else await this.#beside(name);
  }

  async #beside(name: string): Promise<void> {
    const [value] = (await this.#single()).records;
    this.#options.onBeside?.(name, value);
  }

  /** A field of an object on the way to the list of records, or beside it. */
  async *#step(name: string, [wanted, ...rest]: readonly string[]): AsyncGenerator<RecordBatch> {
    const first = await this.#token();
    if (name === wanted && first === openObject) yield* this.#wrapper(rest);
    else if (name === wanted && rest.length === 0 && first === openList) {
      this.#hasRecords = true;
      yield* this.#list();
    } else await this.#beside(name);
  }

  /** One value by itself. */
  async #single(): Promise<RecordBatch> {
    for (;;) {
      const line = this.#line;
      const end = this.#valueEnd(this.#at);
      if (end >= 0) {
        const found = { start: this.#at, end, line };
        this.#at = end;
        return this.#parse([found]);
      }
      this.#line = line;
      await this.#readOn("the value's end");
    }
  }

  async *#list(): AsyncGenerator<RecordBatch> {
    this.#at += 1;
    if ((await this.#token()) === closeList) {
      this.#at += 1;
      return;
    }
    for (;;) {
      const found: Found[] = [];
      const outcome = this.#scan(found);
      if (found.length > 0) yield this.#parse(found);
      if (outcome === "closed") return;
      if (outcome === "starved") await this.#readOn("',' or ']' after a record");
    }
  }

  /** Finds elements with their separators until the list, the batch or the window ends. */
  #scan(found: Found[]): "closed" | "full" | "starved" {
    const { bytes, end } = this.#window;
    while (found.length < batchRecordsMax) {
      const before = this.#at;
      const lineBefore = this.#line;
      const start = this.#blanksEnd(before);
      const line = this.#line;
      const valueEnd = start < end ? this.#valueEnd(start) : -1;
      const separator = valueEnd < 0 ? end : this.#blanksEnd(valueEnd);
      if (separator >= end) {
        this.#at = before;
        this.#line = lineBefore;
        return "starved";
      }
      found.push({ start, end: valueEnd, line });
      this.#at = separator + 1;
      if (bytes[separator] === closeList) return "closed";
      if (bytes[separator] !== comma) {
        this.#at = separator;
        throw this.#malformed(found) ?? this.#expected("',' or ']' after a record");
      }
    }
    return "full";
  }

  /** The end of the value that begins at `start`, or -1 if the window ends first. Counts lines. */
  #valueEnd(start: number): number {
    const { bytes, end } = this.#window;
    const first = bytes[start];
    if (first === quote) return this.#stringEnd(start + 1);
    if (first !== openObject && first !== openList) return this.#scalarEnd(start);
    let depth = 0;
    let at = start;
    while (at < end) {
      const byte = bytes[at];
      at += 1;
      if (byte === quote) {
        at = this.#stringEnd(at);
        if (at < 0) return -1;
      } else if (byte === openObject || byte === openList) {
        if (depth === nestingMax) {
          throw new UnreadableInput(this.#line, message("nestedDeep", String(nestingMax)));
        }
        this.#closers[depth] = byte + closerOffset;
        depth += 1;
      } else if (byte === closeObject || byte === closeList) {
        depth -= 1;
        if (this.#closers[depth] !== byte) throw this.#mismatch(start, at - 1);
        if (depth === 0) return at;
      } else if (byte === newline) this.#line += 1;
    }
    return -1;
  }

  #stringEnd(start: number): number {
    const { bytes, end } = this.#window;
    for (let at = start; at < end; at += 1) {
      const byte = bytes[at];
      if (byte === quote) return at + 1;
      if (byte === backslash) at += 1;
    }
    return -1;
  }

  #scalarEnd(start: number): number {
    const { bytes, end, ended } = this.#window;
    let at = start;
    while (at < end && !endsScalar(bytes[at])) at += 1;
    if (at === end) return ended ? end : -1;
    if (at > start) return at;
    this.#at = start;
    throw this.#expected("a value");
  }

  #blanksEnd(start: number): number {
    const { bytes, end } = this.#window;
    let at = start;
    for (; at < end; at += 1) {
      const byte = bytes[at];
      if (byte === newline) this.#line += 1;
      else if (byte !== space && byte !== 0x0d && byte !== 0x09) break;
    }
    return at;
  }

  /** The next byte that is not blank, left to be read; `endOfInput` at the end. */
  async #token(): Promise<number> {
    for (;;) {
      this.#at = this.#blanksEnd(this.#at);
      const { bytes, end, ended } = this.#window;
      const byte = this.#at < end ? bytes[this.#at] : undefined;
      if (byte !== undefined) return byte;
      if (ended) return endOfInput;
      await this.#refill();
    }
  }

  async #readOn(awaited: string): Promise<void> {
    if (this.#window.ended) {
      this.#at = this.#blanksEnd(this.#at);
      const problem =
        explainJson(this.#textFrom(this.#at))?.problem ?? `expected ${awaited}, found the end`;
      throw new UnreadableInput(this.#line, message("cutOff", problem));
    }
    await this.#refill();
  }

  async #refill(): Promise<void> {
    this.#window.start = this.#at;
    await this.#window.readOn(this.#line);
    this.#at = 0;
  }

  #parse(found: readonly Found[]): RecordBatch {
    // Elements and the commas between them are one stretch of the input, so one parse serves them
    // all.
    const text = this.#text(found[0]?.start ?? 0, found.at(-1)?.end ?? 0);
    try {
      const records = parseJson(`[${text}]`) as unknown[];
      return { lines: found.map(({ line }) => line), records };
    } catch (error) {
      throw this.#malformed(found) ?? error;
    }
  }

  /** The first of the found elements that is not JSON, as an error. */
  #malformed(found: readonly Found[]): UnreadableInput | undefined {
    for (const { start, end, line } of found) {
      const fault = explainJson(this.#text(start, end));
      if (fault === undefined) continue;
      return new UnreadableInput(line + fault.linesDown, message("notJson", fault.problem));
    }
    return undefined;
  }

  #mismatch(start: number, at: number): UnreadableInput {
    const fault = explainJson(this.#text(start, at + 1));
    const line = this.#line - this.#text(start, at).split("\n").length + 1;
    const problem = message("notJson", fault?.problem ?? "mismatched brackets");
    return new UnreadableInput(line + (fault?.linesDown ?? 0), problem);
  }

  /** Shows one character of what was found: whether there is more in the window is chance. */
  #expected(what: string): UnreadableInput {
    const [character] = this.#textFrom(this.#at);
    const found = character === undefined ? "the end" : JSON.stringify(character);
    return new UnreadableInput(this.#line, message("notJson", `expected ${what}, found ${found}`));
  }

  #text(start: number, end: number): string {
    return this.#decoder.decode(this.#window.bytes.subarray(start, end));
  }

  #textFrom(start: number): string {
    return this.#text(start, this.#window.end);
  }
}
