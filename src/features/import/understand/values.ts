import { decodeHTML } from "entities/decode";
import { parseInt64 } from "../../../domain/int64.ts";
import {
  characterCount,
  isPetName,
  petNameLengthMax,
  type PetStatus,
} from "../../../domain/pet.ts";
import { isBlank, type Message, message, messageText, shown } from "../messages.ts";
import type { CandidateCategory, MapperContext } from "./record.ts";

/** A field that cannot be imported; caught by `mapperOf` and made a rejection. */
export class FieldFault extends Error {
  readonly field: string;
  readonly problem: Message;
  /** What the record says of its animal, where that is sound. */
  status?: PetStatus | undefined;

  constructor(field: string, problem: Message) {
    super(messageText(problem));
    this.problem = problem;
    this.field = field;
  }
}

/** The name of an animal whose shelter has none for it. Each reader is shown a word for that. */
export const unnamed = "";

/** A name exactly as it is: what a service like ours holds. */
export function exactName(field: string, value: unknown): string {
  if (typeof value === "string" && isPetName(value)) return value;
  const isMissing = value === undefined || value === null;
  if (isMissing) throw new FieldFault(field, message("missing"));
  if (typeof value !== "string") throw new FieldFault(field, message("notText", shown(value)));
  refuseLong(field, value, petNameLengthMax);
  throw new FieldFault(field, message("illFormed"));
}

function refuseLong(field: string, text: string, max: number): void {
  const count = characterCount(text);
  if (count > max) throw new FieldFault(field, message("tooLong", String(max), String(count)));
}

/** What stands in name columns of animals without a name. */
const noNames: ReadonlySet<string> = new Set(
  `name not known,unknown,no name,unnamed,n/a,na,none,null,-,?,unnamed,sin nombre,sem nome,ohne namen,ohne name,sans nom,
zonder naam,senza nome,bez imienia,bez jmena,bez mena`.split(/,\n?/),
);

/** Shelters mark a name that staff gave, not a former owner, with a leading asterisk. */
const givenByStaff = /^\*+\s*/;

/** What a spreadsheet shows in place of a value that it could not compute. */
const errorCell =
  /^(?:#(?:REF!|N\/A|NAME\?|VALUE!|DIV\/0!|NULL!|NUM!|SPILL!|CALC!|ERROR!|BLOCKED!|CONNECT!|FIELD!|GETTING_DATA)|Loading\.{3}|#{3,})$/i;

/** A text as it is meant: HTML decoded once. Throws FieldFault for an error of a spreadsheet. */
function meantText(field: string, value: unknown): unknown {
  if (typeof value !== "string") return value;
  if (errorCell.test(value.trim())) throw new FieldFault(field, message("errorCell", shown(value)));
  return value.includes("&") ? decodeHTML(value) : value;
}

/** A name of shelter software without its marks and blanks; `unnamed` if there is none. */
export function shelterName(field: string, value: unknown): string {
  if (isBlank(value)) return unnamed;
  // Some lists number their animals instead of naming them.
  if (typeof value === "number" || typeof value === "bigint") return String(value);
  const name = exactName(field, meantText(field, value)).trim().replace(givenByStaff, "").trim();
  return noNames.has(name.toLowerCase()) ? unnamed : name;
}

/** The int64 that `value`, from `parseJson` or a text of digits, is; undefined when it is none. */
export function int64Of(value: unknown): bigint | undefined {
  if (typeof value === "bigint") return value;
  if (typeof value === "number") return Number.isSafeInteger(value) ? BigInt(value) : undefined;
  return typeof value === "string" ? parseInt64(value.trim()) : undefined;
}

export function int64In(field: string, value: unknown): bigint {
  const id = int64Of(value);
  if (id === undefined) throw new FieldFault(field, message("notInt64", shown(value)));
  return id;
}

/** Whole numbers are ids; anything else is a name. */
export function idOrName(field: string, value: unknown): CandidateCategory {
  const id = int64Of(value);
  return id === undefined ? categoryName(field, value) : { id };
}

export function categoryName(field: string, value: unknown): { readonly name: string } {
  if (isBlank(value)) throw new FieldFault(field, message("missing"));
  return { name: exactName(field, meantText(field, value)).trim() };
}

const externalIdCharactersMax = 200;

/** The id that a source has for its animal, as text; undefined if it is blank. */
export function sourceId(field: string, value: unknown): string | undefined {
  if (isBlank(value)) return undefined;
  const written = typeof value === "string" ? value : (int64Of(value)?.toString() ?? value);
  const text = exactName(field, written).trim();
  // Tools for tables write whole numbers so where one of them is missing.
  const id = text.replace(/^(\d+)\.0+$/, "$1");
  refuseLong(field, id, externalIdCharactersMax);
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

const yes = wholly(
  "y|yes|t|true|x|1(?:\\.0+)?|✓|✔|si|s|ja|j|oui|o|vrai|sim|verdadero|wahr|tak|ano|да|так|da|evet|igen|kylla|ναι|var|van|是|已|有|예|네|はい|あり|○|〇|◯",
);
const no = wholly(
  "n|no|f|false|0(?:\\.0+)?|nein|non|faux|nee|nao|falso|falsch|nie|ne|-|нет|ні|не|hayır|hayir|nem|nej|nei|ei|nu|οχι|yok|nincs|否|未|无|無|没有|沒有|아니오|아니요|いいえ|なし|×",
);
/** Letters may come with their accents apart: `Não`, `Sí`. */
function plain(text: string): string {
  return text.trim().normalize("NFKD").replaceAll(/\p{M}/gu, "");
}

function wholly(words: string): RegExp {
  return new RegExp(`^(?:${plain(words)})$`, "i");
}

/** True for a set flag, as people and the tools that pass files on write it. */
export function isYes(value: unknown): boolean {
  return value === true || value === 1 || (typeof value === "string" && yes.test(plain(value)));
}

export function isNo(value: unknown): boolean {
  return value === false || value === 0 || (typeof value === "string" && no.test(plain(value)));
}
