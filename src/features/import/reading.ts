import { quietly } from "../../service/closing.ts";
import type { Deferred, Outcome } from "./candidate.ts";
import { Dates } from "./formats/dates.ts";
import {
  type Format,
  type MapperContext,
  type RecordMapper,
  type Sample,
  sampleOf,
} from "./formats/format.ts";
import { detectFormat } from "./formats/index.ts";
import { rehome } from "./formats/rehome.ts";
import { requireNeeded } from "./formats/needed.ts";
import { Included } from "./formats/rescuegroups.ts";
import { Statuses } from "./formats/statuses.ts";
import { type Note, Notes } from "./notes.ts";
import { csvRows } from "./read/csv-rows.ts";
import { readTable } from "./read/table.ts";
import { type Shape, detectShape } from "./read/detect.ts";
import { type ByteChunks, UnreadableInput } from "./read/input.ts";
import { readJson } from "./read/json.ts";
import { counted } from "./read/peek.ts";
import { readNdjson } from "./read/ndjson.ts";
import { openInput } from "./read/open.ts";
import { MalformedRecord, type RecordBatch } from "./read/records.ts";
import { xlsxRows } from "./read/xlsx.ts";
import { hasError, isErrorName, onlyError, serviceError } from "./service-error.ts";
import { unknownFormat } from "./unknown-format.ts";
import { message } from "./messages.ts";

/** How an input is to be read. What is absent is found out, or follows from the format. */
export interface ReadOptions {
  readonly format?: Format | undefined;
  /** Whose ids the input has. */
  readonly source?: string | undefined;
  readonly statuses?: Statuses | undefined;
  /** A name that TextDecoder knows. */
  readonly encoding?: string | undefined;
  readonly sheet?: string | undefined;
  /** The fields that lead to the list of records within JSON objects. */
  readonly records?: readonly string[] | undefined;
}

