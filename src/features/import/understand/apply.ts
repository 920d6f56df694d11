/** A reading carried out on all records of a list: the same for every door. */
import { dayMs, isoSeconds } from "../../../domain/clock.ts";
import { isBlank, message, type Note, Notes, shown, wordOf } from "../messages.ts";
import { UnreadableInput } from "../read/input.ts";
import type { Input } from "../read/read.ts";
import { Dates } from "./dates.ts";
import { evidenceReader, type Taker, Weighing } from "./evidence.ts";
import { tellsOf } from "./headings.ts";
import {
  type Column,
  columnAmong,
  type Field,
  fieldOf,
  type FieldMap,
  hasFields,
  mappedField,
  type MapTarget,
  missingStatus,
  requireNeeded,
  type Sample,
  sampleOf,
} from "./columns.ts";
import { includedNames, type Layout, layouts, neededBy, resolved } from "./layouts.ts";
import {
  type CandidateCategory,
  type MapperContext,
  mapperOf,
  type Outcome,
  problemsMax,
  type RecordReader,
  type Said,
} from "./record.ts";
import type { Reading } from "./reading.ts";
import { rehome } from "./rehome.ts";
import { statusKey, Statuses } from "./statuses.ts";
import { categoryName, idOrName, int64Of, shelterName, unnamed } from "./values.ts";
import { type Meaning, outcomeWords, wordKey } from "./words.ts";

/** All records of an input, understood. */
export interface Understanding {
  /** What the columns or fields of the records are called. */
  readonly columns: readonly string[];
  readonly outcomes: readonly Outcome[];
  readonly notes: readonly Note[];
  /** Words that were read by their stems, with their meanings. */
  readonly stems: ReadonlyMap<string, Meaning>;
  /** True where the day comes first in 4/3/2026; undefined where nothing tells it. */
  readonly dayFirst: boolean | undefined;
  /** Columns that would take more than half of the available, and that nobody agreed to. */
  readonly takers: readonly Taker[];
}

export interface ApplyOptions {
  readonly nowMs: number;
  /** False for a reading that was confirmed before: a new word is asked for then. */
  readonly readsStems?: boolean;
}

/** What the records of an input say. Throws UnreadableInput where the reading does not fit it. */
export function understand(
  { columns, records: given, included, lines, shape }: Omit<Input, "bytes" | "options" | "notes">,
  reading: Reading,
  { nowMs, readsStems = true }: ApplyOptions,
): Understanding {
  const layout = layouts.find(({ name }) => name === reading.format);
  const records = flattened(given, layout, included);
  const sample = sampleOf({ columns, records });
  const notes = new Notes();
  const dates = datesOf(sample, reading, layout);
  const own = new Map(
    Object.entries(reading.statuses).map(([word, meaning]) => [statusKey(word), meaning]),
  );
  const context: MapperContext = {
    source: reading.source,
    statuses: new Statuses(own, reading.defaultStatus, { readsStems }),
    dates,
    now: Number(isoSeconds(nowMs + dayMs).replaceAll(/\D/g, "")),
    notes,
    isWorkbook: shape === "xlsx",
  };
  const reader = readerOf(sample, reading, layout, context);
  const evidence = evidenceReader(sample, reader.context, {
    isOwn: (name) => reader.own.has(name) || reading.ignored?.includes(name) === true,
    outcome: reader.outcome,
  });
  const weighing = new Weighing(evidence, new Set(reading.believed));
  const map = mapperOf(columns, reader, weighing.weigh);
  const category = told(reading);
  const outcomes: Outcome[] = [];
  let rejected = 0;
  for (const record of records) {
    let outcome = map(record, lines[outcomes.length] ?? 0);
    if (outcome.kind !== "reject" && category !== undefined) outcome.category = category;
    if (outcome.kind === "reject" && (rejected += 1) > problemsMax) {
      outcome = { ...outcome, record: undefined };
    }
    outcomes.push(outcome);
  }
  const { statuses } = reader.context;
  if (dates.isOpen) notes.add(message("dayOrderOpen"), 0, dates.example);
  return {
    columns: sampleOf({ columns, records: given }).names,
    outcomes,
    notes: [...notes.list(), ...weighing.notes()],
    stems: statuses.stems(),
    dayFirst: dates.dayFirst,
    takers: weighing.takers(),
  };
}

/** The category that somebody told of all, where a layout has its own. */
const told = ({ category, format }: Reading) =>
  category !== undefined && format !== "map" ? { name: category } : undefined;

function flattened(
  records: readonly unknown[],
  layout: Layout | undefined,
  included: readonly unknown[],
) {
  if (layout?.flat === undefined) return records;
  const names = includedNames(included);
  return records.map((record) => layout.flat?.(record, names));
}

/** The dates of a list, with the order of day and month that it tells, or that is remembered. */
function datesOf(
  sample: Sample,
  { dayFirst, columns = {} }: Reading,
  layout: Layout | undefined,
): Dates {
  const dates = new Dates(dayFirst, layout?.dayFirst);
  if (dayFirst !== undefined) return dates;
  const fields = sample.names
    .filter((each) => isDateHeading(each) || each === columns.updatedAt)
    .map((name) => fieldOf(sample.columns, name));
  for (const record of fields.length === 0 ? [] : sample.records) {
    if (hasFields(record)) for (const read of fields) dates.learn(read(record));
  }
  return dates;
}

