/** A reading carried out on all records of a list: the same for every door. */
import { dayMs, systemClock } from "../../../domain/clock.ts";
import { isBlank, message, Notes, shown, wordOf } from "../messages.ts";
import type { Input, ReadOptions } from "../read/read.ts";
import {
  type Column,
  columnAmong,
  type FieldMap,
  hasFields,
  mappedField,
  type MapTarget,
  missingStatus,
  type Sample,
  sampleOf,
} from "./columns.ts";
import { Dates, sortableTime } from "./dates.ts";
import { Weighing } from "./evidence.ts";
import { isOfStays, kindTeller } from "./guess.ts";
import { tellsOf } from "./headings.ts";
import { includedNames, type Layout, layoutOf, ownReader, requireNeeded } from "./layouts.ts";
import {
  type CandidateCategory,
  categoryName,
  idInSource,
  idOrName,
  type MapperContext,
  mapperOf,
  type RecordReader,
  type Said,
  shelterName,
} from "./record.ts";
import { type Meaning, outcomeWords, statusKey, Statuses } from "./words.ts";

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
  /** True where the breed or the picture of each animal tells its kind. */
  readonly kindByBreed?: true | undefined;
  /** Words and what they mean here, beside the words that are known. */
  readonly statuses: Readonly<Record<string, Meaning>>;
  /** What a blank status means, or that of all animals where no column has any. */
  readonly defaultStatus?: Meaning | undefined;
  /** True where the day comes first in 4/3/2026. */
  readonly dayFirst?: boolean | undefined;
  /** Columns that may take more than half of the available, and columns that say nothing. */
  readonly believed?: readonly string[] | undefined;
  readonly ignored?: readonly string[] | undefined;
  /** Whose ids the animals have; empty when nobody said. */
  readonly source: string;
}

export type Understanding = ReturnType<typeof understand>;

/** What the records of an input say. Throws UnreadableInput where the reading does not fit it. */
export function understand(
  { columns, records: given, included, lines, shape }: Omit<Input, "bytes" | "options" | "notes">,
  reading: Reading,
  nowMs = systemClock(),
) {
  const layout = layoutOf(reading.format);
  if (layout === undefined && reading.format !== "map") {
    throw new Error(`there is no format ${reading.format}`);
  }
  const names = includedNames(included);
  const { flat } = layout ?? {};
  const records = flat === undefined ? given : given.map((record) => flat(record, names));
  const sample = sampleOf({ columns, records });
  const notes = new Notes();
  const dates = datesOf(sample, reading, layout);
  const told = Object.entries(reading.statuses).map(
    ([word, means]) => [statusKey(word), means] as const,
  );
  const context: MapperContext = {
    source: reading.source,
    statuses: new Statuses(new Map(told), reading.defaultStatus),
    dates,
    now: sortableTime(nowMs + dayMs),
    notes,
    isWorkbook: shape === "xlsx",
  };
  const reader =
    reading.format === "rehome"
      ? ownReader(sample, reading, context)
      : columnsReader(sample, reading, context);
  const weighing = new Weighing(sample, reader, reading);
  const map = mapperOf(columns, reader, weighing.weigh);
  const outcomes = records.map((record, at) => map(record, lines[at] ?? 0));
  if (dates.isOpen) notes.add(message("dayOrderOpen"), 0, dates.example);
  return {
    outcomes,
    notes: [...notes.list(), ...weighing.notes()],
    stems: reader.context.statuses.stems(),
    /** Undefined where nothing tells it. */
    dayFirst: dates.dayFirst,
    takers: weighing.takers(),
  };
}

/** The dates of a list, with the order of day and month that it tells, or that is remembered. */
function datesOf(sample: Sample, { dayFirst, columns }: Reading, layout?: Layout): Dates {
  const dates = new Dates(dayFirst, layout?.dayFirst);
  if (dayFirst !== undefined) return dates;
  const fields = sample.own.filter(
    ({ name }) => dateHeading.test(name) || tellsOf(name) || name === columns?.updatedAt,
  );
  for (const record of sample.records.filter(hasFields)) {
    for (const { read } of fields) dates.learn(read(record));
  }
  return dates;
}

