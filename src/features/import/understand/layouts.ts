/** The layouts of programs and cities: data, with the deviations that some of them need. */
import { isJsonObject } from "../../../domain/exact-json.ts";
import { isBlank, message, Notes, wordOf } from "../messages.ts";
import { UnreadableInput } from "../read/input.ts";
import { valueAt } from "../read/json.ts";
import { unguarded } from "../read/table.ts";
import type { Reading } from "./apply.ts";
import {
  columnAmong,
  hasColumn,
  lineOf,
  type MapTarget,
  missingStatus,
  parseFieldMap,
  type Sample,
  shownNames,
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
  /** Columns without which no record can be taken, each with other names that will do. */
  readonly needed: readonly (readonly string[])[];
  /** Whether the day comes first in dates where nothing tells it. */
  readonly dayFirst?: boolean | undefined;
  /** Words that mean something else here, or are known nowhere else. */
  readonly words?: ReadonlyMap<string, Meaning>;
  /** Makes flat records, with the columns above, of those of the source. */
  readonly flat?: (record: unknown, included: Included) => unknown;
  /** What it reads in place of a column of statuses, and the columns that it reads. */
  readonly says?: (
    sample: Sample,
    context: MapperContext,
  ) => { readonly says: (record: unknown) => Said; readonly own: readonly string[] };
}

/** Names parted by bars; those that belong together by plus signs. */
const parted = (text: string): readonly string[] => text.split("|");

/** What most reports of cities have, with a row per stay. */
const stays = "externalId=animal id,status=outcome type,updatedAt=outcome date|intake date";

/** Each name and title; what only it has; and its columns as in `--map`, with other names. */
const known = `rescuegroups: RescueGroups API v5, animals with included species (JSON:API)
  attributes+relationships
  externalId=id,name=name,categoryId=relationships.species,status=status,updatedAt=updatedDate
asm: Animal Shelter Manager 3 / sheltermanager.com, json_adoptable_animals (JSON or CSV)
  animalname+speciesname|animalname+sheltercode|animalname+animaltypename|animalname+animalnotforadoption
  externalId=id|animalid,name=animalname,categoryId=speciesname|animalspecies,updatedAt=movementdate|lastchangeddate
petfinder: Petfinder API v2, pages of animals (JSON)
  organization_id|status_changed_at
  externalId=id,name=name,categoryId=type,status=status,updatedAt=status_changed_at
king-county: King County Regional Animal Services: lost, found, adoptable
  record type
  externalId=animal id,name=animal name,categoryId=animal type,status=record type,updatedAt=date
sonoma: Sonoma County Animal Services, intake and outcome
  impound number|kennel number|days in shelter
  ${stays},name=name,categoryId=type
dallas: Dallas Animal Services, which gives no names
  animal breed|kennel status
  ${stays},categoryId=animal type
san-jose: San Jose Animal Care and Services
  last update+intake reason+crossing
  ${stays},name=animal name,categoryId=animal type
louisville: Louisville Metro Animal Services, which gives no names
  intake asilomar status|outcome asilomar status|zip where found
  ${stays},categoryId=animal type
long-beach: Long Beach Animal Care Services
  intake is dead|outcome is dead|reason for intake+crossing
  ${stays},name=animal name,categoryId=animal type
austin: Austin Animal Center outcomes, until and since May 2025, and Kaggle's copies
  sex upon outcome|age upon outcome|monthyear|outcome subtype|outcome status
  externalId=animal id,name=name,categoryId=animal type|type|species,status=outcome type|outcome status,
  updatedAt=datetime|outcome date|date
petpoint: PetPoint reports
  animal #|arn
  externalId=animal #|animal number|arn|animal id,name=animal name|name,categoryId=species|animal type,status=stage|animal status|status,
  updatedAt=last updated|status date/time|status date|intake date/time|intake date
shelterluv: Shelterluv, API v1 and reports
  internal id|last updated unix time|last intake unix time
  externalId=id|animal id,name=name|animal name,categoryId=type|species,status=status|current status,updatedAt=last updated unix time|last updated|status date
taiwan: Taiwan's shelters (data.moa.gov.tw), most of whose animals have no names
  animal_subid|animal_opendate|shelter_pkid|animal_shelter_pkid
  externalId=animal_id,name=animal_title,categoryId=animal_kind,status=animal_status,updatedAt=animal_update|cDate
korea: Korea's shelters (data.go.kr), which give no names
  desertionNo
  externalId=desertionNo,categoryId=upKindNm|kindCd|kindFullNm,status=processState,updatedAt=updTm|noticeSdt|happenDt`;

