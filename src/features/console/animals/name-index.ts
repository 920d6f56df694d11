import { fold } from "../../../domain/names.ts";

/** Animals in a block: what a search reads in one go, and what a change rewrites. */
export const blockAnimals = 4_096;
/** Between two names. No name has it: neither database keeps it in a text. */
const separator = "\0";

/** Animals next to each other in the order of their ids, their folded names in one text. */
interface Block {
  ids: BigInt64Array;
  text: string;
}

/** Undefined for an animal that is gone. */
export type CurrentName = string | undefined;

/** An animal by its name, as a person wrote it. */
export interface NamedAnimal {
  readonly id: bigint;
  readonly name: string;
}

/**
 * The folded names of all animals in memory, so that a text is found among a million in
 * milliseconds: some 30 bytes an animal.
 */
export class NameIndex {
  /** None of them is empty. */
  #blocks: Block[] = [];

  /** Adds animals with higher ids than those that are there, in ascending order. */
  append(animals: readonly NamedAnimal[]): void {
    let from = 0;
    while (from < animals.length) {
      let block = this.#blocks.at(-1);
      if (block === undefined || block.ids.length >= blockAnimals) {
        block = { ids: new BigInt64Array(), text: "" };
        this.#blocks.push(block);
      }
      const part = animals.slice(from, from + blockAnimals - block.ids.length);
      // In one go: a text of its own for each name takes four times as long.
      const text = fold(part.map(({ name }) => name).join(separator));
      block.text = block.ids.length === 0 ? text : block.text + separator + text;
      const ids = new BigInt64Array(block.ids.length + part.length);
      ids.set(block.ids);
      for (const [at, { id }] of part.entries()) ids[block.ids.length + at] = id;
      block.ids = ids;
      from += part.length;
    }
  }

  /** Gives animals another name, takes them out, or brings them back under their ids. */
  change(names: ReadonlyMap<bigint, CurrentName>): void {
    const byBlock = new Map<Block, Map<bigint, CurrentName>>();
    for (const [id, name] of names) {
      const block = this.#blockOf(id);
      if (block === undefined) {
        if (name !== undefined) this.append([{ id, name }]);
        continue;
      }
      const own = byBlock.get(block) ?? new Map<bigint, CurrentName>();
      byBlock.set(block, own.set(id, name && fold(name)));
    }
    for (const [block, own] of byBlock) rewrite(block, own);
    this.#blocks = this.#blocks.filter(({ ids }) => ids.length > 0);
  }

  /**
   * The ids of the animals whose name holds `wanted`, which is folded, the newest first. Undefined
   * when they are more than `max`.
   */
  find(wanted: string, max: number): bigint[] | undefined {
    const found: bigint[] = [];
    for (const { ids, text } of this.#blocks.toReversed()) {
      if (!text.includes(wanted)) continue;
      const names = text.split(separator);
      for (let at = ids.length - 1; at >= 0; at -= 1) {
        const id = ids[at];
        if (id !== undefined && names[at]?.includes(wanted) === true) found.push(id);
      }
      if (found.length > max) return undefined;
    }
    return found;
  }

  /** The last block that begins at or before `id`, or the first one; undefined where none is. */
  #blockOf(id: bigint): Block | undefined {
    let [low, high] = [0, this.#blocks.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const first = this.#blocks[middle]?.ids[0];
      if (first !== undefined && first <= id) low = middle + 1;
      else high = middle;
    }
    return this.#blocks[Math.max(0, low - 1)];
  }
}

/** Rewrites a block with its changes, whose names are folded. */
function rewrite(block: Block, names: ReadonlyMap<bigint, CurrentName>): void {
  const texts = block.text.split(separator);
  const all = new Map<bigint, CurrentName>([...block.ids].map((id, at) => [id, texts[at]]));
  for (const [id, name] of names) all.set(id, name);
  const kept = [...all]
    .flatMap(([id, name]) => (name === undefined ? [] : [[id, name] as const]))
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  block.ids = BigInt64Array.from(kept.map(([id]) => id));
  block.text = kept.map(([, name]) => name).join(separator);
}
