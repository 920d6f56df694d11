/**
 * What an import says of its input, in the words of the command line. A place with other words, or
 * in another language, goes by the code. The values are texts, as they are shown.
 */
export const messageTexts = {
  // A record that cannot be imported.
  nameMissing: () => "expected a name, found nothing",
  nameLong: (max: string, found: string) => `expected at most ${max} characters, found ${found}`,
  nameIllFormed: () => "expected well-formed Unicode without NUL, found a name that is not",
  notText: (found: string) => `expected a text, found ${found}`,
  notInt64: (found: string) => `expected a whole number of 64 bits, found ${found}`,
  notObject: (found: string) => `expected an object, found ${found}`,
  notBoolean: (found: string) => `expected true or false, found ${found}`,
  notId: (found: string) => `expected an id, found ${found}`,
  idLong: (max: string, found: string) =>
    `expected an id of at most ${max} characters, found ${found}`,
  idUnknown: (id: string, others: string) =>
    `the id ${id}${others === "0" ? "" : ` (and ${others} more)`} does not belong to this animal in this store; --new-ids gives a new one`,
  categoryMissing: () => "expected the name of a category, found nothing",
  notCategory: (found: string) => `expected the name of a category, found ${found}`,
  categoryIdMissing: () => "expected a category with an id, found none",
  categoryUnknown: (name: string) => `the category ${name} is not known`,
  categoryUnnamed: (name: string, others: string) =>
    `the category ${name} of this animal${others === "0" ? "" : ` (and of ${others} more)`} is not known`,
  categoryNameTaken: (id: string, name: string, idHere: string) =>
    `the record pairs the category ${id} with the name ${name}, but here ${name} has the id ${idHere}; leave one of the two blank`,
  categoryIdTaken: (id: string, name: string, nameHere: string) =>
    `the record pairs the category ${id} with the name ${name}, but here ${id} is ${nameHere}; leave one of the two blank`,
  speciesMissing: () => "expected the id of a species, found none",
  statusUnknown: (found: string) => `unknown status ${found}`,
  statusUnnamed: (id: string) => `the input has no name for the status id ${id}`,
  fieldCount: (expected: string, found: string) =>
    `expected ${expected} fields as in the header, found ${found} field${found === "1" ? "" : "s"}`,
  quoteOpen: () => "expected a closing '\"' for a field of this record",
  columnsDiffer: (one: string, other: string) =>
    `the file has this column twice, here with ${one} and ${other}; remove one of them`,
  notJson: (why: string) => why,
  otherProblems: () => "other problems",
  other: (text: string) => text,

  // What is no error, but good to know.
  idsDamaged: () => "ids that a spreadsheet damaged are ignored",
  datesTurned: () =>
    "dates were read with the month first, before another date showed that the day is first",
  sheetsUnread: (names: string) =>
    `the workbook has other sheets, which are not read: ${names}; name one with --sheet`,
  datesUnreadable: (field: string) => `dates in ${field} cannot be read`,
  idsMissing: () => "animals have no id of their own, so each import adds them again",
  wholeRefused: (why: string) => `the import itself would be refused: ${why.replace(/\.$/, "")}`,
  namesDiffer: () => "ids have records with different names; the newest name is used",

  // An input that cannot be read to its end.
  empty: () => "the input is empty",
  noObjects: () => "the records are no JSON objects",
  serviceError: (message: string) => `the input is the error of a service, not a list: ${message}`,
  listWithin: (path: string) => `the list of records is within the object: --records ${path}`,
  noList: (path: string) => `there is no list of records at --records ${path}`,
  statusesLate: (max: string) => `more than ${max} animals come before the names of their statuses`,
  statusMissing: (columns: string) =>
    `no column says whether an animal is for adoption (expected ${columns}); say what all of them are with --default-status available|pending|sold|none`,
  columnsMissing: (format: string, missing: string, found: string) =>
    `--format ${format} needs the columns ${missing}, which are missing; there are ${found}`,
  columnTwice: (pair: string, times: string) =>
    `--map ${pair}: the header has this column ${times} times; rename all but one of them`,
  columnUnknown: (pair: string, found: string) =>
    `--map ${pair}: there is no such column; there are ${found}`,
  jsonWanted: (format: string) => `expected JSON for --format ${format}, found CSV`,
  headerMissing: () => "expected a CSV header line, found nothing",
  headerEmpty: () => "expected a CSV header line, found only empty fields",
  lineEndsWrong: () =>
    "expected lines that end in LF or CRLF, found CR alone: save it again as CSV or .xlsx",
  cutOff: (why: string) => `the input is cut off in the record that begins here: ${why}`,
  recordLong: (max: string) => `expected a record of at most ${max} bytes, this one is larger`,
  recordUnended: (max: string) =>
    `expected a record of at most ${max} characters; is a '"' left open here?`,
  quoteUnended: () => "expected a closing '\"' for a field of this record, found the end",
  nestedDeep: (max: string) => `nested deeper than ${max} levels`,
  notUtf8: () =>
    "expected UTF-8 text, found bytes that are not (if it was saved on Windows: --encoding windows-1252)",
  notEncoded: (encoding: string) => `expected ${encoding} text here or in the lines below`,
  utf16Unmarked: (encoding: string) =>
    `the input looks like UTF-16 without a byte order mark: add --encoding ${encoding}`,
  compressed: (method: string) =>
    `the input is compressed with ${method}: unpack it first (${method} -dc FILE)`,
  compressedCut: () => "the compressed input is cut off",
  compressedDamaged: (why: string) => `the compressed input is damaged (${why})`,
  picture: () => "the input is a picture: ask for the list as CSV or .xlsx",
  pdf: () => "the input is a PDF document: ask for the list as CSV or .xlsx",
  oldWorkbook: () =>
    "the input is an old Excel workbook (.xls) or a protected one: save it as .xlsx or CSV",
  gitPointer: () =>
    "the input is a Git LFS pointer, not the file itself: get that with `git lfs pull`",
  webPage: (title: string) =>
    `the input is a web page${title === "" ? "" : ` ("${title}")`}, not a file of animals: download the file itself`,
  xml: () => "the input is XML: ask for the list as JSON or CSV",
  workbookUnreadable: (why: string) =>
    `the workbook cannot be read (${why}): save it as .xlsx or CSV`,
  formulaValueless: (cell: string) =>
    `the formula in ${cell} has no value: open the workbook in a spreadsheet program and save it`,
  workbookLarge: (max: string) => `expected a workbook of at most ${max} MiB: save it as CSV`,
  sheetEmpty: () => "the sheet is empty; name another one with --sheet",
  sheetUnknown: (sheet: string, found: string) => `there is no sheet ${sheet}; there are ${found}`,
  formatUnknown: (found: string, options: string) =>
    `the records are in none of the known formats. The first one has:\n${found}\n` +
    `Say where the fields are, such as ${options}, or name a format with --format`,
};

type MessageCode = keyof typeof messageTexts;
/** Texts for all messages, such as those of another language. */
type MessageTexts = typeof messageTexts;

/** What is said of an input: which text, with the values that it shows. */
export interface Message {
  readonly code: MessageCode;
  readonly values: readonly string[];
}

export function message<C extends MessageCode>(
  code: C,
  ...values: Parameters<MessageTexts[C]>
): Message {
  return { code, values };
}

/** The message in words; those of the command line unless others are given. */
export function messageText(
  { code, values }: Message,
  texts: Readonly<Record<MessageCode, (...values: string[]) => string>> = messageTexts,
): string {
  return texts[code](...values);
}
