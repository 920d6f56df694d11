import type { CandidateCategory, Outcome } from "../candidate.ts";
import type { Format } from "./format.ts";
import {
  FieldFault,
  externalId,
  isBlank,
  isObject,
  objectMapper,
  shelterName,
  shown,
  versionOf,
} from "./values.ts";

type Json = Readonly<Record<string, unknown>>;

/** RescueGroups API version 5, a JSON:API document: the species is named in `included`. */
export const rescuegroups: Format = {
  name: "rescuegroups",
  title: "RescueGroups API v5, animals with included species (JSON:API)",
  recognises: ({ records: [first] }) =>
    isObject(first) && isObject(first["attributes"]) && "type" in first,
  mapper: (columns) =>
    objectMapper("rescuegroups", columns, (record, line) => mapped(record as Json, line)),
};

function mapped(record: Json, line: number): Outcome {
  const attributes = record["attributes"];
  if (!isObject(attributes))
    throw new FieldFault("attributes", `expected an object, found ${shown(attributes)}`);
  return {
    kind: "pet",
    line,
    externalId: externalId("rescuegroups", "id", record["id"]),
    version: versionOf(attributes["updatedDate"]),
    name: shelterName("attributes.name", attributes["name"]),
    category: speciesOf(record),
    status: statusOf(attributes),
  };
}

function statusOf(attributes: Json): "available" | "pending" | "sold" {
  if (!isBlank(attributes["adoptedDate"])) return "sold";
  const pending = attributes["isAdoptionPending"];
  if (isBlank(pending) || pending === false || pending === "No") return "available";
  if (pending === true || pending === "Yes") return "pending";
  throw new FieldFault(
    "attributes.isAdoptionPending",
    `expected true or false, found ${shown(pending)}`,
  );
}

/** The animal's species as a reference into `included`, which may come after all animals. */
function speciesOf(record: Json): CandidateCategory {
  const relationships = isObject(record["relationships"]) ? record["relationships"] : {};
  const species = isObject(relationships["species"]) ? relationships["species"]["data"] : undefined;
  const first: unknown = Array.isArray(species) ? species[0] : species;
  const id = isObject(first) ? first["id"] : undefined;
  if (typeof id === "string" || typeof id === "number") return { reference: String(id) };
  throw new FieldFault("relationships.species", `expected the id of a species, found ${shown(id)}`);
}

/** The id and name of a species among what is `included`; undefined for anything else there, pictures above all. */
export function includedSpecies(value: unknown): readonly [id: string, name: string] | undefined {
  if (!isObject(value) || value["type"] !== "species" || !isObject(value["attributes"]))
    return undefined;
  const { singular, plural } = value["attributes"];
  const name = isBlank(singular) ? plural : singular;
  return typeof name === "string" && !isBlank(name)
    ? [String(value["id"]), name.trim()]
    : undefined;
}
