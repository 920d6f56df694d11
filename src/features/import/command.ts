import { existsSync, writeFileSync } from "node:fs";
import { Argument, type Command, InvalidArgumentError, Option } from "commander";
import type { Io } from "../../cli/io.ts";
import { counted, grouped } from "../../cli/terminal/text.ts";
import { AppError } from "../../domain/errors.ts";
import { jsonText } from "../../domain/exact-json.ts";
import { reasonNotMade, reasonOf } from "../../domain/system-error.ts";
import type { Services } from "../../service/services.ts";
import type { Database, Tx } from "../../storage/database.ts";
import { beginOnStore, commandOf } from "../command.ts";
import { isYes } from "../confirm.ts";
import { printJson } from "../json.ts";
import { addSettings, storeSettings } from "../options.ts";
import { UsageError } from "../usage-error.ts";
import { withServices } from "../with-services.ts";
import { forgetReading, ImportRefused, previewImport, recallReading, runImport } from "./import.ts";
import { messageText } from "./messages.ts";
import type { ImportOptions } from "./plan/plan.ts";
import { isEncoding, UnreadableInput, wholeInput } from "./read/input.ts";
import { partName, stepsOf } from "./read/read.ts";
import * as reports from "./report.ts";
import { parseFieldMap } from "./understand/columns.ts";
import { layouts } from "./understand/layouts.ts";
import {
  columnsIn,
  type Given,
  type List,
  type Prepared,
  preparedOf,
  propose,
  type Question,
  readList,
} from "./understand/propose.ts";
import type { Rejection } from "./understand/record.ts";
import {
  type Meaning,
  meaningNamed,
  meanings,
  parseStatusWords,
  statusKey,
} from "./understand/words.ts";

export type Maybe<Name extends string, Value> = Readonly<Partial<Record<Name, Value>>>;
type Text = "format" | "category" | "source" | "encoding" | "sheet" | "records";

export type ReadingOptions = Maybe<Text, string> &
  Maybe<"map" | "status" | "believe" | "ignore", readonly string[]> &
  Maybe<"dayFirst" | "monthFirst", true> &
  Maybe<"defaultStatus", Meaning>;

type Agreed = "acceptGuess" | "createCategories" | "complete" | "listWins" | "skipBad" | "yes";
type Options = ReadingOptions &
  Maybe<Agreed | "dryRun" | "json", true> &
  Maybe<"rejects", string> &
  Maybe<"reading", "show" | "forget">;

/** Options of every command that reads a list, with what help says of them. */
const readOptions: Readonly<Record<string, string>> = {
  "--format <format>": "what the file is; found out by itself if not given",
  "--map <pairs>":
    "columns or fields: name=A,categoryId=B,status=C,externalId=D,updatedAt=E; the rest is guessed (repeatable)",
  "--category <name>": "the category of all animals in the file, where no column has it",
  "--source <name>": "whose ids these are; equal ids of two sources are two animals",
  "--status <pairs>":
    "what words mean that are not known: WORD=available|pending|sold|none|gone (repeatable)",
  "--default-status <status>": "for animals without one in the file",
  "--day-first": "4/3/2026 is in March; found out if a date can only be read so",
  "--month-first": "4/3/2026 is in April",
  "--believe <column>": "a column by which more than half of the available are not (repeatable)",
  "--ignore <column>": "a column that says nothing of whether animals are available (repeatable)",
  "--encoding <name>": "encoding of text, such as big5; found out if it is a usual one",
  "--sheet <name>": "sheet of a workbook; the one with a list if not given",
  "--records <path>": "fields that lead to the list within JSON, with dots: result.pets",
};

const importOptions: Readonly<Record<string, string>> = {
  "--reading <what>": "show or forget how this list was read before, and import nothing",
  "--accept-guess": "agree to the columns that are guessed; asked for on a terminal",
  "--create-categories": "make categories that do not exist; an empty catalogue gets them anyway",
  "--complete": "this is the source's whole list: withdraw its animals that are not in it",
  "--list-wins": "take what the list says of animals that people changed, too",
  "--yes": "withdraw more than half of a source's animals, for --complete",
  "--skip-bad": "import the rest when some records are bad; otherwise nothing is imported",
  "--dry-run": "change nothing, and say what would change",
  "--rejects <file>": "write bad records to this new file, as NDJSON with line, field and problem",
};

const choices: Readonly<Record<string, readonly string[]>> = {
  format: layouts.map(({ name }) => name),
  defaultStatus: meanings,
  reading: ["show", "forget"],
};

