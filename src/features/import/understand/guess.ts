/** What the columns of an unknown list hold: by what they are called, and by what is in them. */
import { isJsonObject } from "../../../domain/exact-json.ts";
import { isBlank, wordOf } from "../messages.ts";
import { limits } from "../read/input.ts";
import {
  type Column,
  columnKey,
  columnsOf,
  type FieldMap,
  hasFields,
  mapTargets,
  type MapTarget,
  type Sample,
} from "./columns.ts";
import { Dates } from "./dates.ts";
import { animalKinds, fieldHeadings, species, type Tells, tellsOf, vague } from "./headings.ts";
import {
  besides,
  isNo,
  isPlaceholderId,
  isYes,
  listed,
  type Meaning,
  outcomeWords,
  Statuses,
  statusKey,
  wordKey,
} from "./words.ts";

/** Columns that tell of places, of how an animal came or is, and never whether it is there. */
const noStatus =
  /^last|previous|prior|former|anterior|intake|return(?!type)|surrender|location|place|kennel|cage|room|site|city|county|jurisdiction|district|address|crossing|region|provinc|countr|zip|disab|special|health|medical|vaccin|spay|neuter|steril|fixed|reason|source|origin|sex|gender|size|colou?r|breed|raza|rasse|name|note|comment|descri|bio|story|lugar|ubicacion|ort$|chip|rabies|hiv|felv|house|kids|children|good/;
/** What else is known of an animal, though parts of its heading say otherwise. */
const noName =
  /sex|gender|geschlecht|geslacht|sexo|age|edad|alter|idade|breed|raza|rasse|race|raca|colou?r|farbe|couleur|kleur|cor$|size|tama|type$|kind$|reason|condition|status|stage|location|jurisdiction|city|district|county|state|shelter|organi[sz]ation|agency|owner|writer|author|autor|владел|хозя|user|usuari|keeper|adopter|foster|contact|mail|phone|address|street|photo|foto|bild|image|img|picture|url|link|video|info|notes?$|comment|descri|bio$|story|mother|father|vet$|species|coat|temper|energy|good/;
const noId =
  /zip|postal|plz|photo|foto|image|img|picture|url|link|phone|tel|fax|mail|lat|lon|weight|kg|lbs|age|edad|alter|idade|price|fee|cost|count|total|year|month|days|size|height|breed|species|organi[sz]ation|agency|location|owner|user|litter|color|district|tract|score|rating|date|time|kennel|cage|^box|^room|^run$|jaula|canil|zwinger|^hok$|chenil|^cella$|peso|poids|gewicht|leeftijd|^eta$|postcode/;
const noCategory =
  /intake|outcome|breed|color|sex|size|^age|edad|idade|alter|leeftijd|etapa|good|entente|sociab|compatib|vertrag/;
const ofBirth =
  /birth|born|dob$|nacim|geburt|naiss|geboorte|nasc|^(?:age|edad|alter|idade|eta|leeftijd|wiek|vek)$/;
const ofOutcome = /outcome|resultado|desfecho|salida|ausgang/;
const ofStay = /intake|ingreso|admission|entrada|aufnahme/;
const ofAdoption = /ado[pcz]|adott|vermitt|dispon|avail/;

/** Objects that hold what is known of the animal itself, as its record does. */
const ofItself =
  /^(?:animal|pet|dog|cat|mascota|passport|profile|info|details?|general|basic|data|datos|dados|fields|attributes)$/i;
const ofPlaces = /^(?:location|address|ubicaci[oó]n|direcci[oó]n|endere[cç]o|adresse)$/i;

/** Records that tell what a column holds; the share of known statuses is taken of all records. */
const sampleMax = 2_000;
const knownShare = 0.8;

interface Filled extends Column {
  readonly key: string;
  readonly tells: Tells | undefined;
  /** Its values that are not blank, of the first records, and how many those are. */
  readonly values: readonly unknown[];
  readonly rows: number;
}

