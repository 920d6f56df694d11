/**
 * A no beats a yes: what the columns of a list say of an animal beside the one that its status is
 * read from. Of all that they say, what is furthest from adoption holds.
 */
import { isJsonObject } from "../../../domain/exact-json.ts";
import { isBlank, message, type Note, shown, wordOf } from "../messages.ts";
import type { Sample } from "./sample.ts";
import { type Tells, tellsOf } from "./headings.ts";
import type { MapperContext, Weigh, Weighed } from "./record.ts";
import { saysDead } from "./statuses.ts";
import { type Field, FieldFault, fieldsNamed, isNo, isPlaceholderId, isYes } from "./values.ts";
import { isNever } from "./dates.ts";
import { besides, type Meaning, outcomeWords, wordKey } from "./words.ts";

type No = Exclude<Meaning, "available" | "none">;

/** What a column says of an animal. */
export interface Said {
  readonly column: string;
  readonly value: unknown;
  readonly meaning: No;
  /** True where it only says that the animal is not available, or that it left in some way. */
  readonly isMerelyNot: boolean;
}

/** A value that nobody has explained yet, and the most that it may mean. */
export interface Unexplained {
  readonly column: string;
  readonly value: unknown;
  readonly atMost: No;
}

export interface Evidence {
  /** One for each column, the furthest from adoption first. */
  readonly said: readonly Said[];
  readonly unexplained: readonly Unexplained[];
}

const distances: Readonly<Record<Meaning, number>> = {
  none: 0,
  available: 0,
  pending: 1,
  sold: 2,
  gone: 3,
};

/** How far from adoption an animal is of which this is said. */
export const distance = (meaning: Meaning | undefined): number => distances[meaning ?? "none"];

interface Column {
  readonly name: string;
  readonly tells: Tells;
  readonly read: Field;
  /** True for one that the status is read from: only its day counts. */
  readonly isOwn: boolean;
}

/** What a value says; `open` where that is to be asked. */
type Judged = No | "open" | undefined;

/** What a yes and a past date mean in such a column. */
const meant: Partial<Record<Tells, No>> = {
  death: "gone",
  departure: "gone",
  adoption: "sold",
  adoptionNoun: "sold",
  adopter: "sold",
  taker: "gone",
  reservation: "pending",
  deleted: "gone",
  outcome: "gone",
};

/** A nested object whose name says nothing of the fields in it. */
const plainAround =
  /^(?:attributes|fields|properties|data|details|node|acf|meta|animal|pet|adoption|status)$/i;

/** The columns of a list that say something, also within the objects of JSON. */
function columnsOf(sample: Sample, own: (name: string) => boolean): readonly Column[] {
  const found: Column[] = [];
  const add = (name: string, heading: string, read: Field, isOwn = own(name)) => {
    const tells = tellsOf(heading);
    if (tells !== undefined) found.push({ name, tells, read, isOwn });
  };
  const names = new Set(sample.names);
  for (const name of names) {
    // Of several columns of one name the first is the one that was read.
    for (const [at, read] of fieldsNamed(sample.columns, name).entries()) {
      add(name, name, read, at === 0 && own(name));
    }
    if (sample.columns !== undefined) continue;
    const first = sample.first.find((each) => isJsonObject(each) && isJsonObject(each[name]));
    const inner = isJsonObject(first) ? first[name] : undefined;
    for (const below of Object.keys(isJsonObject(inner) ? inner : {})) {
      const read: Field = (record) => {
        const value = (record as Record<string, unknown>)[name];
        return isJsonObject(value) ? value[below] : undefined;
      };
      const path = `${name}.${below}`;
      add(path, `${name} ${below}`, read);
      if (plainAround.test(name) && tellsOf(`${name} ${below}`) === undefined)
        add(path, below, read);
    }
  }
  return found;
}

/**
 * Reads what a list says beside its status. `own` is true for the columns that the format has read
 * already; `hasOutcome` where one of these is how the animal left.
 */
