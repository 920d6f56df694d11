import { Readable, pipeline } from "node:stream";
import { createGunzip } from "node:zlib";
import { foreignKind } from "./foreign.ts";
import { type ByteChunks, startsWith, UnreadableInput, utf8Chunks } from "./input.ts";
import { peeked } from "./peek.ts";
import { message } from "../messages.ts";

/** An input as it can be read on: UTF-8 text, or a workbook. */
type Opened =
  | { readonly kind: "text"; readonly chunks: ByteChunks }
  | { readonly kind: "workbook"; readonly chunks: ByteChunks };

/** Enough to tell what an input is, and the title of a web page. */
const beginningBytes = 4_096;

const gzip = [0x1f, 0x8b];
const zip = [0x50, 0x4b, 3, 4];
/** Byte order marks, which say more of a file than `--encoding` in a script does. */
const marks = [
  [[0xff, 0xfe], "utf-16le"],
  [[0xfe, 0xff], "utf-16be"],
  [[0xef, 0xbb, 0xbf], "utf-8"],
] as const;

/**
 * Opens an input as it is: gzip is unpacked, marked UTF-16 and `encoding` (of TextDecoder) are
 * decoded, an Excel workbook is told from text. Throws UnreadableInput for what is no such input,
 * named for what it is.
 */
export async function openInput(source: ByteChunks, encoding?: string): Promise<Opened> {
  const { beginning, chunks, close } = await peeked(source, beginningBytes);
  if (startsWith(beginning, gzip)) return await openInput(unpacked(chunks), encoding);
  if (startsWith(beginning, zip)) return { kind: "workbook", chunks };
  const foreign = foreignKind(beginning);
  if (foreign !== undefined && !(foreign.code === "utf16Unmarked" && encoding !== undefined)) {
    await close();
    throw new UnreadableInput(0, foreign);
  }
  const marked = marks.find(([bytes]) => startsWith(beginning, bytes));
  const name = marked?.[1] ?? encoding ?? "utf-8";
  return { kind: "text", chunks: utf8Chunks(name === "utf-8" ? chunks : decoded(chunks, name)) };
}

/** The content of gzip data. Throws UnreadableInput when it is cut off or damaged. */
async function* unpacked(chunks: ByteChunks): AsyncGenerator<Uint8Array> {
  const gunzip = createGunzip();
  // What breaks in between comes out of the iteration below.
  pipeline(Readable.from(chunks, { objectMode: true }), gunzip, () => {});
  try {
    for await (const piece of gunzip) yield piece as Uint8Array;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "Z_BUF_ERROR") throw new UnreadableInput(0, message("compressedCut"));
    if (code?.startsWith("Z_") !== true) throw error;
    throw new UnreadableInput(0, message("compressedDamaged", (error as Error).message));
  }
}

/** Text in another encoding as UTF-8. Throws UnreadableInput at the line that is not text in it. */
async function* decoded(chunks: ByteChunks, encoding: string): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder(encoding as Bun.Encoding, { fatal: true });
  const encoder = new TextEncoder();
  let line = 1;
  const decode = (chunk: Uint8Array | undefined) => {
    try {
      return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true });
    } catch {
      throw new UnreadableInput(line, message("notEncoded", encoding));
    }
  };
  for await (const chunk of chunks) {
    const text = decode(chunk);
    line += text.split("\n").length - 1;
    if (text !== "") yield encoder.encode(text);
  }
  // Half a character at the end is none.
  decode(undefined);
}

/** True for a name of an encoding that `--encoding` can have. */
export function isEncoding(name: string): boolean {
  try {
    return new TextDecoder(name as Bun.Encoding).encoding !== "";
  } catch {
    return false;
  }
}
