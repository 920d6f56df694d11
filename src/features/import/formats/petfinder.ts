import { decodeHTML } from "entities/decode";
import { isJsonObject } from "../../../domain/exact-json.ts";
import type { Outcome } from "../candidate.ts";
import type { Format, MapperContext } from "./format.ts";
import { externalId } from "./ids.ts";
import { objectMapper } from "./needed.ts";
import { FieldFault, byStatus, categoryName, shelterName, shown, versionOf } from "./values.ts";
import { message } from "../messages.ts";

/** Petfinder API version 2: one or more pages `{"animals": [...], "pagination": {...}}`. */
export const petfinder: Format = {
  name: "petfinder",
  title: "Petfinder API v2, pages of animals (JSON)",
  needed: [["type"], ["status"]],
  recognises: ({ records }) =>
    records.some(
      (record) =>
        isJsonObject(record) &&
        "type" in record &&
        ("organization_id" in record || "breeds" in record),
    ),
  mapper: (sample, context) =>
    objectMapper("petfinder", sample, (record, line) => mapped(context, record, line)),
};

function mapped(
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
