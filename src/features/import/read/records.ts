import { type Message, message } from "../messages.ts";
import { limits, UnreadableInput } from "./input.ts";

/** Records in the order of the input. Those of a table are read each time they are asked for. */
export type RecordList = Iterable<unknown> & {
  readonly length: number;
  slice(from: number, to: number): readonly unknown[];
};

/** Records as they stand in the input, each with the line or the number (from 1) that it has. */
export interface Records {
  /** The names in the header of a table; undefined for JSON objects. */
  readonly columns: readonly string[] | undefined;
  /** JSON values, or rows of fields; a `MalformedRecord` stands for an unreadable one. */
  readonly records: RecordList;
  readonly lines: readonly number[];
}

/** One record that is malformed in an input where the next one can still be read. */
export class MalformedRecord {
  readonly problem: Message;
  readonly text: string;

  constructor(problem: Message, text: string) {
    this.problem = problem;
    this.text = text;
  }
}

export type TableRow = readonly string[] | MalformedRecord;

/** Rows of a table, each with its line. */
export interface TableRows {
  readonly length: number;
  row(index: number): TableRow;
  line(index: number): number;
  /** How a row begins, where that is cheaper than its fields. */
  beginning?(index: number): string;
  /** True when the line's end is missing after the last one, which may be cut off. */
  readonly isUnended?: boolean;
  /** True where cells at a row's end are left out if they are empty. */
  readonly isSheet?: boolean;
}

/** Some of the rows, as records. */
export class SelectedRows {
  readonly #indices: readonly number[];
  readonly #rowOf: (index: number) => unknown;

  constructor(indices: readonly number[], rowOf: (index: number) => unknown) {
    this.#indices = indices;
    this.#rowOf = rowOf;
  }

  get length(): number {
    return this.#indices.length;
  }

  slice(from: number, to: number): readonly unknown[] {
    return this.#indices.slice(from, to).map(this.#rowOf);
  }

  *[Symbol.iterator](): Iterator<unknown> {
    for (const index of this.#indices) yield this.#rowOf(index);
  }
}

/** Throws UnreadableInput where there are more records than an import takes. */
export function boundRecords(count: number, line: number): void {
  if (count <= limits.records) return;
  throw new UnreadableInput(line, message("recordsMany", String(limits.records)));
}
