import { message } from "../messages.ts";
import { UnreadableInput } from "../read/input.ts";
import type { Format, RecordMapper, Sample } from "./format.ts";
import { mapperOf } from "./values.ts";

/** A mapper for a format that has only objects. Throws UnreadableInput for CSV columns. */
export function objectMapper(
  format: string,
  { columns }: Sample,
  map: (record: Readonly<Record<string, unknown>>, line: number) => ReturnType<RecordMapper>,
): RecordMapper {
  if (columns !== undefined) throw new UnreadableInput(1, message("jsonWanted", format));
  return mapperOf(columns, (record, line) => map(record as Record<string, unknown>, line));
}

/** Refuses an input that lacks what `--format` needs. */
export function lackingColumns(
  format: string,
  missing: readonly string[],
  { names }: Sample,
): UnreadableInput {
  const found = names.map((name) => JSON.stringify(name)).join(", ");
  return new UnreadableInput(1, message("columnsMissing", format, missing.join(", "), found));
}

/** Refuses an input in which no field has a name that the format needs. Throws UnreadableInput. */
export function requireNeeded({ name, needed = [] }: Format, sample: Sample): void {
  const missing = needed
    .filter((names) => !names.some((each) => sample.names.includes(each)))
    .map(([first = ""]) => first);
  if (missing.length > 0) throw lackingColumns(name, missing, sample);
}
