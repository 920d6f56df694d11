import { isJsonObject } from "../../../domain/exact-json.ts";
import type { CandidateCategory } from "../candidate.ts";
import type { Format } from "./format.ts";
import {
  FieldFault,
  categoryId,
  categoryName,
  exactName,
  exactStatus,
  externalId,
  isBlank,
  objectMapper,
} from "./values.ts";

/** Swagger Petstore, versions 2 and 3: `GET /pet/findByStatus`. Its three statuses are ours. */
export const petstore: Format = {
  name: "petstore",
  title: "Swagger Petstore, findByStatus (JSON)",
  recognises: ({ records: [first] }) =>
    isJsonObject(first) &&
    "name" in first &&
    (isJsonObject(first["category"]) || "photoUrls" in first),
  mapper: (columns) =>
    objectMapper("petstore", columns, (record, line) => {
      const { id, name, category, status } = record as Readonly<Record<string, unknown>>;
      return {
        kind: "pet",
        line,
        name: exactName("name", name),
        category: categoryOf(category),
        status: exactStatus("status", status),
        externalId: externalId("petstore", "id", id),
      };
    }),
};

function categoryOf(category: unknown): CandidateCategory {
  if (!isJsonObject(category)) {
    throw new FieldFault("category", "expected a category with an id, found none");
  }
  if (category["id"] !== undefined && category["id"] !== null) {
    return categoryId("category.id", category["id"], "json");
  }
  if (isBlank(category["name"])) {
    throw new FieldFault("category", "expected a category with an id, found none");
  }
  return categoryName("category.name", category["name"]);
}
