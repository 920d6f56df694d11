import type { ByteChunks } from "./input.ts";

/** The beginning of an input, and all of it. */
interface Peeked {
  readonly beginning: Uint8Array;
  /** Yields all of the input; lets the source go when reading stops early. */
  readonly chunks: ByteChunks;
  /** Lets the source go when `chunks` is not read: the return of an unbegun generator does not. */
  close(): Promise<void>;
}

const portionBytes = 64 * 1024;

/** All of an input in portions no larger than the first look, and how much of it was read. */
export function counted(chunks: ByteChunks) {
  let bytes = 0;
  async function* portions(): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      for (let at = 0; at < chunk.length; at += portionBytes) {
        const portion = chunk.subarray(at, at + portionBytes);
        bytes += portion.length;
        yield portion;
      }
    }
  }
  return { portions: portions(), bytesRead: () => bytes };
}

/** Looks at the beginning of an input, at `size` bytes where it has as many. */
export async function peeked(chunks: ByteChunks, size: number): Promise<Peeked> {
  const source = chunks[Symbol.asyncIterator]();
  const first: Uint8Array[] = [];
  let length = 0;
  while (length < size) {
    const next = await source.next();
    if (next.done === true) break;
    first.push(next.value);
    length += next.value.length;
  }
  return {
    beginning: Buffer.concat(first).subarray(0, size),
    chunks: replayed(first, source),
    async close() {
      await source.return?.();
    },
  };
}

async function* replayed(
  first: readonly Uint8Array[],
  source: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    yield* first;
    for (let next = await source.next(); next.done !== true; next = await source.next()) {
      yield next.value;
    }
  } finally {
    await source.return?.();
  }
}
