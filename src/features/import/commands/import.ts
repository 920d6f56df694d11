import { Command } from "commander";
import { type Io, printJson } from "../../../cli/io.ts";
import { addJson } from "../../../cli/json.ts";
import { UsageError } from "../../../cli/errors.ts";
import { withServices } from "../../../cli/open.ts";
import { beginOnStore } from "../../../cli/command.ts";
import { addSettings, storeSettings } from "../../../cli/options.ts";
import { isYes } from "../../../cli/terminal/confirm.ts";
import { counted, grouped } from "../../../cli/terminal/text.ts";
import type { Services } from "../../../service/services.ts";
import type { Category } from "../../animals/categories.ts";
import { previewImport, runImport } from "../do/import.ts";
import type { ImportOptions } from "../plan/plan.ts";
import { prepare, type Prepared } from "../understand/reading.ts";
import type { ImportSummary } from "../do/summary.ts";
import { readCategories } from "../plan/categories.ts";
import { UnreadableInput } from "../read/input.ts";
import { formats, type Given, UnknownFormat } from "../understand/reading.ts";
import { statusKey } from "../understand/statuses.ts";
import { type Meaning, meanings } from "../understand/words.ts";
import {
  addReadOptions,
  bytesOf,
  givenBy,
  type ReadingOptions,
  refuseAsRejects,
} from "./import-options.ts";
import {
  causesText,
  guessRemedy,
  importSchema,
  importedJson,
  importedText,
  refusedText,
} from "./import-report.ts";
import { Rejects } from "./rejects.ts";