const isDateHeading = (name: string) =>
  /date|fecha|datum|data|time|update|chang|modif|dato/i.test(name) || tellsOf(name) !== undefined;

function readerOf(
  sample: Sample,
  reading: Reading,
  layout: Layout | undefined,
  context: MapperContext,
): RecordReader {
  if (reading.format === rehome.name) return rehome.reader(sample, context);
  if (layout === undefined && reading.format !== "map") {
    throw new Error(`there is no format ${reading.format}`);
  }
  return columnsReader(sample, reading, layout, context);
}

/** Reads the columns that a person, a guess or a layout names. */
function columnsReader(
  sample: Sample,
  reading: Reading,
  layout: Layout | undefined,
  given: MapperContext,
): RecordReader {
  if (layout && layout.flat === undefined) {
    requireNeeded({ name: layout.name, needed: neededBy(layout) }, sample);
  }
  const { id, name, status, changed } = namedColumns(sample, reading, layout);
  const isStays = layout?.isOutcome ?? reading.isOutcome ?? false;
  const isOutcome = isStays || tellsOf(status?.name ?? "") === "outcome";
  const words = Object.entries(layout?.words ?? {});
  const own = new Map(words.map(([word, meaning]) => [wordKey(word), meaning]));
  for (const [word, meaning] of isOutcome ? outcomeWords : []) own.set(word, meaning);
  const context = { ...given, statuses: given.statuses.withWords(own) };
  const special = layout?.says?.(sample, context);
  if (status === undefined && special === undefined && context.statuses.whenMissing === undefined) {
    throw missingStatus("status=COLUMN in --map");
  }
  const says = special?.says ?? statusReader(status, isStays);
  const categoryOf = categoryReader(sample, reading, layout);
  const partsOf: RecordReader["partsOf"] = (record) => {
    const at = changed.find(({ read }) => !isBlank(read(record)));
    return {
      id: id && [id.name, id.read(record)],
      changed: at && [at.name, at.read(record)],
      says: says(record),
      pet: () => ({
        name: name === undefined ? unnamed : shelterName(name.name, name.read(record)),
        category: categoryOf(record),
      }),
    };
  };
  return {
    partsOf,
    context,
    own: new Set([...(status ? [status.name] : []), ...(special?.own ?? [])]),
    outcome: isStays ? status?.read : undefined,
  };
}

function namedColumns(sample: Sample, { columns = {} }: Reading, layout: Layout | undefined) {
  const of = (target: MapTarget): Column | undefined => {
    const [names, name] = [layout?.columns[target], columns[target]];
    if (layout !== undefined) return names && columnAmong(sample, names);
    return name === undefined ? undefined : { name, read: mappedField(sample, target, name) };
  };
  const dates = layout?.columns.updatedAt?.map((each) => columnAmong(sample, [each]));
  const changed = dates ?? [of("updatedAt") ?? []].flat();
  return {
    id: of("externalId"),
    name: of("name"),
    category: of("categoryId"),
    status: of("status"),
    changed,
  };
}

/** Values that are looked at to see whether a column has categories. */
const categoryValues = 1_000;

/** Refuses a column of ages, weights or dates for the category. Throws UnreadableInput. */
function refuseNoCategories({ categoryId = "" }: FieldMap, { records }: Sample, read: Field): void {
  const values = records
    .slice(0, categoryValues)
    .map((record) => (hasFields(record) ? read(record) : undefined))
    .filter((value) => !isBlank(value) && int64Of(value) === undefined);
  const measures = values.filter((value) => /^\D{0,2}\d/.test(wordOf(value)));
  if (values.length === 0 || 2 * measures.length <= values.length) return;
  const problem = message("columnNoCategory", `categoryId=${categoryId}`, shown(measures[0]));
  throw new UnreadableInput(0, problem);
}

function categoryReader(sample: Sample, reading: Reading, layout: Layout | undefined) {
  const { category: kind, columns = {} } = reading;
  const { category } = namedColumns(sample, reading, layout);
  const { name: field, read } = category ?? { name: "categoryId", read: () => undefined };
  if (layout === undefined && kind === undefined && category) {
    refuseNoCategories(columns, sample, read);
  }
  const all = kind === undefined ? undefined : { name: kind };
  // They are few, and one object for each saves the memory of many.
  const known = new Map<unknown, CandidateCategory>();
  return (record: unknown): CandidateCategory => {
    const value = all ?? resolved(field, read(record));
    return (
      all ??
      known.getOrInsertComputed(value, () =>
        layout === undefined ? idOrName(field, value) : categoryName(field, kindOf(value)),
      )
    );
  };
}

/** What a record says by its status, or by how the animal left: blank, it is there. */
function statusReader(
  { name: field, read }: Column = { name: "status", read: () => undefined },
  isStays: boolean,
): (record: unknown) => Said {
  return (record) => {
    const value = resolved(field, read(record));
    if (isStays && isBlank(value)) return { status: "available", isStay: true };
    return { field, value };
  };
}

/** The kind before a breed, where a column has both: `[Dog] Jindo`. */
function kindOf(value: unknown): unknown {
  return typeof value === "string" ? (/^\[([^\]]+)\]/.exec(value)?.[1] ?? value) : value;
}
