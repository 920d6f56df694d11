import { isBlank, message, shown, wordOf } from "../messages.ts";
import type { SaysReader } from "./layouts.ts";
import type { MapperContext, Said } from "./record.ts";
import { columnAmong, hasColumn, missingStatus, type Sample } from "./columns.ts";
import { isNever } from "./dates.ts";
import { FieldFault, isYes } from "./values.ts";
import { wordKey } from "./words.ts";

/** When a movement ended with a return. */
const returns = ["returndate", "returneddate"];
/** The types of an animal's active movement, as ASM's `lkmovementtype` numbers and names them. */
const movements =
  `none,adoption,foster,transfer,escaped,reclaimed,stolen,released,retailer,reservation,
cancelled reservation,trial adoption,permanent foster,tnr`.split(/,\n?/);

/** What ASM's reports call the movement in words: how the animal was last moved. */
const movementNames = ["activemovementtypename", "movementtype", "movementname"];

/**
 * What ASM's own `is_animal_adoptable` says with its default settings, with the animals that it
 * leaves out told apart: the first rule holds of which a flag is set, or a movement is the last.
 * Those that are adopted or reserved stay in the catalogue.
 */
const rules: readonly (readonly [Said, facts: string])[] = [
  [{ status: "available" }, "iscourtesy"],
  [{ gone: "deceased" }, "deceaseddate"],
  [{ gone: "not a shelter animal" }, "nonshelteranimal"],
  [{ status: "sold" }, "adoption"],
  [{ gone: "not available for adoption" }, "isnotavailableforadoption"],
  [{ gone: "boarding" }, "hasactiveboarding"],
  [{ gone: "permanent foster" }, "haspermanentfoster,permanent foster"],
  [{ gone: "cruelty case" }, "crueltycase"],
  [{ gone: "hold" }, "ishold"],
  [{ gone: "quarantine" }, "isquarantine"],
  [{ gone: "at a retailer" }, "retailer"],
  [
    { gone: "left the shelter otherwise than by adoption" },
    "archived,transfer,escaped,reclaimed,stolen,released,tnr",
  ],
  [
    { status: "pending" },
    "hastrialadoption,trial adoption,hasactivereserve,reservation,hasfutureadoption",
  ],
];
const flags = rules
  .flatMap(([, facts]) => facts.split(","))
  .filter((fact) => !movements.includes(fact) && fact !== "deceaseddate");

/** What the columns are called in ASM's own export of animals, which it can import again. */
const exported: Readonly<Record<string, string>> = {
  isnotavailableforadoption: "animalnotforadoption",
  nonshelteranimal: "animalnonshelter",
  deceaseddate: "animaldeceaseddate",
};

/** The latter are columns that no other program has. */
export const asmMarks = [
  "speciesname",
  "sheltercode",
  "animaltypename",
  "animalnotforadoption",
].map((each) => ["animalname", each]);

const among = (sample: Sample, name: string) => columnAmong(sample, [name, exported[name] ?? name]);

/** Throws UnreadableInput when nothing says whether an animal is for adoption. */
export function asmReader(sample: Sample, { statuses }: MapperContext): SaysReader {
  const words = ["adoptionstatus", "status"];
  const word = columnAmong(sample, words);
  const flagged = flags.map((name) => [name, among(sample, name).read] as const);
  const movement = movementReader(sample);
  const deceased = among(sample, "deceaseddate").read;
  const isExport = hasColumn(sample, ["animalnotforadoption"]) && hasColumn(sample, ["animalid"]);
  const animal = columnAmong(sample, ["animalid"]).read;
  const telling = [...flags, ...Object.values(exported), "activemovementtype", "deceaseddate"];
  const tells = hasColumn(sample, [...telling, ...movementNames]);
  if (!tells && !hasColumn(sample, words) && statuses.whenMissing === undefined) {
    throw missingStatus("ARCHIVED, ACTIVEMOVEMENTTYPE or ADOPTIONSTATUS");
  }
  const ownNames = [...telling, ...movementNames, ...words, ...returns, "istrial", "crueltycase"];
  const own = ownNames.map((name) => columnAmong(sample, [name]).name);
  const says = (record: unknown): Said => {
    // Vaccinations, tests and costs follow their animal, each in a row of its own.
    if (isExport && isBlank(animal(record))) return { gone: "more of the animal above" };
    const facts = new Set(flagged.flatMap(([name, read]) => (isYes(read(record)) ? [name] : [])));
    const moved = movement(record);
    if (moved !== undefined) facts.add(moved);
    const died = deceased(record);
    if (!isBlank(died) && !isNever(wordOf(died))) facts.add("deceaseddate");
    const said = { field: word.name, value: word.read(record) };
    if (!tells && facts.size === 0) return said;
    if (facts.has("hastrialadoption")) facts.delete("adoption");
    const rule = rules.find(([, any]) => any.split(",").some((fact) => facts.has(fact)));
    const decided = rule?.[0] ?? { status: "available" };
    // A report may have few of the flags; its word knows them all, and the shelter's own rules.
    const meaning = statuses.meaningOf(said.value) ?? "available";
    const isAvailable = "status" in decided && decided.status === "available";
    return isAvailable && meaning !== "available" ? said : decided;
  };
  return { says, own };
}

/**
 * Reads an animal's movement by its number or its name; one that ended with a return is none.
 * Undefined if the record has none; throws FieldFault for an unknown one.
 */
function movementReader(sample: Sample): (record: unknown) => string | undefined {
  const named = ["activemovementtype", ...movementNames].map((name) => columnAmong(sample, [name]));
  const isTrial = columnAmong(sample, ["istrial"]).read;
  const returned = columnAmong(sample, returns).read;
  return (record) => {
    const moved = named.find(({ read }) => !isBlank(read(record)));
    if (moved === undefined) return undefined;
    const type = movementOf(moved.name, moved.read(record));
    if (!isBlank(returned(record))) return "none";
    return type === "adoption" && isYes(isTrial(record)) ? "trial adoption" : type;
  };
}

function movementOf(field: string, value: unknown): string {
  const word = wordOf(value);
  if (Number.isInteger(Number(word))) return movements[Number(word)] ?? "none";
  const name = wordKey(word).replace(/^released to wild$/, "released");
  if (movements.includes(name)) return name;
  throw new FieldFault(field, message("statusUnknown", shown(value)));
}
