import { Command, Option } from "commander";
import { type Io } from "../../../cli/io.ts";
import { printJson } from "../../json.ts";
import { addJson } from "../../json.ts";
import { UsageError } from "../../usage-error.ts";
import { withServices } from "../../with-services.ts";
import { beginOnStore } from "../../command.ts";
import { addSettings, storeSettings } from "../../options.ts";
import { isYes } from "../../confirm.ts";
import { counted, grouped } from "../../../cli/terminal/text.ts";
import type { Database, Tx } from "../../../storage/database.ts";
import type { Services } from "../../../service/services.ts";
import { previewImport, runImport } from "../do/import.ts";
import type { ImportOptions } from "../plan/options.ts";
import type { ImportSummary } from "../do/summary.ts";
import { forgetReading, recallReading, rememberReading } from "../do/remembered.ts";
import {
  columnsIn,
  type Given,
  type List,
  preparedOf,
  proposed,
  readList,
} from "../understand/propose.ts";
import { layouts } from "../understand/layouts.ts";
import {
  allQuestion,
  type Answered,
  askCategories,
  askUnknownWords,
  preparedAsking,
} from "./asking.ts";
import {
  addReadOptions,
  bytesOf,
  givenBy,
  inWords,
  type ReadingOptions,
} from "./import-options.ts";
import {
  causesText,
  guessRemedy,
  importSchema,
  importedJson,
  importedText,
  readingText,
  refusedText,
} from "./import-report.ts";
import { refuseExisting, writeRejects } from "./rejects.ts";

interface Options extends ReadingOptions {
  readonly reading?: "show" | "forget";
  readonly acceptGuess?: true;
  readonly createCategories?: true;
  readonly newIds?: true;
  readonly keepGone?: true;
  readonly complete?: true;
  readonly listWins?: true;
  readonly yes?: true;
  readonly skipBad?: true;
  readonly dryRun?: true;
  readonly rejects?: string;
  readonly json?: true;
}

export function importCommand(io: Io): Command {
  const command = new Command("import")
    .description("import animals from a file, or from standard input with -")
    .argument("<file>", "JSON, NDJSON, CSV or .xlsx, perhaps as .gz; - for standard input");
  addReadOptions(command)
    .addOption(
      new Option(
        "--reading <what>",
        "show or forget how this list was read before, and import nothing",
      ).choices(["show", "forget"]),
    )
    .option("--accept-guess", "agree to the columns that are guessed; asked for on a terminal")
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
    .option("--list-wins", "take what the list says of animals that people changed, too")
    .option("--yes", "withdraw more than half of a source's animals, for --complete")
    .option(
      "--skip-bad",
      "import the rest when some records are bad; otherwise nothing is imported",
    )
    .option("--dry-run", "change nothing, and say what would change")
    .option(
      "--rejects <file>",
      "write the bad records to this new file, as NDJSON with line, field and problem",
    )
    .addHelpText("after", help);
  return addJson(addSettings(command, storeSettings), importSchema).action(
    async (file: string, options: Options) => {
      await importFile(command, io, file, options);
    },
  );
}