const optionsOf = (all: Readonly<Record<string, string>>): Option[] =>
  Object.entries(all).map(([flags, about]) => {
    const option = new Option(flags, about);
    const known = choices[option.attributeName()];
    if (known !== undefined) option.choices(known);
    if (known === meanings) option.argParser(parseMeaning);
    return about.endsWith("(repeatable)") ? option.argParser(more) : option;
  });

function parseMeaning(text: string): Meaning {
  const meaning = meaningNamed(text);
  if (meaning !== undefined) return meaning;
  throw new InvalidArgumentError(`Allowed choices are ${meanings.join(", ")}.`);
}

const more = (value: string, before: readonly string[] = []) => [...before, value];

export const readingOptions = (): Option[] => optionsOf(readOptions);

export function importCommand(io: Io): Command {
  const command = commandOf<[string]>({
    name: "import",
    about: "import animals from a file, or from standard input with -",
    arguments: [
      new Argument("<file>", "JSON, NDJSON, CSV or .xlsx, perhaps as .gz; - for standard input"),
    ],
    options: optionsOf({ ...readOptions, ...importOptions }),
    json: reports.importSchema,
    remark: `Formats:
${layouts.map(({ name, title }) => `  ${name.padEnd(14)}${title}`).join("\n")}

Any other list is understood by its columns, which are shown before anything is changed. All of a file is imported, or
nothing. An animal that has an id in the file is updated when it is imported again.`,
    examples: [
      "rehome pets import animals.csv",
      "rehome pets import outcomes.csv --dry-run",
      "rehome pets import cats.xlsx --category Cat --accept-guess",
      "rehome pets import list.csv --map name=Name,categoryId=Species,status=State,externalId=Tag --source clinic --complete",
      "rehome pets import lista.csv --status 'En casa=gone,Urgente=available'",
      'curl -s "$URL" | rehome pets import - --format petfinder --skip-bad --rejects bad.ndjson',
    ],
  });
  return addSettings(command, storeSettings).action((file: string, options: Options) => {
    const name = file === "-" ? "standard input" : file;
    return inWords(name, () => importFile(command, io, file, options));
  });
}

/** What is said of the input. Throws UsageError for options that cannot be understood. */
export function givenBy(options: ReadingOptions): Given {
  const { map, status = [], records, believe: believed, ignore: ignored, ...rest } = options;
  const { format, source, encoding = "utf-8", dayFirst, monthFirst } = options;
  const columns = map && parseFieldMap(...map);
  const category = options.category?.trim();
  const wrong = {
    "--format and --map exclude each other.": columns && format,
    "--category and categoryId in --map exclude each other.":
      category !== undefined && columns?.categoryId,
    "--day-first and --month-first exclude each other.": dayFirst && monthFirst,
    [`The encoding ${encoding} is not known, as windows-1252, iso-8859-15 and utf-16le are.`]:
      !isEncoding(encoding),
    "--source expects a name of at most 40 characters without blanks and colons, such as clinic.":
      source !== undefined && !/^[^\s:]{1,40}$/u.test(source),
    "--category expects a name, such as Cat.": category !== undefined && !/\p{L}/u.test(category),
  };
  for (const [problem, isSo] of Object.entries(wrong)) {
    if (isSo) throw new UsageError(problem, "rehome pets import --help");
  }
  return {
    ...rest,
    columns,
    category,
    believed,
    ignored,
    statuses: parseStatusWords(status),
    records: records === undefined ? undefined : stepsOf(records),
    dayFirst: dayFirst ?? (monthFirst && false),
  };
}

/** What cannot be imported fails by this name. */
export async function inWords<T>(name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof UnreadableInput ? new Error(`${name}: ${error.message}`) : error;
  }
}

/** All bytes of a file, a pipe under a name (`<(...)`), or of standard input for `-`. */
export async function bytesOf(io: Io, file: string): Promise<Uint8Array> {
  try {
    return await wholeInput(file === "-" ? io.input() : Bun.file(file).stream());
  } catch (error) {
    if (error instanceof UnreadableInput) throw error;
    const name = file === "-" ? "Standard input" : file;
    const hint = "Name a file, or - for standard input.";
    throw new UsageError(`${name} cannot be read: ${reasonOf(error)}.`, hint, error);
  }
}

