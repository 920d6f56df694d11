import { isBlank, shown, wordOf } from "../messages.ts";
import { absenceReader } from "./exclusion.ts";
import { type Format, lackingColumns, NamedFields, type Sample } from "./format.ts";
import {
  byStatus,
  goneOf,
  type MapperContext,
  mapperOf,
  type Outcome,
  type RecordMapper,
} from "./record.ts";
import { categoryName, externalId, shelterName, versionOf } from "./values.ts";
import { type Meaning, wordKey } from "./words.ts";

/** What columns are called, the best name first. Case and separators do not count. */
interface Columns {
  readonly id: readonly string[];
  /** Empty where the source gives no names. */
  readonly name: readonly string[];
  readonly species: readonly string[];
  readonly status: readonly string[];
  /** When the record was made or changed. */
  readonly dates: readonly string[];
  /** How an animal left, in reports that keep its last status beside that. */
  readonly outcome?: readonly string[];
}

/** How a shelter program or a city lays out its table: CSV, a workbook or JSON objects. */
interface Layout {
  readonly name: string;
  readonly title: string;
  readonly columns: Columns;
  /** `outcome`: blank while the animal is there, else how it left. `status`: what it is now. */
  readonly says: "outcome" | "status";
  /** Columns that only this layout has: one of these groups. */
  readonly marks: readonly (readonly string[])[];
  /** Words that mean something else here, or are known nowhere else. */
  readonly words?: Readonly<Record<string, Meaning>>;
}

