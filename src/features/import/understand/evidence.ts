/**
 * A no beats a yes: what the columns of a list say of an animal beside the one that its status is
 * read from. Of all that they say, what is furthest from adoption holds.
 */
import { isBlank, message, type Note, shown, wordOf } from "../messages.ts";
import { type Column, columnsOf, type Field, hasFields, type Sample } from "./columns.ts";
import { type Tells, tellsOf } from "./headings.ts";
import type { Reading } from "./apply.ts";
import {
  type MapperContext,
  type RecordReader,
  soundly,
  type Weigh,
  type Weighed,
} from "./record.ts";
import { saysDead } from "./statuses.ts";
import { isNo, isPlaceholderId, isYes } from "./values.ts";
import { isNever } from "./dates.ts";
import { besides, hiddenWords, type Meaning, outcomeWords, shownWords, wordKey } from "./words.ts";

type No = Exclude<Meaning, "available" | "none">;

const distances: Readonly<Record<Meaning, number>> = {
  none: 0,
  available: 0,
  pending: 1,
  sold: 2,
  gone: 3,
};

/** How far from adoption an animal is of which this is said. */
export const distance = (meaning: Meaning | undefined): number => distances[meaning ?? "none"];

interface Telling extends Column {
  readonly tells: Tells;
  /** True for one that the status is read from: only its day counts. */
  readonly isOwn: boolean;
}

/** What a value says; `open` where that is to be asked. */
type Judged = No | "open" | undefined;
type Judge = (value: unknown, context: MapperContext) => Judged;

/** What the values of such a column mean. */
interface Rule {
  /** A yes, and a day in the past if nothing else is said of it. */
  readonly yes?: Judged;
  /** The most that it may mean, where that is not what a yes means. */
  readonly most?: No;
  readonly no?: No;
  readonly past?: Judged;
  readonly ahead?: Judged;
  /** Any other text. */
  readonly says: Judge;
  /** True where a yes, a number or a day says nothing. */
  readonly isText?: true;
}

const noOf = (meaning: Meaning | undefined): No | undefined =>
  meaning === "available" || meaning === "none" ? undefined : meaning;

const says = (value: unknown, what: RegExp) => what.test(wordKey(wordOf(value)));

const wordsOf: Judge = (value, { statuses }) =>
  noOf(statuses.meaningOf(value)) ?? (statuses.understood(value) ? undefined : "open");

/** What somebody said that a word means goes before what it says. */
const deadOf: Judge = (value, { statuses }) =>
  saysDead(value) && statuses.understood(value)?.by !== "told" ? "gone" : undefined;

const isAvailable: (...of: Parameters<Judge>) => boolean = (value, { statuses }) =>
  statuses.meaningOf(value) === "available";

const deadPlaces = /^(?:freezer|morgue|cooler)(?= |$)/;
/** How animals come that are wild, or somebody's. */
const passersBy = /^(?:wildlife|clinic|s n clinic|spay neuter|boarding)(?= |$)/;