interface Options extends ReadingOptions {
  readonly acceptGuess?: true;
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
    .option("--accept-guess", "agree to the columns that are guessed; asked for on a terminal")
    .option(
      "--categories <file>",
      "names of categories and their ids: a JSON object, or CSV with name and id",
    )
    .option(
      "--create-categories",
      "make the categories that do not exist; an empty catalogue gets them anyway",
    )
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
      "write the bad records to this file, as NDJSON with line, field and problem",
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

Any other list is understood by its columns, which are shown before anything is changed. All of a file is imported, or
nothing. An animal that has an id in the file is updated when it is imported again.

Examples:
  rehome pets import animals.csv
  rehome pets import outcomes.csv --dry-run
  rehome pets import cats.xlsx --category Cat --accept-guess
  rehome pets import list.csv --map name=Name,categoryId=Species,status=State,externalId=Tag --source clinic --complete
  rehome pets import lista.csv --status 'En casa=gone,Urgente=available'
  curl -s "$URL" | rehome pets import - --format petfinder --skip-bad --rejects bad.ndjson`;

async function importFile(command: Command, io: Io, file: string, options: Options): Promise<void> {
  const { config } = beginOnStore(command, io);
  const given = givenBy(options);
  const name = file === "-" ? "standard input" : file;
  refuseAsRejects(options.rejects, [file === "-" ? "/dev/stdin" : file, options.categories]);
  const categories = await inWords(options.categories ?? "", () => categoriesOf(io, options));
  const bytes = await inWords(name, () => bytesOf(io, file));
  await withServices(
    config,
    io,
    async (services) => {
      // Emptied once the store is known to be of use.
      using rejects = Rejects.open(options.rejects, options.force === true);
      const work = new ImportWork(io, services, options, categories);
      const summary = await inWords(name, () => work.run(bytes, given));
      report(io, summary, rejects, options, bytes.length);
    },
    { begins: true, rehearses: options.dryRun === true },
  );
}

async function inWords<T>(name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof UnreadableInput ? new Error(`${name}: ${error.message}`) : error;
  }
}

async function categoriesOf(io: Io, { categories }: Options): Promise<readonly Category[]> {
  return categories === undefined ? [] : readCategories(await bytesOf(io, categories));
}

/** Says what became of an import. Throws when it changed nothing because records are bad. */
function report(
  io: Io,
  summary: ImportSummary,
  rejects: Rejects,
  options: Options,
  bytes: number,
): void {
  if (options.json) printJson(io, importedJson(summary));
  else io.out(importedText(summary));
  const written = rejects.write(summary.rejections, bytes);
  if (summary.rejected === 0) return;
  const where =
    rejects.path === undefined
      ? undefined
      : `${written < summary.rejected ? `The first ${grouped(written)}` : "All of them"} are in ${rejects.path}.`;
  if (options.skipBad !== true) throw new Error(refusedText(summary, where));
  io.err(causesText(summary, where));
  if (summary.rejected < summary.read) return;
  throw new Error(
    `None of ${counted(summary.read, "record")} could be imported.\nTry: rehome pets import --help`,
  );
}

/** One import: looks at what it would change, asks what is open, and does it. */
class ImportWork {
  readonly #io: Io;
  readonly #services: Services;
  readonly #options: Options;
  readonly #categories: readonly Category[];

  constructor(io: Io, services: Services, options: Options, categories: readonly Category[]) {
    this.#io = io;
    this.#services = services;
    this.#options = options;
    this.#categories = categories;
  }

  async run(bytes: Uint8Array, given: Given): Promise<ImportSummary> {
    const { acceptGuess, dryRun, json } = this.#options;
    const { db } = this.#services.store;
    const isAsking = this.#io.canAsk && json !== true && dryRun !== true;
    let open: UnknownFormat | undefined;
    let prepared = await prepare(bytes, given).catch((error: unknown) => {
      if (!isAsking || !(error instanceof UnknownFormat) || !error.lacksStatus) throw error;
      open = error;
      return prepare(bytes, { ...given, defaultStatus: "available" });
    });
    if (dryRun) return previewImport(db, prepared, this.#importOptions());
    if (!isAsking && (!prepared.isGuessed || acceptGuess === true)) return this.#do(prepared);
    let summary = await previewImport(db, prepared, this.#importOptions());
    if (!isAsking) {
      if (summary.rejected > 0 && this.#options.skipBad !== true) return summary;
      this.#io.err(importedText(summary));
      throw new UsageError(
        "The columns were guessed, so nothing was changed.",
        guessRemedy(summary),
      );
    }
    const told = await this.#askWords(summary);
    if (told.size > 0) {
      const statuses = new Map([...(given.statuses ?? []), ...told]);
      prepared = await prepare(bytes, { ...given, statuses });
      summary = await previewImport(db, prepared, this.#importOptions());
    }
    const createCategories = await this.#askCategories(summary);
    if (createCategories) {
      summary = await previewImport(db, prepared, this.#importOptions({ createCategories }));
    }
    if (summary.rejected > 0 && this.#options.skipBad !== true) return summary;
    if (open !== undefined || (summary.isGuessed && acceptGuess !== true)) {
      this.#io.err(importedText(summary));
      const isUnsaid = "No column says whether an animal is for adoption. Are all of these? [y/N] ";
      const question = open === undefined ? "Import them? [y/N] " : isUnsaid;
      if (!isYes(await this.#io.ask(question))) throw open ?? new Error("Nothing was changed.");
    }
    return this.#do(prepared, { createCategories });
  }

  #importOptions(more: { readonly createCategories?: boolean } = {}): ImportOptions {
    const { createCategories, newIds, keepGone, complete, yes, skipBad } = this.#options;
    return {
      categories: this.#categories,
      createCategories: createCategories === true || more.createCategories === true || undefined,
      skipBad: skipBad === true,
      newIds: newIds === true,
      keepGone: keepGone === true,
      complete: complete === true,
      confirmed: yes === true,
    };
  }

  #do(prepared: Prepared, more: { readonly createCategories?: boolean } = {}) {
    const { store, clock, actor } = this.#services;
    return runImport({ db: store.db, clock, actor }, prepared, this.#importOptions(more));
  }

  /** What the unknown words mean, as far as somebody says. */
  async #askWords({ causes }: ImportSummary): Promise<ReadonlyMap<string, Meaning>> {
    const told = new Map<string, Meaning>();
    for (const { unknownStatus, records, field } of causes) {
      if (unknownStatus === undefined) continue;
      const word = JSON.stringify(unknownStatus);
      const question = `What does ${word} in ${field} mean (${counted(records, "record")}): ${meanings.join(", ")}? `;
      const answer = (await this.#io.ask(question)).trim().toLowerCase();
      const meaning = meanings.find((each) => each === answer);
      if (meaning === undefined) return told;
      told.set(statusKey(unknownStatus), meaning);
    }
    return told;
  }

  async #askCategories({ causes, rejections }: ImportSummary): Promise<boolean> {
    if (!causes.some(({ unknownCategory }) => unknownCategory)) return false;
    const names = new Set(
      rejections.flatMap(({ unknownCategory, problem }) =>
        unknownCategory === true ? (problem.values[0] ?? []) : [],
      ),
    );
    return isYes(await this.#io.ask(`New categories: ${[...names].join(", ")}. Make them? [y/N] `));
  }
}
