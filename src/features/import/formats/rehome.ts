import type { CandidateCategory } from "../candidate.ts";
import { unguarded } from "../write/csv.ts";
import type { Format } from "./format.ts";
import { sourceId } from "./ids.ts";
import { requireNeeded } from "./needed.ts";
import {
  byStatus,
  categoryName,
  exactName,
  fieldOf,
  int64In,
  isBlank,
  mapperOf,
  missingStatus,
  type Notation,
  notationOf,
  optionalTextsOf,
} from "./values.ts";
import { optionalTextNames } from "../../optional-texts.ts";

/**
 * What `rehome pets export` writes, and the interface's own answers: imported exactly as they
 * are. An animal with an `id` is the one that has it here.
 */
export const rehome: Format = {
  name: "rehome",
  title: "what `rehome pets export` writes (JSON, NDJSON or CSV), and answers of GET /pets",
  needed: [["name"], ["categoryId", "category"]],
  recognises: ({ columns, names }) =>
    (columns?.includes("name") &&
      (columns.includes("categoryId") ||
        (columns.includes("id") && columns.includes("category")))) ??
    names.includes("categoryId"),
  mapper(sample, context) {
    const { columns } = sample;
    if (columns !== undefined) requireNeeded(rehome, sample);
    // Without it, an edited export would take the status of each animal away.
    const updates = columns?.includes("id") === true && !columns.includes("status");
    if (updates && context.statuses.whenMissing === undefined) throw missingStatus("status");
    const field = (name: string) => fieldOf(columns, name);
    const id = field("id");
    const name = field("name");
    const category = field("category");
    const number = field("categoryId");
    const status = field("status");
    const externalId = field("externalId");
    const source = field("source");
    const notation = notationOf(columns);
    const text = columns === undefined ? (value: unknown) => value : unguardedText;
    const texts = optionalTextNames.map((each) => {
      const read = field(each);
      return [each, (record: unknown) => text(read(record))] as const;
    });
    return mapperOf(columns, (record, line) => {
      const origin = {
        line,
        id: isBlank(id(record)) ? undefined : int64In("id", id(record), notation),
        externalId: sourceId("externalId", text(externalId(record))),
        source: sourceId("source", text(source(record))),
      };
      return byStatus(context, origin, { field: "status", value: status(record) }, () => ({
        ...optionalTextsOf(texts, record),
        name: exactName("name", text(name(record))),
        category: categoryOf(number(record), text(category(record)), notation),
      }));
    });
  },
};

/** The id and the name that it goes by where the file comes from; either may be blank. */
function categoryOf(number: unknown, name: unknown, notation: Notation): CandidateCategory {
  const id = () => int64In("categoryId", number, notation);
  if (isBlank(name)) return { id: id() };
  const named = categoryName("category", name);
  return isBlank(number) ? named : { ...named, id: id() };
}

function unguardedText(value: unknown): unknown {
  return typeof value === "string" ? unguarded(value) : value;
}
