import { AppError } from "../../../domain/errors.ts";
import { isJsonObject, parseJson } from "../../../domain/exact-json.ts";
import { isPetName } from "../../../domain/pet.ts";
import { type Category, categoryKey, type CategoryUse } from "../../animals/categories.ts";
import { type Message, message, shown } from "../messages.ts";
import { CsvRows } from "../read/csv.ts";
import { opened, UnreadableInput } from "../read/input.ts";
import { MalformedRecord } from "../read/records.ts";
import type { CandidateCategory } from "../understand/record.ts";
import { int64Of, type Notation } from "../understand/values.ts";

/** Names of categories and their ids. */
class CategoryNames {
  readonly #ids = new Map<string, bigint>();
  readonly #names = new Map<bigint, string>();

  constructor(categories: Iterable<Category> = []) {
    for (const { name, id } of categories) this.add(name, id);
  }

  /** Adds a name; returns false, changing nothing, when it already stands for another id. */
  add(name: string, id: bigint): boolean {
    const key = categoryKey(name);
    const known = this.#ids.get(key);
    if (known !== undefined) return known === id;
    this.#ids.set(key, id);
    if (!this.#names.has(id)) this.#names.set(id, name);
    return true;
  }

  /** The first name that an id was given. */
  nameOf(id: bigint): string | undefined {
    return this.#names.get(id);
  }

  idOf(name: string): bigint | undefined {
    return this.#ids.get(categoryKey(name));
  }
}

const unreadable = (line: number, text: string) =>
  new UnreadableInput(line, message("other", text));

/**
 * Reads `--categories FILE`: a JSON object of names and ids (`{"Dog": 1}`), or CSV with the columns
 * name and id. Throws UnreadableInput naming the line or the name at fault.
 */
export function readCategories(bytes: Uint8Array): readonly Category[] {
  const input = opened(bytes);
  if (input.kind === "workbook") {
    throw unreadable(0, "the input is an Excel workbook: save it as CSV");
  }
  const text = input.text.trim();
  if (text === "") throw new UnreadableInput(0, message("empty"));
  const categories = /^[[{]/.test(text) ? fromJson(text) : fromCsv(input.text);
  const names = new CategoryNames();
  for (const { name, id } of categories) {
    if (!names.add(name, id)) {
      throw unreadable(0, `category ${JSON.stringify(name)} is given two ids`);
    }
  }
  return categories;
}

function fromJson(text: string): Category[] {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    const why = (error as Error).message.replace(/^JSON Parse error: /, "");
    throw new UnreadableInput(0, message("notJson", why));
  }
  if (!isJsonObject(value)) {
    throw unreadable(
      1,
      'expected an object of category names and ids, such as {"Dog": 1, "Cat": 2}',
    );
  }
  return Object.entries(value).map(([name, id]) => category(name, id, "json", 0));
}

function fromCsv(text: string): Category[] {
  const table = new CsvRows(text);
  const header = table.length === 0 ? [] : table.row(0);
  const columns =
    header instanceof MalformedRecord ? [] : header.map((each) => each.trim().toLowerCase());
  const name = columns.indexOf("name");
  const id = columns.indexOf("id");
  if (name < 0 || id < 0) {
    throw unreadable(1, "expected a header line with the columns name and id");
  }
  return Array.from({ length: table.length - 1 }, (_, at) => {
    const row = table.row(at + 1);
    const line = table.line(at + 1);
    if (row instanceof MalformedRecord) throw new UnreadableInput(line, row.problem);
    return category(row[name] ?? "", row[id], "csv", line);
  });
}

function category(name: string, value: unknown, notation: Notation, line: number): Category {
  const id = int64Of(value, notation);
  const label = `category ${JSON.stringify(name)}`;
  if (name.trim() === "" || !isPetName(name)) throw unreadable(line, `${label}: expected a name`);
  if (id === undefined) {
    const found = shown(value);
    throw unreadable(line, `${label}: expected a whole number of 64 bits as id, found ${found}`);
  }
  return { name: name.trim(), id };
}

/** More new names than any catalogue needs: beyond them the category is a wrong column. */
const newNamesMax = 1_000;

/** What an animal's category is: one with an id, or a new one by its name. */
export type ResolvedCategory =
  | { readonly id: bigint; readonly key?: undefined }
  | { readonly key: string; readonly id?: undefined };

/** Why an animal has no category. */
export interface UnresolvedCategory {
  readonly problem: Message;
  /** True when a new category, or an id for its name, would help. */
  readonly isUnknown: boolean;
}

/** A category to be named. Without an id it gets the next one. */
export interface NewCategory {
  readonly id?: bigint | undefined;
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

/** Finds the categories of one import in the store or in `--categories`, or makes them. */
export class ImportCategories {
  readonly #names: CategoryNames;
  /** Ids that a category has here: by name, on animals, or from the file of categories. */
  readonly #numbers: ReadonlySet<bigint>;
  /** Categories with given ids that the store does not have yet, by their ids. */
  readonly #given = new Map<bigint, NewCategory>();
  readonly #new = new Map<string, NewCategory>();
  /** What names were resolved to: a list has few, and many records. */
  readonly #resolved = new Map<string, ResolvedCategory | UnresolvedCategory>();
  readonly #options: CategoryOptions;
  readonly #creates: boolean;

  /** Throws AppError when a name in `fromFile` has another id than in the store. */
  constructor(
    known: readonly CategoryUse[],
    fromFile: readonly Category[],
    options: CategoryOptions,
  ) {
    const named = known.flatMap(({ id, name }) => (name === undefined ? [] : [{ id, name }]));
    this.#names = new CategoryNames(named);
    this.#options = options;
    this.#creates = options.create ?? (named.length === 0 && fromFile.length === 0);
    this.#numbers = new Set([...known, ...fromFile].map(({ id }) => id));
    const ids = new Set(named.map(({ id }) => id));
    for (const { id, name } of fromFile) {
      if (!this.#names.add(name, id)) {
        throw new AppError(
          "invalid_request",
          `Category ${JSON.stringify(name)} has the id ${this.#names.idOf(name)} in the catalogue and ${id} in the file of categories.`,
          { hint: "Give it the catalogue's id in that file." },
        );
      }
      if (!ids.has(id) && !this.#given.has(id)) this.#given.set(id, { id, name });
    }
  }

  /** The category of an animal, or why it has none. */
  resolve(category: CandidateCategory): ResolvedCategory | UnresolvedCategory {
    if (category.id === undefined) {
      return this.#resolved.getOrInsertComputed(category.name, (name) => this.#named(name));
    }
    const { id, name } = category;
    return name !== undefined && this.#isOther(id, name)
      ? this.#named(name)
      : this.#withId(category);
  }

  #named(name: string): ResolvedCategory | UnresolvedCategory {
    const id = this.#names.idOf(name);
    if (id !== undefined) return { id };
    const shownName = JSON.stringify(name);
    if (!/\p{L}/u.test(name)) {
      return { problem: message("categoryNumber", shownName), isUnknown: false };
    }
    if (!this.#creates) return { problem: message("categoryUnknown", shownName), isUnknown: true };
    const key = categoryKey(name);
    if (!this.#new.has(key)) {
      if (this.#new.size === newNamesMax) throw tooMany();
      this.#new.set(key, { name });
    }
    return { key };
  }

  /** True for the id of another catalogue that means something else here: the name counts. */
  #isOther(id: bigint, name: string): boolean {
    if (!this.#options.newIds) return false;
    const here = this.#names.idOf(name);
    return here === undefined ? this.#names.nameOf(id) !== undefined : here !== id;
  }

  /** An id, which brings its name along from another catalogue or must have it here. */
  #withId({ id, name }: { readonly id: bigint; readonly name?: string }) {
    if (name === undefined) {
      if (this.#options.anyNumber || this.#numbers.has(id)) return { id };
      return { problem: message("categoryNumber", String(id)), isUnknown: false };
    }
    if (this.#names.idOf(name) === id) return { id };
    const here = this.#names.nameOf(id);
    if (here === undefined && this.#names.add(name, id)) {
      this.#given.set(id, { id, name });
      return { id };
    }
    const shownName = JSON.stringify(name);
    const problem =
      here === undefined
        ? message("categoryNameTaken", String(id), shownName, String(this.#names.idOf(name)))
        : message("categoryIdTaken", String(id), shownName, JSON.stringify(here));
    return { problem, isUnknown: false };
  }

  /**
   * The categories to be named: those of the file of categories, and those that animals use. What
   * only bad or older records have is not made.
   */
  wanted(used: readonly ResolvedCategory[], fromFile: readonly Category[]): readonly NewCategory[] {
    const ids = new Set([...used.flatMap(({ id }) => id ?? []), ...fromFile.map(({ id }) => id)]);
    const keys = new Set(used.flatMap(({ key }) => key ?? []));
    return [
      ...[...this.#given].flatMap(([id, each]) => (ids.has(id) ? [each] : [])),
      ...[...this.#new].flatMap(([key, each]) => (keys.has(key) ? [each] : [])),
    ];
  }
}

function tooMany(): AppError {
  return new AppError("invalid_request", `There are more than ${newNamesMax} new categories.`, {
    hint: "Look whether the right column is taken for the category (--map).",
  });
}