interface FlagGuess {
  readonly column?: Filled;
  /** Words that mean something in the column of the status alone, such as yes and no. */
  readonly words?: Readonly<Record<string, Meaning>>;
  readonly whenBlank?: Meaning;
  /** A column that may take more than half of the available, where no other one is a status. */
  readonly believed?: string;
}

/** Guesses what `given` leaves open. */
export function guessed(sample: Sample, given: FieldMap, statuses: Statuses) {
  const columns = filled(sample);
  const map: Partial<Record<MapTarget, string>> = { ...given };
  const free = () => columns.filter(({ name }) => !Object.values(map).includes(name));
  const take = (target: MapTarget, column: Filled | undefined) => {
    if (column !== undefined) map[target] ??= column.name;
  };
  take("categoryId", best(free(), categoryScore));
  const named = columns.filter(({ name }) => columnKey(name) === columnKey(map.status ?? ""));
  // What is said of blank ones leaves the others as they are.
  const candidates = map.status === undefined ? free() : named;
  const column = best(candidates, (each) => statusScore(each, sample, statuses));
  const flag: FlagGuess = column === undefined ? flagGuess(candidates, sample) : {};
  take("status", column ?? flag.column);
  take("name", best(free(), nameScore));
  const name = columns.find((each) => each.name === map.name);
  const id = best(free(), idScore);
  if (id !== undefined && !isGivenAgain(id, name, sample)) take("externalId", id);
  const isStay = isOfStays(sample.names, column?.name);
  const ofDate = best(free(), (each) => dateScore(each, isStay));
  take("updatedAt", ofDate);
  if (map.status === undefined && flag.believed === undefined) {
    const others = free().filter((each) => !isPlace(each, columns, statuses));
    const likely = likelyStatus(others);
    // Its words are asked for, unless somebody said what all are and none of them is known.
    const isKept = likely?.values.some((each) => statuses.knows(each)) === true;
    if (isKept || statuses.whenMissing === undefined) take("status", likely);
  }
  const targets = mapTargets.filter((target) => map[target] !== undefined);
  const ordered: FieldMap = Object.fromEntries(targets.map((target) => [target, map[target]]));
  return { ...flag, columns: ordered };
}

function filled(sample: Sample): readonly Filled[] {
  const rows = sample.records.slice(0, sampleMax).filter(hasFields);
  const own = columnsOf(sample).filter(({ name, isAgain }) => !isAgain && name.trim() !== "");
  return own.map((each) => {
    const { name, read, within } = each;
    // What a column tells also within another object.
    const tells = tellsOf(name) ?? tellsOf(name.replace(/^.*\./, ""));
    const own = ofItself.test(within?.outer ?? "") ? within?.inner : name;
    const values = filledOf(rows.map(read));
    return { ...each, key: columnKey(own ?? name), tells, values, rows: rows.length };
  });
}

const filledOf = (values: readonly unknown[]) =>
  values.filter((value) => !isBlank(value) && !isJsonObject(value));

const allOf = ({ read }: Filled, { records }: Sample): readonly unknown[] =>
  filledOf(records.map((record) => (hasFields(record) ? read(record) : undefined)));

function best(all: readonly Filled[], score: (each: Filled) => number): Filled | undefined {
  const scored = all.map((column) => ({ column, points: score(column) }));
  const [first] = scored.toSorted((a, b) => b.points - a.points);
  return first !== undefined && first.points > 0 ? first.column : undefined;
}

const shareOf = (values: readonly unknown[], is: (value: unknown) => boolean): number =>
  values.length === 0 ? 0 : values.filter(is).length / values.length;

const distinctShare = (values: readonly unknown[]): number =>
  values.length === 0 ? 0 : new Set(values.map(wordOf)).size / values.length;

const partLength = 5;

