import { shellWord } from "../../domain/errors.ts";
import { isJsonObject } from "../../domain/exact-json.ts";
import { quietly } from "../../service/closing.ts";
import type { Deferred, Outcome } from "./candidate.ts";
import { Dates } from "./formats/dates.ts";
import { type FieldMap, fieldMapText } from "./formats/field-map.ts";
import type { Format, MapperContext, RecordMapper, Sample } from "./formats/format.ts";
import { guessedMap } from "./formats/guess.ts";
import { detectFormat } from "./formats/index.ts";
import { rehome } from "./formats/rehome.ts";
import { Included } from "./formats/rescuegroups.ts";
import { Statuses } from "./formats/statuses.ts";
import { columnsOf, fieldOf, shown } from "./formats/values.ts";
import { type Note, Notes } from "./notes.ts";
import { readCsv, readTable } from "./read/csv.ts";
import { type Shape, detectShape } from "./read/detect.ts";
import { type ByteChunks, UnreadableInput } from "./read/input.ts";
import { readJson } from "./read/json.ts";
import { readNdjson } from "./read/ndjson.ts";
import { openInput } from "./read/open.ts";
import { MalformedRecord, type RecordBatch } from "./read/records.ts";
import { xlsxRows } from "./read/xlsx.ts";
import { message } from "./messages.ts";

/**
 * How an input is to be read; what is left out is found from its beginning, or as the format has
 * it.
 */
export interface ReadOptions {
  readonly format?: Format | undefined;
  /** Whose ids the input has. */
  readonly source?: string | undefined;
  readonly statuses?: Statuses | undefined;
  /** A name that TextDecoder knows. */
  readonly encoding?: string | undefined;
  /** The name of a workbook's sheet. */
  readonly sheet?: string | undefined;
  /** The fields that lead to the list of records within JSON objects. */
  readonly records?: readonly string[] | undefined;
}

/**
 * An input being read: what it turned out to be, and one outcome for each of its records in order.
 */
export interface Reading {
  readonly format: Format;
  readonly shape: Shape["kind"] | "xlsx";
  /** Whose ids its animals have. */
  readonly source: string;
  /**
   * Outcomes in batches of some hundred. Throws `UnreadableInput` when the input cannot be read
   * on.
   */
  readonly batches: AsyncGenerator<readonly Outcome[]>;
  /** Names for categories given by `reference`; complete once `batches` has come to its end. */
  readonly referenced: ReadonlyMap<string, string>;
  /** What the operator should know. Complete once `batches` has ended. */
  notes(): readonly Note[];
  /** Lets the source go, wherever the reading of it has come to. */
  close(): Promise<void>;
}

/** Records of an unknown format that a person is shown. */
const shownRows = 5;

