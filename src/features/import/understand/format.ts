import { isJsonObject } from "../../../domain/exact-json.ts";
import { isBlank, message, shown } from "../messages.ts";
import { limits, UnreadableInput } from "../read/input.ts";
import type { RecordList, Records } from "../read/table.ts";
import type { MapperContext, RecordMapper } from "./record.ts";
import { columnKey, FieldFault, type Field, fieldOf } from "./values.ts";

export interface Sample {
  readonly columns: readonly string[] | undefined;
  readonly records: RecordList;
  /** The first of them: enough to tell a format. */
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

/** A known way in which shelters and services hold their animals. */
export interface Format {
  readonly name: string;
  /** One line for the help. */
  readonly title: string;
  /** Fields without which no record can be taken, each with other names that will do. */
  readonly needed?: readonly (readonly string[])[];
  recognises(sample: Sample): boolean;
  /**
   * A mapper for records like those of the sample, which may be rows with columns or JSON objects.
   * Throws UnreadableInput for a sample that this format cannot read.
   */
  mapper(sample: Sample, context: MapperContext): RecordMapper;
}

/** Refuses an input without a field that the format needs. Throws UnreadableInput. */
export function requireNeeded({ name, needed = [] }: Format, sample: Sample): void {
  const missing = new NamedFields(sample).missing(needed);
  if (missing.length === 0 || sample.names.length === 0) return;
  const found = sample.names.map((each) => JSON.stringify(each)).join(", ");
  const line = sample.columns === undefined ? 0 : 1;
  throw new UnreadableInput(line, message("columnsMissing", name, missing.join(", "), found));
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

  /** The fields whose names, without case and separators, are of this kind. */
  like(kind: RegExp): readonly NamedField[] {
    return [...this.#names].flatMap(([key, name]) => (kind.test(key) ? [this.among([name])] : []));
  }

  /** The first of `names` that the input has: no other one takes its place in some records. */
  among(names: readonly string[]): NamedField {
    const [column] = names.flatMap((name) => this.#names.get(columnKey(name)) ?? []);
    // A column without a name, such as an index, is none of them.
    if (column === undefined) return { column: names[0] ?? "", read: () => undefined };
    return { column, read: this.#reader(column) };
  }

  /** Reads a field. A name that a header has twice must have one value in each row. */
  #reader(column: string): Field {
    const columns = this.#columns;
    if (columns === undefined) return fieldOf(columns, column);
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
}