/** How well a heading fits: from 2 for the surest to 1, 0.9 for a part, or 0. */
function headingScore(target: Exclude<MapTarget, "status">, key: string): number {
  const names = fieldHeadings[target];
  const place = names.indexOf(key);
  if (place >= 0) return 2 - place / names.length;
  return names.some((name) => name.length >= partLength && key.includes(name)) ? 0.9 : 0;
}

/** The same for a status: one of the adoption goes before others. */
function statusHeading({ key, tells }: Filled): number {
  if (tells === "status") return ofAdoption.test(key) ? 2 : 1.5;
  if (tells === "outcome") return 1.4;
  if (tells === "available") return 1.2;
  return /status|outcome|estado|situac|statut|zustand|dispon|state/.test(key) ? 0.9 : 0;
}

/** What is known without anything that is told. */
const known = new Statuses();

const hasLetter = (value: unknown) => typeof value === "string" && /\p{L}/u.test(value);
const isText = (value: unknown) => typeof value === "string" && /^\D+$/.test(value);
const anyDates = new Dates();
const isDate = (value: unknown) => anyDates.sortable(value) !== undefined;

/** True for the name of a kind of animal, also before a comma or behind a bracket. */
const isSpecies = (value: unknown): boolean =>
  typeof value === "string" && species.has(wordKey(value.split(/[,(/]|\]\s/)[0] ?? ""));

const wordsIn = (name: string) => name.split(/[^\p{L}]+|(?<=\p{Ll})(?=\p{Lu})/u);
const fileIn = (path: string) => path.replace(/^.*[/\\]/s, "");

/** The one kind of animal in what a list is called, such as `shelter_dogs.csv`. */
function kindIn(name = ""): string | undefined {
  const kinds = wordsIn(fileIn(name)).filter(isSpecies);
  return kinds.length === 1 ? kinds[0] : undefined;
}

/** Columns of breeds and of pictures, whose addresses have folders. */
const ofBreeds = /breed|^ra(?:c[ae]|ss?e|zz?a)$|rasa$|pasmina$/;
const ofPictures = /photo|foto|image|img|picture|bild|avatar|thumb/;

/** Tells of a record which kind its breed, or else its picture, is of, where it is one alone. */
export function kindTeller(sample: Sample) {
  const [breeds, pictures] = [ofBreeds, ofPictures].map((of) =>
    columnsOf(sample).filter(({ name }) => of.test(columnKey(name))),
  );
  return (record: unknown) => {
    for (const { read } of [...(breeds ?? []), ...(pictures ?? [])]) {
      const value = read(record);
      const keys = typeof value === "string" ? wordsIn(value).map(wordKey) : [];
      const isOf = (words: ReadonlySet<string>) => keys.some((key) => words.has(key));
      const named = animalKinds.filter(({ names }) => isOf(names));
      // A Gato siberiano is a cat, and a Siberiano alone a dog.
      const told = named.length > 0 ? named : animalKinds.filter(({ signs }) => isOf(signs));
      if (told.length === 1) return told[0];
    }
    return undefined;
  };
}

const spokenShare = 0.8;

/** The kind of all, by what the list or a column is called, or by breeds; or that each tells. */
export function kindsTold(sample: Sample, called: readonly (string | undefined)[]) {
  const named = called.map(kindIn).find(Boolean);
  if (named !== undefined) return { category: named };
  const records = sample.records.slice(0, sampleMax).filter(hasFields);
  const told = records.map(kindTeller(sample)).filter((each) => each !== undefined);
  const [first, ...others] = new Set(told.map(({ called }) => called));
  const isOfOne = others.length === 0 && told.length > spokenShare * records.length;
  if (isOfOne) return { category: first };
  const isOfEach = told.length === records.length && told.every((each) => each.called);
  return isOfEach ? { kindByBreed: true as const } : {};
}