const deviations: Readonly<Record<string, Partial<Layout>>> = {
  rescuegroups: { needed: [["attributes"], ["relationships"]], flat: flatResource },
  asm: {
    needed: [["animalname"], ["speciesname", "animalspecies"]],
    dayFirst: undefined,
    // The types of a movement by the numbers of ASM's `lkmovementtype`, and by names of its own.
    words: keyed({
      available: "{0,2,10}{,.0}, none, foster, cancelled reservation",
      pending: "{9,11}{,.0}",
      sold: "1{,.0}, adoption",
      gone: "{3,4,5,6,7,8,12,13}{,.0}, retailer",
    }),
    says: asmReader,
  },
  taiwan: { words: keyed({ available: "open", gone: "none, other" }) },
  korea: { words: keyed({ available: "보호중", gone: "공고중, 종료(미포획)" }) },
};

function layoutIn(lines: string): Layout {
  const [name = "", title = "", marks = "", ...map] = lines.split(/(?<=^[\w-]+): |\n {2}/);
  const names = Object.entries(parseFieldMap(...map)).map(([field, all]) => [field, parted(all)]);
  const columns: Layout["columns"] = Object.fromEntries(names);
  const { externalId, categoryId, status } = columns;
  return {
    name,
    title,
    columns,
    marks: parted(marks).map((group) => group.split("+")),
    needed: [externalId, columns.name, categoryId, status].filter((each) => each !== undefined),
    dayFirst: false,
    ...deviations[name],
  };
}

const own: Layout = {
  name: "rehome",
  title: "what `rehome pets export` and the console write, and answers of GET /pets",
  columns: {},
  marks: [],
  needed: [
    ["name", "nombre"],
    ["categoryId", "category", "categoría"],
  ],
};

export const layouts: readonly Layout[] = [own, ...known.split(/\n(?! )/).map(layoutIn)];

export const layoutOf = (format: string): Layout | undefined =>
  layouts.find(({ name }) => name === format);

/** Refuses an input without a column that a layout needs. Throws UnreadableInput. */
export function requireNeeded({ name, needed }: Layout, sample: Sample): void {
  const missing = needed.filter((each) => !hasColumn(sample, each));
  if (missing.length === 0 || sample.names.length === 0) return;
  const wanted = missing.map(([first]) => first).join(", ");
  const problem = message("columnsMissing", name, wanted, shownNames(sample));
  throw new UnreadableInput(lineOf(sample), problem);
}

/** The layouts that a list may have: it has what only they have, and all that they need. */
export function candidates(sample: Sample): readonly Layout[] {
  return layouts.filter((layout) => {
    if (layout === own) return isOwn(sample);
    const isMarked = layout.marks.some((all) => all.every((each) => hasColumn(sample, [each])));
    return isMarked && layout.needed.every((names) => hasColumn(sample, names));
  });
}

/** Names of what the records of JSON:API refer to, by its kind and its id there. */
type Included = ReadonlyMap<string, unknown>;

export function includedNames(included: readonly unknown[] = []): Included {
  const names = included.map((each) => {
    const [type, id] = ["type", "id"].map((name) => wordOf(valueAt(each, [name])));
    const called = ["singular", "plural", "name"].map((name) =>
      valueAt(each, ["attributes", name]),
    );
    return [`${type} ${id}`, called.find((name) => !isBlank(name))] as const;
  });
  return new Map(names);
}

