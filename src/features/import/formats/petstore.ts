import { isJsonObject } from "../../../domain/exact-json.ts";
import type { CandidateCategory } from "../candidate.ts";
import type { Format } from "./format.ts";
import { externalId } from "./ids.ts";
import { objectMapper } from "./needed.ts";
import { FieldFault, byStatus, categoryName, exactName, int64In, isBlank } from "./values.ts";
import { message } from "../messages.ts";

/** Swagger Petstore, versions 2 and 3: `GET /pet/findByStatus`. Its three statuses are ours. */
export const petstore: Format = {
  name: "petstore",
  title: "Swagger Petstore, findByStatus (JSON)",
  needed: [["name"], ["category"]],
  recognises: ({ records }) =>
    records.some(
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
