/** The layouts of programs and cities: data, with the deviations that one of them needs. */
import { isJsonObject } from "../../../domain/exact-json.ts";
import { isPetName } from "../../../domain/pet.ts";
import { isBlank, message } from "../messages.ts";
import { asmMarks, asmReader } from "./asm.ts";
import { hasColumn, type MapTarget, type Sample } from "./columns.ts";
import type { MapperContext, Said } from "./record.ts";
import { FieldFault, int64Of, isNo } from "./values.ts";
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
}

/** What most reports with a row per stay have. */
const stays = {
  externalId: ["animal id"],
  categoryId: ["animal type"],
  status: ["outcome type"],
  updatedAt: ["outcome date", "intake date"],
} as const;

export const layouts: readonly Layout[] = [
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

/** Columns without which no record can be taken, each with other names that will do. */
export const neededBy = ({ columns, needed }: Layout): readonly (readonly string[])[] =>
  needed ??
  (["externalId", "name", "categoryId", "status"] as const).flatMap((target) =>
    columns[target] === undefined ? [] : [columns[target]],
  );

/** True for a list that has what only this layout has, and all that it needs. */
export function isMarked(layout: Layout, sample: Sample): boolean {
  const isOne = layout.marks.some((group) => group.every((each) => hasColumn(sample, [each])));
  return isOne && neededBy(layout).every((names) => hasColumn(sample, names));
}

/** Names of what the records of JSON:API refer to, by its kind and its id there. */
export type Included = ReadonlyMap<string, string>;

type Json = Readonly<Record<string, unknown>>;

/** A resource of JSON:API as one flat record, with the names of its species and its status. */
function flatResource(record: unknown, included: Included): unknown {
  if (!isJsonObject(record) || !isJsonObject(record["attributes"])) return record;
  const { attributes } = record;
  // Without a status to refer to, it is there where it is not said to be pending.
  const isOpen = isNo(attributes["isAdoptionPending"]) ? "available" : undefined;
  return {
    id: record["id"],
    ...attributes,
    "relationships.species": related(included, record, "species"),
    status: related(included, record, "statuses") ?? isOpen,
  };
}

/** A reference to something that the document does not have. */
export class Unresolved {
  readonly id: string;
  constructor(id: string) {
    this.id = id;
  }
}

/** What `included` calls the first thing of this kind that a record refers to, if there is one. */
function related(included: Included, record: Json, kind: string): string | Unresolved | undefined {
  const relationships = isJsonObject(record["relationships"]) ? record["relationships"] : {};
  const relationship = relationships[kind];
  const data: unknown = isJsonObject(relationship) ? relationship["data"] : undefined;
  const first: unknown = Array.isArray(data) ? data[0] : data;
  const id = isJsonObject(first) ? identifier(first["id"]) : undefined;
  return id === undefined ? undefined : (included.get(`${kind} ${id}`) ?? new Unresolved(id));
}

/** An id as text: JSON:API has texts for ids, and not everybody who writes it knows. */
function identifier(id: unknown): string | undefined {
  return typeof id === "string" ? id : int64Of(id)?.toString();
}

/** Of species and statuses alone: pictures above all say nothing here. */
export function includedNames(included: readonly unknown[]): Included {
  const names = new Map<string, string>();
  for (const value of included) {
    if (!isJsonObject(value) || !isJsonObject(value["attributes"])) continue;
    const { type, id: own, attributes } = value;
    const { singular, plural, name } = attributes as Json;
    const [text] = [singular, plural, name].filter((each) => !isBlank(each));
    const id = identifier(own);
    const isKind = type === "species" || type === "statuses";
    if (!isKind || id === undefined || typeof text !== "string" || !isPetName(text)) continue;
    names.set(`${type} ${id}`, text.trim());
  }
  return names;
}

/** Throws FieldFault for a reference to nothing. */
export function resolved(field: string, value: unknown): unknown {
  if (value instanceof Unresolved) throw new FieldFault(field, message("unnamedThere", value.id));
  return value;
}