async function importFile(command: Command, io: Io, file: string, options: Options): Promise<void> {
  const { config } = beginOnStore(command, io);
  const given = { ...givenBy(options), called: file };
  const { dryRun = false, reading, rejects } = options;
  // Before all has been read, when it would be late to learn it.
  if (rejects !== undefined && existsSync(rejects)) {
    const hint = "Name another file with --rejects.";
    throw new UsageError(`The file of rejects ${rejects} exists.`, hint);
  }
  const bytes = await bytesOf(io, file);
  const list = readList(bytes, given);
  const work = async (services: Services) => {
    const { db } = services.store;
    if (reading === undefined) {
      return report(io, await imported(io, services, list, bytes, given, options), options);
    }
    const found = await db.read((tx) => recallReading(tx, columnsIn(list), given.source));
    if (found === undefined) {
      const hint = "Name its source with --source, or import it: how it is read is remembered.";
      throw new UsageError("No list like this one was imported.", hint);
    }
    if (reading === "show") return printJson(io, found.reading);
    await db.transaction((tx) => forgetReading(tx, found));
    io.out("Forgotten. The next list like this one is guessed again.\n");
  };
  await withServices(config, io, work, { begins: true, dryRun: dryRun || reading !== undefined });
}

/** Asks what a list leaves open, looks at what an import would change, and does it. */
async function imported(
  io: Io,
  { store: { db }, clock, actor }: Services,
  list: List,
  bytes: Uint8Array,
  given: Given,
  options: Options,
): Promise<reports.ImportSummary> {
  const { acceptGuess, skipBad, dryRun = false, json, yes: confirmed } = options;
  const isAsking = io.canAsk && json !== true && !dryRun;
  const ask = isAsking ? (question: string) => io.ask(question) : nobody;
  const { prepared, unsure } = await preparedAsking(ask, list, given, bytes, db);
  const isOpen = prepared.isGuessed && acceptGuess !== true;
  let chosen: ImportOptions = { ...options, confirmed };
  const run = () => runImport({ db, clock, actor, remembers: true }, prepared, chosen);
  if (!dryRun && !isAsking && !isOpen) return run();
  let summary = await previewImport(db, prepared, chosen);
  if (await askCategories(ask, summary)) {
    chosen = { ...chosen, createCategories: true };
    summary = await previewImport(db, prepared, chosen);
  }
  if (dryRun || (summary.rejected > 0 && skipBad !== true)) return summary;
  if (!isOpen && unsure === undefined) return run();
  io.err(reports.importedText(summary));
  if (!isAsking) throw guessRefused(summary);
  const ofAll =
    prepared.reading.columns?.status === undefined
      ? "No column says whether an animal is for adoption. Are all of these?"
      : "Are those for adoption whose status is blank?";
  const question = unsure === undefined ? "Import them?" : ofAll;
  if (isYes(await ask(`${question} [y/N] `))) return run();
  throw unsure ?? new Error("Nothing was changed.");
}

/** Why a guess that nobody can agree to is not taken. */
export const guessRefused = (summary: reports.ImportSummary): UsageError =>
  new UsageError("The columns were guessed, so nothing was changed.", reports.guessRemedy(summary));

async function askCategories(ask: Ask, { rejections }: reports.ImportSummary): Promise<boolean> {
  const unknown = rejections.filter(({ problem }) => problem.code === "categoryUnknown");
  const names = [...new Set(unknown.map(({ problem }) => problem.values[0]))].join(", ");
  return names !== "" && isYes(await ask(`New categories: ${names}. Make them? [y/N] `));
}

/** Asks a person, and resolves with the line that was typed; "" where nobody answers. */
type Ask = (question: string) => Promise<string>;
export const nobody: Ask = async () => "";

/**
 * Asks what a list leaves open. Throws the first question where nobody answers. `unsure` is why it
 * could not be read until all of its animals were taken for available. `db` is where an import of
 * such a list is remembered, if it may be read as that was.
 */
export async function preparedAsking(
  ask: Ask,
  list: List,
  given: Given,
  bytes: Uint8Array,
  db?: Database,
): Promise<{ readonly prepared: Prepared; readonly unsure?: UnreadableInput | undefined }> {
  // What leaves nothing to remember is told.
  const isTold = (given.format ?? given.columns) !== undefined;
  const recall = (tx: Tx) => recallReading(tx, columnsIn(list), given.source);
  const remembered = isTold ? undefined : (await db?.read(recall))?.reading;
  const { prepared, open, refusal } = propose(list, given, remembered);
  if (prepared !== undefined) {
    const statuses = await askWords(ask, open, given);
    if (statuses.size === (given.statuses?.size ?? 0)) return { prepared };
    return { prepared: preparedOf(propose(list, { ...given, statuses }, remembered)) };
  }
  const [question] = open;
  const said = question && (await answerTo(ask, question, given));
  if (said === undefined) throw refusal ?? new Error("Nothing was changed.");
  const next = question?.is === "part" ? readList(bytes, said) : list;
  const found = await preparedAsking(ask, next, said, bytes, db);
  return question?.is === "status" ? { ...found, unsure: refusal } : found;
}

