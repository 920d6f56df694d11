import { Option } from "commander";
import { int64Min } from "../../domain/int64.ts";
import { type Pet, plainPet } from "../../domain/pet.ts";
import type { Database } from "../../storage/database.ts";
import { petOfRow } from "../../storage/pet-row.ts";
import { namedCategories } from "../animals/categories.ts";
import type { PetRow } from "../animals/changes.ts";
import { findPets } from "../animals/find.ts";
import { storeCommand } from "../command.ts";
import { writeAll } from "../json.ts";
import { longWork } from "../long-work.ts";
import { csvField, guarded } from "./read/table.ts";

export interface ExportedPet extends Pet {
  readonly category?: string | undefined;
  readonly externalId?: string | undefined;
  /** Whose id that is; empty when nobody said. */
  readonly source?: string | undefined;
}

/** At most `limit` animals in ascending id order, above `after`. */
export function exportPage(db: Database, after: bigint, limit: number): Promise<ExportedPet[]> {
  return db.read(async (tx) => {
    const names = new Map((await namedCategories(tx)).map(({ id, name }) => [id, name]));
    const { pets } = await findPets(tx, {}, { limit, after, isCounted: false });
    return pets.map((row) => exportedPet(row, names.get(row.categoryId)));
  }, longWork);
}

export function exportedPet(row: PetRow, category: string | undefined): ExportedPet {
  const { externalId, source } = row;
  return {
    ...petOfRow(row),
    category,
    externalId: externalId ?? undefined,
    source: source === "" ? undefined : source,
  };
}

export const exportFormats = ["json", "ndjson", "csv"] as const;
type ExportFormat = (typeof exportFormats)[number];
type Batches = AsyncIterable<readonly ExportedPet[]> | Iterable<readonly ExportedPet[]>;

const columns = ["id", "name", "categoryId", "category", "status", "externalId", "source"] as const;

/**
 * The text of an export, a piece for each batch, for `rehome pets import`. Ids are exact, and
 * absent values stay absent. JSON is one array with one animal per line. CSV is RFC 4180 with CRLF,
 * and safe for spreadsheets.
 */
export async function* exportText(batches: Batches, format: ExportFormat): AsyncGenerator<string> {
  const isArray = format === "json";
  const [line, end] = format === "csv" ? ([csvLine, "\r\n"] as const) : ([jsonLine, "\n"] as const);
  let before = isArray ? "[" : "";
  if (format === "csv") yield `${columns.join(",")}${end}`;
  for await (const batch of batches) {
    const lines = batch.map(line);
    if (!isArray) yield lines.map((each) => `${each}${end}`).join("");
    else if (lines.length > 0) {
      yield `${before}${lines.join(",\n")}`;
      before = ",\n";
    }
  }
  if (isArray) yield before === "[" ? "[]\n" : "]\n";
}

function jsonLine(pet: ExportedPet): string {
  const { category, externalId, source } = pet;
  return JSON.stringify({ ...plainPet(pet), category, externalId, source });
}

function csvLine(pet: ExportedPet): string {
  const cells = columns.map((column) => {
    const value = pet[column] ?? "";
    return typeof value === "bigint" ? String(value) : csvField(guarded(value));
  });
  return cells.join(",");
}

/** All animals, a page at a time: the store is free in between, however slowly they are read. */
async function* pages(db: Database) {
  for (let after: bigint | undefined = int64Min; after !== undefined;) {
    const page: readonly ExportedPet[] = await exportPage(db, after, pageAnimals);
    yield page;
    after = page.at(-1)?.id;
  }
}

const pageAnimals = 1_000;

export const exportCommand = storeCommand<{ readonly format: ExportFormat }>({
  name: "export",
  about: "write all animals to standard output, as `pets import` reads them",
  options: [
    new Option("--format <format>", "json, an array; ndjson, a line each; csv, for spreadsheets")
      .choices([...exportFormats])
      .default("json"),
  ],
  remark:
    "In CSV a text that a spreadsheet would run as a formula gets an apostrophe before it; `pets import` takes it away.",
  examples: ["rehome pets export > animals.json", "rehome pets export --format csv > animals.csv"],
  run: (io, { store }, { format }) => writeAll(io, exportText(pages(store.db), format)),
});
