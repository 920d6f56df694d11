/**
 * A no beats a yes: what the columns of a list say of an animal beside the one that its status is
 * read from. Of all that they say, what is furthest from adoption holds.
 */
import { isBlank, message, type Note, shown, wordOf } from "../messages.ts";
import { valueAt } from "../read/json.ts";
import type { Reading } from "./apply.ts";
import { type Column, columnsOf, type Field, hasFields, type Sample } from "./columns.ts";
import { isNever } from "./dates.ts";
import { type Tells, tellsOf } from "./headings.ts";
import type { MapperContext, RecordReader, Weigh } from "./record.ts";
import {
  besides,
  deaths,
  hiddenWords,
  isNo,
  isPlaceholderId,
  isYes,
  type Meaning,
  outcomeWords,
  saysDead,
  saysNothing,
  setOf,
  shownWords,
  type Statuses,
  wordKey,
} from "./words.ts";

type No = Exclude<Meaning, "available" | "none">;

const towardsGone: readonly (Meaning | undefined)[] = ["pending", "sold", "gone"];

/** How far from adoption an animal is of which this is said. */
export const distance = (meaning: Meaning | undefined): number => towardsGone.indexOf(meaning) + 1;

interface Telling extends Column {
  readonly tells: Tells;
  /** What a value of it means; undefined for one that tells only when it came. */
  readonly rule: Rule | undefined;
}

/** What a value says; `open` where that is to be asked. */
type Judged = No | "open" | undefined;

interface Word {
  readonly key: string;
  readonly meaning: Meaning | undefined;
  readonly isDead: boolean;
}

interface Rule {
  /** A yes, and a day in the past if nothing else is said of it. */
  readonly yes?: Judged;
  readonly no?: No;
  readonly past?: No;
  readonly ahead?: Judged;
  readonly most?: No;
  readonly says: (word: Word) => Judged;
  /** True where a yes, a number or a day says nothing. */
  readonly isText?: true;
}

const noOf = (meaning: Meaning | undefined): No | undefined =>
  meaning === "available" || meaning === "none" ? undefined : meaning;

const asWord = ({ meaning }: Word): Judged => (meaning === undefined ? "open" : noOf(meaning));
const goneIf = (is: boolean) => (is ? "gone" : undefined);

const deathWords = setOf(deaths);
const isString = (value: unknown) => typeof value === "string";

const deadPlaces = /^(?:freezer|morgue|cooler)(?= |$)/;
/** How animals come that are wild, or somebody's. */
const passersBy = /^(?:wildlife|clinic|s n clinic|spay neuter|boarding)(?= |$)/;

const rules: Partial<Record<Tells, Rule>> = {
  // Where it is or came from is no status beside one that says that it is available.
  status: { isText: true, says: (word) => (besides.has(word.key) ? undefined : asWord(word)) },
  outcome: { yes: "gone", says: asWord },
  // Who is called reserved may be shy.
  tags: {
    isText: true,
    most: "pending",
    says: ({ key, meaning }) => {
      if (deathWords.has(key)) return "gone";
      return meaning === "pending" ? "open" : meaning === "sold" ? "sold" : undefined;
    },
  },
  condition: { isText: true, says: ({ isDead }) => goneIf(isDead) },
  kennel: { isText: true, says: ({ meaning }) => goneIf(meaning === "gone") },
  way: { past: "gone", ahead: "gone", says: () => "gone" },
  place: { isText: true, says: ({ key }) => goneIf(deadPlaces.test(key)) },
  intakeType: { isText: true, says: ({ key, isDead }) => goneIf(isDead || passersBy.test(key)) },
  death: { yes: "gone", says: ({ isDead }) => (isDead ? "gone" : "open") },
  departure: { yes: "gone", says: asWord },
  adoption: {
    yes: "sold",
    says: ({ meaning }) => (meaning === undefined ? "sold" : noOf(meaning)),
  },
  adoptionNoun: {
    yes: "open",
    past: "sold",
    // A number is a fee.
    says: (word) => (/^[\d ]+$/.test(word.key) ? undefined : asWord(word)),
  },
  adopter: { yes: "sold", says: ({ meaning }) => (meaning === "available" ? undefined : "sold") },
  taker: { yes: "gone", says: ({ meaning }) => (meaning === "available" ? undefined : "gone") },
  reservation: {
    yes: "pending",
    says: ({ meaning = "gone" }) => (meaning === "gone" ? "pending" : noOf(meaning)),
  },
  reservedUntil: { ahead: "pending", says: () => "open" },
  deleted: { yes: "gone", says: asWord },
  active: {
    no: "gone",
    says: (word) => {
      if (shownWords.has(word.key)) return undefined;
      return hiddenWords.has(word.key) ? "gone" : asWord(word);
    },
  },
  available: { no: "gone", says: asWord },
  availableFrom: { says: () => "open" },
};

