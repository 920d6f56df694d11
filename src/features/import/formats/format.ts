import { isJsonObject } from "../../../domain/exact-json.ts";
import type { Deferred, Outcome } from "../candidate.ts";
import type { Notes } from "../notes.ts";
import type { Dates } from "./dates.ts";
import type { Statuses } from "./statuses.ts";

/** What detection may look at: the CSV columns if there are any, and the first records. */
export interface Sample {
  readonly columns: readonly string[] | undefined;
  readonly records: readonly unknown[];
  /** The columns, or all fields that the first records have. */
  readonly names: readonly string[];
}

export function sampleOf(
  columns: readonly string[] | undefined,
  records: readonly unknown[],
): Sample {
  const fields = () => new Set(records.filter(isJsonObject).flatMap(Object.keys));
  return { columns, records, names: columns ?? [...fields()] };
}

/** What the records of one import are read with. */
export interface MapperContext {
  /** Whose ids the records have: the format's name, or what `--source` says. */
  readonly source: string;
  readonly statuses: Statuses;
  readonly dates: Dates;
  readonly notes: Notes;
  /** True for a workbook, whose cells of dates are read as ISO 8601. */
  readonly isWorkbook: boolean;
}

/** Turns one record into an outcome. Never throws: what is wrong with a record is a rejection. */
export type RecordMapper = (record: unknown, line: number) => Outcome | Deferred;

/** A known way in which shelters and services hold their animals. */
export interface Format {
  readonly name: string;
  /** One line for the help. */
  readonly title: string;
  /** Fields without which no record can be taken, each with other names that will do. */
  readonly needed?: readonly (readonly string[])[];
  recognises(sample: Sample): boolean;
  /**
   * A mapper for records like those of the sample, which may be CSV rows with columns or JSON
   * objects. Throws UnreadableInput when columns are missing that this format needs.
   */
  mapper(sample: Sample, context: MapperContext): RecordMapper;
}
