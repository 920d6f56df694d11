/** The layouts of programs and cities: data, with the deviations that some of them need. */
import { isJsonObject } from "../../../domain/exact-json.ts";
import { isBlank, message, Notes, wordOf } from "../messages.ts";
import { UnreadableInput } from "../read/input.ts";
import { valueAt } from "../read/json.ts";
import { unguarded } from "../read/table.ts";
import type { Reading } from "./apply.ts";
import {
  columnAmong,
  columnKey,
  hasColumn,
  lineOf,
  type MapTarget,
  missingStatus,
  parseFieldMap,
  type Sample,
} from "./columns.ts";
import { tellsOf } from "./headings.ts";
import {
  type CandidateCategory,
  exactName,
  idOrName,
  int64In,
  type MapperContext,
  type RecordReader,
  type Said,
  sourceId,
} from "./record.ts";
import { isNo, isYes, keyed, type Meaning } from "./words.ts";

/** What a layout reads in place of a column of statuses, and the columns that it reads. */
export interface SaysReader {
  readonly says: (record: unknown) => Said;
  readonly own: readonly string[];
}

/**
 * How a shelter program or a city lays out its list: a table, a workbook or JSON objects. What
 * columns are called, the best name first; case and separators do not count.
 */
export interface Layout {
  readonly name: string;
  readonly title: string;
  /** Without a name where the source gives none. */
  readonly columns: Readonly<Partial<Record<MapTarget, readonly string[]>>>;
  /** Columns that only this layout has: one of these groups. */
  readonly marks: readonly (readonly string[])[];
  /** Columns that it cannot do without, if these are not all of the above but the date. */
  readonly needed?: readonly (readonly string[])[];
  /** True where the status is how an animal left, and blank while it is there. */
  readonly isOutcome?: true;
  /** Whether the day comes first in dates where nothing tells it. */
  readonly dayFirst?: boolean;
  /** Words that mean something else here, or are known nowhere else. */
  readonly words?: ReadonlyMap<string, Meaning>;
  /** Makes flat records, with the columns above, of those of the source. */
  readonly flat?: (record: unknown, included: Included) => unknown;
  readonly says?: (sample: Sample, context: MapperContext) => SaysReader;
  /** What stands for all of the above but the columns that it needs. */
  readonly recognises?: (sample: Sample) => boolean;
  readonly reader?: (sample: Sample, reading: Reading, context: MapperContext) => RecordReader;
}

/** Names parted by bars; those that belong together by plus signs. */
const parted = (text: string): readonly string[] => text.split("|");
const marksIn = (text: string) => parted(text).map((group) => group.split("+"));

/** Columns in the form of `--map`, each with other names for it. */
const columnsIn = (map: string): Layout["columns"] =>
  Object.fromEntries(
    Object.entries(parseFieldMap(map)).map(([target, names]) => [target, parted(names)]),
  );

/** What most reports of cities have, with a row per stay. */
const stays = columnsIn(
  `externalId=animal id,categoryId=animal type,status=outcome type,
      updatedAt=outcome date|intake date`,
);

const city = (name: string, title: string, marks: string, columns = ""): Layout => ({
  name,
  title,
  dayFirst: false,
  isOutcome: true,
  columns: { ...stays, ...(columns && columnsIn(columns)) },
  marks: marksIn(marks),
});

const asmMarks = "speciesname|sheltercode|animaltypename|animalnotforadoption";

