import { crc32, inflateRawSync } from "node:zlib";

/** A part of an archive that cannot be unpacked, and why. */
export class BadArchive extends Error {}

const endMark = 0x06054b50;
const directoryMark = 0x02014b50;
const localMark = 0x04034b50;
const endBytes = 22;
const commentBytesMax = 65_535;
const directoryEntryBytes = 46;
const localEntryBytes = 30;
const stored = 0;
const deflated = 8;

/**
 * The parts of a ZIP archive whose names are wanted, unpacked: at most `bytesMax` in all, counted
 * while they unpack, whatever the archive says of them. Throws BadArchive, and RangeError above it.
 */
export function unzipped(
  bytes: Uint8Array,
  isWanted: (name: string) => boolean,
  bytesMax: number,
): ReadonlyMap<string, Uint8Array> {
  const archive = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const parts = new Map<string, Uint8Array>();
  let left = bytesMax;
  for (const entry of entriesOf(archive)) {
    if (!isWanted(entry.name)) continue;
    if (parts.has(entry.name)) throw new BadArchive(`it has the part ${entry.name} twice`);
    const part = unpacked(archive, entry, left);
    left -= part.length;
    parts.set(entry.name, part);
  }
  return parts;
}

interface Entry {
  readonly name: string;
  readonly method: number;
  readonly at: number;
  readonly packedBytes: number;
}

function* entriesOf(archive: Buffer): Generator<Entry> {
  const end = archive.lastIndexOf(Uint8Array.from([0x50, 0x4b, 5, 6]));
  const isEnd = end >= Math.max(0, archive.length - endBytes - commentBytesMax);
  if (!isEnd || archive.length < end + endBytes || archive.readUInt32LE(end) !== endMark) {
    throw new BadArchive("it is cut off");
  }
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

/** The pieces of an archive of these parts, not packed: what reads it can unpack no more of it. */
export function zipped(parts: ReadonlyMap<string, Uint8Array>): readonly Uint8Array[] {
  const locals: Uint8Array[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const [text, part] of parts) {
    const name = Buffer.from(text);
    const sum = crc32(part);
    // The fields that both headers have: version, flags, method, time, date, sum and sizes.
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(0x0800, 2);
    common.writeUInt32LE(sum, 10);
    common.writeUInt32LE(part.length, 14);
    common.writeUInt32LE(part.length, 18);
    common.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([numbers(localMark), common, name]);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(at, 10);
    directory.push(
      Buffer.concat([numbers(directoryMark), Buffer.from([20, 0]), common, tail, name]),
    );
    locals.push(local, part);
    at += local.length + part.length;
  }
  const list = Buffer.concat(directory);
  const end = Buffer.alloc(endBytes);
  end.writeUInt32LE(endMark, 0);
  end.writeUInt16LE(parts.size, 8);
  end.writeUInt16LE(parts.size, 10);
  end.writeUInt32LE(list.length, 12);
  end.writeUInt32LE(at, 16);
  return [...locals, list, end];
}

function numbers(mark: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(mark);
  return bytes;
}
