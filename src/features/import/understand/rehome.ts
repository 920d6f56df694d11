import { isBlank, Notes } from "../messages.ts";
import { unguarded } from "../write/csv.ts";
import { columnKey, fieldOf, missingStatus, requireNeeded, type Sample } from "./columns.ts";
import type { CandidateCategory, MapperContext, RecordReader } from "./record.ts";
import { exactName, idOrName, int64In, sourceId } from "./values.ts";
import { type Meaning, wordKey } from "./words.ts";

/** The columns of an export for people, in each language of the console. */
export const exportHeadings = {
  en: {
    id: "Number",
    name: "Name",
    category: "Category",
    status: "Status",
    externalId: "Number at the source",
    source: "Source",
  },
  es: {
    id: "Número",
    name: "Nombre",
    category: "Categoría",
    status: "Estado",
    externalId: "Número en la fuente",
    source: "Fuente",
  },
} as const;

/** What such an export writes for an animal without a status. */
export const exportNoStatus = { en: "no status", es: "sin estado" } as const;

const words: ReadonlyMap<string, Meaning> = new Map(
  Object.values(exportNoStatus).map((word) => [wordKey(word), "none"]),
);

type Heading = keyof (typeof exportHeadings)["en"];

/** The headings by our names for them, in the language of the file; undefined for other files. */
function translated({ columns }: Sample): Readonly<Record<string, string>> | undefined {
  const keys = new Set((columns ?? []).map(columnKey));
  return Object.values(exportHeadings).find((headings) =>
    Object.values(headings).every((heading) => keys.has(columnKey(heading))),
  );
}

/**
 * What `rehome pets export` and the console write, and the interface's own answers: imported
 * exactly as they are. An animal with an `id` is the one that has it here.
 */
export const rehome = {
  name: "rehome",
  title: "what `rehome pets export` and the console write, and answers of GET /pets",
  needed: [
    ["name", exportHeadings.es.name],
    ["categoryId", "category", exportHeadings.es.category],
  ],
  recognises(sample: Sample): boolean {
    const { columns, names } = sample;
    if (columns === undefined) return names.includes("categoryId");
    if (translated(sample) !== undefined) return true;
    const isWhole = ["id", "category", "externalId", "source"].every((each) =>
      columns.includes(each),
    );
    return columns.includes("name") && (columns.includes("categoryId") || isWhole);
  },
  reader(sample: Sample, context: MapperContext): RecordReader {
    const { columns } = sample;
    const headings = translated(sample);
    if (columns !== undefined) requireNeeded(rehome, sample);
    // Without it, an edited export would take the status of each animal away.
    const updates = columns?.includes("id") === true && !columns.includes("status");
    if (updates && context.statuses.whenMissing === undefined) throw missingStatus("status");
    const field = (name: string) => {
      const heading = headings?.[name as Heading];
      const key = heading === undefined ? undefined : columnKey(heading);
      return fieldOf(columns, columns?.find((each) => columnKey(each) === key) ?? name);
    };
    const id = field("id");
    const name = field("name");
    const category = field("category");
    const number = field("categoryId");
    const status = field("status");
    const externalId = field("externalId");
    const source = field("source");
    const text = columns === undefined ? (value: unknown) => value : unguardedText;
    // A blank status is what an animal without one has: nothing to be told.
    const own = { ...context, statuses: context.statuses.withWords(words), notes: new Notes() };
    const statusColumn = headings?.status ?? "status";
    const partsOf: RecordReader["partsOf"] = (record) => ({
      origin: {
        id: isBlank(id(record)) ? undefined : int64In("id", id(record)),
        externalId: sourceId("externalId", text(externalId(record))),
        source: sourceId("source", text(source(record))) ?? context.source,
      },
      says: { field: "status", value: status(record) },
      pet: () => ({
        name: exactName("name", text(name(record))),
        // An export for people has the number of a category without a name.
        category: headings
          ? idOrName("category", text(category(record)))
          : categoryOf(number(record), text(category(record))),
      }),
    });
    return { partsOf, context: own, own: new Set([statusColumn]) };
  },
};

/** The id and the name that it goes by where the file comes from; either may be blank. */
function categoryOf(number: unknown, name: unknown): CandidateCategory {
  const id = () => int64In("categoryId", number);
  if (isBlank(name)) return { id: id() };
  const named = { name: exactName("category", name).trim() };
  return isBlank(number) ? named : { ...named, id: id() };
}

function unguardedText(value: unknown): unknown {
  return typeof value === "string" ? unguarded(value) : value;
}