export function evidenceReader(
  sample: Sample,
  context: MapperContext,
  own: { readonly isOwn: (name: string) => boolean; readonly outcome?: Field | undefined },
): (record: unknown) => Evidence {
  const all = columnsOf(sample, own.isOwn);
  const others = all.filter(({ isOwn }) => !isOwn);
  const judge = judgeOf(context);
  const timesOf = timesReader(all, context, [
    ...(own.outcome ? [own.outcome] : []),
    ...others.filter(({ tells }) => tells === "outcome").map(({ read }) => read),
  ]);
  const isStatus = ({ tells }: Column) => tells === "status";
  const columns = [
    ...others.filter((each) => isStatus(each) && hasKnown(each, sample, context)),
    ...others.filter((each) => !isStatus(each) && each.tells in judged),
  ];
  return (record) => {
    const said: Said[] = [];
    const unexplained: Unexplained[] = [];
    const times = timesOf(record);
    for (const { name, tells, read } of columns) {
      const value = read(record);
      const found = isBlank(value) ? undefined : judge(tells, value);
      if (found === undefined) continue;
      const date = context.dates.sortable(value);
      if (isUndone(tells, date, times)) continue;
      if (found === "open") {
        unexplained.push({ column: name, value, atMost: meant[tells] ?? "gone" });
      } else {
        const isMerelyNot = tells === "available" || (tells === "departure" && date !== undefined);
        said.push({ column: name, value, meaning: found, isMerelyNot });
      }
    }
    said.sort((a, b) => distance(b.meaning) - distance(a.meaning));
    return { said, unexplained };
  };
}

/** Reads when an animal came and left, as far as it is asked for. */
function timesReader(
  all: readonly Column[],
  { dates }: MapperContext,
  outcomes: readonly Field[],
): (record: unknown) => Times {
  const of = (...kinds: readonly Tells[]) => all.filter(({ tells }) => kinds.includes(tells));
  const latest = (columns: readonly Column[], record: unknown) =>
    Math.max(0, ...columns.map(({ read }) => dates.sortable(read(record)) ?? 0));
  const arrivals = of("intake", "returned");
  const [departures, adoptions, returns] = [
    of("departure", "outcome"),
    of("adoption"),
    of("returned"),
  ];
  return (record) => ({
    hasOutcome: lazy(() => outcomes.some((read) => isFilled(read(record)))),
    arrival: lazy(() => latest(arrivals, record)),
    back: lazy(() => latest(returns, record)),
    left: lazy(() => latest(departures, record)),
    adopted: lazy(() => latest(adoptions, record)),
  });
}

function lazy<T>(of: () => T): () => T {
  let known: T | undefined;
  return () => (known ??= of());
}

/** One who was adopted and came back. Without a date of the adoption, it was before the return. */
const isReturned = (adopted: number, returned: number) => returned > 0 && returned >= adopted;

interface Times {
  readonly hasOutcome: () => boolean;
  readonly adopted: () => number;
  readonly arrival: () => number;
  readonly back: () => number;
  readonly left: () => number;
}

/** True for what an intake or a return came after. Without a time of day, the day counts. */
function isUndone(tells: Tells, date: number | undefined, times: Times): boolean {
  switch (tells) {
    case "departure":
      if (times.hasOutcome()) return date !== undefined;
      return date !== undefined && times.arrival() >= date;
    case "way":
    case "kennel":
      return times.hasOutcome();
    case "outcome": {
      const left = times.left();
      return left > 0 && times.arrival() > left;
    }
    case "adoption": {
      const adopted = date ?? times.adopted();
      return adopted > 0 && isReturned(adopted, times.back());
    }
    case "adopter":
      return isReturned(times.adopted(), times.back());
    default:
      return false;
  }
}

const sampled = 512;

/** True for a column of which a word is known: another one is the state of a country. */
function hasKnown({ read }: Column, sample: Sample, { statuses }: MapperContext): boolean {
  return sample.first
    .slice(0, sampled)
    .some((record) => typeof record === "object" && statuses.knows(read(record)));
}

const isFilled = (value: unknown) =>
  !isBlank(value) && !isNo(value) && !isPlaceholderId(wordOf(value)) && !isNever(wordOf(value));

/** Who is alive, or was not adopted: words that take nothing of an animal. */
const nothing =
  /^(?:alive|living|lives|vivo|viva|lebt|lebend|vivant|vivante|levend|zyje|zyjacy|zije|zivy|ziva|nobody|nadie|niemand|personne|ninguno|ninguna|nenhum|keiner|keine|kein|aucun|aucune|nessuno|geen|brak|zadny|ziadny|nikdo|nikt|not applicable|no aplica|on shelter|in shelter|at shelter|in care|still in care)$/;
/** What is not, or not yet: `Not adopted`, `Sin reservar`, `Nicht vermittelt`. */
const negated =
  /^(?:not(?: yet)?|non|no|never|un|nicht|noch nicht|nie|ne|nao|ainda nao|aun no|todavia no|pas|pas encore|niet|nog niet|sin|sem|jeszcze nie|jeste ne) ?(?:adopt\w*|adot\w*|reserv\w*|rezer\w*|zarez\w*|vermit\w*|gereserv\w*|geadopt\w*|dead|deceased|deleted|archived|hidden|returned|left|transferred)$/;
