import { decodeHTML } from "entities/decode";
import { isBlank, shown, wordOf } from "../messages.ts";
import { absenceReader } from "./exclusion.ts";
import { type Format, NamedFields, requireNeeded, type Sample } from "./format.ts";
import { type MapperContext, mapperOf, type RecordMapper, type Said } from "./record.ts";
import { categoryName, shelterName } from "./values.ts";
import { type Meaning, wordKey } from "./words.ts";

type SaidOf = (record: unknown) => Said;

/**
 * How a shelter program or a city lays out its table: CSV, a workbook or JSON objects. What columns
 * are called, the best name first; case and separators do not count.
 */
interface Layout {
  readonly name: string;
  readonly title: string;
  readonly id: readonly string[];
  /** Absent where the source gives no names. */
  readonly animal?: readonly string[];
  readonly species: readonly string[];
  readonly status?: readonly string[];
  /** When the record was made or changed. */
  readonly dates: readonly string[];
  /** How an animal left, in reports that keep its last status beside that. */
  readonly outcome?: readonly string[];
  /** `outcome`: blank while the animal is there, else how it left. `status`: what it is now. */
  readonly says: "outcome" | "status" | ((fields: NamedFields, context: MapperContext) => SaidOf);
  /** Columns that only this layout has: one of these groups. */
  readonly marks: readonly (readonly string[])[];
  /** Words that mean something else here, or are known nowhere else. */
  readonly words?: Readonly<Record<string, Meaning>>;
  /** True where names and kinds are HTML: `Vihan &amp; Zoran`, `O&#039;Malley`. */
  readonly isHtml?: true;
}

/** What most reports with a row per stay have. */
const stays = {
  id: ["animal id"],
  species: ["animal type"],
  status: ["outcome type"],
  dates: ["outcome date", "intake date"],
  says: "outcome",
} as const;

