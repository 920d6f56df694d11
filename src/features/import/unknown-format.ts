import { shellWord } from "../../domain/errors.ts";
import { isJsonObject } from "../../domain/exact-json.ts";
import { type FieldMap, fieldMapText } from "./formats/field-map.ts";
import type { Format, Sample } from "./formats/format.ts";
import { guessedMap } from "./formats/guess.ts";
import { rehome } from "./formats/rehome.ts";
import { type Field, fieldOf, shown } from "./formats/values.ts";
import { message } from "./messages.ts";
import { UnreadableInput } from "./read/input.ts";
import { serviceError } from "./service-error.ts";

/** Records of an unknown format that a person is shown. */
const shownRows = 5;

/** An input in none of the known formats, with what is needed to map its columns. */
export class UnknownFormat extends UnreadableInput {
  /** The columns, or the fields of the first records. */
  readonly columns: readonly string[];
  /** The values of the first records, in the order of the columns. */
  readonly rows: readonly (readonly string[])[];
  /** A guess which of them are ours. */
  readonly map: FieldMap;

  constructor(columns: readonly string[], rows: readonly (readonly string[])[], map: FieldMap) {
    const width = Math.max(...columns.map((column) => column.length));
    const lines = columns.map((column, at) => `  ${column.padEnd(width)}  ${rows[0]?.[at] ?? ""}`);
    super(0, message("formatUnknown", lines.join("\n"), mapOptions(map)));
    this.columns = columns;
    this.rows = rows;
    this.map = map;
  }
}

/** A map as options to paste; what is needed and was not guessed is left to be filled in. */
function mapOptions(map: FieldMap): string {
  const needed = ["name", "categoryId"] as const;
  const open = needed.flatMap((target) => (map.has(target) ? [] : [[target, "COLUMN"] as const]));
  const option = `--map ${shellWord(fieldMapText(new Map([...map, ...open])))}`;
  return map.has("status") ? option : `${option} --default-status available|pending|sold|none`;
}

/** A list without records is no fault; any format will do for it. */
export function unknownFormat(sample: Sample): Format {
  const { columns, records } = sample;
  if (columns === undefined && records.length === 0) return rehome;
  const [first] = records;
  if (columns === undefined) {
    if (!isJsonObject(first)) throw new UnreadableInput(0, message("noObjects"));
    const error = serviceError(first);
    if (error !== undefined) throw error;
  }
  const map = guessedMap(sample);
  const isOnly = columns === undefined && records.length === 1;
  // A list in what has a name may be that of an animal's pictures.
  const inner = isOnly ? listWithin(first, map.has("name") ? 0 : 1) : undefined;
  if (inner !== undefined) {
    throw new UnreadableInput(0, message("listWithin", inner.join(".")));
  }
  const { names } = sample;
  // By its place: several columns may have one name, or none.
  const readers = names.map((name, at): Field =>
    columns === undefined ? fieldOf(columns, name) : (record) => (record as string[])[at],
  );
  const rows = sample.records.slice(0, shownRows).map((record) =>
    readers.map((read) => {
      const value = read(record);
      return value === undefined ? "" : shown(value);
    }),
  );
  throw new UnknownFormat(names, rows, map);
}

/** Objects within one another that a list is looked for in. */
const innerDepthMax = 4;

/** The fields that lead to a list of objects below depth 0, which may be the records. */
function listWithin(value: unknown, depth: number): readonly string[] | undefined {
  if (!isJsonObject(value) || depth === innerDepthMax) return undefined;
  for (const [name, inner] of Object.entries(value)) {
    const found =
      Array.isArray(inner) && depth > 0 && isJsonObject(inner[0])
        ? []
        : listWithin(inner, depth + 1);
    if (found !== undefined) return [name, ...found];
  }
  return undefined;
}