function flatResource(record: unknown, included: Included): unknown {
  const attributes = valueAt(record, ["attributes"]);
  if (!isJsonObject(attributes)) return record;
  const idOf = (kind: string) => {
    const data = valueAt(record, ["relationships", kind, "data"]);
    const id = valueAt(Array.isArray(data) ? data[0] : data, ["id"]);
    return isBlank(id) ? undefined : wordOf(id);
  };
  const status = idOf("statuses");
  // Without a status to refer to, it is there where it is not said to be pending.
  const isOpen = isNo(attributes["isAdoptionPending"]) ? "available" : undefined;
  return {
    id: valueAt(record, ["id"]),
    ...attributes,
    "relationships.species": included.get(`species ${idOf("species")}`),
    status: included.get(`statuses ${status}`) ?? status ?? isOpen,
  };
}

const ownColumns = parted("id|name|category|status|externalId|source");
/** The same in an export for people, in each language of the console. */
const translations = [
  "Number|Name|Category|Status|Number at the source|Source",
  "Número|Nombre|Categoría|Estado|Número en la fuente|Fuente",
].map(parted);

const translated = (sample: Sample) =>
  sample.columns && translations.find((all) => all.every((each) => hasColumn(sample, [each])));

function isOwn(sample: Sample): boolean {
  const { columns, names, records } = sample;
  if (columns === undefined) return names.includes("categoryId") || records.length === 0;
  const has = (...all: readonly string[]) => all.every((each) => columns.includes(each));
  const isWhole = has("id", "name", "category", "externalId", "source");
  return isWhole || has("name", "categoryId") || translated(sample) !== undefined;
}

/** Imported exactly as they are: an animal with an `id` is the one that has it here. */
export function ownReader(
  sample: Sample,
  { category: all }: Reading,
  context: MapperContext,
): RecordReader {
  const { columns } = sample;
  if (columns !== undefined) requireNeeded(own, sample);
  // Without it, an edited export would take the status of each animal away.
  const updates = columns?.includes("id") === true && !columns.includes("status");
  if (updates && context.statuses.whenMissing === undefined) throw missingStatus("status");
  const headings = translated(sample);
  const of = (field: string) =>
    columnAmong(sample, [headings?.[ownColumns.indexOf(field)] ?? field]);
  const [id, name, category, number] = [of("id"), of("name"), of("category"), of("categoryId")];
  const [status, externalId, source] = [of("status"), of("externalId"), of("source")];
  const text = (value: unknown) =>
    columns !== undefined && typeof value === "string" ? unguarded(value) : value;
  const categoryOf = (record: unknown): CandidateCategory => {
    if (all !== undefined) return { name: all };
    const called = text(category.read(record));
    // An export for people has the number of a category without a name.
    if (headings) return idOrName("category", called);
    const written = number.read(record);
    if (isBlank(called)) return { id: int64In("categoryId", written) };
    const named = exactName("category", called).trim();
    return isBlank(written) ? { name: named } : { id: int64In("categoryId", written), name: named };
  };
  const partsOf: RecordReader["partsOf"] = (record) => ({
    id: isBlank(id.read(record)) ? undefined : int64In("id", id.read(record)),
    externalId: sourceId("externalId", text(externalId.read(record))),
    source: sourceId("source", text(source.read(record))) ?? context.source,
    says: { field: "status", value: status.read(record) },
    pet: () => ({
      name: exactName("name", text(name.read(record))),
      category: categoryOf(record),
    }),
  });
  // A blank status is what an animal without one has: nothing to be told.
  const statuses = context.statuses.withWords(keyed({ none: "no status, sin estado" }));
  const quiet = { ...context, statuses, notes: new Notes() };
  return { partsOf, context: quiet, own: new Set([status.name]) };
}

/** What ASM's reports call the movement, how the animal was last moved; or its status. */
const movements = `activemovementtype|activemovementtypename|movementtype|movementname|adoptionstatus|status`;

/** Who was adopted is archived, too, and stays in the catalogue; a return ends a movement. */
function asmReader(sample: Sample, { statuses }: MapperContext) {
  const moved = columnAmong(sample, parted(movements));
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
    if (meaning === "sold" && isYes(trial.read(record)))
      return { field: moved.name, value: "pending" };
    if (meaning === "available" && isYes(archived.read(record))) return { gone: "archived" };
    return { field: moved.name, value: meaning === "available" ? meaning : value };
  };
  return { says, own: [moved.name, archived.name] };
}