const rules: Partial<Record<Tells, Rule>> = {
  // Where it is or came from is no status beside one that says that it is available.
  status: {
    isText: true,
    says: (value, context) =>
      besides.has(wordKey(wordOf(value))) ? undefined : wordsOf(value, context),
  },
  outcome: { yes: "gone", says: wordsOf },
  condition: { isText: true, says: deadOf },
  kennel: {
    isText: true,
    says: (value, { statuses }) => (statuses.meaningOf(value) === "gone" ? "gone" : undefined),
  },
  way: { past: "gone", ahead: "gone", says: () => "gone" },
  place: { isText: true, says: (value) => (says(value, deadPlaces) ? "gone" : undefined) },
  intakeType: {
    isText: true,
    says: (value, context) => (says(value, passersBy) ? "gone" : deadOf(value, context)),
  },
  death: { yes: "gone", says: (value) => (saysDead(value) ? "gone" : "open") },
  departure: { yes: "gone", says: wordsOf },
  adoption: {
    yes: "sold",
    says: (value, { statuses }) => {
      const found = statuses.understood(value);
      return found === undefined ? "sold" : noOf(found.meaning);
    },
  },
  adoptionNoun: {
    yes: "open",
    past: "sold",
    most: "sold",
    says: (value, context) =>
      /^\W{0,2}[\d.,]+\W{0,3}$/.test(wordOf(value)) ? undefined : wordsOf(value, context),
  },
  adopter: { yes: "sold", says: (...of) => (isAvailable(...of) ? undefined : "sold") },
  taker: { yes: "gone", says: (...of) => (isAvailable(...of) ? undefined : "gone") },
  reservation: {
    yes: "pending",
    says: (value, { statuses }) => {
      const { meaning = "gone" } = statuses.understood(value) ?? {};
      return meaning === "gone" ? "pending" : noOf(meaning);
    },
  },
  reservedUntil: { ahead: "pending", says: () => "open" },
  deleted: { yes: "gone", says: wordsOf },
  active: {
    no: "gone",
    says: (value, context) => {
      const key = wordKey(wordOf(value));
      if (shownWords.has(key)) return undefined;
      return hiddenWords.has(key) ? "gone" : wordsOf(value, context);
    },
  },
  available: { no: "gone", says: wordsOf },
  availableFrom: { says: () => "open" },
};

/** The most that a value may mean which is to be asked. */
function mostOf(tells: Tells): No {
  const { yes, most = yes } = rules[tells] ?? {};
  return most === undefined || most === "open" ? "gone" : most;
}

/** A nested object whose name says nothing of the fields in it. */
const plainAround =
  /^(?:attributes|fields|properties|data|details|node|acf|meta|animal|pet|adoption|status)$/i;

/** The columns that say something; where one within an object says nothing, its own name may. */
function tellingOf(sample: Sample, own: (name: string) => boolean): readonly Telling[] {
  return columnsOf(sample).flatMap((each) => {
    const { name, within, isAgain } = each;
    const { outer = "", inner = "" } = within ?? {};
    const alone = plainAround.test(outer) ? tellsOf(inner) : undefined;
    const tells = within ? (tellsOf(`${outer} ${inner}`) ?? alone) : tellsOf(name);
    // Of several columns of one name the first is the one that was read.
    return tells === undefined ? [] : { ...each, tells, isOwn: isAgain !== true && own(name) };
  });
}

/** Tells what an intake or a return came after. Without a time of day, the day counts. */
function undoneBy(all: readonly Telling[], { dates }: MapperContext, outcomes: readonly Field[]) {
  const latest = (...kinds: readonly Tells[]) => {
    const columns = all.filter(({ tells }) => kinds.includes(tells));
    return (record: unknown) =>
      Math.max(0, ...columns.map(({ read }) => dates.sortable(read(record)) ?? 0));
  };
  const [cameAt, returnedAt] = [latest("intake", "returned"), latest("returned")];
  const [leftAt, adoptedAt] = [latest("departure", "outcome"), latest("adoption")];
  /** One who was adopted and came back. An adoption without a date was before the return. */
  const isReturned = (adopted: number, record: unknown) => {
    const returned = returnedAt(record);
    return returned > 0 && returned >= adopted;
  };
  return (tells: Tells, date: number | undefined, record: unknown): boolean => {
    switch (tells) {
      case "departure":
        if (date === undefined) return false;
        if (outcomes.some((read) => isFilled(read(record)))) return true;
        return cameAt(record) >= date;
      case "way":
      case "kennel":
        return outcomes.some((read) => isFilled(read(record)));
      case "outcome": {
        const left = leftAt(record);
        return left > 0 && cameAt(record) > left;
      }
      case "adoption": {
        const adopted = date ?? adoptedAt(record);
        return adopted > 0 && isReturned(adopted, record);
      }
      case "adopter":
        return isReturned(adoptedAt(record), record);
      default:
        return false;
    }
  };
}

/** True for a column of which a word is known: another one is the state of a country. */
function hasKnown({ read }: Column, { first }: Sample, { statuses }: MapperContext): boolean {
  return first.some((record) => hasFields(record) && statuses.knows(read(record)));
}

