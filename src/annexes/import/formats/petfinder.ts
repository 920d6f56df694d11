import { decodeHTML } from "entities/decode";
import { isJsonObject } from "../../../domain/exact-json.ts";
import type { Outcome } from "../candidate.ts";
import type { Format } from "./format.ts";
import {
  FieldFault,
  categoryName,
  externalId,
  objectMapper,
  shelterName,
  shown,
  versionOf,
} from "./values.ts";

/** Petfinder API version 2: `{"animals": [...], "pagination": {...}}`, one page or several after one another. */
export const petfinder: Format = {
  name: "petfinder",
  title: "Petfinder API v2, pages of animals (JSON)",
  recognises: ({ records: [first] }) =>
    isJsonObject(first) && "type" in first && ("organization_id" in first || "breeds" in first),
  mapper: (columns) =>
    objectMapper("petfinder", columns, (record, line) =>
      mapped(record as Readonly<Record<string, unknown>>, line),
    ),
};

function mapped(record: Readonly<Record<string, unknown>>, line: number): Outcome {
  const origin = {
    line,
    externalId: externalId("petfinder", "id", record["id"]),
    version: versionOf(record["status_changed_at"]),
  };
  const status = record["status"];
  if (status !== "adoptable" && status !== "adopted") {
    if (typeof status !== "string") {
      throw new FieldFault("status", `expected a text, found ${shown(status)}`);
    }
    return { ...origin, kind: "skip", reason: `status ${shown(status)}` };
  }
  return {
    ...origin,
    kind: "pet",
    name: shelterName("name", decoded(record["name"])),
    category: categoryName("type", decoded(record["type"])),
    status: status === "adoptable" ? "available" : "sold",
  };
}

/** Petfinder hands texts over as HTML: `Vihan &amp; Zoran`, `O&#039;Malley`. */
function decoded(value: unknown): unknown {
  return typeof value === "string" && value.includes("&") ? decodeHTML(value) : value;
}
