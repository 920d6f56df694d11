import { isJsonObject } from "../../../domain/exact-json.ts";
import type { CandidateCategory, Outcome } from "../candidate.ts";
import type { Format } from "./format.ts";
import {
  FieldFault,
  externalId,
  int64Of,
  isBlank,
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
    isJsonObject(first) && isJsonObject(first["attributes"]) && "type" in first,
  mapper: (columns) =>
    objectMapper("rescuegroups", columns, (record, line) => mapped(record as Json, line)),
};

function mapped(record: Json, line: number): Outcome {
  const attributes = record["attributes"];
  if (!isJsonObject(attributes)) {
    throw new FieldFault("attributes", `expected an object, found ${shown(attributes)}`);
  }
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
  const relationships = isJsonObject(record["relationships"]) ? record["relationships"] : {};
  const species = isJsonObject(relationships["species"])
    ? relationships["species"]["data"]
    : undefined;
  const first: unknown = Array.isArray(species) ? species[0] : species;
  const id = isJsonObject(first) ? first["id"] : undefined;
  const reference = identifier(id);
  if (reference !== undefined) return { reference };
  throw new FieldFault("relationships.species", `expected the id of a species, found ${shown(id)}`);
}

/** An id as text: JSON:API has texts for ids, and not everybody who writes it knows. */
function identifier(id: unknown): string | undefined {
  return typeof id === "string" ? id : int64Of(id, "json")?.toString();
}

/** The id and name of a species among what is `included`; undefined for anything else there, pictures above all. */
export function includedSpecies(value: unknown): readonly [id: string, name: string] | undefined {
  if (!isJsonObject(value) || value["type"] !== "species" || !isJsonObject(value["attributes"])) {
    return undefined;
  }
  const { singular, plural } = value["attributes"];
  const name = isBlank(singular) ? plural : singular;
  const id = identifier(value["id"]);
  return id !== undefined && typeof name === "string" && !isBlank(name)
    ? [id, name.trim()]
    : undefined;
}
