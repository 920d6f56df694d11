import { isUtf8 } from "node:buffer";
import { gunzipSync } from "node:zlib";
import { decodeHTML } from "entities/decode";
import { type Message, message, messageText } from "../messages.ts";

const mebibyte = 1024 * 1024;

/** What an import takes at most. All of a file is in memory, so this bounds the memory too. */
export const limits = {
  /** Of the file, unpacked. */
  bytes: 64 * mebibyte,
  records: 100_000,
  /** With a heading, or with a value in any row. */
  columns: 1_000,
  recordBytes: mebibyte,
} as const;

/** What is known of lists of animals, to find the list and its header. */
export interface Known {
  /** True for the header of a known format. */
  isHeader(columns: readonly string[]): boolean;
  /** How many of these cells are headings that lists of animals have. */
  familiar(cells: readonly string[]): number;
  /** True for cells of a record, and not of a header. */
  isRecord(cells: readonly string[]): boolean;
  /** True for a kind or a status: alone in a row, it tells of the rows below it. */
  isTold(cell: string): boolean;
  /** True for a JSON object that is a record, and not around a list of them. */
  isObject(value: unknown): boolean;
  isKind(name: string): boolean;
}

/**
 * Input that cannot be imported as a whole. The message names the line (from 1) and what
 * was expected there; 0 stands for the input as a whole.
 */
export class UnreadableInput extends Error {
  override readonly name: string = "UnreadableInput";

  constructor(
    readonly line: number,
    readonly problem: Message,
  ) {
    const text = messageText(problem);
    super(line > 0 ? `line ${line}: ${text}` : text);
  }
}

/** All bytes of a file, a pipe or a response. Throws UnreadableInput above the limit. */
export async function wholeInput(
  chunks: AsyncIterable<Uint8Array>,
  bytesMax: number = limits.bytes,
): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > bytesMax) throw tooLarge();
    pieces.push(chunk);
  }
  return Buffer.concat(pieces);
}

export function tooLarge(): UnreadableInput {
  return new UnreadableInput(0, message("inputLarge", String(limits.bytes / mebibyte)));
}

/** The beginning as a text of a character for each byte. */
const beginningOf = (bytes: Uint8Array) =>
  Buffer.from(bytes.subarray(0, beginningBytes)).toString("latin1");
const beginningBytes = 4_096;

const [gzip, zip] = ["\u001f\u008b", "PK\u0003\u0004"];
/** Byte order marks, which say more of a file than `--encoding` in a script does. */
const marks = [
  ["\u00ff\u00fe", "utf-16le"],
  ["\u00fe\u00ff", "utf-16be"],
  ["\u00ef\u00bb\u00bf", "utf-8"],
] as const;

/**
 * Unpacks one layer of gzip, and decodes text: by its mark, by `encoding` (of TextDecoder), as
 * UTF-8, or as what Windows writes. The bytes of a workbook stay. Throws UnreadableInput, which
 * names what the input is instead.
 */
export function opened(
  input: Uint8Array,
  encoding?: string,
): Uint8Array | { readonly text: string; readonly encoding: string } {
  const unpack = () => gunzipSync(input, { maxOutputLength: limits.bytes });
  const bytes = beginningOf(input).startsWith(gzip) ? orUnreadable(damagedGzip, unpack) : input;
  const beginning = beginningOf(bytes);
  if (beginning.startsWith(zip)) return bytes;
  const foreign = foreignKind(beginning);
  if (foreign !== undefined) throw new UnreadableInput(0, foreign);
  const marked = marks.find(([mark]) => beginning.startsWith(mark));
  const name = marked?.[1] ?? encoding ?? guessedEncoding(bytes);
  return { text: decoded(bytes, name), encoding: name };
}

const damagedGzip = (why: string) => new UnreadableInput(0, message("compressedDamaged", why));