/** What shelters are called, too: in the name of a list it says nothing of the animals. */
const ofNames = new Set(
  listed("sanctuary, wildlife, hospice, happy tail, happy tails, place, trial"),
);

/** What a list says of all animals by what it is called, such as `adottati.csv`. */
export function statusIn(name = ""): Meaning | undefined {
  const words = fileIn(name).replace(/\.\w+$/, "");
  const isOther = (key: string) => besides.has(key) || ofNames.has(key);
  return [words, ...wordsIn(words)]
    .filter((each) => known.knows(each) && !isOther(wordKey(each)))
    .map((each) => known.meaningOf(each))
    .find((each) => each === "gone" || each === "sold" || each === "pending");
}

function categoryScore({ key, values }: Filled): number {
  const heading = headingScore("categoryId", key);
  if (noCategory.test(key) || (heading < 1 && key.endsWith("name"))) return 0;
  const share = shareOf(values, isSpecies);
  const isSure = heading > 0.9 && !vague.has(key) && shareOf(values, hasLetter) > 0.5;
  return isSure || share >= (heading > 0 ? 0.3 : knownShare) ? heading + 2 * share : 0;
}

function nameScore({ key, values, within, rows }: Filled): number {
  const heading = headingScore("name", key);
  const hasLetters = values.length === 0 || shareOf(values, hasLetter) > 0.5;
  if (heading >= 1 && hasLetters && shareOf(values, isSpecies) <= 0.5) return 2 + heading;
  if (within !== undefined && !ofItself.test(within.outer)) return 0;
  // A text that most lack is a remark.
  const isRemark = 2 * values.length < rows;
  if (noName.test(key) || headingScore("externalId", key) >= 1 || isRemark) return 0;
  const isOther = (value: unknown) => isSpecies(value) || known.knows(value);
  if (shareOf(values, isText) <= 0.9 || shareOf(values, isOther) >= 0.1) return 0;
  const short = shareOf(values, (value) => wordOf(value).length <= 40);
  return short > 0.9 && distinctShare(values) > 0.5 ? 1 + heading : 0;
}

/** Headings of ids that lists have for the numbers of their rows, too. */
const ofRows = /^(?:no|nr|num|numero|number|nummer|n)$/;

/** True for the numbers of rows, which are those of other animals in the next list. */
const areRows = (values: readonly unknown[]) =>
  values.every((value, at) => wordOf(value).trim() === String(at + 1));

