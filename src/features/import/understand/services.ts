import { decodeHTML } from "entities/decode";
import { isJsonObject } from "../../../domain/exact-json.ts";
import { isPetName } from "../../../domain/pet.ts";
import { isBlank, message, shown } from "../messages.ts";
import { type Format, objectMapper } from "./format.ts";
import {
  byStatus,
  type CandidateCategory,
  FieldFault,
  type MapperContext,
  type Outcome,
} from "./record.ts";
import {
  categoryName,
  exactName,
  externalId,
  int64In,
  int64Of,
  shelterName,
  versionOf,
} from "./values.ts";

type Json = Readonly<Record<string, unknown>>;

/** Swagger Petstore, versions 2 and 3: `GET /pet/findByStatus`. Its three statuses are ours. */
export const petstore: Format = {
  name: "petstore",
  title: "Swagger Petstore, findByStatus (JSON)",
  needed: [["name"], ["category"]],
  recognises: ({ first }) =>
    first.some(
      (record) =>
        isJsonObject(record) &&
        "name" in record &&
        (isJsonObject(record["category"]) || "photoUrls" in record),
    ),
  mapper: (sample, context) =>
    objectMapper("petstore", sample, ({ id, name, category, status }, line) => {
      const origin = { line, externalId: externalId(context, "id", id, line) };
      return byStatus(context, origin, { field: "status", value: status }, () => ({
        name: exactName("name", name),
        category: categoryOf(category),
      }));
    }),
};

function categoryOf(category: unknown): CandidateCategory {
  const { id, name } = isJsonObject(category) ? category : {};
  if (id !== undefined && id !== null) return { id: int64In("category.id", id, "json") };
  if (isBlank(name)) throw new FieldFault("category", message("categoryIdMissing"));
  return categoryName("category.name", name);
}

/** Petfinder API version 2: one or more pages `{"animals": [...], "pagination": {...}}`. */
export const petfinder: Format = {
  name: "petfinder",
  title: "Petfinder API v2, pages of animals (JSON)",
  needed: [["type"], ["status"]],
  recognises: ({ first }) =>
    first.some(
      (record) =>
        isJsonObject(record) &&
        "type" in record &&
        ("organization_id" in record || "breeds" in record),
    ),
  mapper: (sample, context) =>
    objectMapper("petfinder", sample, (record, line) => found(context, record, line)),
};

function found(
  context: MapperContext,
  record: Readonly<Record<string, unknown>>,
  line: number,
): Outcome {
  const origin = {
    line,
    externalId: externalId(context, "id", record["id"], line),
    version: versionOf(context, "status_changed_at", record["status_changed_at"], line),
  };
  const value = record["status"];
  if (typeof value !== "string") {
    throw new FieldFault("status", message("notText", shown(value)));
  }
  return byStatus(context, origin, { field: "status", value }, () => ({
    name: shelterName("name", decoded(record["name"])),
    category: categoryName("type", decoded(record["type"])),
  }));
}

/** Petfinder hands texts over as HTML: `Vihan &amp; Zoran`, `O&#039;Malley`. */
function decoded(value: unknown): unknown {
  return typeof value === "string" && value.includes("&") ? decodeHTML(value) : value;
}

/** RescueGroups API version 5, a JSON:API document: the species is named in `included`. */
export const rescuegroups: Format = {
  name: "rescuegroups",
  title: "RescueGroups API v5, animals with included species (JSON:API)",
  needed: [["attributes"], ["relationships"]],
  recognises: ({ first }) =>
    first.some(
      (record) => isJsonObject(record) && isJsonObject(record["attributes"]) && "type" in record,
    ),
  mapper(sample, context) {
    const names = includedNames(context.included);
    return objectMapper("rescuegroups", sample, (record, line) =>
      rescued(context, names, record, line),
    );
  },
};

function rescued(
  context: MapperContext,
  names: IncludedNames,
  record: Json,
  line: number,
): Outcome {
  const attributes = record["attributes"];
  if (!isJsonObject(attributes)) {
    throw new FieldFault("attributes", message("notObject", shown(attributes)));
  }
  const origin = {
    line,
    externalId: externalId(context, "id", record["id"], line),
    version: versionOf(context, "attributes.updatedDate", attributes["updatedDate"], line),
  };
  const pet = () => ({
    name: shelterName("attributes.name", attributes["name"]),
    category: speciesOf(names, record),
  });
  const attributed = isBlank(attributes["adoptedDate"]) ? pendingOf(attributes) : "sold";
  const reference = related(record, "statuses");
  if (reference === undefined) {
    return byStatus(context, origin, { field: "status", value: attributed }, pet);
  }
  const word = names.statuses.get(reference);
  if (word === undefined) {
    throw new FieldFault("relationships.statuses", message("statusUnnamed", reference));
  }
  const isPending = attributed === "pending" && context.statuses.meaningOf(word) === "available";
  const value = isPending ? attributed : word;
  return byStatus(context, origin, { field: "status", value }, pet);
}

/** What the attributes alone say; undefined if they say nothing. */
function pendingOf(attributes: Json): "available" | "pending" | undefined {
  const pending = attributes["isAdoptionPending"];
  if (isBlank(pending)) return undefined;
  if (pending === false || pending === "No") return "available";
  if (pending === true || pending === "Yes") return "pending";
  throw new FieldFault("attributes.isAdoptionPending", message("notBoolean", shown(pending)));
}

/** The animal's species, which `included` names. */
function speciesOf({ species }: IncludedNames, record: Json): CandidateCategory {
  const reference = related(record, "species");
  const field = "relationships.species";
  if (reference === undefined) throw new FieldFault(field, message("speciesMissing"));
  const name = species.get(reference);
  if (name === undefined) throw new FieldFault(field, message("speciesUnnamed", reference));
  return { name };
}

/** The id of the first thing of this kind that a record refers to. */
function related(record: Json, kind: string): string | undefined {
  const relationships = isJsonObject(record["relationships"]) ? record["relationships"] : {};
  const relationship = relationships[kind];
  const data: unknown = isJsonObject(relationship) ? relationship["data"] : undefined;
  const first: unknown = Array.isArray(data) ? data[0] : data;
  return isJsonObject(first) ? identifier(first["id"]) : undefined;
}

/** An id as text: JSON:API has texts for ids, and not everybody who writes it knows. */
function identifier(id: unknown): string | undefined {
  return typeof id === "string" ? id : int64Of(id, "json")?.toString();
}

interface IncludedNames {
  readonly species: Map<string, string>;
  readonly statuses: Map<string, string>;
}

/** What records refer to: names by id. Pictures above all say nothing here. */
function includedNames(included: readonly unknown[]): IncludedNames {
  const names: IncludedNames = { species: new Map(), statuses: new Map() };
  for (const value of included) {
    if (!isJsonObject(value) || !isJsonObject(value["attributes"])) continue;
    const { singular, plural, name } = value["attributes"];
    const id = identifier(value["id"]);
    if (id === undefined) continue;
    if (value["type"] === "species") keep(names.species, id, isBlank(singular) ? plural : singular);
    if (value["type"] === "statuses") keep(names.statuses, id, name);
  }
  return names;
}

function keep(names: Map<string, string>, id: string, name: unknown): void {
  if (typeof name === "string" && !isBlank(name) && isPetName(name)) names.set(id, name.trim());
}
