import { decodeHTML } from "entities/decode";
import { type Message, message } from "../messages.ts";
import { startsWith } from "./input.ts";

/** Files that are no text of ours, by how they begin. */
const binary: ReadonlyArray<readonly [readonly number[], Message]> = [
  [[0x28, 0xb5, 0x2f, 0xfd], message("compressed", "zstd")],
  [[0xfd, 0x37, 0x7a, 0x58], message("compressed", "xz")],
  [[0x42, 0x5a, 0x68], message("compressed", "bzip2")],
  [[0x25, 0x50, 0x44, 0x46], message("pdf")],
  [[0xd0, 0xcf, 0x11, 0xe0], message("oldWorkbook")],
  [[0xff, 0xd8, 0xff], message("picture")],
  [[0x89, 0x50, 0x4e, 0x47], message("picture")],
  [[0x47, 0x49, 0x46, 0x38], message("picture")],
];

/** How pictures of phones begin behind their first four bytes, and WebP behind eight. */
const pictureTypes = /^.{4}ftyp(?:hei|hev|mif|avif)|^RIFF.{4}WEBP/s;

const titleCharactersMax = 80;

/** What an input is, by its first kilobytes, if it is not text with records. */
export function foreignKind(beginning: Uint8Array): Message | undefined {
  const found = binary.find(([bytes]) => startsWith(beginning, bytes));
  if (found !== undefined) return found[1];
  if (pictureTypes.test(new TextDecoder("latin1").decode(beginning.subarray(0, 16)))) {
    return message("picture");
  }
  if (beginning.includes(0) && beginning[0] !== 0xff && beginning[0] !== 0xfe)
    return zeros(beginning);
  const text = new TextDecoder().decode(beginning).trimStart();
  if (text.startsWith("version https://git-lfs.github.com/spec/")) {
    return message("gitPointer");
  }
  if (/^<(?:!doctype html|html|head|body)\b/i.test(text)) {
    return message("webPage", titleOf(text));
  }
  if (text.startsWith("<")) return message("xml");
  return undefined;
}

/** Of so many bytes in UTF-16 one is zero at least: those of line ends and delimiters. */
const zeroShare = 32;

/** Text of two bytes a character has zeros on one side only. */
function zeros(beginning: Uint8Array): Message | undefined {
  if (zeroShare * beginning.filter((byte) => byte === 0).length < beginning.length)
    return undefined;
  const even = beginning.filter((_, index) => index % 2 === 0);
  const odd = beginning.filter((_, index) => index % 2 === 1);
  if (!even.includes(0)) return message("utf16Unmarked", "utf-16le");
  return odd.includes(0) ? undefined : message("utf16Unmarked", "utf-16be");
}

function titleOf(html: string): string {
  const title = /<title[^>]*>([^<]*)/i.exec(html)?.[1]?.trim() ?? "";
  return decodeHTML(title).replaceAll(/\s+/g, " ").slice(0, titleCharactersMax);
}