const isCode = (value: unknown) => /^(?=.*\d)(?=.*[\p{L}#/-])[\p{L}\d./#-]+$/u.test(wordOf(value));

function idScore({ key, values }: Filled): number {
  const found = values.filter((each) => typeof each !== "string" || !isPlaceholderId(each));
  const share = distinctShare(found);
  const heading = headingScore("externalId", key);
  // The time in milliseconds is an id of small programs.
  const areDates = found.every((value) => isDate(value) && !/^\d{13}$/.test(wordOf(value)));
  if (2 * found.length <= values.length || areDates) return 0;
  // Of fewer different ids, it is the id of something else.
  if (heading >= 1) return share >= 0.5 && !(ofRows.test(key) && areRows(found)) ? heading : 0;
  return share === 1 && found.every(isCode) && !noId.test(key) ? 0.5 : 0;
}

/** True for numbers that are given again: more than a few are of animals of several names. */
function isGivenAgain(id: Filled, name: Filled | undefined, { records }: Sample): boolean {
  const names = new Map<string, string>();
  const others = records.slice(0, sampleMax).filter((record) => {
    if (!hasFields(record)) return false;
    const [own, called] = [wordOf(id.read(record)), wordKey(wordOf(name?.read(record) ?? ""))];
    return called !== "" && !isPlaceholderId(own) && names.getOrInsert(own, called) !== called;
  });
  return others.length > 2 && 10 * others.length > id.values.length;
}

/** What is a day of something else than the last change of a record. */
const noDates: ReadonlySet<Tells | undefined> = new Set(
  "death adoption adopter reservation reservedUntil deleted availableFrom".split(" ") as Tells[],
);

function dateScore({ tells, key, values }: Filled, isStay: boolean): number {
  if (ofBirth.test(key) || values.length === 0 || noDates.has(tells)) return 0;
  const share = shareOf(values, isDate);
  const heading = headingScore("updatedAt", key);
  if (heading >= 1) return share > 0.5 ? heading + (isStay && ofStay.test(key) ? 1 : 0) : 0;
  // A number alone could be a date, as spreadsheets and programs count them.
  const areNumbers = values.every((value) => /^[\d.]*$/.test(wordOf(value)));
  return share === 1 && !areNumbers ? 0.5 + heading / 2 : 0;
}

/** True for a report with a row per stay, whose outcome is blank while the animal is there. */
export const isOfStays = (names: readonly string[], status = ""): boolean =>
  ofOutcome.test(columnKey(status)) && names.some((name) => ofStay.test(columnKey(name)));

/** How well most of the words of a column are known to say whether an animal is for adoption. */
function statusScore(column: Filled, sample: Sample, statuses: Statuses): number {
  const { key } = column;
  const heading = statusHeading(column);
  if (heading < 1 && noStatus.test(key)) return 0;
  const isKnown = (value: unknown) => {
    const left = outcomeWords.get(wordKey(wordOf(value)));
    return statuses.knows(value) || left === "sold" || (ofOutcome.test(key) && left !== undefined);
  };
  // Most columns show in their first records that they have other things.
  if (shareOf(column.values, isKnown) < knownShare / 2) return 0;
  const values = allOf(column, sample);
  const share = shareOf(values, isKnown);
  if (share < knownShare) return 0;
  const read = statuses.withWords(outcomeWords);
  const meanings = new Set(values.map((value) => read.meaningOf(value)));
  if ([...meanings].every((meaning) => meaning === "none")) return 0;
  if (heading >= 1) return heading + share;
  const isThere = meanings.has("available") || meanings.has("pending");
  const isLeft = meanings.has("sold") && meanings.has("gone");
  return isLeft || (isThere && meanings.size > 1) ? share : 0;
}

const isYesOrNo = (value: unknown) => isYes(value) || isNo(value);

/** What a yes and a no mean in a column of which nothing else is said; the surest first. */
const flags: readonly (readonly [Tells, yes: Meaning, no: Meaning])[] = [
  ["available", "available", "gone"],
  ["adoption", "sold", "available"],
  ["reservation", "pending", "available"],
];

function flagGuess(columns: readonly Filled[], sample: Sample): FlagGuess {
  for (const [tells, yes, no] of flags) {
    for (const column of columns.filter((each) => each.tells === tells)) {
      const values = allOf(column, sample);
      if (shareOf(values, isYesOrNo) < knownShare) continue;
      const words = values
        .filter(isYesOrNo)
        .map((value) => [statusKey(wordOf(value)), isYes(value) ? yes : no] as const);
      return { column, words: Object.fromEntries(words), whenBlank: no };
    }
  }
  // A day of adoption counts unless a return is later, as beside a status.
  const isDay = (each: Filled) => shareOf(allOf(each, sample), isDate) >= knownShare;
  const day = columns.find((each) => each.tells === "adoption" && isDay(each));
  return day ? { whenBlank: "available", believed: day.name } : {};
}

/** True for a word of an animal that is not for adoption, and not only of where it came from. */
function isTaken(value: unknown): boolean {
  const meaning = known.meaningOf(value);
  return meaning === "sold" || (meaning === "gone" && !besides.has(wordKey(wordOf(value))));
}

const askedWordsMax = 20;

/** A column with the heading of a status, or of yes and no to something of adoption. */
const likelyStatus = (columns: readonly Filled[]): Filled | undefined =>
  best(columns, (column) => {
    const { key, values } = column;
    const { size } = new Set(values.map(wordOf));
    const isFew = size > 0 && size <= askedWordsMax;
    const score = statusHeading(column);
    if (isFew && score >= 1) return score;
    // Without a status, what tells who was adopted, or lost: its other words are asked for.
    if (isFew && size > 1 && values.some(isTaken) && !noStatus.test(key)) return 0.6;
    const mayTell = /adop[ct]|adocao|adozion|adotad|adottat|avail|dispon|vermittel/.test(key);
    return mayTell && shareOf(values, isYesOrNo) >= knownShare ? 0.5 : 0;
  });

/** True for the states of a country: codes such as SP, or names beside those of cities. */
function isPlace(column: Filled, all: readonly Filled[], statuses: Statuses): boolean {
  const { key, values, within } = column;
  if (ofPlaces.test(within?.outer ?? "")) return true;
  if (!/^(?:estado|state)(?:name)?$/.test(key)) return false;
  if (values.some((each) => statuses.understood(each))) return false;
  const areCodes = values.every((each) => /^[A-Z]{2,3}$/.test(wordOf(each)));
  return areCodes || all.some((each) => /^(?:city|town|ciudad|cidade|municipio)$/.test(each.key));
}

const usualHeadings: ReadonlySet<string> = new Set([
  ...Object.values(fieldHeadings).flat(),
  ...listed(
    `sex, gender, age, breed, color, colour, size, raza, rasse, sexo, edad, alter, geschlecht, race, idade, raca`,
  ),
]);

/** How many of these cells are headings that lists of animals have. */
function familiarHeadings(cells: readonly string[]): number {
  const isUsual = (key: string) =>
    usualHeadings.has(key) ||
    /^(?:status|outcome)$/.test(tellsOf(key) ?? "") ||
    /intake|outcome/.test(key);
  return cells.map(columnKey).filter((key) => key !== "" && isUsual(key)).length;
}

const isAddress = (cell: string) => /\.(?:jpe?g|png|webp|gif)$|^https?:\/\//i.test(cell.trim());

/** True for cells of a record: a kind of animal, a status, a date or a picture among them. */
function looksLikeRecord(cells: readonly string[]): boolean {
  const filled = cells.filter((cell) => cell.trim() !== "");
  const isValue = (cell: string) =>
    isSpecies(cell) || known.knows(cell) || isDate(cell) || isAddress(cell);
  return filled.length > 1 && filled.some(isValue);
}

const objectKeys =
  /^(?:.*(?:animal|pet|dog|cat|species|breed).*|name|nombre|nom|naam|nome|imie|jmeno|meno)$/;
const listKeys =
  /^(?:animals|pets|data|items|results|records|features|rows|pagination|meta|links)$/;

/** True for a JSON object that is an animal, by the names of its fields. */
function isObject(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const names = Object.keys(value);
  if (names.length > limits.columns) return false;
  if (names.some((name) => listKeys.test(name) && mayHoldList(value[name]))) return false;
  if ("attributes" in value && "type" in value) return true;
  const isTold = (name: string) => objectKeys.test(columnKey(name)) && !Array.isArray(value[name]);
  return names.some(isTold) || familiarHeadings(names) >= 3;
}

/** Not a list of plain values, such as `"data": [2026, 5, 6]` for a date. */
const mayHoldList = (value: unknown) =>
  isJsonObject(value) || isList(value) || (Array.isArray(value) && value.length === 0);

const isList = (value: unknown) =>
  Array.isArray(value) && value.some((each) => isJsonObject(each) || Array.isArray(each));

/** What tells lists of animals from others, before their columns are guessed. */
export const listHints = {
  isObject,
  familiar: familiarHeadings,
  isRecord: looksLikeRecord,
  isKind: isSpecies,
  isTold: (cell: string) => isSpecies(cell) || known.knows(cell),
};
