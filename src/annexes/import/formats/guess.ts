import { isJsonObject } from "../../../domain/exact-json.ts";
import { Dates } from "./dates.ts";
import { type FieldMap, mapTargets, type MapTarget } from "./field-map.ts";
import type { Sample } from "./format.ts";
import { Statuses } from "./statuses.ts";
import { type Field, columnKey, columnsOf, fieldOf, isBlank } from "./values.ts";

/**
 * What columns are called that hold a field, in the languages of `statuses.ts`, the surest first.
 */
const names: Readonly<Record<MapTarget, readonly string[]>> = {
  name: "animalname petname name nombre nom naam nome tiername rufname nombreanimal calledname".split(
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
    "updatedat lastupdated lastupdate updated modified lastmodified lastchanged statusdate datetime date fecha datum data actualizado".split(
      " ",
    ),
};

const species =
  /^(?:dogs?|cats?|pupp(?:y|ies)|kittens?|rabbits?|birds?|horses?|perros?|gatos?|hunde?|katzen?|chiens?|chats?|hond(?:en)?|kat(?:ten)?|cachorros?|c[aã]o|c[aã]es)$/i;

/**
 * A map for an unknown input, guessed from the names and values of its columns; without what cannot
 * be guessed.
 */
export function guessedMap(sample: Sample): FieldMap {
  const columns = columnsOf(sample).map((name) => ({
    name,
    key: columnKey(name),
    values: valuesOf(sample, fieldOf(sample.columns, name)),
  }));
  const map = new Map<MapTarget, string>();
  const taken = new Set<string>();
  for (const target of mapTargets) {
    const scored = columns
      .filter(({ name }) => !taken.has(name))
      .map(({ name, key, values }) => ({ name, score: score(target, key, values) }));
    const best = scored.toSorted((a, b) => b.score - a.score)[0];
    if (best === undefined || best.score < 1) continue;
    map.set(target, best.name);
    taken.add(best.name);
  }
  return map;
}

/** Values of a column that are not blank, and are no objects. */
function valuesOf({ records }: Sample, field: Field): readonly unknown[] {
  return records.map(field).filter((value) => !isBlank(value) && !isJsonObject(value));
}

/**
 * How surely a column holds a field: by its name (1 to 2), and by its values, which may outweigh
 * it.
 */
function score(target: MapTarget, key: string, values: readonly unknown[]): number {
  const place = names[target].indexOf(key);
  const byName = place < 0 ? 0 : 2 - place / names[target].length;
  return byName + byValues(target, values);
}

const statuses = new Statuses();

function byValues(target: MapTarget, values: readonly unknown[]): number {
  const share = (is: (value: unknown) => boolean) =>
    values.length === 0 ? 0 : values.filter(is).length / values.length;
  switch (target) {
    case "categoryId":
      return 2 * share((value) => typeof value === "string" && species.test(value.trim()));
    case "status":
      return 2 * share((value) => statuses.meaningOf(value) !== undefined);
    case "updatedAt":
      return share((value) => new Dates().sortable(value) !== undefined) - 1;
    case "externalId":
      return new Set(values).size === values.length ? 0 : -1;
    case "name":
      return share((value) => typeof value === "string" && /^\D+$/.test(value)) - 1;
  }
}
