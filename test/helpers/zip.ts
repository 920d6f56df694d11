/** ZIP archives, taken apart and put together again. */
import { crc32 } from "node:zlib";
import { archiveOf } from "../../src/features/import/read/xlsx.ts";

const endMark = 0x06054b50;
const directoryMark = 0x02014b50;
const localMark = 0x04034b50;
const endBytes = 22;

/** The parts of an archive by their names. */
export function unzipped(bytes: Uint8Array): Map<string, Uint8Array> {
  const archive = archiveOf(bytes, 2 ** 31);
  return new Map(archive.names.map((name) => [name, archive.part(name) ?? new Uint8Array()]));
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
