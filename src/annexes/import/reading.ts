import { quietly } from "../../service/closing.ts";
import type { Outcome } from "./candidate.ts";
import type { Format, RecordMapper } from "./formats/format.ts";
import { detectFormat } from "./formats/index.ts";
import { rehome } from "./formats/rehome.ts";
import { includedSpecies } from "./formats/rescuegroups.ts";
import { readCsv } from "./read/csv.ts";
import { type Shape, detectShape } from "./read/detect.ts";
import { type ByteChunks, UnreadableInput, utf8Chunks } from "./read/input.ts";
import { readJson } from "./read/json.ts";
import { readNdjson } from "./read/ndjson.ts";
import { MalformedRecord, type RecordBatch } from "./read/records.ts";

/** A catalogue being read: what it turned out to be, and one outcome for each of its records in order. */
export interface Reading {
  readonly format: Format;
  readonly shape: Shape["kind"];
  /** Outcomes in batches of some hundred. Throws `UnreadableInput` where the input cannot be read on. */
  readonly batches: AsyncGenerator<readonly Outcome[]>;
  /** Names for categories given by `reference`; complete once `batches` has come to its end. */
  readonly referenced: ReadonlyMap<string, string>;
  /** Lets the source go, wherever the reading of it has come to. */
  close(): Promise<void>;
}

/**
 * Begins to read a catalogue of any size in bounded memory. Its layout, and its format unless `format` is
 * given, are found from its beginning.
 * Throws UnreadableInput when the input is empty, is not text, or is in no known format.
 */
export async function readCatalogue(source: ByteChunks, format?: Format): Promise<Reading> {
  const { shape, chunks } = await detectShape(utf8Chunks(source));
  const referenced = new Map<string, string>();
  const { columns, batches } = await rawRecords(chunks, shape, format, referenced);
  const first = await batches.next();
  try {
    const sample = { columns, records: sampleOf(first) };
    const found = format ?? detectFormat(sample) ?? unknownFormat(columns, sample.records);
    const map = found.mapper(columns);
    return {
      format: found,
      shape: shape.kind,
      referenced,
      batches: outcomes(first, batches, map),
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

async function rawRecords(
  chunks: ByteChunks,
  shape: Shape,
  format: Format | undefined,
  referenced: Map<string, string>,
) {
  switch (shape.kind) {
    case "csv": {
      const isHeader = (columns: readonly string[]) => {
        const sample = { columns, records: [] };
        return format === undefined
          ? detectFormat(sample) !== undefined
          : format.recognises(sample);
      };
      return await readCsv(chunks, { delimiter: shape.delimiter, isHeader });
    }
    case "ndjson":
      return { columns: undefined, batches: readNdjson(chunks) };
    case "json": {
      const onIncluded = (value: unknown) => {
        const species = includedSpecies(value);
        if (species !== undefined) referenced.set(...species);
      };
      return {
        columns: undefined,
        batches: readJson(chunks, { wrapped: shape.wrapped, onIncluded }),
      };
    }
  }
}

function sampleOf(first: IteratorResult<RecordBatch>): readonly unknown[] {
  return first.done === true
    ? []
    : first.value.records.filter((record) => !(record instanceof MalformedRecord));
}

/** A list without records is no fault; any format will do for it. */
function unknownFormat(
  columns: readonly string[] | undefined,
  records: readonly unknown[],
): Format {
  if (columns === undefined && records.length === 0) return rehome;
  throw new UnreadableInput(
    0,
    "the records are in none of the formats known; name one with --format, or tell where the fields are with --map",
  );
}

async function* outcomes(
  first: IteratorResult<RecordBatch>,
  rest: AsyncGenerator<RecordBatch>,
  map: RecordMapper,
): AsyncGenerator<readonly Outcome[]> {
  if (first.done === true) return;
  try {
    yield mapped(first.value, map);
    for await (const batch of rest) yield mapped(batch, map);
  } finally {
    await rest.return(undefined);
  }
}

function mapped({ lines, records }: RecordBatch, map: RecordMapper): Outcome[] {
  return records.map((record, index) => map(record, lines[index] ?? 0));
}