const shownWords =
  /^(?:active|activo|activa|ativo|ativa|aktiv|actif|actief|attivo|aktywny|aktivni|aktivny|published|publish|publicado|public|visible|listed|enabled|open|on)$/;
const hiddenWords =
  /^(?:inactive|inactivo|inactiva|inativo|inativa|inaktiv|inactif|inactief|inattivo|nieaktywny|neaktivni|neaktivny|unpublished|draft|borrador|private|hidden|oculto|disabled|closed|archived|off)$/;

const deadPlaces = /^(?:freezer|morgue|cooler)(?= |$)/;
const wild = /^wildlife(?= |$)/;
/** How animals come that are somebody's. */
const visits = /^(?:clinic|s n clinic|spay neuter|boarding)(?= |$)/;

type Judge = (value: unknown, context: MapperContext) => Judged;

const wordsOf: Judge = (value, { statuses }) => {
  return noOf(statuses.meaningOf(value)) ?? (statuses.understood(value) ? undefined : "open");
};

const noOf = (meaning: Meaning | undefined): No | undefined =>
  meaning === "available" || meaning === "none" ? undefined : meaning;

/** What a text says that is neither a yes, a no, a date nor a word of nothing. */
const judged: Partial<Record<Tells, Judge>> = {
  // Where it is or came from is no status beside one that says that it is available.
  status: (value, context) =>
    besides.has(wordKey(wordOf(value))) ? undefined : wordsOf(value, context),
  outcome: wordsOf,
  condition: (value, context) => deadOf(value, context),
  kennel: (value, { statuses }) => (statuses.meaningOf(value) === "gone" ? "gone" : undefined),
  way: () => "gone",
  place: (value) => (says(value, deadPlaces) ? "gone" : undefined),
  intakeType: (value, context) =>
    says(value, wild) || says(value, visits) ? "gone" : deadOf(value, context),
  death: (value) => (saysDead(value) ? "gone" : "open"),
  departure: wordsOf,
  adoption: (value, { statuses }) => {
    const meaning = statuses.understood(value);
    return meaning === undefined ? "sold" : noOf(meaning.meaning);
  },
  adoptionNoun: (value, context) =>
    /^\W{0,2}[\d.,]+\W{0,3}$/.test(wordOf(value)) ? undefined : wordsOf(value, context),
  adopter: (value, { statuses }) => {
    const meaning = statuses.understood(value);
    return meaning?.by === "told"
      ? noOf(meaning.meaning)
      : meaning?.meaning === "available"
        ? undefined
        : "sold";
  },
  taker: (value, { statuses }) =>
    statuses.understood(value)?.meaning === "available" ? undefined : "gone",
  reservation: (value, { statuses }) => {
    const meaning = statuses.understood(value);
    return meaning === undefined || meaning.meaning === "gone" ? "pending" : noOf(meaning.meaning);
  },
  reservedUntil: () => "open",
  deleted: wordsOf,
  active: (value) =>
    says(value, shownWords) ? undefined : says(value, hiddenWords) ? "gone" : "open",
  available: wordsOf,
  availableFrom: () => "open",
};

const says = (value: unknown, what: RegExp) => what.test(wordKey(wordOf(value)));

/** What somebody said that a word means goes before what it says. */
function deadOf(value: unknown, { statuses }: MapperContext): Judged {
  return saysDead(value) && statuses.understood(value)?.by !== "told" ? "gone" : undefined;
}

/** Judges values; a column has few different ones that are no dates and no names. */
function judgeOf(context: MapperContext): (tells: Tells, value: unknown) => Judged {
  const known = new Map<Tells, Map<unknown, Judged>>();
  const ofOutcome = { ...context, statuses: context.statuses.withWords(outcomeWords) };
  return (tells, value) => {
    const values = known.getOrInsertComputed(tells, () => new Map());
    if (values.has(value)) return values.get(value);
    const isOutcome = tells === "outcome" || tells === "departure";
    const found = judgeValue(tells, value, isOutcome ? ofOutcome : context);
    if (values.size < judgedMax) values.set(value, found);
    return found;
  };
}

const judgedMax = 10_000;
/** Columns of words, in which a yes or a number says nothing. */
const ofWords: ReadonlySet<Tells> = new Set([
  "status",
  "condition",
  "kennel",
  "place",
  "intakeType",
]);

