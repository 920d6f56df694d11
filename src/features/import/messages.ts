import { isJsonObject, jsonText } from "../../domain/exact-json.ts";

/**
 * What an import says of its input, in the words of the command line. A place with other words, or
 * in another language, goes by the code. The values are texts, as they are shown.
 */
export const messageTexts = {
  // A record that cannot be imported.
  missing: () => "expected a value, found nothing",
  tooLong: (max: string, found: string) => `expected at most ${max} characters, found ${found}`,
  illFormed: () => "expected well-formed Unicode without NUL, found a text that is not",
  notText: (found: string) => `expected a text, found ${found}`,
  notInt64: (found: string) => `expected a whole number of 64 bits, found ${found}`,
  notObject: (found: string) => `expected an object, found ${found}`,
  idUnknown: (id: string) => `the id ${id} is of no such animal here: leave it out for a new one`,
  animalTwice: () => "an earlier record is of the same animal",
  categoryNumber: (found: string) => `no category ${found} is known, and a number names no new one`,
  categoryUnknown: (name: string) => `the category ${name} is not known`,
  categoryPair: (id: string, name: string) =>
    `the record pairs the category ${id} with the name ${name}, which is not so here; leave one of the two blank`,
  statusUnknown: (found: string) => `unknown status ${found}`,
  sameName: (name: string, records: string, animals: string) =>
    `${name} is the name of ${records} of the records and ${animals} of the animals here: nothing tells which is which`,
  fieldCount: (expected: string, found: string) =>
    `expected ${expected} fields as in the header, found ${found} field${found === "1" ? "" : "s"}`,
  quoteOpen: () => "expected a closing '\"' for a field of this record",
  errorCell: (found: string) => `expected a value, found ${found}, the error of a spreadsheet`,
  notJson: (why: string) => `not JSON: ${why}`,
  rowAlone: (cell: string) =>
    `a row with nothing but ${cell} may tell of the rows below it: give each animal its own`,
  other: (text: string) => text,

  // What is no error, but good to know.
  idsDamaged: () => "ids that a spreadsheet damaged are ignored",
  sheetsUnread: (names: string) => `other sheets are not read: ${names}; name one with --sheet`,
  datesUnreadable: (field: string) => `dates in ${field} cannot be read`,
  idsMissing: () =>
    "animals have no id of their own, so the next import adds them again; name the list with --source, and add --complete if it is whole: then the names replace the ids",
  alikeThere: () => "new animals have the name and category of one that is there already",
  namesMissing: () => "animals have no name",
  namesTell: () => "names say adopted or reserved, and the status says available",
  statusesBlank: () => "animals have a blank status and are stored without one",
  namesDiffer: () => "ids have records with different names; the newest name is used",
  recordsDisagree: () => "records of one time disagree: the one furthest from adoption holds",
  rowsLeftOut: () => "rows with totals or notes are left out",
  columnsDisagree: () => "animals are taken as not available by another column than the status",
  dayOrderOpen: () =>
    "nothing tells whether the day or the month comes first in dates; the month is taken to: say --day-first if it does not",
  encodingGuessed: (encoding: string) => `the text is not UTF-8, and was read as ${encoding}`,
  listPartial: (why: string) => `the list says that it is not whole (${why})`,
  noneForAdoption: (count: string, column: string) =>
    `none of ${count} animal${count === "1" ? "" : "s"} is for adoption by ${column}`,

  // An input that cannot be imported as a whole.
  noneGuessed: (count: string, column: string) =>
    `none of ${count} animal${count === "1" ? "" : "s"} is for adoption by ${column}. Is that the right column? Name it with --map status=COLUMN`,
  empty: () => "the input is empty",
  inputLarge: (max: string) =>
    `the input has more than ${max} MiB, unpacked: split it into several files`,
  recordsMany: (max: string) => `the input has more than ${max} records: split it into files`,
  columnsMany: (max: string) => `the input has more than ${max} columns with a heading or a value`,
  noObjects: () => "the records are no JSON objects",
  serviceError: (message: string) => `the input is the error of a service, not a list: ${message}`,
  noList: (path: string) => `there is no list of records at --records ${path}`,
  columnTakes: (column: string, records: string, available: string) =>
    `by the column ${column}, ${records} of the ${available} animals that the status calls available are not: agree with --believe ${column}, or leave it out with --ignore ${column}`,
  listsMany: (paths: string) =>
    `the input has several lists: ${paths}; import one after the other with --records PATH, and with --category NAME if a list has one kind of animal`,
  statusMissing: (columns: string) =>
    `no column says whether an animal is for adoption (expected ${columns}); say what all of them are with --default-status available|pending|sold|none`,
  columnsMissing: (format: string, missing: string, found: string) =>
    `--format ${format} needs the columns ${missing}, which are missing; there are ${found}`,
  columnTwice: (pair: string, times: string) =>
    `--map ${pair}: the header has this column ${times} times; rename all but one of them`,
  columnUnknown: (pair: string, found: string) =>
    `--map ${pair}: there is no such column; there are ${found}`,
  headerMissing: () => "expected a CSV header line, found nothing",
  headerless: (count: string) =>
    `the first row is an animal, and no row has names of columns: add one above it with ${count} names, such as Name, Species and Status`,
  headerSecond: () => "this is a second row of names: ask for a list with one row an animal",
  cutOff: (why: string) => `the input is cut off: ${why}`,
  recordUnended: (max: string) =>
    `expected a record of at most ${max} characters; is a '"' left open here?`,
  notUtf8: () => "expected UTF-8 text, found bytes that are not: the file is damaged here",
  notEncoded: (encoding: string) => `the input is not ${encoding} text`,
  encodingUnknown: () =>
    "the text is not UTF-8: name its encoding with --encoding, such as big5, utf-16le, shift_jis or windows-1251",
  compressed: (method: string) =>
    `the input is compressed with ${method}: unpack it first (${method} -dc FILE)`,
  archived: (file: string) => `the input is a ZIP archive with the file ${file}: unpack it first`,
  htmlTable: () =>
    "the input is a web page with a table, as some programs write it under the name of an Excel file: open it in a spreadsheet program and save it as .xlsx or CSV",
  compressedDamaged: (why: string) => `the compressed input is damaged (${why})`,
  otherKind: (kind: string) => `a file of the kind ${kind}: ask for the list as CSV or .xlsx`,
  webPage: (title: string) =>
    `the input is a web page${title === "" ? "" : ` ("${title}")`}, not a file of animals: download the file itself, or publish a Google Sheet as CSV`,
  workbookUnreadable: (why: string) =>
    `the workbook cannot be read (${why}): save it as .xlsx or CSV`,
  formulaValueless: (cell: string) =>
    `the formula in ${cell} has no value: open the workbook in a spreadsheet program and save it`,
  sheetEmpty: () => "the sheet is empty; name another one with --sheet",
  sheetUnknown: (sheet: string, found: string) => `there is no sheet ${sheet}; there are ${found}`,
  sheetsMany: (names: string) =>
    `the workbook has several lists: ${names}; import one after the other with --sheet NAME, and with --category NAME if a sheet has one kind of animal`,
  formatUnknown: (unknown: string, found: string, options: string) =>
    `rehome cannot tell ${unknown}. The first record has:\n${found}\n` +
    `Say where the fields are, such as ${options}`,

  // A list at an address that did not come.
  addressSecret: () =>
    "the address must not have a user name or a password in it: give them with --secret-file",
  addressScheme: (scheme: string) => `the address must start with https://, not ${scheme}`,
  hostUnknown: (host: string) => `the host ${host} was not found`,
  hostForbidden: (host: string) => `${host} is at an address where no list is`,
  hostPrivate: (host: string) =>
    `${host} is on a private network: REHOME_PULL_PRIVATE=on allows it`,
  hostPublic: (host: string) => `${host} is on the internet: use https://`,
  redirectsMany: (max: string) => `the source redirected more than ${max} times`,
  credentialRefused: (status: string) => `the source refused the credential (status ${status})`,
  waitAsked: (status: string) => `the source asked to wait (status ${status})`,
  sourceFailed: (status: string) => `the source failed (status ${status})`,
  statusOther: (status: string) => `the source returned status ${status} instead of a list`,
  returnedNothing: () => "the source returned nothing: it may refuse the credential",
  sourceRefused: (said: string) => `the source refused: ${said}`,
  sourceSlow: () => "the source did not answer in time",
  unreachable: (why: string) => `the source could not be reached (${why})`,
  returnedNoJson: () => "the source did not return JSON",
  returnedNoList: (key: string) => `the source's response has no list "${key}"`,
  pagesMany: (max: string) => `the list has more than ${max} pages`,
  countWrong: (total: string, found: string) =>
    `the source has ${total} animals and returned ${found}`,
  returnedNone: () => "the source returned no animals",

  // A pull that did not take all of a list.
  credentialMissing: () => "the backup that was restored lacks the credential",
  pullOvertaken: () => "the list was paused or pulled elsewhere meanwhile; nothing changed",
  noneTaken: (read: string, why: string) => `none of ${read} records could be read: ${why}`,
  withdrawalsWait: (held: string) =>
    held === "1" ? "1 withdrawal waits for a person" : `${held} withdrawals wait for a person`,
  withdrawalsUnsure: (missing: string, why: string) =>
    `nobody is withdrawn, as the list may not be whole (${why}); animals that it lacks: ${missing}`,
  wordsWait: (animals: string, words: string) =>
    `${animals} animal${animals === "1" ? " waits" : "s wait"} for the meaning of ${words}`,
  rowsWrong: (rejected: string, read: string, line: string, field: string, id: string) =>
    `${rejected} of ${read} records ${rejected === "1" ? "has" : "have"} errors, first in line ${line}: ${field}${id && ` of ${id}`}`,
};