export const layouts: readonly Layout[] = [
  {
    name: "rehome",
    title: "what `rehome pets export` and the console write, and answers of GET /pets",
    columns: {},
    marks: [],
    needed: [
      ["name", "nombre"],
      ["categoryId", "category", "categoría"],
    ],
    recognises: isOwn,
    reader: ownReader,
  },
  {
    name: "rescuegroups",
    title: "RescueGroups API v5, animals with included species (JSON:API)",
    columns: columnsIn(
      "externalId=id,name=name,categoryId=relationships.species,status=status,updatedAt=updatedDate",
    ),
    marks: marksIn("attributes+relationships"),
    needed: [["attributes"], ["relationships"]],
    flat: flatResource,
  },
  {
    name: "asm",
    title: "Animal Shelter Manager 3 / sheltermanager.com, json_adoptable_animals (JSON or CSV)",
    // A report of movements has several of an animal, each with the time when that changed.
    columns: columnsIn(
      `externalId=id|animalid,name=animalname,categoryId=speciesname|animalspecies,
      updatedAt=movementdate|lastchangeddate`,
    ),
    marks: parted(asmMarks).map((each) => ["animalname", each]),
    needed: [["animalname"], ["speciesname", "animalspecies"]],
    // The types of a movement by their names, and by the numbers of ASM's `lkmovementtype`.
    words: keyed({
      available: "0, 0.0, none, 2, 2.0, foster, 10, 10.0, cancelled reservation",
      pending: "9, 9.0, reservation, 11, 11.0, trial adoption",
      sold: "1, 1.0, adoption",
      gone: `3, 3.0, transfer, 4, 4.0, escaped, 5, 5.0, reclaimed, 6, 6.0, stolen, 7, 7.0, released,
      released to wild, 8, 8.0, retailer, 12, 12.0, permanent foster, 13, 13.0, tnr`,
    }),
    says: asmReader,
  },
  {
    name: "petfinder",
    title: "Petfinder API v2, pages of animals (JSON)",
    columns: columnsIn(
      "externalId=id,name=name,categoryId=type,status=status,updatedAt=status_changed_at",
    ),
    marks: marksIn("organization_id|status_changed_at"),
  },
  {
    name: "king-county",
    title: "King County Regional Animal Services: lost, found, adoptable",
    dayFirst: false,
    columns: { ...stays, ...columnsIn("name=animal name,status=record type,updatedAt=date") },
    marks: marksIn("record type"),
  },
  city(
    "sonoma",
    "Sonoma County Animal Services, intake and outcome",
    "impound number|kennel number|days in shelter",
    "name=name,categoryId=type",
  ),
  city("dallas", "Dallas Animal Services, which gives no names", "animal breed|kennel status"),
  city(
    "san-jose",
    "San Jose Animal Care and Services",
    "last update+intake reason+crossing",
    "name=animal name",
  ),
  city(
    "louisville",
    "Louisville Metro Animal Services, which gives no names",
    "intake asilomar status|outcome asilomar status|zip where found",
  ),
  city(
    "long-beach",
    "Long Beach Animal Care Services",
    "intake is dead|outcome is dead|reason for intake+crossing",
    "name=animal name",
  ),
  city(
    "austin",
    "Austin Animal Center outcomes, until and since May 2025, and Kaggle's copies",
    "sex upon outcome|age upon outcome|monthyear|outcome subtype|outcome status",
    `name=name,categoryId=animal type|type|species,status=outcome type|outcome status,
      updatedAt=datetime|outcome date|date`,
  ),
  {
    name: "petpoint",
    title: "PetPoint reports",
    dayFirst: false,
    columns: columnsIn(
      `externalId=animal #|animal number|arn|animal id,name=animal name|name,
      categoryId=species|animal type,status=stage|animal status|status,
      updatedAt=last updated|status date/time|status date|intake date/time|intake date`,
    ),
    marks: marksIn("animal #|arn"),
  },
  {
    name: "shelterluv",
    title: "Shelterluv, API v1 and reports",
    dayFirst: false,
    columns: columnsIn(
      `externalId=id|animal id,name=name|animal name,categoryId=type|species,
      status=status|current status,updatedAt=last updated unix time|last updated|status date`,
    ),
    marks: marksIn("internal id|last updated unix time|last intake unix time"),
  },
  {
    name: "taiwan",
    title: "Taiwan's shelters (data.moa.gov.tw), most of whose animals have no names",
    columns: columnsIn(
      `externalId=animal_id,name=animal_title,categoryId=animal_kind,status=animal_status,
      updatedAt=animal_update|cDate`,
    ),
    marks: marksIn("animal_subid|animal_opendate|shelter_pkid|animal_shelter_pkid"),
    words: keyed({ available: "open", gone: "none, other" }),
  },
  {
    name: "korea",
    title: "Korea's shelters (data.go.kr), which give no names",
    columns: columnsIn(
      `externalId=desertionNo,categoryId=upKindNm|kindCd|kindFullNm,status=processState,
      updatedAt=updTm|noticeSdt|happenDt`,
    ),
    marks: marksIn("desertionNo"),
    words: keyed({
      available: "보호중",
      sold: "종료(입양)",
      gone: "공고중, 종료(반환), 종료(자연사), 종료(안락사), 종료(기증), 종료(방사), 종료(미포획)",
    }),
  },
];

