/** A list before anybody knows what its columns mean, and how they are found by their names. */
import { isJsonObject } from "../../../domain/exact-json.ts";
import { message } from "../messages.ts";
import { limits, UnreadableInput } from "../read/input.ts";
import type { Records } from "../read/table.ts";
import { columnKey, type Field, firstFilled } from "./values.ts";

export interface Sample {
  readonly columns: readonly string[] | undefined;
  readonly records: readonly unknown[];
  /** The first of them: enough to tell a layout. */
  readonly first: readonly unknown[];
  /** The columns, or all fields that the records have. */
  readonly names: readonly string[];
}

/** True for a record that has fields: a row of a table, or a JSON object. */
export function hasFields(record: unknown): boolean {
  return Array.isArray(record) || isJsonObject(record);
}

const firstMax = 512;

export function sampleOf({ columns, records }: Pick<Records, "columns" | "records">): Sample {
  const first = records.slice(0, firstMax);
  if (columns !== undefined) return { columns, records, first, names: columns };
  const names = new Set<string>();
  for (const record of records) {
    if (isJsonObject(record)) for (const name in record) names.add(name);
    if (names.size > limits.columns) {
      throw new UnreadableInput(0, message("columnsMany", String(limits.columns)));
    }
  }
  return { columns, records, first, names: [...names] };
}

/** Refuses an input in which nothing tells whether its animals are for adoption. */
export function missingStatus(columns: string): UnreadableInput {
  return new UnreadableInput(0, message("statusMissing", columns));
}

export interface NamedField {
  readonly column: string;
  readonly read: Field;
}

/**
 * Finds fields by their names; case and what separates words make no difference. A table has one
 * header for all rows. A JSON record has fields of its own, because publishers leave out what is
 * null.
 */
export class NamedFields {
  readonly #columns: readonly string[] | undefined;
  /** The first name of each key. */
  readonly #names = new Map<string, string>();

  constructor({ columns, names }: Sample) {
    this.#columns = columns;
    for (const name of names) this.#names.getOrInsert(columnKey(name), name);
  }

  /** True when the header, or one of the records, has one of `names`. */
  has(names: readonly string[]): boolean {
    return names.some((name) => this.#names.has(columnKey(name)));
  }

  /** The first name of each group of which there is none. */
  missing(groups: readonly (readonly string[])[]): string[] {
    return groups.filter((names) => !this.has(names)).map(([first = ""]) => first);
  }

  /** The first of `names` that the input has: no other one takes its place in some records. */
  among(names: readonly string[]): NamedField {
    const [column] = names.flatMap((name) => this.#names.get(columnKey(name)) ?? []);
    // A column without a name, such as an index, is none of them.
    if (column === undefined) return { column: names[0] ?? "", read: () => undefined };
    return { column, read: firstFilled(this.#columns, column) };
  }
}
