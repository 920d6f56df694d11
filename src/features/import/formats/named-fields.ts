import type { Sample } from "./format.ts";
import { message } from "../messages.ts";
import { columnKey, type Field, FieldFault, fieldOf, isBlank, shown } from "./values.ts";

/** A field as the input calls it, and how to read it from a record. */
export interface NamedField {
  readonly column: string;
  readonly read: Field;
}

/** Spellings that are remembered as no news; records of one publisher have far fewer. */
const seenMax = 10_000;

/**
 * Finds fields by their names; case and what separates words make no difference. CSV has one header
 * for all rows. A JSON record has fields of its own, because publishers leave out what is null.
 */
export class NamedFields {
  readonly #columns: readonly string[] | undefined;
  readonly #names: ReadonlySet<string>;
  /** The spellings of each name, by its key. */
  readonly #spellings = new Map<string, string[]>();
  readonly #seen = new Set<string>();

  constructor({ columns, names }: Sample) {
    this.#columns = columns;
    this.#names = new Set(names.map(columnKey));
    for (const name of names) this.#spellingsOf(columnKey(name)).push(name);
  }

  /** True when the header, or one of the first records, has one of `names`. */
  has(names: readonly string[]): boolean {
    return names.some((name) => this.#names.has(columnKey(name)));
  }

  /**
   * The first of `names` that the input has. A JSON record that lacks it is read by those that only
   * later records have, if they are learnt.
   */
  among(names: readonly string[]): NamedField {
    const keys = names.map(columnKey);
    const chosen = keys.find((key) => this.#names.has(key));
    const [column = names[0] ?? ""] = chosen === undefined ? [] : this.#spellingsOf(chosen);
    if (this.#columns !== undefined) {
      // A column without a name, such as an index, is none of them.
      const read = chosen === undefined ? () => undefined : this.#columnReader(column);
      return { column, read };
    }
    const later = keys.filter((key) => !this.#names.has(key));
    const possible = (chosen === undefined ? later : [chosen, ...later]).map((key) =>
      this.#spellingsOf(key),
    );
    return { column, read: (record) => firstOf(possible, record as Record<string, unknown>) };
  }

  /** Reads a CSV column. A name that the header has twice must have one value in each row. */
  #columnReader(column: string): Field {
    const columns = this.#columns ?? [];
    const same = columns.flatMap((each, index) => (each === column ? [index] : []));
    if (same.length < 2) return fieldOf(columns, column);
    return (record) => {
      const fields = record as readonly string[];
      const values = new Set(same.map((index) => fields[index]).filter((value) => !isBlank(value)));
      const [first, second] = values;
      if (second === undefined) return first;
      throw new FieldFault(column, message("columnsDiffer", shown(first), shown(second)));
    };
  }

  /** Learns how a record spells its fields; to be called before they are read. */
  learn(record: unknown): void {
    if (this.#columns !== undefined) return;
    for (const name in record as object) {
      if (this.#seen.has(name)) continue;
      if (this.#seen.size === seenMax) this.#seen.clear();
      this.#seen.add(name);
      const spellings = this.#spellings.get(columnKey(name));
      if (spellings?.includes(name) === false) spellings.push(name);
    }
  }

  #spellingsOf(key: string): string[] {
    return this.#spellings.getOrInsertComputed(key, () => []);
  }
}

/** The first value that is there under one of these spellings. */
function firstOf(
  spellings: readonly (readonly string[])[],
  record: Readonly<Record<string, unknown>>,
): unknown {
  for (const each of spellings) {
    for (const name of each) {
      const value = record[name];
      if (value !== undefined && value !== null && value !== "") return value;
    }
  }
  return undefined;
}
