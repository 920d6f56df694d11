import { isPetName } from "../../../domain/pet.ts";
import type { MapperContext } from "./format.ts";
import { FieldFault, int64Of, isBlank, shown } from "./values.ts";
import { message } from "../messages.ts";

const externalIdCharactersMax = 200;

/** The id that a source has for its animal, as text; undefined if it is blank. */
export function sourceId(field: string, value: unknown): string | undefined {
  if (isBlank(value)) return undefined;
  const id = typeof value === "string" ? value.trim() : int64Of(value, "json")?.toString();
  if (id === undefined || !isPetName(id)) {
    throw new FieldFault(field, message("notId", shown(value)));
  }
  if (id.length > externalIdCharactersMax) {
    throw new FieldFault(
      field,
      message("idLong", String(externalIdCharactersMax), String(id.length)),
    );
  }
  return id;
}

/** What stands where there is no id. */
const placeholder =
  /^(?:#?n\/?a|#(?:name|null|num|ref|value)[?!]?|#div\/0!|null|nil|none|nan|undefined|unknown|tbd|0+|[-\u2013?.]+)$/i;

/** True for what stands where there is no id, such as `N/A`. */
export function isPlaceholderId(id: string): boolean {
  return placeholder.test(id.trim());
}

/** What a spreadsheet made of an id: `9.8102E+14` of a microchip's number, `01-Mar` of `1-3`. */
const damaged =
  /^(?:\d(?:[.,]\d+)?E\+\d+|\d{1,2}-(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)-\d{1,2})$/i;

/** What a workbook's cell is that was typed as an id, such as `1-3`, and became a date. */
const dateCell = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}:\d{2})?$/;

/** What ids of this source begin with: equal ids of two sources are two animals. */
export function idPrefix(source: string): string {
  return `${source}:`;
}

/**
 * The id of a source's animal as the catalogue keeps it, `source:id`; undefined if there is
 * none, or only what a spreadsheet left of it.
 */
export function externalId(
  { source, notes, isWorkbook }: Pick<MapperContext, "source" | "notes" | "isWorkbook">,
  field: string,
  value: unknown,
  line: number,
): string | undefined {
  const id = sourceId(field, value);
  if (id === undefined || isPlaceholderId(id)) return undefined;
  if (damaged.test(id) || (isWorkbook && dateCell.test(id))) {
    notes.add(message("idsDamaged"), line, id);
    return undefined;
  }
  return source === "" ? id : `${idPrefix(source)}${id}`;
}
