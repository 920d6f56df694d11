/** What else in a record says that its animal is not for adoption, whatever its status says. */
import { isBlank, shown, wordOf } from "../messages.ts";
import { type NamedField, NamedFields, type Sample } from "./format.ts";
import type { MapperContext } from "./record.ts";
import { saysDead } from "./statuses.ts";
import { isNo, isPlaceholderId, isYes } from "./values.ts";
import { type Meaning, wordKey } from "./words.ts";

/** Why an animal is not for adoption; undefined where nothing says so. */
export type Excluded = (record: unknown) => string | undefined;

/** Columns that tell in words how an animal is, or how it came and left. */
const tellsState =
  /status|outcome|condition|disposition|intaketype|intakesubtype|estado|situacion|condicion|zustand/;
/** Columns of a death: its date, or yes and no. */
const tellsDeath =
  /dead(?!line)|deceas|death|died|doa$|euthan|puttosleep|muert|fallec|defunc|obito|morte$|deces|gestorben|verstorben|todes|overl[ei]j?d/;
/** Columns of where an animal is kept, and where dead ones are. */
const tellsPlace =
  /^(?:kennel(?:no|number)?|cage|room|(?:current|shelter|internal)?location(?:name)?)$/;
const deadPlaces = /^(?:freezer|morgue|cooler)(?= |$)/;
const wild = /^wildlife(?= |$)/;
/** How animals come that are somebody's. */
const visits = /^(?:clinic|s n clinic|spay neuter|boarding)(?= |$)/;
/** What is told beside these, and names neither the animal's state nor its death. */
const tellsOther =
  /owner|guardian|mother|reason|cause|motivo|grund|risk|count|total|rate|date(?:ofbirth)|spay|neuter|chip|vacc|rabies|licen/;

/** Reads whether a record says that its animal died: columns of a state or of a death alone. */
export function deathReader(sample: Sample, { dates, statuses }: MapperContext): Excluded {
  const fields = new NamedFields(sample);
  const isTold = ({ column }: NamedField) => !tellsOther.test(wordKey(column).replaceAll(" ", ""));
  const deaths = fields.like(tellsDeath).filter(isTold);
  const states = fields.like(tellsState).filter((each) => isTold(each) && !deaths.includes(each));
  const places = fields.like(tellsPlace);
  const intake = fields.among(["intake type"]);
  const isDeath = (value: unknown) =>
    (isYes(value) && !isNo(value)) || saysDead(value) || dates.sortable(value) !== undefined;
  // A column of states has few words, and many records.
  const dead = new Map<unknown, boolean>();
  // What somebody said that a word means goes before what it says.
  const isDead = (value: unknown) =>
    dead.getOrInsertComputed(
      value,
      () => saysDead(value) && statuses.understood(value)?.by !== "told",
    );
  return (record) => {
    const death = deaths.find(({ read }) => isDeath(read(record)));
    const state =
      death ??
      states.find(({ read }) => isDead(read(record))) ??
      places.find(({ read }) => says(read(record), deadPlaces));
    if (state !== undefined) return `${state.column} ${shown(state.read(record))}`;
    const came = intake.read(record);
    return says(came, wild) ? `${intake.column} ${shown(came)}` : undefined;
  };
}

const says = (value: unknown, what: RegExp) =>
  typeof value === "string" && what.test(wordKey(value));

/** Columns of yes and no, with what these mean. */
export const flags: readonly (readonly [heading: RegExp, yes: Meaning, no: Meaning])[] = [
  [
    /^(?:is|currently|esta|ist)?(?=.)(?:available|adoptable|disponibi?le|disponivel|verfugbar|beschikbaar)?(?:foradoption|(?:para|en)adopcion|(?:para|em)adocao|inadozione)?$/,
    "available",
    "gone",
  ],
  [
    /^(?:is|was|been|already|ya|fue|foi|ja|ist)?(?:adopted|adoptad[oa]|adott?at[oa]|adotad[oa]|adoptiert|vermittelt|adoptee?|geadopteerd|rehomed)$/,
    "sold",
    "available",
  ],
  [
    /^(?:is|esta|ist)?(?:reserved|reservad[oa]|reserviert|reservee?|gereserveerd|adoptionpending|isadoptionpending)$/,
    "pending",
    "available",
  ],
];

