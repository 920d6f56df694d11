import { UsageError } from "../../usage-error.ts";
import { isBlank, wordOf } from "../messages.ts";
import { Dates, monthOf } from "./dates.ts";
import { besides, harmless, type Meaning, meanings, pairsIn, wordKey, words } from "./words.ts";

/** What a value means, and how that is known: somebody said so, the table, or a stem of death. */
export interface Understood {
  readonly meaning: Meaning;
  readonly by: "told" | "list" | "stem";
}

/** What parts a status from its rest: `Available - In Foster`, `Hold: Stray`, `Sold (8 May)`. */
const restOfStatus = /\s+[-\u2013\u2014]\s*|\s*[:(].*/u;

/** The other gender behind a word: `Adoptado/a`, `Adopté·e`. */
const otherGender = /[/·.-][ae]$/iu;

/** Words that are kept; a file with more has other things in that column. */
const readMax = 10_000;

/** The word of `--status` that stands for any date. */
const dateWord = "date";

/** Reads what shelters write for a status, with the words that this import's options add. */
export class Statuses {
  readonly #own: ReadonlyMap<string, Meaning>;
  /** What was read before: a file has few words, and many records. */
  readonly #read = new Map<string, Understood | undefined>();
  /** What an animal has whose status is blank or not in the file; undefined to ask for it. */
  readonly whenMissing: Meaning | undefined;

  constructor(own: ReadonlyMap<string, Meaning> = new Map(), whenMissing?: Meaning) {
    this.#own = own;
    this.whenMissing = whenMissing;
  }

  /** The same, with words of a layout behind those of the options. */
  withWords(words: ReadonlyMap<string, Meaning>): Statuses {
    if (words.size === 0) return this;
    const own = new Map([...words, ...this.#own]);
    return new Statuses(own, this.whenMissing);
  }

  /** True for a value that an option or the list of words tells, and no stem. */
  knows(value: unknown): boolean {
    const by = this.understood(value)?.by;
    return by === "told" || by === "list";
  }

  /** What a value that is not blank means, or undefined if nothing tells. */
  understood(value: unknown): Understood | undefined {
    if (isBlank(value)) return undefined;
    const text = wordOf(value);
    if (this.#read.has(text)) return this.#read.get(text);
    const understood = this.#understand(text, typeof value === "string");
    if (this.#read.size < readMax) this.#read.set(text, understood);
    return understood;
  }

  meaningOf(value: unknown): Meaning | undefined {
    return this.understood(value)?.meaning;
  }

  /** The words that were read by a stem of death so far, with their meanings. */
  stems(): ReadonlyMap<string, Meaning> {
    const found = [...this.#read].flatMap(([word, read]) =>
      read?.by === "stem" ? [[word, read.meaning] as const] : [],
    );
    return new Map(found);
  }

  #understand(text: string, isText: boolean): Understood | undefined {
    const told = this.#own.get(statusKey(text)) ?? this.#own.get(statusKey(withoutDate(text)));
    if (told !== undefined) return { meaning: told, by: "told" };
    const dated = this.#own.get(dateWord);
    if (dated !== undefined && new Dates().sortable(text) !== undefined) {
      return { meaning: dated, by: "told" };
    }
    if (!isText) return undefined;
    return byTable(text) ?? (saysDead(withoutDate(text)) ? dead : undefined);
  }
}

/** What a status is compared by: as a word, or as it is if it has no letters. */
export function statusKey(text: string): string {
  return wordKey(text) || text.trim();
}

const dead: Understood = { meaning: "gone", by: "stem" };

const date = [
  String.raw`\d{1,2}[/.-]\d{1,2}(?:[/.-]\d{2,4})?\.?`,
  String.raw`\d{4}-\d{2}-\d{2}`,
  String.raw`\d{1,2}(?:\.|st|nd|rd|th)?[\s-]+(?:de\s+)?(?<monthBehind>\p{L}{3,10})\.?(?:,?[\s-]+(?:de\s+)?\d{2,4})?`,
  String.raw`(?<monthBefore>\p{L}{3,10})\.?\s+\d{1,2}(?:st|nd|rd|th)?(?:,?\s+\d{4})?`,
].join("|");
const dateBehind = new RegExp(
  String.raw`^(?<word>\p{L}.*?)[\s,;:(-]+(?:(?:on|since|as of|el|desde|am|seit|le|depuis|op|sinds|em)\s+)?(?:${date})\)?$`,
  "iu",
);
const statusCharactersMax = 200;

/** A status without the date behind it: `Adopted 3/14`, `Adoptada 14/3`, `Sold (8 May)`. */
function withoutDate(text: string): string {
  const trimmed = text.trim();
  if (trimmed.length > statusCharactersMax || !/\d/.test(trimmed)) return trimmed;
  const { word, monthBehind, monthBefore } = dateBehind.exec(trimmed)?.groups ?? {};
  const month = monthBehind ?? monthBefore;
  const isDate = word !== undefined && (month === undefined || monthOf(month) !== undefined);
  return isDate ? word : trimmed;
}

function byTable(text: string): Understood | undefined {
  const whole = words.get(wordKey(text));
  if (whole !== undefined) return { meaning: whole, by: "list" };
  const undated = withoutDate(text);
  const [first = ""] = undated.split(restOfStatus, 1);
  const meaning = words.get(wordKey(first)) ?? words.get(wordKey(first.replace(otherGender, "")));
  return meaning && withRest(meaning, wordKey(undated.slice(first.length)));
}

const negated = /^(?:no|non|nein|nee|nao|nie|ne|false|0)$/;

/** What a known word means with the rest behind it; undefined if that may change it. */
function withRest(meaning: Meaning, rest: string): Understood | undefined {
  const itself = { meaning, by: "list" } as const;
  if (rest === "" || besides.has(rest) || rest === "none") return itself;
  const listed = words.get(rest);
  if (meaning === "available" && negated.test(rest)) return { meaning: "gone", by: "list" };
  if (saysDead(rest)) return { meaning: "gone", by: listed === undefined ? "stem" : "list" };
  if (meaning === "available") {
    return listed === undefined
      ? isHarmless(rest)
        ? itself
        : undefined
      : { ...itself, meaning: listed };
  }
  return meaning === "pending" && listed === "gone" ? { ...itself, meaning: listed } : itself;
}

/** True if nothing in a text takes back that the animal is available. */
const isHarmless = (key: string): boolean =>
  key.split(" ").every((word) => /^\d+$/.test(word) || harmless.has(word));

const stemWords = (list: string) => new RegExp(String.raw`(?:^| )(?:${list})(?= |$)`);

const deadWords = stemWords(
  String.raw`euth\w*|death|dead|died|deceas\w*|dispos(?:al|ed)?|dispo|doa|cremat\w*|muert\w*|murio|fallec\w*|eutanas\w*|verstorben|gestorben|tot|eingeschlafert|deced\w*|mort[eos]*|morreu|falec\w*|obito|overleden|ingeslapen|dood|zgon\w*|zmarl\w*|padl[aeoy]?|uspion\w*|eutanaz\w*|uhynu\w*|zemrel\w*|zomrel\w*|utracen\w*|umrt\w*`,
);
/** Somebody else who died, or a word that turns it round. */
const otherDead =
  /(?:^| )(?:owner|guardian|mother|father|parent|mom|dad|brother|sister|sibling|littermate|mate|handler|tutor|duen[oa]|madre|padre|besitzer\w*|halter\w*|mutter|vater|mere|pere|proprietaire|dono|dona|eigenaar|alive|tooth|teeth|eye|tail|leg|tired|request|not|no|non)(?= |$)/;
const deadWordsMax = 6;

/** True for a short text that says that the animal died, in a column that tells such things. */
export function saysDead(value: unknown): boolean {
  if (typeof value !== "string") return false;
  const key = wordKey(value);
  return deadWords.test(key) && !otherDead.test(key) && key.split(" ").length <= deadWordsMax;
}

/** Reads the values of `--status`: `word=meaning` pairs parted by commas. Throws UsageError. */
export function parseStatusWords(texts: readonly string[]): ReadonlyMap<string, Meaning> {
  const own = new Map<string, Meaning>();
  const pairs = texts.flatMap((text) => pairsIn(text, (pair) => pair.lastIndexOf("=")));
  for (const { pair, left: word, right } of pairs) {
    if (right === "?" && word !== "") {
      throw new UsageError(
        `--status: say what ${JSON.stringify(word)} means: replace the ? by ${meanings.join(", ")}.`,
        "gone means that such an animal is not for adoption, for whatever reason.",
      );
    }
    const said = right.toLowerCase().replace(/^adopted$/, "sold");
    const meaning = meanings.find((each) => each === said);
    if (word === "" || meaning === undefined) {
      throw new UsageError(
        `--status: expected WORD=${meanings.join("|")}, found ${JSON.stringify(pair.trim())}; for example --status 'Disponible=available,EUTHANIZE=gone'`,
        "rehome pets import --help",
      );
    }
    own.set(statusKey(word), meaning);
  }
  return own;
}

export function statusWordsText(pairs: Iterable<readonly [word: string, meaning: string]>): string {
  return [...pairs]
    .map(([word, meaning]) => `${/[,=]/.test(word) ? `"${word}"` : word}=${meaning}`)
    .join(",");
}