/** An input being read: what it is, and an outcome for each of its records in order. */
export interface Reading {
  readonly format: Format;
  readonly shape: Shape["kind"] | "xlsx";
  /** Whose ids its animals have. */
  readonly source: string;
  /** Some hundred outcomes at a time. Throws UnreadableInput when the input cannot be read on. */
  readonly batches: AsyncGenerator<readonly Outcome[]>;
  /** Names for categories given by `reference`; complete once `batches` has come to its end. */
  readonly referenced: ReadonlyMap<string, string>;
  /** What the operator should know. Complete once `batches` has ended. */
  notes(): readonly Note[];
  /** Lets the source go, wherever the reading of it has come to. */
  close(): Promise<void>;
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
  const raw = await rawRecords(source, options, included);
  const { shape, columns, batches } = raw;
  try {
    const beginning = await firstOf(raw);
    const sample = sampleOf(columns, sound(beginning.first));
    const format = options.format ?? detectFormat(sample) ?? unknownFormat(sample);
    const notes = new Notes();
    const context: MapperContext = {
      source: options.source ?? (format.name === "map" || format === rehome ? "" : format.name),
      statuses: options.statuses ?? new Statuses(),
      dates: new Dates(),
      notes,
      isWorkbook: shape === "xlsx",
    };
    const map = triedMapper(format, sample, context, options.format !== undefined);
    notes.clear();
    context.dates.startCounting();
    return {
      format,
      shape,
      source: context.source,
      referenced: included.species,
      batches: outcomes(beginning, batches, map, included),
      notes: () => [...unreadSheets(raw), ...notes.list(), ...turnedDates(context.dates)],
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

/**
 * The format's mapper, after it has read the sample for what it teaches about dates: their order of
 * day and month shows only in some. Throws UnreadableInput for the error of a service.
 */
function triedMapper(
  format: Format,
  sample: Sample,
  context: MapperContext,
  isGiven: boolean,
): RecordMapper {
  const error = onlyError(sample);
  try {
    const map = format.mapper(sample, context);
    if (isGiven && sample.names.length > 0) requireNeeded(format, sample);
    const [first] = sample.records.map((record) => map(record, 0));
    if (error === undefined || first?.kind !== "reject") return map;
  } catch (failure) {
    if (error === undefined || !(failure instanceof UnreadableInput)) throw failure;
  }
  throw error;
}

function unreadSheets({ unread = [] }: RawRecords): readonly Note[] {
  if (unread.length === 0) return [];
  const said = message("sheetsUnread", unread.map((name) => JSON.stringify(name)).join(", "));
  return [{ said, records: unread.length, firstLine: 0, example: "" }];
}

function turnedDates({ turned }: Dates): readonly Note[] {
  if (turned === 0) return [];
  return [{ said: message("datesTurned"), records: turned, firstLine: 0, example: "" }];
}

interface RawRecords {
  readonly shape: Reading["shape"];
  readonly columns: readonly string[] | undefined;
  readonly batches: AsyncGenerator<RecordBatch>;
  /** How much of JSON was read; the first rows say all of a table's columns. */
  readonly bytesRead?: () => number;
  /** What an object around a list of records says beside it that may be an error. */
  readonly beside?: Readonly<Record<string, unknown>>;
  /** A workbook's other sheets, where nobody chose one. */
  readonly unread?: readonly string[];
}

interface Beginning {
  readonly first: readonly RecordBatch[];
  readonly failure?: unknown;
}

async function rawRecords(
  source: ByteChunks,
  { format, encoding, sheet, records }: ReadOptions,
  included: Included,
): Promise<RawRecords> {
  const isHeader = (columns: readonly string[]) => {
    const sample = sampleOf(columns, []);
    return format === undefined ? detectFormat(sample) !== undefined : format.recognises(sample);
  };
  const opened = await openInput(source, encoding);
  if (opened.kind === "workbook") {
    const unread: string[] = [];
    const rows = xlsxRows(opened.chunks, sheet, (sheets) => unread.push(...sheets));
    return { shape: "xlsx", ...(await readTable(rows, isHeader)), unread };
  }
  const { shape, chunks } = await detectShape(opened.chunks);
  if (shape.kind === "csv") {
    return { shape: "csv", ...(await readTable(csvRows(chunks, shape.delimiter), isHeader)) };
  }
  const { portions, bytesRead } = counted(chunks);
  if (shape.kind === "ndjson" && records === undefined) {
    return { shape: "ndjson", columns: undefined, batches: readNdjson(portions), bytesRead };
  }
  const onIncluded = (value: unknown) => included.add(value);
  const beside: Record<string, unknown> = {};
  const onBeside = (name: string, value: unknown) => {
    if (isErrorName(name)) beside[name] = value;
  };
  const wrapped = records !== undefined || (shape.kind === "json" && shape.wrapped);
  const batches = readJson(portions, {
    wrapped,
    onIncluded,
    onBeside,
    ...(records && { records }),
  });
  return { shape: "json", columns: undefined, batches, bytesRead, beside };
}

/** What is looked at of JSON, whose records may each have other fields. */
const sampleRecords = 512;
const sampleBytes = 1024 * 1024;

/** The first batches, and why there are no more where reading broke off behind the first one. */
async function firstOf({ batches, bytesRead, beside = {} }: RawRecords): Promise<Beginning> {
  const first: RecordBatch[] = [];
  try {
    for (let count = 0; count < sampleRecords;) {
      const next = await batches.next();
      if (next.done === true) break;
      first.push(next.value);
      count += next.value.records.length;
      if (bytesRead === undefined || bytesRead() >= sampleBytes) break;
    }
  } catch (failure) {
    if (first.length === 0) throw serviceError(beside) ?? failure;
    return { first, failure };
  }
  const error = first.length === 0 && hasError(beside) ? serviceError(beside) : undefined;
  if (error !== undefined) throw error;
  return { first };
}

function sound(batches: readonly RecordBatch[]): readonly unknown[] {
  return batches.flatMap(({ records }) =>
    records.filter((record) => !(record instanceof MalformedRecord)),
  );
}

/** Records that may wait for what they refer to; a page of an interface has a few hundred. */
const waitingMax = 50_000;

async function* outcomes(
  { first, failure }: Beginning,
  rest: AsyncGenerator<RecordBatch>,
  map: RecordMapper,
  { statuses }: Included,
): AsyncGenerator<readonly Outcome[]> {
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
    for (const batch of first) yield settled(mapped(batch, map));
    if (failure !== undefined) throw failure;
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