/** What `unpack` returns. Throws UnreadableInput for too much, and what is `damaged`. */
export function orUnreadable<T>(damaged: (why: string) => UnreadableInput, unpack: () => T): T {
  try {
    return unpack();
  } catch (error) {
    if (error instanceof UnreadableInput) throw error;
    const { code, message: why } = error as NodeJS.ErrnoException;
    throw code === "ERR_BUFFER_TOO_LARGE" ? tooLarge() : damaged(why);
  }
}

function decoded(bytes: Uint8Array, encoding: string): string {
  try {
    return new TextDecoder(encoding as Bun.Encoding, { fatal: true }).decode(bytes);
  } catch {
    throw new UnreadableInput(0, message("notEncoded", encoding));
  }
}

/** What spreadsheets on Windows write in Western Europe where they do not write UTF-8. */
const windows = "windows-1252";
/** Old programs on the Mac end lines in CR alone, and have letters of their own. */
export const oldMacLines = /^[^\r\n]*\r(?![\r\n])/;
/** Text in the Latin alphabet has fewer letters beyond ASCII than one in so many. */
const foreignShare = 4;

/** UTF-8, or what old programs write. Throws UnreadableInput for damaged and other texts. */
function guessedEncoding(bytes: Uint8Array): string {
  // UTF-16 has a zero beside each letter of the first heading.
  if (bytes.subarray(0, 2).includes(0)) throw new UnreadableInput(0, message("encodingUnknown"));
  if (isUtf8(bytes)) return "utf-8";
  const text = new TextDecoder().decode(bytes);
  let [letters, valid, invalid] = [0, 0, 0];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0xfffd) invalid += 1;
    else if (code >= 0x80) valid += 1;
    else if (code >= 0x41) letters += 1;
  }
  if (valid > invalid) {
    const line = text.slice(0, text.indexOf("\ufffd")).split("\n").length;
    throw new UnreadableInput(line, message("notUtf8"));
  }
  if (foreignShare * invalid > letters + invalid) {
    throw new UnreadableInput(0, message("encodingUnknown"));
  }
  if (oldMacLines.test(text)) return "macintosh";
  // No Western word has these signs within, which stand for letters of Polish.
  const isPolish = /\p{Ll}[¹³¿]\p{Ll}/u.test(new TextDecoder(windows).decode(bytes));
  return isPolish ? "windows-1250" : windows;
}

/** True for a name of an encoding that `--encoding` can have. */
export function isEncoding(name: string): boolean {
  try {
    return new TextDecoder(name as Bun.Encoding).encoding !== "";
  } catch {
    return false;
  }
}

/** Files that are no text of ours, by how they begin. */
const binary: readonly (readonly [string, Message])[] = [
  [gzip, message("compressed", "gzip")],
  ["\u0028\u00b5\u002f\u00fd", message("compressed", "zstd")],
  ["\u00fd7zXZ", message("compressed", "xz")],
  ["BZh", message("compressed", "bzip2")],
  ["%PDF", message("otherKind", "PDF")],
  ["\u00d0\u00cf\u0011\u00e0", message("otherKind", "XLS")],
  ["version https://git-lfs.github.com/spec/", message("otherKind", "Git LFS pointer")],
];

const titleCharactersMax = 80;

/** What an input is, by its first kilobytes, if it is not text with records. */
function foreignKind(beginning: string): Message | undefined {
  const found = binary.find(([start]) => beginning.startsWith(start));
  if (found !== undefined) return found[1];
  const text = new TextDecoder().decode(Buffer.from(beginning, "latin1")).trimStart();
  if (!/^<(?:!doctype html|html|head|body|table|meta)\b/i.test(text)) {
    return text.startsWith("<") ? message("otherKind", "XML") : undefined;
  }
  const [, title] = /<title[^>]*>([^<]*)/i.exec(text) ?? [];
  const isTable = /<table\b|schemas-microsoft-com:office:excel/i.test(text);
  if (isTable && title === undefined) return message("htmlTable");
  const words = decodeHTML(title ?? "").trim();
  return message("webPage", words.replaceAll(/\s+/g, " ").slice(0, titleCharactersMax));
}