export const layoutOf = (format: string): Layout | undefined =>
  layouts.find(({ name }) => name === format);

/** Columns without which no record can be taken, each with other names that will do. */
const neededBy = ({ columns, needed }: Layout): readonly (readonly string[])[] =>
  needed ??
  (["externalId", "name", "categoryId", "status"] as const).flatMap((target) =>
    columns[target] === undefined ? [] : [columns[target]],
  );

/** Refuses an input without a column that a layout needs. Throws UnreadableInput. */
export function requireNeeded(layout: Layout, sample: Sample): void {
  const { names } = sample;
  const missing = neededBy(layout).filter((each) => !hasColumn(sample, each));
  if (missing.length === 0 || names.length === 0) return;
  const wanted = missing.map(([first]) => first).join(", ");
  const found = names.map((each) => JSON.stringify(each)).join(", ");
  const problem = message("columnsMissing", layout.name, wanted, found);
  throw new UnreadableInput(lineOf(sample), problem);
}

/** The layouts that a list may have: it has what only they have, and all that they need. */
export function candidates(sample: Sample): readonly Layout[] {
  const isMarked = ({ marks }: Layout) =>
    marks.some((group) => group.every((each) => hasColumn(sample, [each])));
  return layouts.filter((layout) =>
    layout.recognises === undefined
      ? isMarked(layout) && neededBy(layout).every((names) => hasColumn(sample, names))
      : layout.recognises(sample),
  );
}

/** Names of what the records of JSON:API refer to, by its kind and its id there. */
export type Included = ReadonlyMap<string, string>;

function flatResource(record: unknown, included: Included): unknown {
  const attributes = valueAt(record, ["attributes"]);
  if (!isJsonObject(attributes)) return record;
  const [species, status] = [referenceOf(record, "species"), referenceOf(record, "statuses")];
  // Without a status to refer to, it is there where it is not said to be pending.
  const isOpen = isNo(attributes["isAdoptionPending"]) ? "available" : undefined;
  return {
    id: valueAt(record, ["id"]),
    ...attributes,
    "relationships.species": included.get(`species ${species}`),
    status: included.get(`statuses ${status}`) ?? status ?? isOpen,
  };
}

function referenceOf(record: unknown, kind: string): string | undefined {
  const data = valueAt(record, ["relationships", kind, "data"]);
  const id = valueAt(Array.isArray(data) ? data[0] : data, ["id"]);
  return isBlank(id) ? undefined : wordOf(id);
}

export function includedNames(included: readonly unknown[]): Included {
  const names = new Map<string, string>();
  for (const each of included) {
    const [type, id] = [valueAt(each, ["type"]), valueAt(each, ["id"])];
    const called = ["singular", "plural", "name"].map((name) =>
      valueAt(each, ["attributes", name]),
    );
    const text = called.find((name) => !isBlank(name));
    // Pictures above all say nothing here.
    const isKind = type === "species" || type === "statuses";
    if (isKind && typeof text === "string") names.set(`${type} ${wordOf(id)}`, text.trim());
  }
  return names;
}

const ownFields = parted("id|name|category|status|externalId|source");
/** The columns of an export for people, in each language of the console. */
const translations = [
  "Number|Name|Category|Status|Number at the source|Source",
  "Número|Nombre|Categoría|Estado|Número en la fuente|Fuente",
].map((headings) =>
  Object.fromEntries(parted(headings).map((heading, at) => [ownFields[at] ?? "", heading])),
);

const noStatus = keyed({ none: "no status, sin estado" });