/** An input in none of the known formats, with what is needed to map its columns. */
export class UnknownFormat extends UnreadableInput {
  /** The columns, or the fields of the first record. */
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

/**
 * Begins to read an input of any size in bounded memory. Its layout, and its format unless one
 * is given, are found from its beginning. Throws UnreadableInput when the input is empty, is no
 * text or workbook, or is in no known format (UnknownFormat).
 */
export async function beginReading(
  source: ByteChunks,
  options: ReadOptions = {},
): Promise<Reading> {
  const included = new Included();
  const { shape, columns, batches } = await rawRecords(source, options, included);
  const first = await batches.next();
  try {
    const sample = { columns, records: sampleOf(first) };
    const format = options.format ?? detectFormat(sample) ?? unknownFormat(sample);
    const notes = new Notes();
    const context: MapperContext = {
      source: options.source ?? (format.name === "map" || format === rehome ? "" : format.name),
      statuses: options.statuses ?? new Statuses(),
      dates: new Dates(),
      notes,
      isWorkbook: shape === "xlsx",
    };
    const map = format.mapper(sample, context);
    // Read once for what they teach about dates, whose order of day and month shows only in some.
    for (const record of sample.records) map(record, 0);
    notes.clear();
    return {
      format,
      shape,
      source: context.source,
      referenced: included.species,
      batches: outcomes(first, batches, map, included),
      notes: () => notes.list(),
      // Not those above: a generator that has not begun does nothing when it is to return.
      async close() {
        await batches.return(undefined);
      },
    };
  } catch (error) {
    await quietly(() => batches.return(undefined));
    throw error;
  }
}

interface RawRecords {
  readonly shape: Reading["shape"];
  readonly columns: readonly string[] | undefined;
  readonly batches: AsyncGenerator<RecordBatch>;
}

async function rawRecords(
  source: ByteChunks,
  { format, encoding, sheet, records }: ReadOptions,
  included: Included,
): Promise<RawRecords> {
  const isHeader = (columns: readonly string[]) => {
    const sample = { columns, records: [] };
    return format === undefined ? detectFormat(sample) !== undefined : format.recognises(sample);
  };
  const opened = await openInput(source, encoding);
  if (opened.kind === "workbook") {
    return { shape: "xlsx", ...(await readTable(xlsxRows(opened.chunks, sheet), isHeader)) };
  }
  const { shape, chunks } = await detectShape(opened.chunks);
  switch (shape.kind) {
    case "csv":
      return { shape: "csv", ...(await readCsv(chunks, { delimiter: shape.delimiter, isHeader })) };
    case "ndjson":
      if (records === undefined) {
        return { shape: "ndjson", columns: undefined, batches: readNdjson(chunks) };
      }
  }
  const onIncluded = (value: unknown) => included.add(value);
  const wrapped = records !== undefined || (shape.kind === "json" && shape.wrapped);
  const batches = readJson(chunks, { wrapped, onIncluded, ...(records && { records }) });
  return { shape: "json", columns: undefined, batches };
}

function sampleOf(first: IteratorResult<RecordBatch>): readonly unknown[] {
  return first.done === true
    ? []
    : first.value.records.filter((record) => !(record instanceof MalformedRecord));
}

/** A list without records is no fault; any format will do for it. */
export function unknownFormat(sample: Sample): Format {
  const { columns, records } = sample;
  if (columns === undefined && records.length === 0) return rehome;
  const [first] = records;
  if (columns === undefined) {
    if (!isJsonObject(first)) throw new UnreadableInput(0, message("noObjects"));
    const said = errorOf(first);
    if (said !== undefined) {
      throw new UnreadableInput(0, message("serviceError", said));
    }
  }
  const inner = columns === undefined && records.length === 1 ? listWithin(first) : undefined;
  if (inner !== undefined) {
    throw new UnreadableInput(0, message("listWithin", inner.join(".")));
  }
  const names = columnsOf(sample);
  const readers = names.map((name) => fieldOf(columns, name));
  const rows = sample.records.slice(0, shownRows).map((record) =>
    readers.map((read) => {
      const value = read(record);
      return value === undefined ? "" : shown(value);
    }),
  );
  throw new UnknownFormat(names, rows, guessedMap(sample));
}

/** Objects within one another that a list is looked for in. */
const innerDepthMax = 4;

/** The fields that lead to a list of objects within an object, which may be the records. */
function listWithin(value: unknown, depth = 0): readonly string[] | undefined {
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

/** What an object says that is an error as services put it; undefined for a record. */
function errorOf(record: Readonly<Record<string, unknown>>): string | undefined {
  const { error, errors, message, detail, title } = record;
  const isError =
    error !== undefined ||
    errors !== undefined ||
    ((message ?? detail ?? title) !== undefined &&
      ["code", "status", "statusCode"].some((name) => name in record));
  if (!isError) return undefined;
  const [first] = Array.isArray(errors) ? (errors as unknown[]) : [];
  const said = [message, detail, error, first, title].find((value) => value !== undefined);
  return shown(isJsonObject(said) ? (said["message"] ?? said["detail"] ?? said["title"]) : said);
}

/** Records that may wait for what they refer to; a page of an interface has a few hundred. */
const waitingMax = 50_000;

async function* outcomes(
  first: IteratorResult<RecordBatch>,
  rest: AsyncGenerator<RecordBatch>,
  map: RecordMapper,
  { statuses }: Included,
): AsyncGenerator<readonly Outcome[]> {
  if (first.done === true) return;
  let waiting: Deferred[] = [];
  const settled = (batch: readonly (Outcome | Deferred)[]): readonly Outcome[] => {
    if (waiting.length === 0 && batch.every(isSettled)) return batch;
    const all = [...waiting, ...batch];
    waiting = all.filter((each) => !isSettled(each) && !statuses.has(each.reference)) as Deferred[];
    if (waiting.length > waitingMax) {
      throw new UnreadableInput(0, message("statusesLate", String(waitingMax)));
    }
    return all.flatMap((each) => {
      if (isSettled(each)) return each;
      const status = statuses.get(each.reference);
      return status === undefined ? [] : each.settle(status);
    });
  };
  try {
    yield settled(mapped(first.value, map));
    for await (const batch of rest) yield settled(mapped(batch, map));
    yield settled([]);
    if (waiting.length > 0) yield waiting.map(({ settle }) => settle(undefined));
  } finally {
    await rest.return(undefined);
  }
}

function isSettled(each: Outcome | Deferred): each is Outcome {
  return each.kind !== "deferred";
}

function mapped({ lines, records }: RecordBatch, map: RecordMapper): (Outcome | Deferred)[] {
  return records.map((record, index) => map(record, lines[index] ?? 0));
}
