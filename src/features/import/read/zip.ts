import { inflateRawSync } from "node:zlib";

/** A part of an archive that cannot be unpacked, and why. */
export class BadArchive extends Error {}

const directoryMark = 0x02014b50;
const localMark = 0x04034b50;
const endBytes = 22;
const commentBytesMax = 65_535;
const directoryEntryBytes = 46;
const localEntryBytes = 30;
const stored = 0;
const deflated = 8;

interface Entry {
  readonly name: string;
  readonly method: number;
  readonly at: number;
  readonly packedBytes: number;
}

/** A ZIP archive, whose parts are unpacked as they are asked for: at most `bytesMax` in all. */
export class Archive {
  readonly #bytes: Buffer;
  readonly #entries = new Map<string, Entry>();
  #left: number;

  /** Throws BadArchive. */
  constructor(bytes: Uint8Array, bytesMax: number) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#left = bytesMax;
    for (const entry of entriesOf(this.#bytes)) {
      const key = keyOf(entry.name);
      if (this.#entries.has(key)) throw new BadArchive(`it has the part ${entry.name} twice`);
      this.#entries.set(key, entry);
    }
  }

  /** The names of all parts. */
  get names(): readonly string[] {
    return [...this.#entries.values()].map(({ name }) => name);
  }

  /**
   * A part, whatever the case of its name and its slashes. Throws BadArchive, and RangeError above
   * the bound, which counts what is unpacked.
   */
  part(name: string): Uint8Array | undefined {
    const entry = this.#entries.get(keyOf(name));
    if (entry === undefined) return undefined;
    const part = unpacked(this.#bytes, entry, this.#left);
    this.#left -= part.length;
    return part;
  }

  /** The text of a part; empty if there is none. */
  text(name: string): string {
    return new TextDecoder().decode(this.part(name));
  }
}

const keyOf = (name: string) => name.replaceAll("\\", "/").replace(/^\//, "").toLowerCase();

function* entriesOf(archive: Buffer): Generator<Entry> {
  const end = archive.lastIndexOf(Uint8Array.from([0x50, 0x4b, 5, 6]));
  const isEnd = end >= Math.max(0, archive.length - endBytes - commentBytesMax);
  if (!isEnd || archive.length < end + endBytes) throw new BadArchive("it is cut off");
  const count = archive.readUInt16LE(end + 10);
  let at = archive.readUInt32LE(end + 16);
  for (let index = 0; index < count; index += 1) {
    const header = archive.subarray(at, at + directoryEntryBytes);
    if (header.length < directoryEntryBytes || header.readUInt32LE(0) !== directoryMark) {
      throw new BadArchive("its list of parts is damaged");
    }
    if ((header.readUInt16LE(8) & 1) !== 0) throw new BadArchive("it is encrypted");
    const nameBytes = header.readUInt16LE(28);
    const start = at + directoryEntryBytes;
    yield {
      name: archive.toString("utf8", start, start + nameBytes),
      method: header.readUInt16LE(10),
      packedBytes: header.readUInt32LE(20),
      at: header.readUInt32LE(42),
    };
    at = start + nameBytes + header.readUInt16LE(30) + header.readUInt16LE(32);
  }
}

function unpacked(archive: Buffer, entry: Entry, bytesMax: number): Uint8Array {
  const { name, method, packedBytes, at } = entry;
  const local = archive.subarray(at, at + localEntryBytes);
  if (local.length < localEntryBytes || local.readUInt32LE(0) !== localMark) {
    throw new BadArchive(`the part ${name} is damaged`);
  }
  const start = at + localEntryBytes + local.readUInt16LE(26) + local.readUInt16LE(28);
  const packed = archive.subarray(start, start + packedBytes);
  if (packed.length < packedBytes) throw new BadArchive(`the part ${name} is cut off`);
  if (method === stored && packed.length > bytesMax) throw new RangeError(name);
  if (method === stored) return packed;
  if (method !== deflated) throw new BadArchive(`the part ${name} is packed in an unknown way`);
  try {
    return inflateRawSync(packed, { maxOutputLength: Math.max(bytesMax, 1) });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ERR_BUFFER_TOO_LARGE") throw new RangeError(name, { cause: error });
    throw new BadArchive(message, { cause: error });
  }
}
