import { decodeHTML } from "entities/decode";

/** Files that are no text of ours, by how they begin. */
const binary: ReadonlyArray<readonly [readonly number[], string]> = [
  [[0x28, 0xb5, 0x2f, 0xfd], "the input is compressed with zstd: unpack it first (zstd -dc FILE)"],
  [[0xfd, 0x37, 0x7a, 0x58], "the input is compressed with xz: unpack it first (xz -dc FILE)"],
  [[0x42, 0x5a, 0x68], "the input is compressed with bzip2: unpack it first (bzip2 -dc FILE)"],
  [[0x25, 0x50, 0x44, 0x46], "the input is a PDF document: ask for the list as CSV or .xlsx"],
  [
    [0xd0, 0xcf, 0x11, 0xe0],
    "the input is an old Excel workbook (.xls) or a protected one: save it as .xlsx or CSV",
  ],
];

const titleCharactersMax = 80;

/**
 * What an input is, in words, if it is something else than text with records; told by its first few
 * kilobytes.
 */
export function foreignKind(beginning: Uint8Array): string | undefined {
  const found = binary.find(([bytes]) => bytes.every((byte, index) => beginning[index] === byte));
  if (found !== undefined) return found[1];
  if (beginning.includes(0) && beginning[0] !== 0xff && beginning[0] !== 0xfe)
    return zeros(beginning);
  const text = new TextDecoder()
    .decode(beginning)
    .replace(/^\ufeff/, "")
    .trimStart();
  if (text.startsWith("version https://git-lfs.github.com/spec/")) {
    return "the input is a Git LFS pointer, not the file itself: get that with `git lfs pull`";
  }
  if (/^<(?:!doctype html|html|head|body)\b/i.test(text)) {
    return `the input is a web page${titleOf(text)}, not a file of animals: download the file itself`;
  }
  if (text.startsWith("<")) return "the input is XML: ask for the list as JSON or CSV";
  return undefined;
}

/** Text of two bytes a character has zeros on one side only. */
function zeros(beginning: Uint8Array): string | undefined {
  const even = beginning.filter((_, index) => index % 2 === 0);
  const odd = beginning.filter((_, index) => index % 2 === 1);
  if (!even.includes(0)) return utf16Hint("utf-16le");
  return odd.includes(0) ? undefined : utf16Hint("utf-16be");
}

function utf16Hint(encoding: string): string {
  return `the input looks like UTF-16 without a byte order mark: add --encoding ${encoding}`;
}

function titleOf(html: string): string {
  const title = /<title[^>]*>([^<]*)/i.exec(html)?.[1]?.trim() ?? "";
  if (title === "") return "";
  return ` ("${decodeHTML(title).replaceAll(/\s+/g, " ").slice(0, titleCharactersMax)}")`;
}