const layouts: readonly Layout[] = [
  {
    name: "petfinder",
    title: "Petfinder API v2, pages of animals (JSON)",
    id: ["id"],
    animal: ["name"],
    species: ["type"],
    status: ["status"],
    dates: ["status_changed_at"],
    says: "status",
    marks: [["organization_id"], ["status_changed_at"]],
    isHtml: true,
  },
  {
    name: "king-county",
    title: "King County Regional Animal Services: lost, found, adoptable",
    ...stays,
    animal: ["animal name"],
    status: ["record type"],
    dates: ["date"],
    says: "status",
    marks: [["record type"]],
  },
  {
    name: "sonoma",
    title: "Sonoma County Animal Services, intake and outcome",
    ...stays,
    animal: ["name"],
    species: ["type"],
    marks: [["impound number"], ["kennel number"], ["days in shelter"]],
  },
  {
    name: "dallas",
    title: "Dallas Animal Services, which gives no names",
    ...stays,
    marks: [["animal breed"], ["kennel status"]],
  },
  {
    name: "san-jose",
    title: "San Jose Animal Care and Services",
    ...stays,
    animal: ["animal name"],
    marks: [["last update", "intake reason", "crossing"]],
  },
  {
    name: "louisville",
    title: "Louisville Metro Animal Services, which gives no names",
    ...stays,
    marks: [["intake asilomar status"], ["outcome asilomar status"], ["zip where found"]],
  },
  {
    name: "long-beach",
    title: "Long Beach Animal Care Services",
    ...stays,
    animal: ["animal name"],
    marks: [["intake is dead"], ["outcome is dead"], ["reason for intake", "crossing"]],
  },
  {
    name: "austin",
    title: "Austin Animal Center outcomes, until and since May 2025, and Kaggle's copies",
    ...stays,
    animal: ["name"],
    species: ["animal type", "type", "species"],
    status: ["outcome type", "outcome status"],
    dates: ["datetime", "outcome date", "date"],
    marks: `sex upon outcome,age upon outcome,monthyear,outcome subtype,outcome status`
      .split(",")
      .map((each) => [each]),
  },
  {
    name: "petpoint",
    title: "PetPoint reports",
    id: ["animal #", "animal number", "arn", "animal id"],
    animal: ["animal name", "name"],
    species: ["species", "animal type"],
    status: ["stage", "animal status", "status"],
    dates: ["last updated", "status date/time", "status date", "intake date/time", "intake date"],
    outcome: ["outcome type"],
    says: "status",
    marks: [["animal #"], ["arn"]],
  },
  {
    name: "shelterluv",
    title: "Shelterluv, API v1 and reports",
    id: ["id", "animal id"],
    animal: ["name", "animal name"],
    species: ["type", "species"],
    status: ["status", "current status"],
    dates: ["last updated unix time", "last updated", "status date"],
    outcome: ["outcome type"],
    says: "status",
    marks: [["internal id"], ["last updated unix time"], ["last intake unix time"]],
  },
  {
    name: "taiwan",
    title: "Taiwan's shelters (data.moa.gov.tw), most of whose animals have no names",
    id: ["animal_id"],
    animal: ["animal_title"],
    species: ["animal_kind"],
    status: ["animal_status"],
    dates: ["animal_update", "cDate"],
    says: "status",
    marks: [["animal_subid"], ["animal_opendate"], ["shelter_pkid"], ["animal_shelter_pkid"]],
    words: { open: "available", none: "gone", other: "gone" },
  },
  {
    name: "korea",
    title: "Korea's shelters (data.go.kr), which give no names",
    id: ["desertionNo"],
    species: ["upKindNm", "kindCd", "kindFullNm"],
    status: ["processState"],
    dates: ["updTm", "noticeSdt", "happenDt"],
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
export const shelters: readonly Format[] = layouts.map(layoutFormat);

export function layoutFormat(layout: Layout): Format {
  const { name, title, id, animal, species, status, marks } = layout;
  const needed = [id, animal, species, status].flatMap((names) => (names ? [names] : []));
  return {
    name,
    title,
    needed,
    recognises(sample) {
      const fields = new NamedFields(sample);
      const isMarked = marks.some((group) => group.every((each) => fields.has([each])));
      return isMarked && fields.missing(needed).length === 0;
    },
    mapper(sample, context) {
      requireNeeded(this, sample);
      return layoutMapper(layout, sample, context);
    },
  };
}

function layoutMapper(layout: Layout, sample: Sample, given: MapperContext): RecordMapper {
  const fields = new NamedFields(sample);
  const words = Object.entries(layout.words ?? {});
  const own = new Map(words.map(([word, meaning]) => [wordKey(word), meaning]));
  const context = { ...given, statuses: given.statuses.withWords(own) };
  const id = fields.among(layout.id);
  const name = fields.among(layout.animal ?? ["name"]);
  const species = fields.among(layout.species);
  const dates = layout.dates.map((each) => fields.among([each]));
  const text = (value: unknown) =>
    layout.isHtml === true && typeof value === "string" ? decodeHTML(value) : value;
  const { says } = layout;
  const said =
    typeof says === "function" ? says(fields, context) : saidOf(layout, says, fields, context);
  return mapperOf(sample.columns, context, (record) => {
    const date = dates.find(({ read }) => !isBlank(read(record)));
    return {
      id: [id.column, id.read(record)],
      changed: date && [date.column, date.read(record)],
      says: said(record),
      pet: () => ({
        name: shelterName(name.column, text(name.read(record))),
        category: categoryName(species.column, kindOf(text(species.read(record)))),
      }),
    };
  });
}

/** What a record says by its outcome, or by its status where it has none. */
function saidOf(
  layout: Layout,
  says: "outcome" | "status",
  fields: NamedFields,
  context: MapperContext,
): SaidOf {
  const { statuses } = context;
  const status = fields.among(layout.status ?? []);
  const outcome = says === "outcome" ? status : fields.among(layout.outcome ?? []);
  const absence = absenceReader(fields, outcome, context);
  return (record) => {
    const isOutcome = !isBlank(outcome.read(record));
    const { column: field, read } = isOutcome ? outcome : status;
    const value = read(record);
    if (isOutcome)
      return !statuses.knows(value) && isDepartureWord(value)
        ? { gone: `${field} ${shown(value)}` }
        : { field, value };
    const isMissing = isBlank(value);
    const meaning = isMissing ? (statuses.whenMissing ?? "none") : statuses.meaningOf(value);
    const isOpen = says === "outcome" || (meaning !== undefined && !/gone|sold/.test(meaning));
    const reason = isOpen ? absence(record) : undefined;
    if (reason !== undefined) return { gone: reason };
    return says === "outcome" ? { status: "available" } : { field, value };
  };
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

/** True for a word of `departures`, which stands for a report with a row per stay. */
export function isDepartureWord(value: unknown): boolean {
  return departures.has(wordKey(wordOf(value)));
}
