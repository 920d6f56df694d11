import type { PetStatus } from "../../../domain/pet.ts";
import { isBlank, message, shown, wordOf } from "../messages.ts";
import { type Format, lackingColumns, missingStatus, NamedFields } from "./format.ts";
import { byStatus, FieldFault, goneOf, type MapperContext, mapperOf } from "./record.ts";
import { categoryName, externalId, isYes, shelterName, versionOf } from "./values.ts";
import { wordKey } from "./words.ts";

/** Those of an animal's 300 columns that say whether it is up for adoption. */
const flagColumns = [
  "archived",
  "iscourtesy",
  "isnotavailableforadoption",
  "nonshelteranimal",
  "hasfutureadoption",
  "hasactiveboarding",
  "haspermanentfoster",
  "hasactivereserve",
  "hastrialadoption",
  "crueltycase",
  "ishold",
  "isquarantine",
] as const;
type Flag = (typeof flagColumns)[number];

/** What ASM's reports call the movement in words: how the animal was last moved. */
const movementNames = ["activemovementtypename", "movementtype", "movementname"];

/** The types of an animal's active movement, as `lkmovementtype` numbers and names them. */
const movementTypes: ReadonlyMap<string, number> = new Map([
  ["none", 0],
  ["adoption", 1],
  ["foster", 2],
  ["transfer", 3],
  ["escaped", 4],
  ["reclaimed", 5],
  ["stolen", 6],
  ["released", 7],
  ["released to wild", 7],
  ["retailer", 8],
  ["reservation", 9],
  ["cancelled reservation", 10],
  ["trial adoption", 11],
  ["permanent foster", 12],
  ["tnr", 13],
]);
const adoption = 1;
const elsewhereMin = 3;
const elsewhereMax = 7;
const retailer = 8;
const reservation = 9;
const trial = 11;
const permanentFoster = 12;
const releasedByTnr = 13;

/** ASM3 (sheltermanager.com): `json_adoptable_animals` and its kin, or their columns as CSV. */
export const asm: Format = {
  name: "asm",
  title: "Animal Shelter Manager 3 / sheltermanager.com, json_adoptable_animals (JSON or CSV)",
  recognises(sample) {
    const fields = new NamedFields(sample);
    // The latter are columns that no other program has.
    return (
      fields.has(["animalname"]) && fields.has(["speciesname", "sheltercode", "animaltypename"])
    );
  },
  mapper(sample, context) {
    const fields = new NamedFields(sample);
    const field = (name: string) => fields.among([name]).read;
    const missing = ["animalname", "speciesname"].filter((name) => !fields.has([name]));
    if (missing.length > 0) throw lackingColumns("asm", missing, sample);
    const id = field("id");
    const name = field("animalname");
    const species = field("speciesname");
    // A report of movements has several of an animal, each with the time when that changed.
    const dates = ["movementdate", "lastchangeddate"].map((each) => fields.among([each]));
    const state = stateReader(fields, context);
    return mapperOf(sample.columns, (record, line) => {
      const date = dates.find(({ read }) => !isBlank(read(record)));
      const origin = {
        line,
        externalId: externalId(context, "ID", id(record), line),
        version: date && versionOf(context, date.column, date.read(record), line),
      };
      const pet = () => ({
        name: shelterName("ANIMALNAME", name(record)),
        category: categoryName("SPECIESNAME", species(record)),
      });
      const said = state(record);
      if ("value" in said) return byStatus(context, origin, said, pet);
      if (said.meaning === "gone") return goneOf(origin, said.reason, pet);
      return { ...origin, kind: "pet", ...pet(), status: said.meaning };
    });
  },
};

interface Decided {
  readonly meaning: PetStatus | "gone";
  readonly reason: string;
}

type Said = Decided | { readonly field: string; readonly value: unknown };

