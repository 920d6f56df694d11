import type { Meaning } from "./statuses.ts";
import type { Format, MapperContext } from "./format.ts";
import { externalId } from "./ids.ts";
import { NamedFields } from "./named-fields.ts";
import { lackingColumns } from "./needed.ts";
import {
  byStatus,
  goneOf,
  categoryName,
  isBlank,
  mapperOf,
  missingStatus,
  shelterName,
  versionOf,
} from "./values.ts";

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

/**
 * The types of an animal's active movement; 3 to 7 are transfer, escaped, reclaimed, stolen and
 * released.
 */
const adoption = 1;
const elsewhereMin = 3;
const elsewhereMax = 7;
const retailer = 8;

/**
 * ASM3, which is sheltermanager.com: the service's `json_adoptable_animals` and its kin, or the
 * same columns as CSV.
 */
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
    const changed = field("lastchangeddate");
    const state = stateReader(fields, context);
    return mapperOf(sample.columns, (record, line) => {
      fields.learn(record);
      const origin = {
        line,
        externalId: externalId(context, "ID", id(record), line),
        version: versionOf(context, "LASTCHANGEDDATE", changed(record), line),
      };
      const pet = () => ({
        name: shelterName("ANIMALNAME", name(record)),
        category: categoryName("SPECIESNAME", species(record)),
      });
      const said = state(record);
      if ("value" in said) return byStatus(context, origin, said, pet);
      if (said.meaning === "gone") return goneOf(origin, said.reason, pet);
      const status = said.meaning === "none" ? undefined : said.meaning;
      return { ...origin, kind: "pet", ...pet(), status };
    });
  },
};

interface Decided {
  readonly meaning: Meaning;
  readonly reason: string;
}

type Said = Decided | { readonly field: string; readonly value: unknown };

/**
 * Throws UnreadableInput when no column says whether an animal is for adoption and nobody else
 * does.
 */
function stateReader(fields: NamedFields, { statuses }: MapperContext): (record: unknown) => Said {
  const words = ["adoptionstatus", "status"];
  const word = fields.among(words);
  const flags = flagColumns.map((name) => [name, fields.among([name]).read] as const);
  const movement = fields.among(["activemovementtype"]).read;
  const deceased = fields.among(["deceaseddate"]).read;
  const tells = fields.has([...flagColumns, "activemovementtype", "deceaseddate"]);
  if (!tells && !fields.has(words) && statuses.whenMissing === undefined) {
    throw missingStatus("ARCHIVED, ACTIVEMOVEMENTTYPE or ADOPTIONSTATUS");
  }
  return (record) => {
    const set = new Set<Flag>();
    for (const [name, read] of flags) if (isOne(read(record))) set.add(name);
    const moved = movement(record);
    const isDeceased = !isBlank(deceased(record));
    if (tells || set.size > 0 || moved !== undefined || isDeceased) {
      return stateOf(set, Number(moved ?? 0), isDeceased);
    }
    return { field: word.column, value: word.read(record) };
  };
}

function isOne(value: unknown): boolean {
  return (
    value === 1 ||
    value === true ||
    (typeof value === "string" && /^(?:1|y|yes|true)$/i.test(value.trim()))
  );
}

/**
 * What ASM's own `is_animal_adoptable` says with its default settings, with the animals that it
 * leaves out told apart: those that are adopted or reserved stay in the catalogue.
 */
function stateOf(set: ReadonlySet<Flag>, movement: number, deceased: boolean): Decided {
  const gone = (reason: string): Decided => ({ meaning: "gone", reason });
  const is = (meaning: Meaning): Decided => ({ meaning, reason: "" });
  const isTrial = set.has("hastrialadoption");
  if (set.has("iscourtesy")) return is("available");
  if (deceased) return gone("deceased");
  if (set.has("nonshelteranimal")) return gone("not a shelter animal");
  if (movement === adoption && !isTrial) return is("sold");
  if (set.has("isnotavailableforadoption")) return gone("not available for adoption");
  if (set.has("hasactiveboarding")) return gone("boarding");
  if (set.has("haspermanentfoster")) return gone("permanent foster");
  if (set.has("crueltycase")) return gone("cruelty case");
  if (set.has("ishold")) return gone("hold");
  if (set.has("isquarantine")) return gone("quarantine");
  if (movement === retailer) return gone("at a retailer");
  const left = movement >= elsewhereMin && movement <= elsewhereMax;
  if (left || set.has("archived")) return gone("left the shelter otherwise than by adoption");
  const pending = isTrial || set.has("hasactivereserve") || set.has("hasfutureadoption");
  return is(pending ? "pending" : "available");
}
