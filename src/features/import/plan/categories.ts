/** Which categories the words and numbers of one list mean here, and which are to be made. */
import { AppError } from "../../../domain/errors.ts";
import { parseInt64 } from "../../../domain/int64.ts";
import {
  type Category,
  categoryKey,
  type CategoryUse,
  ownIdMax,
} from "../../animals/categories.ts";
import { type Message, message } from "../messages.ts";
import type { CandidateCategory } from "../understand/record.ts";
import type { ImportOptions } from "./plan.ts";

/** More new names than any catalogue needs: beyond them the category is a wrong column. */
const newNamesMax = 1_000;

export const wordFor = ({ id, name }: CandidateCategory): string => name ?? String(id);

export class ImportCategories {
  /** By what they are called, or were before people merged or renamed them. */
  readonly #byName = new Map<string, bigint>();
  /** Of all that have an id here, by name or on animals. */
  readonly #names = new Map<bigint, string | undefined>();
  /** Those that the store does not have yet, under the ids that they would get. */
  readonly #fresh: Category[] = [];
  /** What names were resolved to: a list has few, and many records. */
  readonly #resolved = new Map<string, bigint | Message | undefined>();
  readonly #creates: boolean;

  constructor(
    known: readonly CategoryUse[],
    words: ReadonlyMap<string, bigint>,
    /** The last id that was given. */
    private last: bigint,
    { createCategories }: ImportOptions,
    /** True where any number is the id of a category, as our own exports have them. */
    private readonly isAnyNumber: boolean,
  ) {
    for (const { id, name } of known) {
      this.#names.set(id, name);
      if (name !== undefined) this.#byName.set(categoryKey(name), id);
    }
    this.#creates = createCategories ?? this.#byName.size === 0;
    for (const [key, id] of words) {
      if (this.#names.has(id)) this.#byName.getOrInsert(key, id);
    }
  }

  /** The id of a record's category, or why there can be none; undefined for a new one. */
  resolve({ id, name }: CandidateCategory): bigint | Message | undefined {
    if (id !== undefined) return this.#withId(id, name);
    return this.#resolved.getOrInsertComputed(name, this.#named);
  }

  /** The id of a category that is sound. A new one gets its id here. */
  idOf(category: CandidateCategory): bigint {
    const found = this.resolve(category) ?? this.#made(category.name ?? "");
    if (typeof found === "bigint") return found;
    throw new Error(`the category ${wordFor(category)} was taken for a sound one`);
  }

  /** The category that a word means today; the word where it means none. */
  meaningOf(word: string): bigint | string {
    return this.#byName.get(categoryKey(word)) ?? parseInt64(word) ?? word;
  }

  nameOf(category: bigint | string): string {
    return (typeof category === "bigint" && this.#names.get(category)) || String(category);
  }

  readonly #named = (name: string): bigint | Message | undefined => {
    const known = this.#byName.get(categoryKey(name));
    if (known !== undefined) return known;
    if (!/\p{L}/u.test(name)) return message("categoryNumber", JSON.stringify(name));
    return this.#creates ? undefined : message("categoryUnknown", JSON.stringify(name));
  };

  #made(name: string): bigint {
    const known = this.#byName.get(categoryKey(name));
    if (known !== undefined) return known;
    do this.last += 1n;
    while (this.#names.has(this.last));
    return this.#add(this.last, name);
  }

  #add(id: bigint, name: string): bigint {
    this.#names.set(id, name);
    this.#byName.set(categoryKey(name), id);
    if (this.#fresh.push({ id, name }) > newNamesMax) {
      const hint = "Look whether the right column is taken for the category (--map).";
      const problem = `There are more than ${newNamesMax} new categories.`;
      throw new AppError("invalid_request", problem, { hint });
    }
    if (id > this.last && id <= ownIdMax) this.last = id;
    return id;
  }

  /** An id, which brings its name along from another catalogue or must have it here. */
  #withId(id: bigint, name: string | undefined): bigint | Message {
    if (name === undefined) {
      const isSound = this.isAnyNumber || this.#names.has(id);
      return isSound ? id : message("categoryNumber", String(id));
    }
    const named = this.#byName.get(categoryKey(name));
    if (named === id) return id;
    const isFree = named === undefined && this.#names.get(id) === undefined;
    return isFree ? this.#add(id, name) : message("categoryPair", String(id), JSON.stringify(name));
  }

  /** The new ones among `used`. */
  newOf(used: ReadonlySet<bigint | undefined>): Category[] {
    return this.#fresh.filter(({ id }) => used.has(id));
  }
}
