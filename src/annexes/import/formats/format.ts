import type { Outcome } from "../candidate.ts";

/** What detection may look at: the CSV columns if there are any, and the first records. */
export interface Sample {
  readonly columns: readonly string[] | undefined;
  readonly records: readonly unknown[];
}

/** Turns one record into an outcome. Never throws: what is wrong with a record is a rejection. */
export type RecordMapper = (record: unknown, line: number) => Outcome;

/** A known way in which shelters and services hold their animals. */
export interface Format {
  readonly name: string;
  /** One line for the help. */
  readonly title: string;
  recognises(sample: Sample): boolean;
  /** A mapper for records with these CSV columns, or for JSON objects when there are none. */
  mapper(columns: readonly string[] | undefined): RecordMapper;
}