/** Columns of yes and no that tell nothing where they are not set. */
const ends: readonly (readonly [heading: RegExp, yes: Meaning, no?: Meaning])[] = [
  [
    /^(?:is|animal)?(?:notforadoption|notavailable(?:foradoption)?|unavailable|deleted|archived|inactive)$/,
    "gone",
  ],
  [/^(?:is|on)?hold$/, "pending"],
];
/** Columns that tell that an animal left, or is about to, where no column has its status. */
const leaves: readonly (readonly [heading: RegExp, filled: Meaning])[] = [
  [
    /^(?:dateout|outdate|departuredate|datedeparted|fecha(?:de)?(?:salida|egreso|baja)|datesortie|datadesaida|abgangsdatum)$/,
    "gone",
  ],
  [/^(?:adopter|adoptername|adoptedby|newowner|adoptante|adoptadopor)$/, "sold"],
  [/^(?:reserved(?:for|by)|reservadopara|reserviertfur)$/, "pending"],
];

/** What else a record says of an animal that its status calls available, and where. */
export type Corrected = (
  record: unknown,
) => { readonly meaning: Meaning; readonly reason: string } | undefined;

/** Reads flags beside a status, and where there is no status how animals left, too. */
export function correctionReader(sample: Sample, hasStatus: boolean): Corrected {
  const fields = new NamedFields(sample);
  const isFilled = (value: unknown) =>
    !isBlank(value) && !isNo(value) && !isPlaceholderId(wordOf(value));
  const flagged = [...flags, ...ends].map(([heading, yes, no]) => {
    const meaningOf = (value: unknown) => (isYes(value) ? yes : isNo(value) ? no : undefined);
    return [heading, meaningOf] as const;
  });
  const left = leaves.map(([heading, filled]) => {
    return [heading, (value: unknown) => (isFilled(value) ? filled : undefined)] as const;
  });
  const found = [...flagged, ...(hasStatus ? [] : left)].flatMap(([heading, meaningOf]) =>
    fields.like(heading).map(({ column, read }) => ({ column, read, meaningOf })),
  );
  return (record) => {
    for (const { column, read, meaningOf } of found) {
      const meaning = meaningOf(read(record));
      if (meaning === undefined || meaning === "available") continue;
      return { meaning, reason: `${column} ${shown(read(record))}` };
    }
    return undefined;
  };
}

const departureDates = ["outcome date", "outcome date/time"];

/** What says of an animal without an outcome that it is not for adoption. */
const conditions = ["outcome condition", "kennel status"];

/**
 * Reads why an animal without an outcome is not for adoption: some publish when it left without
 * how.
 */
export function absenceReader(
  fields: NamedFields,
  outcome: NamedField,
  { dates, statuses }: MapperContext,
): Excluded {
  const date = fields.among(departureDates);
  const subtype = fields.among(["outcome subtype"]);
  const states = conditions.map((each) => fields.among([each]));
  const intake = fields.among(["intake type"]);
  return (record) => {
    if (dates.sortable(date.read(record)) !== undefined) {
      return `${date.column} without ${outcome.column}`;
    }
    const way = subtype.read(record);
    if (way !== undefined && way !== null && way !== "") {
      return `${subtype.column} without ${outcome.column}`;
    }
    const state =
      states.find(({ read }) => statuses.meaningOf(read(record)) === "gone") ??
      [intake].find(({ read }) => says(read(record), visits));
    return state && `${state.column} ${shown(state.read(record))}`;
  };
}
