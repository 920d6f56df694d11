import { isJsonObject } from "../../../domain/exact-json.ts";
import { Dates } from "./dates.ts";
import { type FieldMap, mapTargets, type MapTarget } from "./field-map.ts";
import type { Sample } from "./format.ts";
import { isPlaceholderId } from "./ids.ts";
import { Statuses } from "./statuses.ts";
import { type Field, columnKey, fieldOf, isBlank, wordOf } from "./values.ts";

/** What columns of a field are called in the languages of `statuses.ts`, the surest first. */
const names: Readonly<Record<MapTarget, readonly string[]>> = {
  name: "animalname petname name pet nombre nom naam nome tiername rufname nombreanimal calledname".split(
    " ",
  ),
  categoryId:
    "species animalspecies animaltype speciesname type kind category animal especie tierart art gattung espece diersoort soort tipo categoria clase race rasse".split(
      " ",
    ),
  status:
    "adoptionstatus animalstatus status state availability outcometype outcome stage estado situacion statut zustand situacao toestand".split(
      " ",
    ),
  externalId:
    "animalid petid id animal# animalno animalnumber sheltercode shelterid tag tagnumber reference ref code codigo expediente numero nummer number chip microchip".split(
      " ",
    ),
  updatedAt:
    "updatedat lastupdated lastupdate updated modified lastmodified lastchanged lastchange changed statusdate datetime date fecha datum data actualizado".split(
      " ",
    ),
};

const species =
  /^(?:dogs?|cats?|pupp(?:y|ies)|kittens?|rabbits?|birds?|horses?|perros?|gatos?|hunde?|katzen?|chiens?|chats?|hond(?:en)?|kat(?:ten)?|cachorros?|c[aã]o|c[aã]es)$/i;

/** A map for an unknown input: what the names and values of its columns let us guess. */
export function guessedMap(sample: Sample): FieldMap {
  const columns = sample.names.map((name) => ({
    name,
    key: columnKey(name),
    values: valuesOf(sample, fieldOf(sample.columns, name)),
  }));
  const map = new Map<MapTarget, string>();
  for (const scoreOf of [score, byValuesAlone]) {
    for (const target of mapTargets) {
      if (map.has(target)) continue;
      const taken = new Set(map.values());
      const scored = columns
        .filter(({ name }) => !taken.has(name))
        .map(({ name, key, values }) => ({ name, score: scoreOf(target, key, values) }));
      const best = scored.toSorted((a, b) => b.score - a.score)[0];
      if (best !== undefined && best.score >= 1) map.set(target, best.name);
    }
  }
  return new Map(mapTargets.flatMap((target) => entryOf(map, target)));
}

function entryOf(map: FieldMap, target: MapTarget): (readonly [MapTarget, string])[] {
  const column = map.get(target);
  return column === undefined ? [] : [[target, column]];
}

/** Values of a column that are not blank, and are no objects. */
function valuesOf({ records }: Sample, field: Field): readonly unknown[] {
  return records.map(field).filter((value) => !isBlank(value) && !isJsonObject(value));
}

/** Shorter names stand within too many others. */
const partLength = 4;
const ofBirth = /birth|born|dob|nacim|geburt|naiss|geboorte|nascim/;

/** What else is known of an animal, and is none of its fields though parts of names say so. */
const ofOther = /^(?:sex|gender|geschlecht|geslacht|ageupon|age$|breed|raza|colou?r)|source$/;

/** How surely a column holds a field: by its name (0.9 to 2) and by its values. */
function score(target: MapTarget, key: string, values: readonly unknown[]): number {
  const place = names[target].indexOf(key);
  if (place < 0 && ofOther.test(key)) return 0;
  const isPart = names[target].some((name) => name.length >= partLength && key.includes(name));
  const byName = place >= 0 ? 2 - place / names[target].length : isPart ? 0.9 : 0;
  return (target === "updatedAt" && ofBirth.test(key) ? 0 : byName) + byValues(target, values);
}

const statuses = new Statuses();
const isText = (value: unknown) => typeof value === "string" && /^\D+$/.test(value);
const hasLetter = (value: unknown) => typeof value === "string" && /\p{L}/u.test(value);
const isSpecies = (value: unknown) => typeof value === "string" && species.test(value.trim());
const isStatus = (value: unknown) => statuses.meaningOf(value) !== undefined;
const isNoId = (value: unknown) => typeof value === "string" && isPlaceholderId(value);
const isDate = (value: unknown) => new Dates().sortable(value) !== undefined;

function shareOf(values: readonly unknown[], is: (value: unknown) => boolean): number {
  return values.length === 0 ? 0 : values.filter(is).length / values.length;
}

const areDistinct = (values: readonly unknown[]) => new Set(values).size === values.length;

function byValues(target: MapTarget, values: readonly unknown[]): number {
  const share = (is: (value: unknown) => boolean) => shareOf(values, is);
  switch (target) {
    case "categoryId":
      return 2 * share(isSpecies);
    case "status":
      return 2 * share(isStatus) + 0.1 - share(isDate);
    case "updatedAt":
      return 1.1 * share(isDate) - 1;
    case "externalId":
      return areDistinct(values.filter((value) => !isNoId(value))) ? 0.1 : -1;
    case "name":
      return 1.1 * share(hasLetter) - 1 - share(isSpecies);
  }
}

/** What columns of kinds, reasons and places are called, which have words as names do. */
const ofWords = /type$|reason|condition|status|location|jurisdiction|city|district|size|notes?$/;

/** How surely a column holds a field whatever it is called: 1, or 0. */
function byValuesAlone(target: MapTarget, key: string, values: readonly unknown[]): number {
  if (ofOther.test(key)) return 0;
  const ids = values.filter((value) => !isNoId(value));
  const every = (is: (value: unknown) => boolean) => shareOf(values, is) === 1;
  const isCode = (value: unknown) => /^[\w./#-]*\d[\w./#-]*$/.test(wordOf(value));
  const isNumber = (value: unknown) => /^[\d.]*$/.test(wordOf(value));
  const isOther = (value: unknown) => isSpecies(value) || isStatus(value);
  switch (target) {
    case "name":
      return !ofWords.test(key) && shareOf(values, isText) > 0.9 && shareOf(values, isOther) < 0.1
        ? 1
        : 0;
    case "externalId":
      // Fees and counts are often 0, which is a placeholder among ids.
      if (ids.length <= values.length / 2 || !areDistinct(ids)) return 0;
      return ids.every(isCode) && !ids.every(isDate) ? 1 : 0;
    case "updatedAt":
      // A number alone could be a date, as spreadsheets and programs count them.
      return values.length > 0 && every(isDate) && !every(isNumber) && !ofBirth.test(key) ? 1 : 0;
    default:
      return 0;
  }
}