function judgeValue(tells: Tells, value: unknown, context: MapperContext): Judged {
  if (typeof value === "object") return undefined;
  const text = wordOf(value);
  if (isPlaceholderId(text) || isNever(text)) {
    return isNo(value) ? ifNo(tells) : undefined;
  }
  if (ofWords.has(tells))
    return typeof value === "string" ? judged[tells]?.(value, context) : undefined;
  if (isNo(value)) return ifNo(tells);
  if (isYes(value)) return tells === "adoptionNoun" ? "open" : meant[tells];
  const date = context.dates.sortable(value);
  if (date !== undefined) return ofDate(tells, date > context.now);
  const key = wordKey(text);
  const told = context.statuses.understood(value);
  if (told?.by === "told") return noOf(told.meaning);
  if (nothing.test(key) || negated.test(key)) return undefined;
  return judged[tells]?.(value, context);
}

/** What is not shown, or not available. */
const ifNo = (tells: Tells): Judged =>
  tells === "active" || tells === "available" ? "gone" : undefined;

function ofDate(tells: Tells, isAhead: boolean): Judged {
  if (tells === "reservedUntil") return isAhead ? "pending" : undefined;
  if (tells === "way") return "gone";
  if (tells === "active" || tells === "available" || tells === "availableFrom") {
    return isAhead ? "open" : undefined;
  }
  return isAhead ? "open" : meant[tells];
}

/** A column by which animals that are available would not be. */
export interface Taker {
  readonly column: string;
  readonly meaning: No;
  readonly records: number;
  readonly available: number;
}

/** Of fewer animals the half says nothing of a column. */
const takenMin = 3;
const namesShown = 3;

/** Weighs what columns say against the status, and counts where they disagree. */
export class Weighing {
  readonly #evidence: (record: unknown) => Evidence;
  readonly #believed: ReadonlySet<string>;
  #available = 0;
  #disagreeing = 0;
  #line = 0;
  readonly #names: string[] = [];
  readonly #taken = new Map<string, { meaning: No; records: number }>();

  constructor(evidence: (record: unknown) => Evidence, believed: ReadonlySet<string>) {
    this.#evidence = evidence;
    this.#believed = believed;
  }

  readonly weigh: Weigh = (base, record, line, pet) => {
    const { said, unexplained } = this.#evidence(record);
    const [first] = said;
    // Whatever an unknown word means, who has left is not for adoption: it need not be asked.
    if (base === undefined) {
      return first && distance(first.meaning) >= distance("sold") ? weighed(first) : undefined;
    }
    if (base === "available") this.#available += 1;
    const least = Math.max(distance(base), distance(first?.meaning));
    const asked = unexplained.find(({ atMost }) => distance(atMost) > least);
    if (asked !== undefined) return { column: asked.column, asked: asked.value };
    // What is adopted is not available and left, which is not to say that it is gone.
    const isOpen = distance(base) === 0;
    const others = said.filter(
      (each) =>
        isOpen || !each.isMerelyNot || (base === "pending" && tellsOf(each.column) === "departure"),
    );
    const [furthest] = others;
    if (furthest === undefined || distance(furthest.meaning) <= distance(base)) return undefined;
    if (base === "available") this.#disagrees(others, line, pet);
    return weighed(furthest);
  };

  #disagrees(said: readonly Said[], line: number, pet: Parameters<Weigh>[3]): void {
    this.#disagreeing += 1;
    if (this.#line === 0) this.#line = line;
    if (this.#names.length < namesShown) this.#names.push(nameOf(pet));
    // One that another column takes anyway is not taken by this one.
    const [only, other] = new Set(said.map(({ column }) => column));
    // The words of a status or an outcome say what they say.
    const isWord = only !== undefined && /^(?:status|outcome)$/.test(tellsOf(only) ?? "");
    if (only === undefined || other !== undefined || isWord || this.#believed.has(only)) return;
    const first = () => ({ meaning: said[0]?.meaning ?? "gone", records: 0 });
    this.#taken.getOrInsertComputed(only, first).records += 1;
  }

  /** Columns that take more than half of the available, and that nobody agreed to. */
  takers(): readonly Taker[] {
    const available = this.#available;
    return [...this.#taken].flatMap(([column, { meaning, records }]) =>
      records >= takenMin && 2 * records > available
        ? [{ column, meaning, records, available }]
        : [],
    );
  }

  notes(): readonly Note[] {
    if (this.#disagreeing === 0) return [];
    const example = this.#names.map((each) => JSON.stringify(each)).join(", ");
    const said = message("columnsDisagree");
    return [{ said, records: this.#disagreeing, firstLine: this.#line, example }];
  }
}

const weighed = ({ meaning, column, value }: Said): Weighed => ({
  meaning,
  reason: `${column} ${shown(value)}`,
});

function nameOf(pet: Parameters<Weigh>[3]): string {
  try {
    return pet().name;
  } catch (fault) {
    if (!(fault instanceof FieldFault)) throw fault;
    return "";
  }
}
