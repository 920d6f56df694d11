import { UsageError } from "../../usage-error.ts";
import { isBlank, wordOf } from "../messages.ts";
import { Dates, monthOf } from "./dates.ts";
import {
  besides,
  harmlessPhrases,
  harmlessWords,
  type Meaning,
  meanings,
  pairsIn,
  wordKey,
  words,
} from "./words.ts";

/** What a value means, and how that is known: an option said so, the list of words, or a stem. */
export interface Understood {
  readonly meaning: Meaning;
  readonly by: "told" | "list" | "stem";
}

const known: ReadonlyMap<string, Meaning> = new Map(
  (Object.entries(words) as [Meaning, string][]).flatMap(([meaning, list]) =>
    list.split(/[,\n]/).flatMap((word) => {
      const key = word.trim();
      return key === "" ? [] : [[key, meaning] as const];
    }),
  ),
);

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
  readonly #readsStems: boolean;
  /** What was read before: a file has few words, and many records. */
  readonly #read = new Map<string, Understood | undefined>();
  /** What an animal has whose status is blank or not in the file; undefined to ask for it. */
  readonly whenMissing: Meaning | undefined;

  constructor(
    own: ReadonlyMap<string, Meaning> = new Map(),
    whenMissing?: Meaning,
    { readsStems = true } = {},
  ) {
    this.#own = own;
    this.#readsStems = readsStems;
    this.whenMissing = whenMissing;
  }

  /** The same, with words of a layout behind those of the options. */
  withWords(words: ReadonlyMap<string, Meaning>): Statuses {
    if (words.size === 0) return this;
    const own = new Map([...words, ...this.#own]);
    return new Statuses(own, this.whenMissing, { readsStems: this.#readsStems });
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

  /** The words that were read by a stem so far, with their meanings. */
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
    const listed = byList(text);
    const read = listed === "open" ? undefined : (listed ?? byStem(text));
    return read?.by === "stem" && !this.#readsStems ? undefined : read;
  }
}

/** What a status is compared by: as a word, or as it is if it has no letters. */
export function statusKey(text: string): string {
  return wordKey(text) || text.trim();
}

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

function byList(text: string): Understood | "open" | undefined {
  const whole = known.get(wordKey(text));
  if (whole !== undefined) return { meaning: whole, by: "list" };
  const undated = withoutDate(text);
  const [first = ""] = undated.split(restOfStatus, 1);
  const meaning = known.get(wordKey(first)) ?? known.get(wordKey(first.replace(otherGender, "")));
  return meaning && withRest(meaning, wordKey(undated.slice(first.length)));
}

const negated = /^(?:no|non|nein|nee|nao|false|0)$/;

/**
 * What a known word means with the rest behind it; undefined if another sense of the text may tell,
 * and "open" if none does.
 */
function withRest(meaning: Meaning, rest: string): Understood | "open" | undefined {
  const itself = { meaning, by: "list" } as const;
  if (rest === "" || besides.has(rest) || rest === "none") return itself;
  const listed = known.get(rest);
  const stem = listed === undefined ? stemOf(rest) : undefined;
  const told = listed ?? stem?.meaning;
  const by = listed === undefined ? "stem" : "list";
  switch (meaning) {
    case "available":
      if (negated.test(rest)) return { meaning: "gone", by: "list" };
      // Where it came from, or how it is, may be told behind a word that says that it is there.
      if (stem?.meaning === "gone" && stem.kind !== "death") return "open";
      if (told !== undefined) return { meaning: told, by };
      return isHarmless(rest) ? itself : undefined;
    case "pending":
      return told === "gone" && stem?.kind !== "operation" ? { meaning: told, by } : itself;
    case "sold":
      return stem?.kind === "death" || (listed === "gone" && saysDead(rest))
        ? { meaning: "gone", by }
        : itself;
    default:
      return itself;
  }
}

function byStem(text: string): Understood | undefined {
  const stem = stemOf(wordKey(withoutDate(text)));
  return stem && { meaning: stem.meaning, by: "stem" };
}

interface Stem {
  readonly meaning: Meaning;
  readonly kind?: "death" | "operation";
}

/** Longer texts are sentences, and no statuses. */
const stemWordsMax = 12;

/** Other negations may turn any stem round, so that what has one is asked for. */
const negation =
  /(?:^| )(?:no|not|non|nor|never|without|cannot|cant|isn|aren|un|pre|ex|in(?:eligible|adoptable)|nicht|kein\w*|nie|nunca|jamas|sin|ni|nao|sem|ne|pas|plus|niet|geen|nooit|soon|bald|pronto|bientot|binnenkort|em breve|until|unless|except|cancel\w*|fail\w*|deni\w*|declin\w*|refus\w*|cleared|wird|werden|kann|darf|soll|muss|nur)(?= |$)/;
const directlyNot = /(?:^| )(?:(?:not|no|un) (?:avail|adopt(?!ed|ad[oa]))|un(?:avail|adopt))/;

const stemWords = (list: string) => new RegExp(String.raw`(?:^| )(?:${list})(?= |$)`);

const stems: readonly (readonly [RegExp, Stem])[] = [
  [
    stemWords(String.raw`euth\w*|death|dead|died|deceas\w*|dispos\w*`),
    { meaning: "gone", kind: "death" },
  ],
  [
    /foster to adopt|(?:^| )trial(?= |$)|adopt.* (?:pend\w*|hold)(?= |$)|(?:^| )(?:pend\w*|hold) .*adopt/,
    { meaning: "pending" },
  ],
  [stemWords("spay|neuter"), { meaning: "gone", kind: "operation" }],
  [
    stemWords(
      String.raw`transf\w*|return\w*|rto|rtf|reclaim\w*|redeem\w*|rescue\w*|lost|found|releas\w*|escaped|stolen`,
    ),
    { meaning: "gone" },
  ],
  [
    stemWords(String.raw`stray|med(?:s|ic\w*)?|behav\w*|legal|quarant\w*|assess\w*|vet`),
    { meaning: "gone" },
  ],
  [stemWords(String.raw`pend\w*|hold|reserv\w*|espera|proces\w*`), { meaning: "pending" }],
];
const availableStem =
  /(?:^| )(?:avail|adoptab|dispon)|(?:^| )(?:for|en|a|a l) adop(?:tion|cion)(?= |$)/;
const soldStem = stemWords(
  String.raw`adopted|adoption (?:complet|finali[sz])\w*|adoptad\w*|adotad\w*|adottat\w*|vermittelt`,
);
const fosterStem = stemWords(String.raw`foster\w*|acogida`);

/** What the stems in a text mean, death and departure before pending, and that before available. */
function stemOf(key: string): Stem | undefined {
  if (key.split(" ").length > stemWordsMax) return undefined;
  if (directlyNot.test(key)) return { meaning: "gone" };
  if (negation.test(key)) return undefined;
  const found = stems.find(([pattern]) => pattern.test(key))?.[1];
  if (found !== undefined) return found;
  if (availableStem.test(key)) return isHarmless(key) ? { meaning: "available" } : undefined;
  if (soldStem.test(key)) return { meaning: "sold" };
  return fosterStem.test(key) ? { meaning: "gone" } : undefined;
}

/** True if nothing in a text takes back that the animal is available. */
function isHarmless(key: string): boolean {
  const rest = harmlessPhrases.reduce((text, each) => text.replace(` ${each} `, " "), ` ${key} `);
  return rest
    .trim()
    .split(" ")
    .every(
      (word) =>
        word === "" ||
        /^(?:avail\w*|adoptab\w*|dispon\w*|\d+)$/.test(word) ||
        harmlessWords.has(word),
    );
}

const deadWords = stemWords(
  String.raw`euth\w*|death|dead|died|deceas\w*|dispos\w*|dispo|doa|cremat\w*|muert\w*|murio|fallec\w*|eutanas\w*|verstorben|gestorben|tot|eingeschlafert|deced\w*|mort[eos]*|morreu|falec\w*|overleden|ingeslapen|dood`,
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
    const meaning = meanings.find((each) => each === right.toLowerCase());
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
