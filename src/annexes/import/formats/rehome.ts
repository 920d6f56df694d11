import { isJsonObject } from "../../../domain/exact-json.ts";
import { unguarded } from "../write/csv.ts";
import type { Format } from "./format.ts";
import {
  categoryId,
  exactName,
  exactStatus,
  fieldOf,
  mapperOf,
  notationOf,
  sourceId,
} from "./values.ts";

/** What `rehome pets export` writes, and the interface's own answers: taken over exactly as they are. */
export const rehome: Format = {
  name: "rehome",
  title: "what `rehome pets export` writes (JSON, NDJSON or CSV), and answers of GET /pets",
  recognises: ({ columns, records: [first] }) =>
    (columns?.includes("name") && columns.includes("categoryId")) ??
    (isJsonObject(first) && "categoryId" in first),
  mapper: (columns) => {
    const name = fieldOf(columns, "name");
    const category = fieldOf(columns, "categoryId");
    const status = fieldOf(columns, "status");
    const externalId = fieldOf(columns, "externalId");
    const notation = notationOf(columns);
    const text = columns === undefined ? (value: unknown) => value : unguardedText;
    return mapperOf(columns, (record, line) => ({
      kind: "pet",
      line,
      name: exactName("name", text(name(record))),
      category: categoryId("categoryId", category(record), notation),
      status: exactStatus("status", status(record)),
      externalId: sourceId("externalId", text(externalId(record))),
    }));
  },
};

function unguardedText(value: unknown): unknown {
  return typeof value === "string" ? unguarded(value) : value;
}