const isFilled = (value: unknown) =>
  !isBlank(value) && !isNo(value) && !isPlaceholderId(wordOf(value)) && !isNever(wordOf(value));

/** Who is alive, or was not adopted: words that take nothing of an animal. */
const nothing =
  /^(?:alive|living|lives|vivo|viva|lebt|lebend|vivant|vivante|levend|zyje|zyjacy|zije|zivy|ziva|nobody|nadie|niemand|personne|ninguno|ninguna|nenhum|keiner|keine|kein|aucun|aucune|nessuno|geen|brak|zadny|ziadny|nikdo|nikt|not applicable|no aplica|sahiplenilmedi|sahiplendirilmedi|evlat edinilmedi|on shelter|in shelter|at shelter|in care|still in care)$/;
/** What is not, or not yet: `Not adopted`, `Sin reservar`, `Nicht vermittelt`. */
const negated =
  /^(?:not(?: yet)?|non|no|never|un|nicht|noch nicht|nie|ne|nao|ainda nao|aun no|todavia no|pas|pas encore|niet|nog niet|sin|sem|jeszcze nie|jeste ne|nije|nisu|nem|inte|ikke|ei|nu este|не|ще не) ?(?:adopt\w*|adot\w*|reserv\w*|rezer\w*|zarez\w*|vermit\w*|gereserv\w*|geadopt\w*|udomlj\w*|orokbe\w*|gazdis|foglalt|усыновл\p{L}*|усиновл\p{L}*|осинов\p{L}*|пристро\p{L}*|прилашт\p{L}*|удомљ\p{L}*|dead|deceased|deleted|archived|hidden|returned|left|transferred)$/u;

/** Judges values; a column has few different ones that are no dates and no names. */
function judgeOf(context: MapperContext): (tells: Tells, value: unknown) => Judged {
  const known = new Map<Tells, Map<unknown, Judged>>();
  const ofOutcome = { ...context, statuses: context.statuses.withWords(outcomeWords) };
  return (tells, value) => {
    const values = known.getOrInsertComputed(tells, () => new Map());
    if (values.has(value)) return values.get(value);
    const isOutcome = tells === "outcome" || tells === "departure";
    const rule = rules[tells];
    const found = rule && judged(rule, value, isOutcome ? ofOutcome : context);
    if (values.size < judgedMax) values.set(value, found);
    return found;
  };
}

const judgedMax = 10_000;

function judged(rule: Rule, value: unknown, context: MapperContext): Judged {
  const { yes, no, past = yes, ahead = "open", says: saysOf, isText } = rule;
  if (typeof value === "object") return undefined;
  const text = wordOf(value);
  if (isNo(value) && isText !== true) return no;
  if (isPlaceholderId(text) || isNever(text)) return undefined;
  if (isText) return typeof value === "string" ? saysOf(value, context) : undefined;
  if (isYes(value)) return yes;
  const date = context.dates.sortable(value);
  if (date !== undefined) return date > context.now ? ahead : past;
  const key = wordKey(text);
  const told = context.statuses.understood(value);
  if (told?.by === "told") return noOf(told.meaning);
  return nothing.test(key) || negated.test(key) ? undefined : saysOf(value, context);
}

/** What a column says of an animal. */
interface Said {
  readonly column: Telling;
  readonly value: unknown;
  /** What it means; the most that it may mean where that is to be asked. */
  readonly meaning: No;
  readonly isAsked: boolean;
  /** True where it only says that the animal is not available, or that it left in some way. */
  readonly isMerelyNot: boolean;
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
  readonly #context: MapperContext;
  readonly #columns: readonly Telling[];
  readonly #judge: ReturnType<typeof judgeOf>;
  readonly #isUndone: ReturnType<typeof undoneBy>;
  readonly #believed: readonly string[];
  #available = 0;
  #disagreeing = 0;
  #line = 0;
  readonly #names: string[] = [];
  readonly #taken = new Map<string, { meaning: No; records: number }>();

