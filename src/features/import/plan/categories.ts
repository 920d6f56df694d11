/** Which categories the words and numbers of one list mean here, and which are to be made. */
import { AppError } from "../../../domain/errors.ts";
import { int64Min, parseInt64 } from "../../../domain/int64.ts";
import type { Tx } from "../../../storage/database.ts";
import {
  type Category,
  categoryKey,
  type CategoryUse,
  newCategories,
} from "../../animals/categories.ts";
import { type Message, message } from "../messages.ts";
import type { CandidateCategory } from "../understand/record.ts";
import type { ImportOptions } from "./plan.ts";

/** More new names than any catalogue needs: beyond them the category is a wrong column. */
const newNamesMax = 1_000;

export const wordFor = ({ id, name }: CandidateCategory): string => name ?? String(id);

export class ImportCategories {
  readonly #byName = new Map<string, bigint>();
  /** Of all that have an id here, by name or on animals. */
  readonly #names = new Map<bigint, string | undefined>();
  /** Those that the store does not have yet. Without an id they have one below all int64. */
  readonly #fresh = new Map<bigint, string>();
  readonly #made = new Map<bigint, bigint>();
  /** What names were resolved to: a list has few, and many records. */
  readonly #resolved = new Map<string, bigint | Message>();
  readonly #creates: boolean;

  constructor(
    known: readonly CategoryUse[],
    /** What names mean that people merged or renamed, by `categoryKey`. */
    private readonly words: ReadonlyMap<string, bigint>,
    private readonly options: Pick<ImportOptions, "createCategories" | "newIds">,
    /** True where any number is the id of a category, as our own exports have them. */
    private readonly isAnyNumber: boolean,
  ) {
    for (const { id, name } of known) {
      this.#names.set(id, name);
      if (name !== undefined) this.#byName.set(categoryKey(name), id);
    }
    this.#creates = options.createCategories ?? this.#byName.size === 0;
  }

  /** The id of a record's category, or why there can be none. */
  resolve({ id, name }: CandidateCategory): bigint | Message {
    const isById = id !== undefined && (name === undefined || !this.#isOther(id, name));
    if (isById) return this.#withId(id, name);
    return this.#resolved.getOrInsertComputed(name ?? "", (each) => this.#named(each));
  }

  idOf(category: CandidateCategory): bigint {
    const found = this.resolve(category);
    if (typeof found === "bigint") return found;
    throw new Error(`the category ${wordFor(category)} was taken for a sound one`);
  }

  /** The category that a word means today; the word where it means none. */
  meaningOf(word: string): bigint | string {
    return this.#called(categoryKey(word)) ?? parseInt64(word) ?? word;
  }

  nameOf(category: bigint | string): string {
    const name = typeof category === "bigint" ? this.#names.get(category) : undefined;
    return name ?? String(category);
  }

  #called(key: string): bigint | undefined {
    const word = this.words.get(key);
    const meant = word !== undefined && this.#names.has(word) ? word : undefined;
    return this.#byName.get(key) ?? meant;
  }

  #named(name: string): bigint | Message {
    const known = this.#called(categoryKey(name));
    if (known !== undefined) return known;
    if (!/\p{L}/u.test(name)) return message("categoryNumber", JSON.stringify(name));
    if (!this.#creates) return message("categoryUnknown", JSON.stringify(name));
    if (this.#fresh.size < newNamesMax) {
      return this.#add(int64Min - 1n - BigInt(this.#fresh.size), name);
    }
    throw new AppError("invalid_request", `There are more than ${newNamesMax} new categories.`, {
      hint: "Look whether the right column is taken for the category (--map).",
    });
  }

  #add(id: bigint, name: string): bigint {
    this.#names.set(id, name);
    this.#byName.set(categoryKey(name), id);
    this.#fresh.set(id, name);
    return id;
  }

  /** True for the id of another catalogue that means something else here: the name counts. */
  #isOther(id: bigint, name: string): boolean {
    if (this.options.newIds !== true) return false;
    const here = this.#byName.get(categoryKey(name));
    return here === undefined ? this.#names.get(id) !== undefined : here !== id;
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

  /** Gives the new ones among `used` the ids that they will have. Returns these categories. */
  async make(tx: Tx, used: ReadonlySet<bigint | undefined>): Promise<Category[]> {
    // Those with an id go first, so that no other one gets it.
    const fresh = [...this.#fresh.keys()].filter((id) => used.has(id)).toSorted(byOwn);
    const wanted = fresh.map((id) => ({ id: isOwn(id) ? undefined : id, name: this.nameOf(id) }));
    const made = await newCategories(tx, wanted);
    for (const [at, own] of fresh.entries()) this.#made.set(own, made[at]?.id ?? own);
    return made;
  }

  madeOf(id: bigint): bigint {
    return this.#made.get(id) ?? id;
  }
}

const isOwn = (id: bigint): boolean => id < int64Min;
const byOwn = (a: bigint, b: bigint) => Number(isOwn(a)) - Number(isOwn(b));