/** What was said with an answer to the first question of a list; undefined without one. */
async function answerTo(ask: Ask, question: Question, given: Given): Promise<Given | undefined> {
  switch (question.is) {
    case "part": {
      const names = question.parts.map((part, at) => `${at + 1} ${partName(part)}`);
      const answer = await ask(`The file has several lists: ${names.join(", ")}. Which one? `);
      const part = question.parts[Number(answer) - 1];
      return part && { ...given, ...part };
    }
    case "category": {
      const category = (await ask("What kind of animal are all of these, such as Dog? ")).trim();
      // A yes is no kind of animal.
      const isKind = /\p{L}{2}/u.test(category) && !/^(?:yes|no)$/i.test(category);
      return isKind ? { ...given, category } : undefined;
    }
    case "column": {
      const { column, records, available } = question;
      const what = `By the column ${column}, ${records} of the ${available} available animals are not`;
      const answer = await ask(`${what}. Is that so? [y/n] `);
      const is = isYes(answer) ? "believed" : "ignored";
      const isTold = /^\s*[yn]/i.test(answer);
      return isTold ? { ...given, [is]: [...(given[is] ?? []), column] } : undefined;
    }
    case "status":
      // It is asked at the end, with what that comes to.
      return ask === nobody ? undefined : { ...given, defaultStatus: "available" };
    default:
      return undefined;
  }
}

/** What words of a status mean, as far as somebody says: nothing, or nobody, ends it. */
async function askWords(
  ask: Ask,
  open: readonly Question[],
  { statuses }: Given,
): Promise<ReadonlyMap<string, Meaning>> {
  const told = new Map(statuses);
  for (const { column, words } of open.filter((each) => each.is === "words")) {
    for (const { word, records } of words.filter(({ word }) => !told.has(statusKey(word)))) {
      const where = `${column} mean (${counted(records, "record")})`;
      const question = `What does ${JSON.stringify(word)} in ${where}: ${meanings.join(", ")}? `;
      let answer = "";
      do answer = await ask(question);
      while (answer.trim() !== "" && meaningNamed(answer) === undefined);
      const meaning = meaningNamed(answer);
      if (meaning === undefined) return told;
      told.set(statusKey(word), meaning);
    }
  }
  return told;
}

/** Says what became of an import. Throws when it changed nothing because records are bad. */
function report(io: Io, summary: reports.ImportSummary, options: Options): void {
  const { rejects, json, skipBad, acceptGuess } = options;
  const { rejected, read, refusal, rejections } = summary;
  if (json) printJson(io, reports.importedJson(summary));
  else io.out(reports.importedText(summary));
  if (rejects !== undefined && rejected > 0) writeRejects(rejects, rejections);
  const which = rejections.length < rejected ? `The first ${grouped(rejections.length)}` : "All";
  const where = rejects === undefined ? "" : `${which} of them are in ${rejects}.`;
  if (rejected > 0 && skipBad !== true)
    throw new Error(reports.refusedText(summary, where, acceptGuess));
  if (rejected > 0) io.err(reports.causesText(summary, where));
  if (refusal !== undefined) throw new ImportRefused(refusal, summary);
  if (rejected < read || read === 0) return;
  throw new Error(
    `None of ${counted(read, "record")} could be imported.\nTry: rehome pets import --help`,
  );
}

/** Writes rejections to a new file. Throws `unavailable` when it cannot be made. */
export function writeRejects(path: string, rejections: readonly Rejection[]): void {
  const lines = rejections.map(({ line, field, problem, record }) => {
    return `${jsonText({ line, field, problem: messageText(problem), record })}\n`;
  });
  try {
    writeFileSync(path, lines.join(""), { flag: "wx", mode: 0o600 });
  } catch (error) {
    const message = `The file of rejects ${path} cannot be written: ${reasonNotMade(error)}.`;
    const hint = "Name a new file in a folder that this user can write to.";
    throw new AppError("unavailable", message, { cause: error, hint });
  }
}
