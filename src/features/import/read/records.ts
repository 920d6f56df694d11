import type { Message } from "../messages.ts";

/** Records as they stand in the input, with the line (from 1) on which each begins. */
export interface RecordBatch {
  readonly lines: readonly number[];
  /** JSON values, or rows of fields; a `MalformedRecord` stands for an unreadable one. */
  readonly records: readonly unknown[];
  /** True when the last of them is the input's last, and the line's end is missing after it. */
  readonly isUnended?: boolean;
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