const dateHeading = /date|fecha|datum|data|time|update|chang|modif|dato/i;

function columnsReader(sample: Sample, reading: Reading, given: MapperContext): RecordReader {
  const layout = layoutOf(reading.format);
  if (layout && layout.flat === undefined) requireNeeded(layout, sample);
  const of = (target: MapTarget): Column | undefined => {
    const [names, name] = [layout?.columns[target], reading.columns?.[target]];
    if (layout !== undefined) return names && columnAmong(sample, names);
    return name === undefined ? undefined : { name, read: mappedField(sample, target, name) };
  };
  const [id, name, status] = [of("externalId"), of("name"), of("status")];
  const dates = layout?.columns.updatedAt?.map((each) => columnAmong(sample, [each]));
  const changed = dates ?? [of("updatedAt") ?? []].flat();
  const isOutcome = tellsOf(status?.name ?? "") === "outcome";
  const isStays = layout ? isOutcome : isOfStays(sample.names, status?.name);
  const own = new Map([...(layout?.words ?? []), ...(isStays || isOutcome ? outcomeWords : [])]);
  const ids = sample.records.filter(hasFields).map((record) => wordOf(id?.read(record)));
  const isFromZero = ids.includes("1") && ids.filter((each) => each === "0").length === 1;
  const context = { ...given, isFromZero, statuses: given.statuses.withWords(own) };
  const special = layout?.says?.(sample, context);
  if (status === undefined && special === undefined && context.statuses.whenMissing === undefined) {
    throw missingStatus("status=COLUMN in --map");
  }
  const saysOf = (record: unknown): Said => {
    const value = status?.read(record);
    // How an animal left: blank, it is there.
    if (isStays && isBlank(value)) return { field: "", value: "available", isStay: true };
    return { field: status?.name ?? "status", value };
  };
  const says = special?.says ?? saysOf;
  const categoryOf = categoryReader(reading, sample, of("categoryId"));
  const partsOf: RecordReader["partsOf"] = (record, line) => {
    const externalId = id && idInSource(context, id.name, id.read(record), line);
    const at = changed.find(({ read }) => !isBlank(read(record)));
    const version = context.dates.sortable(at?.read(record));
    if (at !== undefined && version === undefined) {
      context.notes.add(message("datesUnreadable", at.name), line, shown(at.read(record)));
    }
    return {
      externalId,
      source: context.source,
      version,
      says: says(record),
      pet: () => ({
        name: shelterName(name?.name ?? "name", name?.read(record)),
        category: categoryOf(record),
      }),
    };
  };
  const ofStatus = new Set([status?.name ?? [], special?.own ?? []].flat());
  return { partsOf, context, own: ofStatus, outcome: isStays ? status?.read : undefined };
}

/** They are few, and one object for each saves the memory of many. */
function categoryReader(reading: Reading, sample: Sample, column?: Column) {
  const { category, format, kindByBreed } = reading;
  const all = category === undefined ? undefined : { name: category };
  const { name: field = "categoryId", read } = column ?? {};
  const tell = kindByBreed && kindTeller(sample);
  const valueOf = tell ? (record: unknown) => tell(record)?.called : read;
  const known = new Map<unknown, CandidateCategory>();
  const categoryIn = (value: unknown) =>
    format === "map" ? idOrName(field, kindOf(value)) : categoryName(field, kindOf(value));
  return (record: unknown): CandidateCategory =>
    all ?? known.getOrInsertComputed(valueOf?.(record), categoryIn);
}

/** The kind before a breed, where a column has both: `[Dog] Jindo`. */
const kindOf = (value: unknown): unknown =>
  typeof value === "string" ? (/^\[([^\]]+)\]/.exec(value)?.[1] ?? value) : value;
