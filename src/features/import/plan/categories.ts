import { AppError } from "../../../domain/errors.ts";
import { parseInt64 } from "../../../domain/int64.ts";
import { categoryKey, type CategoryUse } from "../../animals/categories.ts";
import { type Message, message } from "../messages.ts";
import type { CandidateCategory } from "../understand/record.ts";

/** More new names than any catalogue needs: beyond them the category is a wrong column. */
const newNamesMax = 1_000;

/** The word that a list used for a category. */
export const wordFor = ({ id, name }: CandidateCategory): string => name ?? String(id);

/** What an animal's category is. That of a new one without a given id is made in the store. */
export interface ResolvedCategory {
  id: bigint | undefined;
  /** Undefined for one that has a number only. */
  readonly name: string | undefined;
}

export interface UnresolvedCategory {
  readonly problem: Message;
  /** True when a new category would help. */
  readonly isUnknown: boolean;
}

export interface NewCategory extends ResolvedCategory {
  readonly name: string;
}

export interface CategoryOptions {
  /** Makes categories that do not exist. By default only a catalogue without any gets them. */
  readonly create?: boolean | undefined;
  /** Takes ids that come with a name for those of another catalogue. */
  readonly newIds: boolean;
  /** Takes any number for the id of a category, as our own exports have them. */
  readonly anyNumber: boolean;
}

/** Finds the categories of one import in the store, or makes them. */
export class ImportCategories {
  /** By `categoryKey`; those that have a name. */
  readonly #byName = new Map<string, ResolvedCategory>();
  /** By ids that a category has here, by name or on animals. */
  readonly #byId = new Map<bigint, ResolvedCategory>();
  /** Those that the store does not have yet. */
  readonly #fresh = new Set<NewCategory>();
  /** What names were resolved to: a list has few, and many records. */
  readonly #resolved = new Map<string, ResolvedCategory | UnresolvedCategory>();
  readonly #meanings = new Map<string, bigint | string>();
  readonly #options: CategoryOptions;
  readonly #creates: boolean;

  /** What names of categories mean that people merged or renamed, by `categoryKey`. */
  readonly #words = new Map<string, ResolvedCategory>();

  constructor(
    known: readonly CategoryUse[],
    words: ReadonlyMap<string, bigint>,
    options: CategoryOptions,
  ) {
    for (const { id, name } of known) {
      const category = { id, name };
      this.#byId.set(id, category);
      if (name !== undefined) this.#byName.set(categoryKey(name), category);
    }
    for (const [key, id] of words) {
      const category = this.#byId.get(id);
      if (category !== undefined) this.#words.set(key, category);
    }
    this.#options = options;
    this.#creates = options.create ?? this.#byName.size === 0;
  }

  resolve({ id, name }: CandidateCategory): ResolvedCategory | UnresolvedCategory {
    const isById = id !== undefined && !(name !== undefined && this.#isOther(id, name));
    if (isById) return this.#withId(id, name);
    return this.#resolved.getOrInsertComputed(name ?? "", (each) => this.#named(each));
  }

  /** The category that a word means today; one that is not made yet by its name. */
  meaningOf(word: string): bigint | string {
    return this.#meanings.getOrInsertComputed(word, () => {
      const key = categoryKey(word);
      const known = this.#byName.get(key) ?? this.#words.get(key);
      return (known === undefined ? parseInt64(word) : known.id) ?? key;
    });
  }

  nameOf(id: bigint): string {
    return this.#byId.get(id)?.name ?? String(id);
  }

  #named(name: string): ResolvedCategory | UnresolvedCategory {
    const key = categoryKey(name);
    const known = this.#byName.get(key) ?? this.#words.get(key);
    if (known !== undefined) return known;
    const shownName = JSON.stringify(name);
    if (!/\p{L}/u.test(name)) {
      return { problem: message("categoryNumber", shownName), isUnknown: false };
    }
    if (!this.#creates) return { problem: message("categoryUnknown", shownName), isUnknown: true };
    const fresh: NewCategory = { id: undefined, name };
    this.#byName.set(key, fresh);
    this.#fresh.add(fresh);
    if (this.#fresh.size > newNamesMax) {
      throw new AppError("invalid_request", `There are more than ${newNamesMax} new categories.`, {
        hint: "Look whether the right column is taken for the category (--map).",
      });
    }
    return fresh;
  }

  /** True for the id of another catalogue that means something else here: the name counts. */
  #isOther(id: bigint, name: string): boolean {
    if (!this.#options.newIds) return false;
    const here = this.#byName.get(categoryKey(name));
    return here === undefined ? this.#byId.get(id)?.name !== undefined : here.id !== id;
  }

  /** An id, which brings its name along from another catalogue or must have it here. */
  #withId(id: bigint, name: string | undefined): ResolvedCategory | UnresolvedCategory {
    const here = this.#byId.get(id);
    if (name === undefined) {
      if (this.#options.anyNumber || here !== undefined) return here ?? { id, name };
      return { problem: message("categoryNumber", String(id)), isUnknown: false };
    }
    const named = this.#byName.get(categoryKey(name));
    if (named?.id === id) return named;
    if (named !== undefined || here?.name !== undefined) {
      const problem = message("categoryPair", String(id), JSON.stringify(name));
      return { problem, isUnknown: false };
    }
    const fresh = { id, name };
    this.#byId.set(id, fresh);
    this.#byName.set(categoryKey(name), fresh);
    this.#fresh.add(fresh);
    return fresh;
  }

  /** The categories to be made: what only bad or older records have is none of them. */
  wanted(used: ReadonlySet<ResolvedCategory>): readonly NewCategory[] {
    const ids = new Set([...used].flatMap(({ id }) => id ?? []));
    const isWanted = (each: NewCategory) =>
      used.has(each) || (each.id !== undefined && ids.has(each.id));
    // Those with an id go first, so that no other one gets it.
    return [...this.#fresh]
      .filter(isWanted)
      .toSorted((a, b) => Number(a.id === undefined) - Number(b.id === undefined));
  }
}