  /** `outcome` is how an animal left, where that is the status that the format has read already. */
  constructor(
    sample: Sample,
    { own, outcome, context }: Pick<RecordReader, "own" | "outcome" | "context">,
    { ignored = [], believed = [] }: Pick<Reading, "ignored" | "believed">,
  ) {
    const all = tellingOf(sample, (name) => own.has(name) || ignored.includes(name));
    const others = all.filter(({ isOwn, tells }) => !isOwn && tells in rules);
    const states = others.filter(({ tells }) => tells === "status");
    this.#columns = [
      ...states.filter((each) => hasKnown(each, sample, context)),
      ...others.filter((each) => !states.includes(each)),
    ];
    this.#context = context;
    this.#believed = believed;
    this.#judge = judgeOf(context);
    this.#isUndone = undoneBy(all, context, [
      ...(outcome ? [outcome] : []),
      ...others.filter(({ tells }) => tells === "outcome").map(({ read }) => read),
    ]);
  }

  /** What a record says beside its status, the furthest from adoption first. */
  #said(record: unknown): readonly Said[] {
    const said: Said[] = [];
    for (const column of this.#columns) {
      const { tells } = column;
      const value = column.read(record);
      const found = isBlank(value) ? undefined : this.#judge(tells, value);
      if (found === undefined) continue;
      const date = this.#context.dates.sortable(value);
      if (this.#isUndone(tells, date, record)) continue;
      const isAsked = found === "open";
      const isMerelyNot = tells === "available" || (tells === "departure" && date !== undefined);
      said.push({ column, value, meaning: isAsked ? mostOf(tells) : found, isAsked, isMerelyNot });
    }
    return said.toSorted((a, b) => distance(b.meaning) - distance(a.meaning));
  }

  readonly weigh: Weigh = (base, record, line, pet) => {
    const all = this.#said(record);
    const said = all.filter(({ isAsked }) => !isAsked);
    const [first] = said;
    // Whatever an unknown word means, who has left is not for adoption: it need not be asked.
    if (base === undefined) {
      return first && distance(first.meaning) >= distance("sold") ? weighed(first) : undefined;
    }
    if (base === "available") this.#available += 1;
    const least = Math.max(distance(base), distance(first?.meaning));
    const asked = all.find(({ isAsked, meaning }) => isAsked && distance(meaning) > least);
    if (asked !== undefined) return { column: asked.column.name, asked: asked.value };
    // What is adopted is not available and left, which is not to say that it is gone.
    const isOpen = distance(base) === 0;
    const others = said.filter(
      ({ isMerelyNot, column }) =>
        isOpen || !isMerelyNot || (base === "pending" && column.tells === "departure"),
    );
    const [furthest] = others;
    if (furthest === undefined || distance(furthest.meaning) <= distance(base)) return undefined;
    if (base === "available") this.#disagrees(furthest, others, line, pet);
    return weighed(furthest);
  };

  #disagrees(
    { meaning, column }: Said,
    said: readonly Said[],
    line: number,
    pet: Parameters<Weigh>[3],
  ): void {
    this.#disagreeing += 1;
    if (this.#line === 0) this.#line = line;
    if (this.#names.length < namesShown) this.#names.push(soundly(pet).name ?? "");
    // One that another column takes anyway is not taken by this one.
    const isOnly = said.every((each) => each.column.name === column.name);
    // The words of a status or an outcome say what they say.
    const isWord = column.tells === "status" || column.tells === "outcome";
    if (!isOnly || isWord || this.#believed.includes(column.name)) return;
    const taken = this.#taken.getOrInsertComputed(column.name, () => ({ meaning, records: 0 }));
    taken.records += 1;
  }

  /** Columns that take more than half of the available, and that nobody agreed to. */
  takers(): readonly Taker[] {
    const available = this.#available;
    return [...this.#taken]
      .map(([column, taken]) => ({ column, ...taken, available }))
      .filter(({ records }) => records >= takenMin && 2 * records > available);
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
  reason: `${column.name} ${shown(value)}`,
});
