import { isJsonObject } from "../../../domain/exact-json.ts";
import { isPetName } from "../../../domain/pet.ts";
import type { CandidateCategory, Deferred, Outcome } from "../candidate.ts";
import type { Format, MapperContext } from "./format.ts";
import { externalId } from "./ids.ts";
import { objectMapper } from "./needed.ts";
import {
  FieldFault,
  byStatus,
  int64Of,
  isBlank,
  outcomeOf,
  shelterName,
  shown,
  versionOf,
} from "./values.ts";
import { message } from "../messages.ts";

type Json = Readonly<Record<string, unknown>>;

/** RescueGroups API version 5, a JSON:API document: the species is named in `included`. */
export const rescuegroups: Format = {
  name: "rescuegroups",
  title: "RescueGroups API v5, animals with included species (JSON:API)",
  needed: [["attributes"], ["relationships"]],
  recognises: ({ records }) =>
    records.some(
      (record) => isJsonObject(record) && isJsonObject(record["attributes"]) && "type" in record,
    ),
  mapper: (sample, context) =>
    objectMapper("rescuegroups", sample, (record, line) => mapped(context, record, line)),
};

function mapped(context: MapperContext, record: Json, line: number): Outcome | Deferred {
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
    category: speciesOf(record),
  });
  const attributed = isBlank(attributes["adoptedDate"]) ? pendingOf(attributes) : "sold";
  const reference = related(record, "statuses");
  if (reference === undefined) {
    return byStatus(context, origin, { field: "status", value: attributed }, pet);
  }
  const settle = (word: string | undefined) => {
    if (word === undefined) {
      throw new FieldFault("relationships.statuses", message("statusUnnamed", reference));
    }
    const isPending = attributed === "pending" && context.statuses.meaningOf(word) === "available";
    const value = isPending ? attributed : word;
    return byStatus(context, origin, { field: "status", value }, pet);
  };
  const outcome = (word: string | undefined) =>
    outcomeOf(undefined, () => settle(word), record, line);
  return { kind: "deferred", reference, settle: outcome };
}

/** What the attributes alone say; undefined if they say nothing. */
function pendingOf(attributes: Json): "available" | "pending" | undefined {
  const pending = attributes["isAdoptionPending"];
  if (isBlank(pending)) return undefined;
  if (pending === false || pending === "No") return "available";
  if (pending === true || pending === "Yes") return "pending";
  throw new FieldFault("attributes.isAdoptionPending", message("notBoolean", shown(pending)));
}

/** The animal's species as a reference into `included`, which may come after all animals. */
function speciesOf(record: Json): CandidateCategory {
  const reference = related(record, "species");
  if (reference !== undefined) return { reference };
  throw new FieldFault("relationships.species", message("speciesMissing"));
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

/** What records refer to, as far as it has been read: names by id. */
export class Included {
  readonly species = new Map<string, string>();
  readonly statuses = new Map<string, string>();

  /** Takes one element of an `included` list in; pictures above all say nothing here. */
  add(value: unknown): void {
    if (!isJsonObject(value) || !isJsonObject(value["attributes"])) return;
    const { singular, plural, name } = value["attributes"];
    const id = identifier(value["id"]);
    if (id === undefined) return;
    if (value["type"] === "species") keep(this.species, id, isBlank(singular) ? plural : singular);
    if (value["type"] === "statuses") keep(this.statuses, id, name);
  }
}

function keep(names: Map<string, string>, id: string, name: unknown): void {
  if (typeof name === "string" && !isBlank(name) && isPetName(name)) names.set(id, name.trim());
}
