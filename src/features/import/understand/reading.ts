/** How a list is read: built in, remembered or proposed, as one value that is kept as JSON. */
import { isJsonObject } from "../../../domain/exact-json.ts";
import { limits } from "../read/input.ts";
import type { Known, ReadOptions } from "../read/read.ts";
import { familiarHeadings, listHints } from "./guess.ts";
import { isMarked, layouts, neededBy } from "./layouts.ts";
import { columnKey, type FieldMap, matching, type Sample, sampleOf } from "./columns.ts";
import { rehome } from "./rehome.ts";
import type { Meaning } from "./words.ts";

/**
 * How a list is read, as JSON: what a person confirmed once is read the same way the next time,
 * without any guess.
 */
export interface Reading extends ReadOptions {
  /** A known layout, or `map`. */
  readonly format: string;
  readonly columns?: FieldMap | undefined;
  /** The category of all animals, where no column has it. */
  readonly category?: string | undefined;
  /** Words and what they mean here, beside the words that are known. */
  readonly statuses: Readonly<Record<string, Meaning>>;
  /** What a blank status means, or that of all animals where no column has any. */
  readonly defaultStatus?: Meaning | undefined;
  /** True for a report with a row per stay, whose outcome is blank while the animal is there. */
  readonly isOutcome?: true | undefined;
  /** True where the day comes first in 4/3/2026. */
  readonly dayFirst?: boolean | undefined;
  /** Columns that may take more than half of the available, and columns that say nothing. */
  readonly believed?: readonly string[] | undefined;
  readonly ignored?: readonly string[] | undefined;
  /** Whose ids the animals have; empty when nobody said. */
  readonly source: string;
}

/** What somebody says of a list; the rest is known, remembered or guessed. */
export interface Given extends ReadOptions {
  readonly format?: string | undefined;
  readonly columns?: FieldMap | undefined;
  readonly category?: string | undefined;
  readonly statuses?: ReadonlyMap<string, Meaning> | undefined;
  readonly defaultStatus?: Meaning | undefined;
  readonly dayFirst?: boolean | undefined;
  readonly believed?: readonly string[] | undefined;
  readonly ignored?: readonly string[] | undefined;
  readonly source?: string | undefined;
  /** The name of the file, which may tell the kind of animal. */
  readonly called?: string | undefined;
  /** Asks what the columns mean, of a list whose layout is known too. */
  readonly asksColumns?: boolean | undefined;
}

/** The known layouts, as the help lists them. */
export const formats: readonly { readonly name: string; readonly title: string }[] = [
  rehome,
  ...layouts,
];

/** The columns that a known layout needs, by its name. */
export function neededOf(format: string): readonly (readonly string[])[] {
  const layout = layouts.find(({ name }) => name === format);
  return layout === undefined ? rehome.needed : neededBy(layout);
}

/** The known layouts that a list may have, the likeliest first. */
export function candidates(sample: Sample): readonly string[] {
  const known = layouts.filter((layout) => isMarked(layout, sample)).map(({ name }) => name);
  return rehome.recognises(sample) ? [rehome.name, ...known] : known;
}

/** True for columns that `--map` names. */
const isMapped = (map: FieldMap, columns: readonly string[]) =>
  Object.values(map).every((column) => matching(columns, column).length > 0);

/** What layouts know of the records that are looked for in an input. */
export function knownBy(given: Pick<Given, "format" | "columns">): Known {
  const isHeader = (columns: readonly string[]) => {
    if (given.columns !== undefined) return isMapped(given.columns, columns);
    const found = candidates(sampleOf({ columns, records: [] }));
    return given.format === undefined ? found.length > 0 : found.includes(given.format);
  };
  return { ...listHints, isHeader, isObject };
}

const objectKeys =
  /^(?:.*(?:animal|pet|dog|cat|species|breed).*|name|nombre|nom|naam|nome|imie|jmeno|meno)$/;
const listKeys =
  /^(?:animals|pets|data|items|results|records|features|rows|pagination|meta|links)$/;

/** True for a JSON object that is an animal, by the names of its fields. */
function isObject(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const names = Object.keys(value);
  if (names.length > limits.columns) return false;
  if (names.some((name) => listKeys.test(name) && mayHoldList(value[name]))) return false;
  if ("attributes" in value && "type" in value) return true;
  const keys = names.map(columnKey);
  const isTold = names.some((name, at) => objectKeys.test(keys[at] ?? "") && !isList(value[name]));
  return isTold || familiarHeadings(names) >= 3;
}

/** Not a list of plain values, such as `"data": [2026, 5, 6]` for a date. */
const mayHoldList = (value: unknown) =>
  isJsonObject(value) || isList(value) || (Array.isArray(value) && value.length === 0);

const isList = (value: unknown) =>
  Array.isArray(value) && value.some((each) => isJsonObject(each) || Array.isArray(each));
