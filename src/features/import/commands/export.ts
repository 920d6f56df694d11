import { Command, Option } from "commander";
import { int64Min } from "../../../domain/int64.ts";
import type { Database } from "../../../storage/database.ts";
import { type Io, writeAll } from "../../../cli/io.ts";
import { withServices } from "../../../cli/open.ts";
import { beginOnStore } from "../../../cli/command.ts";
import { addSettings, storeSettings } from "../../../cli/options.ts";
import { exportPage } from "../write/export.ts";
import { type ExportFormat, exportFormats, exportText } from "../write/export.ts";

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