/** The most that a value may mean which is to be asked. */
const mostOf = ({ yes, past, most = past }: Rule): No =>
  most ?? (yes === "open" ? undefined : yes) ?? "gone";

/** The values of a field; of a list of words, each of them. */
function valuesOf({ tells, read }: Telling, record: unknown): readonly unknown[] {
  const value = read(record);
  if (tells !== "tags") return Array.isArray(value) && value.every(isString) ? value : [value];
  if (typeof value === "string") return value.trim().split(/\s*[,;|>\n]\s*/);
  // Programs give a tag as an object: `[{ "slug": "adopted" }]`.
  const called = (tag: unknown) => valueAt(tag, ["name"]) ?? valueAt(tag, ["slug"]) ?? tag;
  return Array.isArray(value) ? value.map(called) : [];
}

/** A nested object whose name says nothing of the fields in it. */
const plainAround =
  /^(?:attributes|fields|properties|data|details|node|acf|meta|animal|pet|adoption|status|\w*info)$/i;

/** The columns that say something; where one within an object says nothing, its own name may. */
const tellingOf = (sample: Sample): readonly Telling[] =>
  columnsOf(sample).flatMap((each) => {
    const { name, within } = each;
    const { outer = "", inner = "" } = within ?? {};
    const alone = plainAround.test(outer) ? tellsOf(inner) : undefined;
    const tells = within ? (tellsOf(`${outer} ${inner}`) ?? alone) : tellsOf(name);
    return tells === undefined ? [] : { ...each, tells, rule: rules[tells] };
  });

/** Tells what an intake or a return came after. Without a time of day, the day counts. */
function undoneBy(all: readonly Telling[], { dates }: MapperContext, outcomes: readonly Field[]) {
  const latest = (record: unknown, ...kinds: readonly Tells[]) => {
    const own = all.filter(({ tells }) => kinds.includes(tells));
    return Math.max(0, ...own.map(({ read }) => dates.sortable(read(record)) ?? 0));
  };
  const hasOutcome = (record: unknown) => outcomes.some((read) => isFilled(read(record)));
  return (tells: Tells, date: number | undefined, record: unknown): boolean => {
    switch (tells) {
      case "departure":
        if (date === undefined) return false;
        return hasOutcome(record) || latest(record, "intake", "returned") >= date;
      case "way":
      case "kennel":
        return hasOutcome(record);
      case "outcome": {
        const left = latest(record, "departure", "outcome");
        return left > 0 && latest(record, "intake", "returned") > left;
      }
      case "adoption":
      case "adopter": {
        // An adoption without a date was before the return.
        const adopted = (tells === "adoption" ? date : undefined) ?? latest(record, "adoption");
        const returned = latest(record, "returned");
        return returned > 0 && returned >= adopted && (adopted > 0 || tells === "adopter");
      }
      default:
        return false;
    }
  };
}

/** Where no column is the status, words of one that is called so are asked for. */
const mayBeCountry = /state|estado|stato|stan|stav/i;

const isFilled = (value: unknown) =>
  !isBlank(value) && !isNo(value) && !isPlaceholderId(wordOf(value)) && !isNever(wordOf(value));

const judgedMax = 10_000;

/** Judges values; a column has few different ones that are no dates and no names. */
function judgeOf(context: MapperContext) {
  const known = new Map<Tells, Map<unknown, Judged>>();
  const ofOutcome = context.statuses.withWords(outcomeWords);
  return (tells: Tells, rule: Rule, value: unknown): Judged => {
    const values = known.getOrInsertComputed(tells, () => new Map());
    if (values.has(value)) return values.get(value);
    const isOutcome = tells === "outcome" || tells === "departure";
    const found = judged(rule, value, context, isOutcome ? ofOutcome : context.statuses);
    if (values.size < judgedMax) values.set(value, found);
    return found;
  };
}

function judged(
  { yes, no, past, ahead = "open", says, isText }: Rule,
  value: unknown,
  { dates, now }: MapperContext,
  statuses: Statuses,
): Judged {
  // A list of adoptions, say: whether the last one holds is to be asked.
  if (Array.isArray(value) && value.length > 0 && !isText) return "open";
  if (typeof value === "object") return undefined;
  const text = wordOf(value);
  if (!isText && isNo(value)) return no;
  if (isPlaceholderId(text) || isNever(text)) return undefined;
  if (isText && typeof value !== "string") return undefined;
  if (!isText && isYes(value)) return yes;
  const date = isText ? undefined : dates.sortable(value);
  const key = wordKey(text);
  if (date !== undefined) return date > now ? ahead : (past ?? yes);
  const { meaning, by } = statuses.understood(value) ?? {};
  // What somebody said that a word means goes before what it says.
  const isTold = by === "told";
  if (isTold && !isText) return noOf(meaning);
  if (saysNothing(key) && !isText) return undefined;
  return says({ key, meaning, isDead: !isTold && saysDead(value) });
}

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

