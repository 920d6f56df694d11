import { isJsonObject } from "../../domain/exact-json.ts";
import type { Sample } from "./formats/format.ts";
import { shown } from "./formats/values.ts";
import { message } from "./messages.ts";
import { UnreadableInput } from "./read/input.ts";

type Json = Readonly<Record<string, unknown>>;

/** Names of the fields with which services say what went wrong. */
const errorNames: ReadonlySet<string> = new Set(
  "error errors message detail title code status statusCode".split(" "),
);

/** True for a field that may be a part of a service's error. */
export function isErrorName(name: string): boolean {
  return errorNames.has(name);
}

/** True for an object with an error of its own name, beside which a list says nothing. */
export function hasError({ error, errors }: Json): boolean {
  const isNone = (value: unknown) => value === undefined || value === null || value === false;
  return !isNone(error) || (!isNone(errors) && !(Array.isArray(errors) && errors.length === 0));
}

/** How an import refuses an object that is a service's error; undefined for a record. */
export function serviceError(record: Json): UnreadableInput | undefined {
  const { error, errors, message: text, detail, title } = record;
  const isError =
    hasError(record) ||
    ((text ?? detail ?? title) !== undefined &&
      ["code", "status", "statusCode"].some((name) => name in record));
  if (!isError) return undefined;
  const [first] = Array.isArray(errors) ? (errors as unknown[]) : [];
  const said = [text, detail, error, first, title].find((value) => value !== undefined);
  const words = isJsonObject(said) ? (said["message"] ?? said["detail"] ?? said["title"]) : said;
  return new UnreadableInput(0, message("serviceError", shown(words)));
}

/** The error that the only record of an input is. */
export function onlyError({ columns, records }: Sample): UnreadableInput | undefined {
  const [first] = records;
  const isOnly = columns === undefined && records.length === 1 && isJsonObject(first);
  return isOnly ? serviceError(first) : undefined;
}
