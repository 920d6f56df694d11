import { Command, Option } from "commander";
import { asc, eq, gt } from "drizzle-orm";
import { beginOnStore } from "../command.ts";
import { type Io } from "../../cli/io.ts";
import { writeAll } from "../json.ts";
import { withServices } from "../with-services.ts";
import { addSettings, storeSettings } from "../options.ts";
import { int64Min } from "../../domain/int64.ts";
import { type Pet, petFieldNames, plainPet } from "../../domain/pet.ts";
import { type Database } from "../../storage/database.ts";
import { longWork } from "../long-work.ts";
import { csvField, guarded } from "./read/table.ts";
import { petOfRow } from "../../storage/pet-row.ts";
import type { PetRow } from "../animals/changes.ts";

export interface ExportedPet extends Pet {
  readonly category?: string | undefined;
  readonly externalId?: string | undefined;
  /** Whose id that is; empty when nobody said. */
  readonly source?: string | undefined;
}

/** At most `limit` animals in ascending id order, above `after`. */
export function exportPage(db: Database, after: bigint, limit: number): Promise<ExportedPet[]> {
  return db.read(async (tx) => {
    const { pets, categories } = tx.t;
    const rows = await tx
      .select({ pet: pets, category: categories.name })
      .from(pets)
      .leftJoin(categories, eq(categories.id, pets.categoryId))
      .where(gt(pets.id, after))
      .orderBy(asc(pets.id))
      .limit(limit);
    return rows.map(({ pet, category }) => exportedPet(pet, category ?? undefined));
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
export type ExportFormat = (typeof exportFormats)[number];

type Batches = AsyncIterable<readonly ExportedPet[]> | Iterable<readonly ExportedPet[]>;

interface Writer {
  readonly before: string;
  readonly between: string;
  readonly after: { readonly empty: string; readonly full: string };
  readonly line: (pet: ExportedPet) => string;
}

const columns = [
  "id",
  ...petFieldNames.flatMap((name) =>
    name === "categoryId" ? ([name, "category"] as const) : [name],
  ),
  "externalId",
  "source",
] as const satisfies readonly (keyof ExportedPet)[];

const writers: Readonly<Record<ExportFormat, Writer>> = {
  json: { before: "[", between: ",\n", after: { empty: "]\n", full: "]\n" }, line: jsonLine },
  ndjson: { before: "", between: "\n", after: { empty: "", full: "\n" }, line: jsonLine },
  csv: {
    before: `${columns.join(",")}\r\n`,
    between: "\r\n",
    after: { empty: "", full: "\r\n" },
    line: csvLine,
  },
};

/**
 * The text of an export, one piece per batch, for `rehome pets import`. Ids are exact, and absent
 * values stay absent. JSON is one array with one animal per line. CSV is RFC 4180 with CRLF, and
 * safe for spreadsheets.
 */
export async function* exportText(batches: Batches, format: ExportFormat): AsyncGenerator<string> {
  const { before, between, after, line } = writers[format];
  yield before;
  let first = true;
  for await (const batch of batches) {
    if (batch.length === 0) continue;
    yield (first ? "" : between) + batch.map(line).join(between);
    first = false;
  }
  yield first ? after.empty : after.full;
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

const pageAnimals = 1_000;

export function exportCommand(io: Io): Command {
  const command = new Command("export")
    .description("write all animals to standard output, as `pets import` reads them")
    .addOption(
      new Option(
        "--format <format>",
        "json, an array; ndjson, one object a line; csv, for spreadsheets",
      )
        .choices([...exportFormats])
        .default("json"),
    )
    .addHelpText(
      "after",
      `
Examples:
  rehome pets export > animals.json
  rehome pets export --format csv > animals.csv
  rehome pets export --format ndjson | rehome pets import - --data other --new-ids

In CSV a text that a spreadsheet would run as a formula gets an apostrophe before it; \`pets import\` takes it away.`,
    );
  return addSettings(command, storeSettings).action(
    async ({ format }: { format: ExportFormat }) => {
      const { config } = beginOnStore(command, io);
      await withServices(config, io, ({ store }) =>
        writeAll(io, exportText(pages(store.db), format)),
      );
    },
  );
}

/** All animals, a page at a time: the store is free in between, however slowly they are read. */
async function* pages(db: Database) {
  for (let after = int64Min; ;) {
    const page = await exportPage(db, after, pageAnimals);
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    after = last.id;
  }
}
