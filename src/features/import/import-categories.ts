import { categoryKey, type Category } from "../animals/categories.ts";
import { int64Max } from "../../domain/int64.ts";
import { AppError } from "../../domain/errors.ts";
import type { CandidateCategory } from "./candidate.ts";
import { CategoryNames } from "./categories.ts";
import { type Message, message } from "./messages.ts";

/** More names than any catalogue has: beyond them the category is a wrong column. */
const newNamesMax = 10_000;

/** A category's id, or its place among those that `settle` gives an id. */
type ResolvedCategory =
  | { readonly categoryId: bigint; readonly categoryKey?: undefined }
  | { readonly categoryId?: undefined; readonly categoryKey: number };

/** Why an animal has no category. */
interface UnresolvedCategory {
  readonly problem: Message;
  /** True when a new category, or an id for its name, would help. */
  readonly isUnknown: boolean;
}

interface Open {
  readonly key: number;
  /** A name to be made, or a reference to a record that has not come yet. */
  readonly category: { readonly name: string } | { readonly reference: string };
  readonly firstLine: number;
  animals: number;
}

/** A category that stayed open, and the animals that have it. */
interface UnknownCategory {
  readonly what: string;
  readonly firstLine: number;
  readonly animals: number;
  /** False when the input has no name for it, so that it cannot be made either. */
  readonly isNamed: boolean;
}

export interface SettledCategories {
  /** Ids by category key; undefined for those that stayed open. */
  readonly ids: readonly (bigint | undefined)[];
  readonly unknown: readonly UnknownCategory[];
  /** Names that the store does not have yet, with their ids. */
  readonly added: readonly Category[];
}

interface CategoryOptions {
  readonly create: boolean;
  /** Takes ids that come with a name for those of another catalogue. */
  readonly newIds: boolean;
}

/** Finds the categories of one import in the store or in `--categories`, or makes them. */
export class ImportCategories {
  readonly #names: CategoryNames;
  /** Categories with given ids that the store does not have yet. */
  readonly #added: Category[];
  readonly #options: CategoryOptions;
  /** In the order of their keys. */
  readonly #open = new Map<string, Open>();

  /** Throws AppError when a name in `fromFile` has another id than in the store. */
  constructor(known: readonly Category[], fromFile: readonly Category[], options: CategoryOptions) {
    this.#names = new CategoryNames(known);
    this.#options = options;
    this.#added = newIds(known, fromFile);
    for (const { name, id } of fromFile) {
      if (this.#names.add(name, id)) continue;
      throw new AppError(
        "invalid_request",
        `Category ${JSON.stringify(name)} has the id ${this.#names.idOf(name)} in the catalogue and ${id} in the file of categories.`,
        { hint: "Give it the catalogue's id in that file." },
      );
    }
  }

  /** The category of the animal on `line`, or why it has none. */
  resolve(
    category: CandidateCategory,
    referenced: ReadonlyMap<string, string>,
    line: number,
  ): ResolvedCategory | UnresolvedCategory {
    if ("id" in category && category.id !== undefined) {
      const { id, name } = category;
      return name !== undefined && this.#isOther(id, name)
        ? this.#named(name, line)
        : this.#withId(category);
    }
    const name = "name" in category ? category.name : referenced.get(category.reference);
    return name === undefined
      ? { categoryKey: this.#key(category, line) }
      : this.#named(name, line);
  }

  #named(name: string, line: number): ResolvedCategory | UnresolvedCategory {
    const categoryId = this.#names.idOf(name);
    if (categoryId !== undefined) return { categoryId };
    if (this.#options.create) return { categoryKey: this.#key({ name }, line) };
    return { problem: message("categoryUnknown", JSON.stringify(name)), isUnknown: true };
  }

  /** True for the id of another catalogue that means something else here: the name counts. */
  #isOther(id: bigint, name: string): boolean {
    if (!this.#options.newIds) return false;
    const here = this.#names.idOf(name);
    return here === undefined ? this.#names.nameOf(id) !== undefined : here !== id;
  }

  /** An id, which brings its name along from another catalogue or must have it here. */
  #withId({ id, name }: { readonly id: bigint; readonly name?: string }) {
    if (name === undefined || this.#names.idOf(name) === id) return { categoryId: id };
    const here = this.#names.nameOf(id);
    if (here === undefined && this.#names.add(name, id)) {
      this.#added.push({ name, id });
      return { categoryId: id };
    }
    const shown = JSON.stringify(name);
    const problem =
      here === undefined
        ? message("categoryNameTaken", String(id), shown, String(this.#names.idOf(name)))
        : message("categoryIdTaken", String(id), shown, JSON.stringify(here));
    return { problem, isUnknown: false };
  }

  #key(category: Open["category"], line: number): number {
    const text =
      "name" in category ? `name ${categoryKey(category.name)}` : `id ${category.reference}`;
    const open = this.#open.getOrInsertComputed(text, () => this.#opened(category, line));
    open.animals += 1;
    return open.key;
  }

  #opened(category: Open["category"], firstLine: number): Open {
    const key = this.#open.size;
    if (key === newNamesMax) {
      throw new AppError(
        "invalid_request",
        `There are more than ${newNamesMax} different categories up to line ${firstLine}.`,
        { hint: "Look whether the right column is taken for the category (--map)." },
      );
    }
    return { key, category, firstLine, animals: 0 };
  }

  /** At the end of the input: gives every open category its id, new ones above `highestId`. */
  settle(referenced: ReadonlyMap<string, string>, highestId: bigint): SettledCategories {
    const added: Category[] = [...this.#added];
    const unknown: UnknownCategory[] = [];
    let lastId = this.#added.reduce((last, { id }) => (id > last ? id : last), highestId);
    const ids = [...this.#open.values()].map(({ category, firstLine, animals }) => {
      const name = "name" in category ? category.name : referenced.get(category.reference);
      const known = name === undefined ? undefined : this.#names.idOf(name);
      if (known !== undefined) return known;
      if (name === undefined || !this.#options.create) {
        const what =
          name ??
          `(id ${(category as { reference: string }).reference}, which the input does not name)`;
        unknown.push({ what, firstLine, animals, isNamed: name !== undefined });
        return undefined;
      }
      if (lastId === int64Max) throw noIdLeft();
      lastId += 1n;
      this.#names.add(name, lastId);
      added.push({ name, id: lastId });
      return lastId;
    });
    return { ids, unknown, added };
  }
}

/** The categories in the file that are kept: the first name of each id that has none. */
function newIds(known: readonly Category[], fromFile: readonly Category[]): Category[] {
  const ids = new Set(known.map(({ id }) => id));
  return fromFile.filter(({ id }) => {
    const isNew = !ids.has(id);
    ids.add(id);
    return isNew;
  });
}

function noIdLeft(): AppError {
  return new AppError(
    "invalid_request",
    `A category has the id ${int64Max}, and new categories get ids above all others.`,
    { hint: "Give the new categories ids with --categories FILE." },
  );
}