const help = `
Formats:
${layouts.map(({ name, title }) => `  ${name.padEnd(14)}${title}`).join("\n")}

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
  const given = { ...givenBy(options), called: file };
  const name = file === "-" ? "standard input" : file;
  const { json, dryRun = false } = options;
  refuseExisting(options.rejects);
  const isAsking = io.canAsk && json !== true && !dryRun;
  const read = await inWords(name, async () => {
    const bytes = await bytesOf(io, file);
    return { bytes, list: readList(bytes, given) };
  });
  await withServices(
    config,
    io,
    async (services) => {
      const { db } = services.store;
      if (options.reading !== undefined) return ofReading(io, db, read.list, given, options);
      const recall = async (list: List, said: Given) =>
        isTold(said) ? undefined : (await db.read(recalling(list, said)))?.reading;
      const answered = await inWords(name, async () => {
        if (isAsking) return preparedAsking(io, { ...read, recall }, given);
        const remembered = await recall(read.list, given);
        return { prepared: preparedOf(proposed(read.list, { ...given, remembered })) };
      });
      const summary = await inWords(name, () => imported(io, services, options, answered));
      report(io, summary, options, read.bytes.length);
    },
    { begins: true, dryRun: dryRun || options.reading !== undefined },
  );
}

/** `--reading show|forget`: how a list was read before. */
async function ofReading(
  io: Io,
  db: Database,
  list: List,
  { source }: Given,
  { reading: what, json }: Options,
): Promise<void> {
  const columns = columnsIn(list);
  const found = await db.read((tx) => recallReading(tx, columns, source));
  if (found === undefined) {
    throw new UsageError(
      "No list like this one was imported.",
      "Name its source with --source, or import it: how it is read is remembered.",
    );
  }
  if (what === "show") {
    io.out(json ? `${JSON.stringify(found.reading)}\n` : readingText(found.reading));
    return;
  }
  await db.transaction((tx) => forgetReading(tx, found));
  io.out("Forgotten. The next list like this one is guessed again.\n");
}

/** True for what leaves nothing to remember. */
const isTold = ({ format, columns }: Given) => format !== undefined || columns !== undefined;

const recalling =
  (list: List, { source }: Given) =>
  (tx: Tx) =>
    recallReading(tx, columnsIn(list), source);

/** Says what became of an import. Throws when it changed nothing because records are bad. */
function report(io: Io, summary: ImportSummary, options: Options, bytes: number): void {
  if (options.json) printJson(io, importedJson(summary));
  else io.out(importedText(summary));
  const written = writeRejects(options.rejects, summary.rejections, bytes);
  if (summary.rejected === 0) return;
  const which = written < summary.rejected ? `The first ${grouped(written)}` : "All of them";
  const where = options.rejects === undefined ? undefined : `${which} are in ${options.rejects}.`;
  if (options.skipBad !== true) {
    throw new Error(refusedText(summary, where, options.acceptGuess));
  }
  io.err(causesText(summary, where));
  if (summary.rejected < summary.read) return;
  throw new Error(
    `None of ${counted(summary.read, "record")} could be imported.\nTry: rehome pets import --help`,
  );
}

/** Looks at what an import would change, asks what is open, and does it. */
async function imported(
  io: Io,
  { store, clock, actor }: Services,
  options: Options,
  answered: Answered,
): Promise<ImportSummary> {
  const { acceptGuess = false, skipBad = false, dryRun, yes: confirmed } = options;
  const { readAgain, unsure } = answered;
  let { prepared } = answered;
  let chosen: ImportOptions = { ...options, confirmed };
  const preview = () => previewImport(store.db, prepared, chosen);
  const ends = async (tx: Tx, done: ImportSummary) => {
    if (!done.applied || done.reading.format === "rehome") return;
    const isWhole = options.complete === true;
    const { columns } = prepared;
    await rememberReading(tx, { reading: done.reading, columns, isWhole, at: clock() });
  };
  const run = () => runImport({ db: store.db, clock, actor, ends }, prepared, chosen);
  if (dryRun) return preview();
  if (readAgain === undefined && (!prepared.isGuessed || acceptGuess)) return run();
  let summary = await preview();
  if (readAgain === undefined) {
    if (summary.rejected > 0 && !skipBad) return summary;
    io.err(importedText(summary));
    throw new UsageError("The columns were guessed, so nothing was changed.", guessRemedy(summary));
  }
  const told = await askUnknownWords(io, summary);
  if (told.size > 0) {
    prepared = readAgain(told);
    summary = await preview();
  }
  if (await askCategories(io, summary)) {
    chosen = { ...chosen, createCategories: true };
    summary = await preview();
  }
  if (summary.rejected > 0 && !skipBad) return summary;
  if (unsure !== undefined || (summary.isGuessed && !acceptGuess)) {
    io.err(importedText(summary));
    const question = unsure === undefined ? "Import them? [y/N] " : allQuestion;
    if (!isYes(await io.ask(question))) throw unsure ?? new Error("Nothing was changed.");
  }
  return run();
}