const layouts: readonly Layout[] = [
  {
    name: "king-county",
    title: "King County Regional Animal Services: lost, found, adoptable",
    columns: {
      id: ["animal id"],
      name: ["animal name"],
      species: ["animal type"],
      status: ["record type"],
      dates: ["date"],
    },
    says: "status",
    marks: [["record type"]],
  },
  {
    name: "sonoma",
    title: "Sonoma County Animal Services, intake and outcome",
    columns: {
      id: ["animal id"],
      name: ["name"],
      species: ["type"],
      status: ["outcome type"],
      dates: ["outcome date", "intake date"],
    },
    says: "outcome",
    marks: [["impound number"], ["kennel number"], ["days in shelter"]],
  },
  {
    name: "dallas",
    title: "Dallas Animal Services, which gives no names",
    columns: {
      id: ["animal id"],
      name: [],
      species: ["animal type"],
      status: ["outcome type"],
      dates: ["outcome date", "intake date"],
    },
    says: "outcome",
    marks: [["animal breed"], ["kennel status"]],
  },
  {
    name: "san-jose",
    title: "San Jose Animal Care and Services",
    columns: {
      id: ["animal id"],
      name: ["animal name"],
      species: ["animal type"],
      status: ["outcome type"],
      dates: ["outcome date", "intake date"],
    },
    says: "outcome",
    marks: [["last update", "intake reason", "crossing"]],
  },
  {
    name: "louisville",
    title: "Louisville Metro Animal Services, which gives no names",
    columns: {
      id: ["animal id"],
      name: [],
      species: ["animal type"],
      status: ["outcome type"],
      dates: ["outcome date", "intake date"],
    },
    says: "outcome",
    marks: [["intake asilomar status"], ["outcome asilomar status"]],
  },
  {
    name: "long-beach",
    title: "Long Beach Animal Care Services",
    columns: {
      id: ["animal id"],
      name: ["animal name"],
      species: ["animal type"],
      status: ["outcome type"],
      dates: ["outcome date", "intake date"],
    },
    says: "outcome",
    marks: [["intake is dead"], ["outcome is dead"], ["reason for intake", "crossing"]],
  },
  {
    name: "austin",
    title: "Austin Animal Center outcomes, until and since May 2025, and Kaggle's copies",
    columns: {
      id: ["animal id"],
      name: ["name"],
      species: ["animal type", "type", "species"],
      status: ["outcome type", "outcome status"],
      dates: ["datetime", "outcome date", "date"],
    },
    says: "outcome",
    marks: [
      ["sex upon outcome"],
      ["age upon outcome"],
      ["monthyear"],
      ["outcome subtype"],
      ["outcome status"],
    ],
  },
  {
    name: "petpoint",
    title: "PetPoint reports",
    columns: {
      id: ["animal #", "arn", "animal id"],
      name: ["animal name", "name"],
      species: ["species", "animal type"],
      status: ["stage", "animal status", "status"],
      dates: ["last updated", "status date/time", "status date", "intake date/time", "intake date"],
      outcome: ["outcome type"],
    },
    says: "status",
    marks: [["animal #"], ["arn"]],
  },
  {
    name: "shelterluv",
    title: "Shelterluv, API v1 and reports",
    columns: {
      id: ["id", "animal id"],
      name: ["name", "animal name"],
      species: ["type", "species"],
      status: ["status", "current status"],
      dates: ["last updated unix time", "last updated", "status date"],
      outcome: ["outcome type"],
    },
    says: "status",
    marks: [["internal id"], ["last updated unix time"], ["last intake unix time"]],
  },
  {
    name: "taiwan",
    title: "Taiwan's shelters (data.moa.gov.tw), most of whose animals have no names",
    columns: {
      id: ["animal_id"],
      name: ["animal_title"],
      species: ["animal_kind"],
      status: ["animal_status"],
      dates: ["animal_update", "cDate"],
    },
    says: "status",
    marks: [["animal_subid"], ["animal_opendate"], ["shelter_pkid"], ["animal_shelter_pkid"]],
    words: { open: "available", none: "gone", other: "gone" },
  },
  {
    name: "korea",
    title: "Korea's shelters (data.go.kr), which give no names",
    columns: {
      id: ["desertionNo"],
      name: [],
      species: ["upKindNm", "kindCd", "kindFullNm"],
      status: ["processState"],
      dates: ["updTm", "noticeSdt", "happenDt"],
    },
    says: "status",
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

/** The layouts of shelters, which their columns tell apart. */
export const shelters: readonly Format[] = layouts.map((layout) => ({
  name: layout.name,
  title: layout.title,
  recognises(sample) {
    const fields = new NamedFields(sample);
    const isMarked = layout.marks.some((group) => group.every((name) => fields.has([name])));
    return isMarked && missingColumns(layout, fields).length === 0;
  },
  mapper: (sample, context) => shelterMapper(layout, sample, context),
}));

const needed = ["id", "name", "species", "status"] as const;

/** The first name of each needed column that is not there. */
function missingColumns({ columns }: Layout, fields: NamedFields): string[] {
  return needed
    .map((what) => columns[what])
    .filter((names) => names.length > 0 && !fields.has(names))
    .map(([first = ""]) => first);
}

function shelterMapper(layout: Layout, sample: Sample, given: MapperContext): RecordMapper {
  const fields = new NamedFields(sample);
  const missing = missingColumns(layout, fields);
  if (missing.length > 0) throw lackingColumns(layout.name, missing, sample);
  const context = { ...given, statuses: given.statuses.withWords(wordsOf(layout)) };
  const id = fields.among(layout.columns.id);
  const name = fields.among(layout.columns.name);
  const species = fields.among(layout.columns.species);
  const status = fields.among(layout.columns.status);
  const outcome = fields.among(layout.columns.outcome ?? []);
  const leaving = layout.says === "outcome" ? status : outcome;
  const absence = absenceReader(fields, leaving, context);
  const dates = layout.columns.dates.map((each) => fields.among([each]));
  return mapperOf(sample.columns, (record, line): Outcome => {
    const date = dates.find(({ read }) => !isBlank(read(record)));
    const origin = {
      line,
      externalId: externalId(context, id.column, id.read(record), line),
      version: date && versionOf(context, date.column, date.read(record), line),
    };
    const hasOutcome = !isBlank(outcome.read(record));
    const said = hasOutcome ? outcome : status;
    const says = { field: said.column, value: said.read(record) };
    const pet = () => ({
      name: shelterName(name.column, name.read(record)),
      category: categoryName(species.column, kindOf(species.read(record))),
    });
    if (layout.says === "status" && !hasOutcome) {
      const told = byStatus(context, origin, says, pet);
      const reason = told.kind === "pet" && told.status !== "sold" ? absence(record) : undefined;
      return reason === undefined ? told : goneOf(origin, reason, pet);
    }
    if (isBlank(says.value)) {
      const reason = absence(record);
      if (reason !== undefined) return goneOf(origin, reason, pet);
      return { ...origin, kind: "pet", ...pet(), status: "available" };
    }
    if (!isDeparture(context, says.value)) return byStatus(context, origin, says, pet);
    return goneOf(origin, `${says.field} ${shown(says.value)}`, pet);
  });
}

function wordsOf({ words = {} }: Layout): ReadonlyMap<string, Meaning> {
  return new Map(Object.entries(words).map(([word, meaning]) => [wordKey(word), meaning]));
}

/** The kind before a breed, where a column has both: `[Dog] Jindo`. */
function kindOf(value: unknown): unknown {
  return typeof value === "string" ? (/^\[([^\]]+)\]/.exec(value)?.[1] ?? value) : value;
}

/** How an animal left, in words that no other publisher uses; as `wordKey` leaves them. */
const departures: ReadonlySet<string> = new Set(
  `rtos,vet,escaped stolen,appt,shelter,closed,found exp,found report,lost exp,lost report,
other,treatment,community cat,homefirst,return to rescue,transport,return to wild habitat,
duplicate,trap neuter release,trap neuter return`.split(/,\n?/),
);

/** True for an outcome that is known here alone, unless the operator gave it a meaning. */
function isDeparture({ statuses }: MapperContext, value: unknown): boolean {
  return !statuses.knows(value) && departures.has(wordKey(wordOf(value)));
}

/** True for a word of `departures`, which stands for a report with a row per stay. */
export function isDepartureWord(value: unknown): boolean {
  return departures.has(wordKey(wordOf(value)));
}
