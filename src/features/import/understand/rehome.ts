import { isBlank, Notes } from "../messages.ts";
import { unguarded } from "../read/csv.ts";
import { columnKey, fieldOf, missingStatus, requireNeeded, type Sample } from "./columns.ts";
import type { Layout } from "./layouts.ts";
import type { CandidateCategory, RecordReader } from "./record.ts";
import { exactName, idOrName, int64In, sourceId } from "./values.ts";
import { type Meaning, wordKey } from "./words.ts";

/** The columns of an export for people, in each language of the console. */
const translations: readonly Readonly<Record<string, string>>[] = [
  {
    id: "Number",
    name: "Name",
    category: "Category",
    status: "Status",
    externalId: "Number at the source",
    source: "Source",
  },
  {
    id: "Número",
    name: "Nombre",
    category: "Categoría",
    status: "Estado",
    externalId: "Número en la fuente",
    source: "Fuente",
  },
];

/** What such an export writes for an animal without a status. */
const words: ReadonlyMap<string, Meaning> = new Map(
  ["no status", "sin estado"].map((word) => [wordKey(word), "none"]),
);

/** The headings by our names for them, in the language of the file; undefined for other files. */
function translated({ byKey, columns }: Sample): Readonly<Record<string, string>> | undefined {
  if (columns === undefined) return undefined;
  return translations.find((headings) =>
    Object.values(headings).every((heading) => byKey.has(columnKey(heading))),
  );
}

function recognises(sample: Sample): boolean {
  const { columns, names } = sample;
  if (columns === undefined) return names.includes("categoryId") || sample.records.length === 0;
  if (translated(sample) !== undefined) return true;
  const isWhole = ["id", "category", "externalId", "source"].every((each) =>
    columns.includes(each),
  );
  return columns.includes("name") && (columns.includes("categoryId") || isWhole);
}

/**
 * What `rehome pets export` and the console write, and the interface's own answers: imported
 * exactly as they are. An animal with an `id` is the one that has it here.
 */
export const rehome: Layout = {
  name: "rehome",
  title: "what `rehome pets export` and the console write, and answers of GET /pets",
  columns: {},
  marks: [],
  needed: [
    ["name", "nombre"],
    ["categoryId", "category", "categoría"],
  ],
  recognises,
  reader(sample, { category: all }, context): RecordReader {
    const { columns, byKey } = sample;
    const headings = translated(sample);
    if (columns !== undefined)
      requireNeeded({ name: "rehome", needed: rehome.needed ?? [] }, sample);
    // Without it, an edited export would take the status of each animal away.
    const updates = columns?.includes("id") === true && !columns.includes("status");
    if (updates && context.statuses.whenMissing === undefined) throw missingStatus("status");
    const field = (name: string) =>
      fieldOf(columns, byKey.get(columnKey(headings?.[name] ?? "")) ?? name);
    const [id, name, category] = [field("id"), field("name"), field("category")];
    const [number, status] = [field("categoryId"), field("status")];
    const [externalId, source] = [field("externalId"), field("source")];
    const text = (value: unknown) =>
      columns !== undefined && typeof value === "string" ? unguarded(value) : value;
    const categoryOf = (record: unknown): CandidateCategory => {
      if (all !== undefined) return { name: all };
      const called = text(category(record));
      // An export for people has the number of a category without a name.
      if (headings) return idOrName("category", called);
      const own = number(record);
      const named = isBlank(called) ? undefined : exactName("category", called).trim();
      if (named !== undefined && isBlank(own)) return { name: named };
      const categoryId = int64In("categoryId", own);
      return named === undefined ? { id: categoryId } : { id: categoryId, name: named };
    };
    const partsOf: RecordReader["partsOf"] = (record) => ({
      origin: {
        id: isBlank(id(record)) ? undefined : int64In("id", id(record)),
        externalId: sourceId("externalId", text(externalId(record))),
        source: sourceId("source", text(source(record))) ?? context.source,
      },
      says: { field: "status", value: status(record) },
      pet: () => ({
        name: exactName("name", text(name(record))),
        category: categoryOf(record),
      }),
    });
    // A blank status is what an animal without one has: nothing to be told.
    const own = { ...context, statuses: context.statuses.withWords(words), notes: new Notes() };
    return { partsOf, context: own, own: new Set([headings?.["status"] ?? "status"]) };
  },
};