type Texts = typeof messageTexts;

/** What is said of an input: which text, with the values that it shows. */
export interface Message {
  readonly code: keyof Texts;
  readonly values: readonly string[];
}

export const message = <C extends keyof Texts>(
  code: C,
  ...values: Parameters<Texts[C]>
): Message => ({ code, values });

/** The message in words; those of the command line unless others are given. */
export function messageText(
  { code, values }: Message,
  texts: Readonly<Record<keyof Texts, (...values: string[]) => string>> = messageTexts,
): string {
  return texts[code](...values);
}

/** What is no error, but good to know. Nothing, or 0, stands for what is not known. */
export interface Note {
  readonly said: Message;
  /** 0 for a note on the input as a whole. */
  readonly records: number;
  readonly firstLine: number;
  /** A value that the first of them has. */
  readonly example: string;
}

/** The notes of one import, one for each text. */
export class Notes {
  readonly #notes = new Map<string, Note & { records: number }>();

  add(said: Message, line: number, example: string): void {
    const first = () => ({ said, records: 0, firstLine: line, example });
    this.#notes.getOrInsertComputed(messageText(said), first).records += 1;
  }

  list(): readonly Note[] {
    return [...this.#notes.values()];
  }
}

export const shownCharacters = 40;

/** A value as a message can show it: short, on one line. */
export function shown(value: unknown): string {
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return "a list";
  if (isJsonObject(value)) return "an object";
  const text = jsonText(value);
  if (text.length <= shownCharacters) return text;
  return `${text.slice(0, shownCharacters)}...${typeof value === "string" ? '"' : ""}`;
}

/** A value as the word or number that it may be. Of a list or an object nothing is known. */
export function wordOf(value: unknown): string {
  return typeof value === "string" ? value : shown(value);
}

export function isBlank(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === "string" && !/\S/.test(value));
}