/** What a record says beside its status, the furthest from adoption first. */
function sayingsOf(
  sample: Sample,
  { own, outcome, context }: RecordReader,
  ignored: readonly string[],
): (record: unknown) => readonly Said[] {
  const { dates, statuses } = context;
  const all = tellingOf(sample);
  // Of several columns of one name the first is the one that was read.
  const isOwn = ({ name, isAgain }: Telling) =>
    isAgain !== true && (own.has(name) || ignored.includes(name));
  /** Of a status no word of which is known, the column may be the state of a country. */
  const mayTell = ({ tells, name, read }: Telling) =>
    tells !== "status" ||
    (own.size === 0 && !mayBeCountry.test(name)) ||
    sample.first.some((record) => hasFields(record) && statuses.knows(read(record)));
  const columns = all.filter((each) => each.rule && !isOwn(each) && mayTell(each));
  const outcomes = columns.filter(({ tells }) => tells === "outcome").map(({ read }) => read);
  const isUndone = undoneBy(all, context, outcome ? [outcome, ...outcomes] : outcomes);
  const judge = judgeOf(context);
  return (record) => {
    const said: Said[] = [];
    for (const column of columns) {
      const { tells, rule } = column;
      for (const value of valuesOf(column, record)) {
        const found = rule && !isBlank(value) ? judge(tells, rule, value) : undefined;
        if (rule === undefined || found === undefined) continue;
        const date = dates.sortable(value);
        if (isUndone(tells, date, record)) continue;
        const isAsked = found === "open";
        const isMerelyNot = tells === "available" || (tells === "departure" && date !== undefined);
        const meaning = isAsked ? mostOf(rule) : found;
        said.push({ column, value, meaning, isAsked, isMerelyNot });
      }
    }
    return said.toSorted((a, b) => distance(b.meaning) - distance(a.meaning));
  };
}

/** Weighs what columns say against the status, and counts where they disagree. */
export class Weighing {
  readonly #saidIn: ReturnType<typeof sayingsOf>;
  readonly #believed: readonly string[];
  #available = 0;
  readonly #disagreeing: { readonly line: number; readonly name: string }[] = [];
  readonly #taken = new Map<string, { meaning: No; records: number }>();

  constructor(sample: Sample, reader: RecordReader, { ignored = [], believed = [] }: Reading) {
    this.#saidIn = sayingsOf(sample, reader, ignored);
    this.#believed = believed;
  }

  readonly weigh: Weigh = (base, record, line, name) => {
    const all = this.#saidIn(record);
    if (base === "available") this.#available += 1;
    if (all.length === 0) return undefined;
    const said = all.filter(({ isAsked }) => !isAsked);
    const [first] = said;
    // Whatever an unknown word means, who has left is not for adoption: it need not be asked.
    if (base === undefined) {
      return first && distance(first.meaning) >= distance("sold") ? weighed(first) : undefined;
    }
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
    if (base === "available") {
      this.#disagreeing.push({ line, name });
      const { meaning, column } = furthest;
      const { name: own, tells } = column;
      // One that another column takes anyway is not taken by this one, and words say what they say.
      const isOnly = others.every((each) => each.column.name === own);
      if (isOnly && tells !== "status" && tells !== "outcome" && !this.#believed.includes(own)) {
        this.#taken.getOrInsertComputed(own, () => ({ meaning, records: 0 })).records += 1;
      }
    }
    return weighed(furthest);
  };

  /** Columns that take more than half of the available, and that nobody agreed to. */
  takers(): readonly Taker[] {
    const available = this.#available;
    return [...this.#taken]
      .map(([column, taken]) => ({ column, ...taken, available }))
      .filter(({ records }) => records >= takenMin && 2 * records > available);
  }

  notes(): readonly Note[] {
    const [first] = this.#disagreeing;
    if (first === undefined) return [];
    const names = this.#disagreeing.slice(0, namesShown).map(({ name }) => JSON.stringify(name));
    const [said, records] = [message("columnsDisagree"), this.#disagreeing.length];
    return [{ said, records, firstLine: first.line, example: names.join(", ") }];
  }
}

const weighed = ({ meaning, column, value }: Said) => ({
  meaning,
  reason: `${column.name} ${shown(value)}`,
});
