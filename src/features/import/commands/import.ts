import { Command } from "commander";
import type { Category } from "../../animals/categories.ts";
import { printJson, type Io } from "../../../cli/io.ts";
import { addJson } from "../../../cli/json.ts";
import { withServices } from "../../../cli/open.ts";
import { beginOnStore } from "../../../cli/command.ts";
import { addSettings, storeSettings } from "../../../cli/options.ts";
import { type Progress, ProgressLine } from "../../progress.ts";
import { counted } from "../../../cli/terminal/text.ts";
import { catalogueOf } from "../catalogue.ts";
import { readCategories } from "../categories.ts";
import { formats } from "../formats/index.ts";
import { type ImportProgress, importAnimals } from "../import.ts";
import { UnreadableInput } from "../read/input.ts";
import { type Input, openInput, readable, refuseAsRejects } from "./import-input.ts";
import { addReadOptions, readOptions, type ReadingOptions } from "./import-options.ts";
import {
  causesText,
  importSchema,
  importedJson,
  importedText,
  refusedText,
  Rejects,
} from "./import-report.ts";

interface Options extends ReadingOptions {
  readonly categories?: string;
  readonly createCategories?: true;
  readonly newIds?: true;
  readonly keepGone?: true;
  readonly complete?: true;
  readonly yes?: true;
  readonly skipBad?: true;
  readonly dryRun?: true;
  readonly rejects?: string;
  readonly force?: true;
  readonly json?: true;
}

export function importCommand(io: Io): Command {
  const command = new Command("import")
    .description("import animals from a file, or from standard input with -")
    .argument("<file>", "JSON, NDJSON, CSV or .xlsx, perhaps as .gz; - for standard input");
  addReadOptions(command)
    .option(
      "--categories <file>",
      "names of categories and their ids: a JSON object, or CSV with name and id",
    )
    .option("--create-categories", "make the categories that do not exist")
    .option("--new-ids", "give new ids to animals of another catalogue's export")
    .option("--keep-gone", "leave animals in the catalogue that died or went elsewhere")
    .option(
      "--complete",
      "this is the source's whole list: withdraw its animals that are not in it",
    )
    .option("--yes", "withdraw more than half of a source's animals, for --complete")
    .option(
      "--skip-bad",
      "import the rest when some records are bad; otherwise nothing is imported",
    )
    .option("--dry-run", "change nothing, and say what would change")
    .option(
      "--rejects <file>",
      "write every bad record to this file, as NDJSON with line, field and problem",
    )
    .option("--force", "let --rejects overwrite a file")
    .addHelpText("after", help);
  return addJson(addSettings(command, storeSettings), importSchema).action(
    async (file: string, options: Options) => {
      await importFile(command, io, file, options);
    },
  );
}

const help = `
Formats:
${formats.map(({ name, title }) => `  ${name.padEnd(14)}${title}`).join("\n")}

An animal that has an id in the file is updated when it is imported again. All records are read and checked before
anything is changed.

Examples:
  rehome pets import animals.json --dry-run
  rehome pets import outcomes.csv --create-categories
  rehome pets import list.xlsx --map name=Name,categoryId=Species,status=State,externalId=Tag --source clinic
  rehome pets import lista.csv --encoding windows-1252 --status 'En espera=pending,EUTANASIA=gone'
  curl -s "$URL" | rehome pets import - --format petfinder --skip-bad --rejects bad.ndjson`;

async function importFile(command: Command, io: Io, file: string, options: Options): Promise<void> {
  const { config } = beginOnStore(command, io);
  const read = readOptions(options);
  const categories = await categoriesOf(options);
  const input = openInput(io, file);
  refuseAsRejects(options.rejects, [file === "-" ? "/dev/stdin" : file, options.categories]);
  await withServices(
    config,
    io,
    async (services) => {
      // Emptied once the store is known to be of use, and before anything is read.
      using rejects = Rejects.open(options.rejects, options.force === true);
      const line = new ProgressLine(io, () => performance.now());
      try {
        const summary = await importAnimals(catalogueOf(services.store), {
          input: input.chunks,
          read,
          categories,
          createCategories: options.createCategories === true,
          skipBad: options.skipBad === true,
          newIds: options.newIds === true,
          keepGone: options.keepGone === true,
          complete: options.complete === true,
          confirmed: options.yes === true,
          actor: services.actor,
          nowMs: services.clock,
          dryRun: options.dryRun === true,
          onReject: (rejection) => rejects.add(rejection),
          onProgress: (progress) => line.show(shown(progress, input)),
          sleep: Bun.sleep,
          stop: io.stop,
        });
        line.clear();
        if (options.json) printJson(io, importedJson(summary));
        else io.out(importedText(summary));
        rejects.end();
        const isRefused = summary.rejected > 0 && options.skipBad !== true;
        if (isRefused) throw new Error(refusedText(summary, rejects));
        if (summary.rejected === 0) return;
        io.err(causesText(summary, rejects));
        if (summary.rejected === summary.read) throw new Error(nothingTaken(summary.read));
      } catch (error) {
        line.clear();
        const name = file === "-" ? "standard input" : file;
        throw error instanceof UnreadableInput ? new Error(`${name}: ${error.message}`) : error;
      }
    },
    { begins: true, rehearses: options.dryRun === true },
  );
}

function nothingTaken(records: number): string {
  return `None of ${counted(records, "record")} could be imported.\nTry: rehome pets import --help`;
}

function shown({ phase, done, total }: ImportProgress, input: Input): Progress {
  if (phase === "storing") {
    return {
      label: "Storing",
      done,
      unit: "animals",
      fraction: total === undefined ? undefined : done / total,
    };
  }
  const fraction = input.bytes === undefined ? undefined : input.bytesRead() / input.bytes;
  return { label: "Reading", done, unit: "records", fraction };
}

async function categoriesOf({ categories: file }: Options): Promise<readonly Category[]> {
  if (file === undefined) return [];
  try {
    return await readCategories(readable(file).stream());
  } catch (error) {
    throw error instanceof UnreadableInput ? new Error(`${file}: ${error.message}`) : error;
  }
}
