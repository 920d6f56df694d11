import { isJsonObject } from "../../../domain/exact-json.ts";
import { isPetName } from "../../../domain/pet.ts";
import { isBlank, message, shown } from "../messages.ts";
import { UnreadableInput } from "../read/input.ts";
import type { Format, Sample } from "./format.ts";
import { type CandidateCategory, type MapperContext, mapperOf, type Parts } from "./record.ts";
import {
  categoryName,
  exactName,
  FieldFault,
  int64In,
  int64Of,
  isNo,
  isYes,
  shelterName,
} from "./values.ts";

type Json = Readonly<Record<string, unknown>>;

/** A mapper for a format that has only objects. Throws UnreadableInput for CSV columns. */
function objectMapper(
  format: string,
  { columns }: Sample,
  context: MapperContext,
  partsOf: (record: Json) => Parts,
) {
  if (columns !== undefined) throw new UnreadableInput(1, message("jsonWanted", format));
  return mapperOf(columns, context, (record) => partsOf(record as Json));
}

/** True if one of the first records is an object of a kind. */
const hasOne = ({ first }: Sample, is: (record: Json) => boolean) =>
  first.some((record) => isJsonObject(record) && is(record));

/** Swagger Petstore, versions 2 and 3: `GET /pet/findByStatus`. Its three statuses are ours. */
export const petstore: Format = {
  name: "petstore",
  title: "Swagger Petstore, findByStatus (JSON)",
  needed: [["name"], ["category"]],
  recognises: (sample) =>
    hasOne(
      sample,
      ({ category, ...record }) =>
        "name" in record &&
        (isJsonObject(category) ? "id" in category || "name" in category : "photoUrls" in record),
    ),
  mapper: (sample, context) =>
    objectMapper("petstore", sample, context, ({ id, name, category, status }) => ({
      id: ["id", id],
      says: { field: "status", value: status },
      pet: () => ({ name: exactName("name", name), category: categoryOf(category) }),
    })),
};

function categoryOf(category: unknown): CandidateCategory {
  const { id, name } = isJsonObject(category) ? category : {};
  if (id !== undefined && id !== null) return { id: int64In("category.id", id, "json") };
  if (isBlank(name)) throw new FieldFault("category", message("missing"));
  return categoryName("category.name", name);
}

/** RescueGroups API version 5, a JSON:API document: the species is named in `included`. */
export const rescuegroups: Format = {
  name: "rescuegroups",
  title: "RescueGroups API v5, animals with included species (JSON:API)",
  needed: [["attributes"], ["relationships"]],
  recognises: (sample) =>
    hasOne(sample, (record) => isJsonObject(record["attributes"]) && "type" in record),
  mapper(sample, context) {
    const names = includedNames(context.included);
    return objectMapper("rescuegroups", sample, context, (record) => {
      const { id, attributes } = record;
      if (!isJsonObject(attributes)) {
        throw new FieldFault("attributes", message("notObject", shown(attributes)));
      }
      return {
        id: ["id", id],
        changed: ["attributes.updatedDate", attributes["updatedDate"]],
        says: { field: "status", value: statusOf(context, names, record, attributes) },
        pet: () => ({
          name: shelterName("attributes.name", attributes["name"]),
          category: categoryName("relationships.species", related(names, record, "species")),
        }),
      };
    });
  },
};

/** The word that the record refers to, unless its attributes say that it is pending. */
function statusOf(
  { statuses }: MapperContext,
  names: IncludedNames,
  record: Json,
  attributes: Json,
): string | undefined {
  const attributed = isBlank(attributes["adoptedDate"]) ? pendingOf(attributes) : "sold";
  const word = related(names, record, "statuses");
  const isPending = attributed === "pending" && statuses.meaningOf(word) === "available";
  return isPending ? attributed : (word ?? attributed);
}

/** What the attributes alone say; undefined if they say nothing. */
function pendingOf(attributes: Json): "available" | "pending" | undefined {
  const pending = attributes["isAdoptionPending"];
  if (isBlank(pending)) return undefined;
  if (isNo(pending)) return "available";
  if (isYes(pending)) return "pending";
  throw new FieldFault("attributes.isAdoptionPending", message("statusUnknown", shown(pending)));
}

/** Names of what records refer to, by its kind and its id there. */
type IncludedNames = ReadonlyMap<string, string>;

/** What `included` calls the first thing of this kind that a record refers to, if there is one. */
function related(names: IncludedNames, record: Json, kind: string): string | undefined {
  const relationships = isJsonObject(record["relationships"]) ? record["relationships"] : {};
  const relationship = relationships[kind];
  const data: unknown = isJsonObject(relationship) ? relationship["data"] : undefined;
  const first: unknown = Array.isArray(data) ? data[0] : data;
  const id = isJsonObject(first) ? identifier(first["id"]) : undefined;
  if (id === undefined) return undefined;
  const name = names.get(`${kind} ${id}`);
  if (name === undefined)
    throw new FieldFault(`relationships.${kind}`, message("unnamedThere", id));
  return name;
}

/** An id as text: JSON:API has texts for ids, and not everybody who writes it knows. */
function identifier(id: unknown): string | undefined {
  return typeof id === "string" ? id : int64Of(id, "json")?.toString();
}

/** Of species and statuses alone: pictures above all say nothing here. */
function includedNames(included: readonly unknown[]): IncludedNames {
  const names = new Map<string, string>();
  for (const value of included) {
    if (!isJsonObject(value) || !isJsonObject(value["attributes"])) continue;
    const { type, id: own, attributes } = value;
    const { singular, plural, name } = attributes as Json;
    const [text] = [singular, plural, name].filter((each) => !isBlank(each));
    const id = identifier(own);
    const isKind = type === "species" || type === "statuses";
    if (!isKind || id === undefined || typeof text !== "string" || !isPetName(text)) continue;
    names.set(`${type} ${id}`, text.trim());
  }
  return names;
}
