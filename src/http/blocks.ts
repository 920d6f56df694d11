import type { PageQuery } from "../domain/page.ts";
import { type Pet, petJson } from "../domain/pet.ts";
import type { Services } from "../service/services.ts";

/** A full page: one that another page follows. */
interface FullPage {
  /** The parts of an array of animals as JSON in UTF-8. */
  readonly parts: readonly (string | Uint8Array<ArrayBuffer>)[];
  readonly lastId: bigint;
}

/** The animals of a range of ids, as a page shows them. */
interface Block {
  readonly ids: BigInt64Array;
  /** The animals as JSON in UTF-8, with commas between. A string would be the collector's work. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Where each animal begins in the bytes, and where one more would. */
  readonly starts: Uint32Array;
}

export interface BlockOptions {
  readonly idsPerBlock: number;
  /** No further block is read once those in memory have this size. */
  readonly bytesMax: number;
}

const defaults: BlockOptions = { idsPerBlock: 64, bytesMax: 8 * 1024 * 1024 };

/** Ids beyond it are no exact numbers, and no store has come so far. */
const blockNumberMax = 2 ** 40;
/** A page that lies in more blocks than this is left to the store. */
const blocksPerPageMax = 8;
/** Pages that are not found before full memory is emptied for others. */
const missesMax = 20_000;

type ReadPage = Services["pets"]["page"];

/**
 * Animals in memory as pages show them, so that different pages of the same animals are made
 * without the store. Ids ascend, so a block that an animal follows stays as it is until an edit.
 */
export class PetBlocks {
  readonly #read: ReadPage;
  readonly #options: BlockOptions;
  readonly #blocks = new Map<number, Block>();
  /** How often each block was missing. */
  readonly #missed = new Map<number, number>();
  #bytes = 0;
  #misses = 0;

  constructor(read: ReadPage, options = defaults) {
    this.#read = read;
    this.#options = options;
  }

  /** Forgets everything: an edit may have changed any animal. */
  clear(): void {
    this.#blocks.clear();
    this.#missed.clear();
    this.#bytes = 0;
    this.#misses = 0;
  }

  /** The page of `query`, if its animals and one behind them are in memory. */
  find(query: PageQuery): FullPage | undefined {
    const found = this.#find(query);
    return typeof found === "object" ? found : undefined;
  }

  /**
   * Takes note that `query` was not found, and reads the block that it lacks if that was lacking
   * often enough. `isCurrent` tells whether what was read just now still holds.
   */
  async learn(query: PageQuery, isCurrent: () => boolean): Promise<void> {
    const number = this.#find(query);
    if (typeof number !== "number" || !this.#isWorthwhile(number)) return;
    const { idsPerBlock } = this.#options;
    const after = number === 0 ? undefined : BigInt(number * idsPerBlock);
    const end = BigInt((number + 1) * idsPerBlock);
    const found = await this.#read({ limit: idsPerBlock + 1, after });
    const inside = found.filter(({ id }) => id <= end);
    // Without an animal behind it, the next one that is added may belong to it.
    if (inside.length === found.length || !isCurrent() || this.#blocks.has(number)) return;
    const block = blockOf(inside);
    this.#blocks.set(number, block);
    this.#bytes += sizeOf(block);
  }

  /** The page, or the number of a block that is missing for it, if one is. */
  #find({ limit, status, after }: PageQuery): FullPage | number | undefined {
    // The first block begins before all ids.
    const first = after === undefined ? 0 : Math.floor(Number(after) / this.#options.idsPerBlock);
    if (status !== undefined || first < 0 || first > blockNumberMax) return undefined;
    const parts: (string | Uint8Array<ArrayBuffer>)[] = [];
    let left = limit;
    for (let at = first; at < first + blocksPerPageMax; at += 1) {
      const block = this.#blocks.get(at);
      if (block === undefined) return at;
      const { ids, starts, bytes } = block;
      const from = at === first && after !== undefined ? countUpTo(ids, after) : 0;
      const to = Math.min(from + left, ids.length);
      if (from === to) continue;
      parts.push(left === limit ? "[" : ",", bytes.subarray(starts[from], (starts[to] ?? 0) - 1));
      left -= to - from;
      // An animal follows, in this block or behind it.
      if (left > 0) continue;
      parts.push("]");
      return { parts, lastId: ids[to - 1] as bigint };
    }
    return undefined;
  }

  /**
   * True when the block was missing 2, 4, 8, ... times: to read one for a single page costs more
   * than the page, and those at the end would not be kept.
   */
  #isWorthwhile(number: number): boolean {
    if (this.#bytes >= this.#options.bytesMax || this.#missed.size >= missesMax) {
      this.#misses += 1;
      if (this.#misses < missesMax) return false;
      this.clear();
    }
    const times = (this.#missed.get(number) ?? 0) + 1;
    this.#missed.set(number, times);
    return times > 1 && Number.isInteger(Math.log2(times));
  }
}

/** How many of these ascending ids are at most `id`. */
function countUpTo(ids: BigInt64Array, id: bigint): number {
  let [low, high] = [0, ids.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ids[middle] as bigint) <= id) low = middle + 1;
    else high = middle;
  }
  return low;
}

function blockOf(pets: readonly Pet[]): Block {
  const texts = pets.map(petJson);
  const starts = new Uint32Array(texts.length + 1);
  let end = 0;
  for (const [at, text] of texts.entries()) starts[at + 1] = end += Buffer.byteLength(text) + 1;
  const bytes = new TextEncoder().encode(texts.join(","));
  return { ids: BigInt64Array.from(pets, ({ id }) => id), bytes, starts };
}

function sizeOf({ ids, starts, bytes }: Block): number {
  return bytes.byteLength + ids.byteLength + starts.byteLength;
}