/** Throws UnreadableInput when nothing says whether an animal is for adoption. */
function stateReader(fields: NamedFields, { statuses }: MapperContext): (record: unknown) => Said {
  const words = ["adoptionstatus", "status"];
  const word = fields.among(words);
  const flags = flagColumns.map((name) => [name, fields.among([name]).read] as const);
  const movement = movementReader(fields);
  const deceased = fields.among(["deceaseddate"]).read;
  const telling = [...flagColumns, "activemovementtype", "deceaseddate", ...movementNames];
  const tells = fields.has(telling);
  if (!tells && !fields.has(words) && statuses.whenMissing === undefined) {
    throw missingStatus("ARCHIVED, ACTIVEMOVEMENTTYPE or ADOPTIONSTATUS");
  }
  return (record) => {
    const set = new Set<Flag>();
    for (const [name, read] of flags) if (isYes(read(record))) set.add(name);
    const moved = movement(record);
    const isDeceased = !isBlank(deceased(record));
    if (tells || set.size > 0 || moved !== undefined || isDeceased) {
      const decided = stateOf(set, moved ?? 0, isDeceased);
      // A report may have few of the flags; its word knows them all, and the shelter's own rules.
      const meaning = statuses.meaningOf(word.read(record)) ?? decided.meaning;
      if (decided.meaning !== "available" || meaning === "available") return decided;
    }
    return { field: word.column, value: word.read(record) };
  };
}

/**
 * Reads the type of an animal's movement by its number or its name; one that ended with a return
 * is none. Undefined if the record has none; throws FieldFault for an unknown one.
 */
function movementReader(fields: NamedFields): (record: unknown) => number | undefined {
  const active = fields.among(["activemovementtype"]);
  const named = movementNames.map((name) => fields.among([name]));
  const isTrial = fields.among(["istrial"]).read;
  const returned = fields.among(["returndate", "returneddate"]).read;
  return (record) => {
    const moved = [active, ...named].find(({ read }) => !isBlank(read(record)));
    if (moved === undefined) return undefined;
    const type = movementType(moved.column, moved.read(record));
    if (!isBlank(returned(record))) return 0;
    return type === adoption && isYes(isTrial(record)) ? trial : type;
  };
}

function movementType(field: string, value: unknown): number {
  const word = wordOf(value);
  const number = Number(word);
  if (Number.isInteger(number)) return number;
  const known = movementTypes.get(wordKey(word));
  if (known === undefined) throw new FieldFault(field, message("statusUnknown", shown(value)));
  return known;
}

/**
 * What ASM's own `is_animal_adoptable` says with its default settings, with the animals that it
 * leaves out told apart: those that are adopted or reserved stay in the catalogue.
 */
function stateOf(set: ReadonlySet<Flag>, movement: number, deceased: boolean): Decided {
  const gone = (reason: string): Decided => ({ meaning: "gone", reason });
  const is = (meaning: PetStatus): Decided => ({ meaning, reason: "" });
  const isTrial = set.has("hastrialadoption") || movement === trial;
  if (set.has("iscourtesy")) return is("available");
  if (deceased) return gone("deceased");
  if (set.has("nonshelteranimal")) return gone("not a shelter animal");
  if (movement === adoption && !isTrial) return is("sold");
  if (set.has("isnotavailableforadoption")) return gone("not available for adoption");
  if (set.has("hasactiveboarding")) return gone("boarding");
  if (set.has("haspermanentfoster") || movement === permanentFoster)
    return gone("permanent foster");
  if (set.has("crueltycase")) return gone("cruelty case");
  if (set.has("ishold")) return gone("hold");
  if (set.has("isquarantine")) return gone("quarantine");
  if (movement === retailer) return gone("at a retailer");
  const isElsewhere = movement >= elsewhereMin && movement <= elsewhereMax;
  const left = isElsewhere || movement === releasedByTnr;
  if (left || set.has("archived")) return gone("left the shelter otherwise than by adoption");
  const isReserved = set.has("hasactivereserve") || movement === reservation;
  const pending = isTrial || isReserved || set.has("hasfutureadoption");
  return is(pending ? "pending" : "available");
}