function translated({ byKey, columns }: Sample): Readonly<Record<string, string>> | undefined {
  if (columns === undefined) return undefined;
  return translations.find((headings) =>
    Object.values(headings).every((heading) => byKey.has(columnKey(heading))),
  );
}

function isOwn(sample: Sample): boolean {
  const { columns, names } = sample;
  if (columns === undefined) return names.includes("categoryId") || sample.records.length === 0;
  if (translated(sample) !== undefined) return true;
  const isWhole = ["id", "category", "externalId", "source"].every((each) =>
    columns.includes(each),
  );
  return columns.includes("name") && (columns.includes("categoryId") || isWhole);
}

/** Imported exactly as they are: an animal with an `id` is the one that has it here. */
function ownReader(
  sample: Sample,
  { category: all }: Reading,
  context: MapperContext,
): RecordReader {
  const { columns } = sample;
  const headings = translated(sample);
  const layout = layoutOf("rehome");
  if (columns !== undefined && layout !== undefined) requireNeeded(layout, sample);
  // Without it, an edited export would take the status of each animal away.
  const updates = columns?.includes("id") === true && !columns.includes("status");
  if (updates && context.statuses.whenMissing === undefined) throw missingStatus("status");
  const field = (name: string) => columnAmong(sample, [headings?.[name] ?? name]).read;
  const [id, name, category] = [field("id"), field("name"), field("category")];
  const [number, status] = [field("categoryId"), field("status")];
  const [externalId, source] = [field("externalId"), field("source")];
  const text = (value: unknown) =>
    columns !== undefined && typeof value === "string" ? unguarded(value) : value;
  const categoryOf = (record: unknown): CandidateCategory => {
    if (all !== undefined) return { name: all };
    const called = text(category(record));
    // An export for people has the number of a category without a name.
    if (headings) return idOrName("category", called);
    const own = number(record);
    const named = isBlank(called) ? undefined : exactName("category", called).trim();
    if (named !== undefined && isBlank(own)) return { name: named };
    const categoryId = int64In("categoryId", own);
    return named === undefined ? { id: categoryId } : { id: categoryId, name: named };
  };
  const partsOf: RecordReader["partsOf"] = (record) => ({
    origin: {
      id: isBlank(id(record)) ? undefined : int64In("id", id(record)),
      externalId: sourceId("externalId", text(externalId(record))),
      source: sourceId("source", text(source(record))) ?? context.source,
    },
    says: { field: "status", value: status(record) },
    pet: () => ({
      name: exactName("name", text(name(record))),
      category: categoryOf(record),
    }),
  });
  // A blank status is what an animal without one has: nothing to be told.
  const own = { ...context, statuses: context.statuses.withWords(noStatus), notes: new Notes() };
  return { partsOf, context: own, own: new Set([headings?.["status"] ?? "status"]) };
}

/** What ASM's reports call the movement: how the animal was last moved. */
const movementNames = "activemovementtype|activemovementtypename|movementtype|movementname";

/** Who was adopted is archived, too, and stays in the catalogue; a return ends a movement. */
function asmReader(sample: Sample, { statuses }: MapperContext): SaysReader {
  const moved = columnAmong(sample, parted(`${movementNames}|adoptionstatus|status`));
  const archived = columnAmong(sample, ["archived"]);
  const trial = columnAmong(sample, ["istrial", "hastrialadoption"]);
  const returned = columnAmong(sample, ["returndate", "returneddate"]);
  const isTold = sample.names.some((name) => name === moved.name || tellsOf(name) !== undefined);
  if (!isTold && statuses.whenMissing === undefined) {
    throw missingStatus("ARCHIVED, ACTIVEMOVEMENTTYPE or ADOPTIONSTATUS");
  }
  const says = (record: unknown): Said => {
    const value = isBlank(returned.read(record)) ? moved.read(record) : undefined;
    const meaning = isBlank(value) && isTold ? "available" : statuses.meaningOf(value);
    if (meaning === "sold" && isYes(trial.read(record))) return { status: "pending" };
    if (meaning !== "available") return { field: moved.name, value };
    return isYes(archived.read(record)) ? { gone: "archived" } : { status: "available" };
  };
  return { says, own: [moved.name, archived.name] };
}
