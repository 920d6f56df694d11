/** The layouts of programs and cities: data, with the deviations that one of them needs. */
import { isJsonObject } from "../../../domain/exact-json.ts";
import { isBlank, wordOf } from "../messages.ts";
import { valueAt } from "../read/json.ts";
import type { Reading } from "./apply.ts";
import { asmMarks, asmReader } from "./asm.ts";
import { hasColumn, type MapTarget, type Sample } from "./columns.ts";
import type { MapperContext, RecordReader, Said } from "./record.ts";
import { rehome } from "./rehome.ts";
import { isNo } from "./values.ts";
import type { Meaning } from "./words.ts";

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
  /** One line for the help. */
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
  readonly words?: Readonly<Record<string, Meaning>>;
  /** Makes flat records, with the columns above, of those of the source. */
  readonly flat?: (record: unknown, included: Included) => unknown;
  readonly says?: (sample: Sample, context: MapperContext) => SaysReader;
  /** What stands for all of the above but the columns that it needs. */
  readonly recognises?: (sample: Sample) => boolean;
  readonly reader?: (sample: Sample, reading: Reading, context: MapperContext) => RecordReader;
}

/** What most reports with a row per stay have. */
const stays = {
  externalId: ["animal id"],
  categoryId: ["animal type"],
  status: ["outcome type"],
  updatedAt: ["outcome date", "intake date"],
} as const;

/** What somebody may name, and a list have: the likeliest first. */
export const layouts: readonly Layout[] = [
  rehome,
  {
    name: "rescuegroups",
    title: "RescueGroups API v5, animals with included species (JSON:API)",
    columns: {
      externalId: ["id"],
      name: ["name"],
      categoryId: ["relationships.species"],
      status: ["status"],
      updatedAt: ["updatedDate"],
    },
    marks: [["attributes", "relationships"]],
    needed: [["attributes"], ["relationships"]],
    flat: flatResource,
  },
  {
    name: "asm",
    title: "Animal Shelter Manager 3 / sheltermanager.com, json_adoptable_animals (JSON or CSV)",
    columns: {
      externalId: ["id", "animalid"],
      name: ["animalname"],
      categoryId: ["speciesname", "animalspecies"],
      // A report of movements has several of an animal, each with the time when that changed.
      updatedAt: ["movementdate", "lastchangeddate"],
    },
    marks: asmMarks,
    needed: [["animalname"], ["speciesname", "animalspecies"]],
    says: asmReader,
  },
  {
    name: "petfinder",
    title: "Petfinder API v2, pages of animals (JSON)",
    columns: {
      externalId: ["id"],
      name: ["name"],
      categoryId: ["type"],
      status: ["status"],
      updatedAt: ["status_changed_at"],
    },
    marks: [["organization_id"], ["status_changed_at"]],
  },
  {
    name: "king-county",
    title: "King County Regional Animal Services: lost, found, adoptable",
    dayFirst: false,
    columns: { ...stays, name: ["animal name"], status: ["record type"], updatedAt: ["date"] },
    marks: [["record type"]],
  },
  {
    name: "sonoma",
    title: "Sonoma County Animal Services, intake and outcome",
    dayFirst: false,
    columns: { ...stays, name: ["name"], categoryId: ["type"] },
    isOutcome: true,
    marks: [["impound number"], ["kennel number"], ["days in shelter"]],
  },
  {
    name: "dallas",
    title: "Dallas Animal Services, which gives no names",
    dayFirst: false,
    columns: stays,
    isOutcome: true,
    marks: [["animal breed"], ["kennel status"]],
  },
  {
    name: "san-jose",
    title: "San Jose Animal Care and Services",
    dayFirst: false,
    columns: { ...stays, name: ["animal name"] },
    isOutcome: true,
    marks: [["last update", "intake reason", "crossing"]],
  },
  {
    name: "louisville",
    title: "Louisville Metro Animal Services, which gives no names",
    dayFirst: false,
    columns: stays,
    isOutcome: true,
    marks: [["intake asilomar status"], ["outcome asilomar status"], ["zip where found"]],
  },
  {
    name: "long-beach",
    title: "Long Beach Animal Care Services",
    dayFirst: false,
    columns: { ...stays, name: ["animal name"] },
    isOutcome: true,
    marks: [["intake is dead"], ["outcome is dead"], ["reason for intake", "crossing"]],
  },
  {
    name: "austin",
    title: "Austin Animal Center outcomes, until and since May 2025, and Kaggle's copies",
    dayFirst: false,
    columns: {
      ...stays,
      name: ["name"],
      categoryId: ["animal type", "type", "species"],
      status: ["outcome type", "outcome status"],
      updatedAt: ["datetime", "outcome date", "date"],
    },
    isOutcome: true,
    marks: `sex upon outcome,age upon outcome,monthyear,outcome subtype,outcome status`
      .split(",")
      .map((each) => [each]),
  },
  {
    name: "petpoint",
    title: "PetPoint reports",
    dayFirst: false,
    columns: {
      externalId: ["animal #", "animal number", "arn", "animal id"],
      name: ["animal name", "name"],
      categoryId: ["species", "animal type"],
      status: ["stage", "animal status", "status"],
      updatedAt: [
        "last updated",
        "status date/time",
        "status date",
        "intake date/time",
        "intake date",
      ],
    },
    marks: [["animal #"], ["arn"]],
  },
  {
    name: "shelterluv",
    title: "Shelterluv, API v1 and reports",
    dayFirst: false,
    columns: {
      externalId: ["id", "animal id"],
      name: ["name", "animal name"],
      categoryId: ["type", "species"],
      status: ["status", "current status"],
      updatedAt: ["last updated unix time", "last updated", "status date"],
    },
    marks: [["internal id"], ["last updated unix time"], ["last intake unix time"]],
  },
  {
    name: "taiwan",
    title: "Taiwan's shelters (data.moa.gov.tw), most of whose animals have no names",
    columns: {
      externalId: ["animal_id"],
      name: ["animal_title"],
      categoryId: ["animal_kind"],
      status: ["animal_status"],
      updatedAt: ["animal_update", "cDate"],
    },
    marks: [["animal_subid"], ["animal_opendate"], ["shelter_pkid"], ["animal_shelter_pkid"]],
    words: { open: "available", none: "gone", other: "gone" },
  },
  {
    name: "korea",
    title: "Korea's shelters (data.go.kr), which give no names",
    columns: {
      externalId: ["desertionNo"],
      categoryId: ["upKindNm", "kindCd", "kindFullNm"],
      status: ["processState"],
      updatedAt: ["updTm", "noticeSdt", "happenDt"],
    },
    marks: [["desertionNo"]],
    words: {
      보호중: "available",
      공고중: "gone",
      "종료(입양)": "sold",
      "종료(반환)": "gone",
      "종료(자연사)": "gone",
      "종료(안락사)": "gone",
      "종료(기증)": "gone",
      "종료(방사)": "gone",
      "종료(미포획)": "gone",
    },
  },
];

/** The layout of this name. */
export const layoutOf = (format: string): Layout | undefined =>
  layouts.find(({ name }) => name === format);

/** Columns without which no record can be taken, each with other names that will do. */
export const neededBy = ({ columns, needed }: Layout): readonly (readonly string[])[] =>
  needed ??
  (["externalId", "name", "categoryId", "status"] as const).flatMap((target) =>
    columns[target] === undefined ? [] : [columns[target]],
  );

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

/** A resource of JSON:API as one flat record, with the names of its species and its status. */
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

/** The id of the first thing of this kind that a record refers to, if there is one. */
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
