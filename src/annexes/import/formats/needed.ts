import { message } from "../messages.ts";
import { UnreadableInput } from "../read/input.ts";
import type { Format, Sample } from "./format.ts";

/** Refuses CSV columns for a format that has only objects. Throws UnreadableInput. */
export function requireObjects(format: string, { columns }: Sample): void {
  if (columns === undefined) return;
  throw new UnreadableInput(1, message("jsonWanted", format));
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
