import type { Outcome } from "../candidate.ts";
import type { Format, MapperContext, RecordMapper, Sample } from "./format.ts";
import { externalId } from "./ids.ts";
import { type NamedField, NamedFields } from "./named-fields.ts";
import { wordKey } from "./statuses.ts";
import { lackingColumns } from "./needed.ts";
import {
  byStatus,
  goneOf,
  categoryName,
  isBlank,
  mapperOf,
  shelterName,
  shown,
  versionOf,
  wordOf,
} from "./values.ts";

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
  /** Columns of which only this layout has one. */
  readonly marks: readonly string[];
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
    marks: ["record type"],
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
    marks: ["impound number", "kennel number", "days in shelter"],
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
    marks: ["animal breed", "kennel status"],
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
    marks: ["animal name"],
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
      "sex upon outcome",
      "age upon outcome",
      "monthyear",
      "outcome subtype",
      "outcome status",
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
    marks: ["animal #", "arn"],
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
    marks: ["internal id", "last updated unix time", "last intake unix time"],
  },
];

/** The layouts of shelters, which their columns tell apart. */
export const shelters: readonly Format[] = layouts.map((layout) => ({
  name: layout.name,
  title: layout.title,
  recognises(sample) {
    const fields = new NamedFields(sample);
    return missingColumns(layout, fields).length === 0 && fields.has(layout.marks);
  },
  mapper: (sample, context) => shelterMapper(layout, sample, context),
}));

const departureDate = ["outcome date", "outcome date/time"];

/** What else says of an animal without an outcome that it is not for adoption. */
const conditions = ["outcome condition", "kennel status"];

const needed = ["id", "name", "species", "status"] as const;

/** The first name of each needed column that is not there. */
function missingColumns({ columns }: Layout, fields: NamedFields): string[] {
  return needed
    .map((what) => columns[what])
    .filter((names) => names.length > 0 && !fields.has(names))
    .map(([first = ""]) => first);
}

function shelterMapper(layout: Layout, sample: Sample, context: MapperContext): RecordMapper {
  const fields = new NamedFields(sample);
  const missing = missingColumns(layout, fields);
  if (missing.length > 0) throw lackingColumns(layout.name, missing, sample);
  const id = fields.among(layout.columns.id);
  const name = fields.among(layout.columns.name);
  const species = fields.among(layout.columns.species);
  const status = fields.among(layout.columns.status);
  const outcome = fields.among(layout.columns.outcome ?? []);
  const leaving = layout.says === "outcome" ? status : outcome;
  const absence = absenceReader(fields, leaving, context);
  const dates = layout.columns.dates.map((each) => fields.among([each]));
  return mapperOf(sample.columns, (record, line): Outcome => {
    fields.learn(record);
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
      category: categoryName(species.column, species.read(record)),
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

/**
 * Reads why an animal without an outcome is not for adoption: some publish when it left without
 * how. Undefined where nothing says that it is gone.
 */
function absenceReader(
  fields: NamedFields,
  outcome: NamedField,
  { dates, statuses }: MapperContext,
): (record: unknown) => string | undefined {
  const date = fields.among(departureDate);
  const subtype = fields.among(["outcome subtype"]);
  const states = conditions.map((each) => fields.among([each]));
  return (record) => {
    if (dates.sortable(date.read(record)) !== undefined) {
      return `${date.column} without ${outcome.column}`;
    }
    if (!isBlank(subtype.read(record))) return `${subtype.column} without ${outcome.column}`;
    const state = states.find(({ read }) => statuses.meaningOf(read(record)) === "gone");
    return state && `${state.column} ${shown(state.read(record))}`;
  };
}

/** How an animal left, in words that no other publisher uses; as `wordKey` leaves them. */
const departures: ReadonlySet<string> = new Set(
  `rtos,vet,escaped stolen,appt,shelter,closed,found exp,found report,lost exp,lost report,
other,treatment,community cat,homefirst,return to rescue,transport,return to wild habitat,
duplicate,trap neuter release,trap neuter return`.split(/,\n?/),
);

/** True for an outcome that is known here alone, unless the operator gave it a meaning. */
function isDeparture({ statuses }: MapperContext, value: unknown): boolean {
  return statuses.meaningOf(value) === undefined && departures.has(wordKey(wordOf(value)));
}
