import { statSync, type Stats } from "node:fs";
import { Command, Option } from "commander";
import type { Category } from "../../../domain/category.ts";
import { reasonOf } from "../../../domain/system-error.ts";
import { readCategories } from "../categories.ts";
import { InvalidFieldMap, mappedFormat, parseFieldMap } from "../formats/field-map.ts";
import type { Format } from "../formats/format.ts";
import { formatNamed, formats } from "../formats/index.ts";
import { type ImportProgress, importCatalogue } from "../import.ts";
import { InvalidStatuses, parseStatusWords, Statuses } from "../formats/statuses.ts";
import { type ByteChunks, UnreadableInput } from "../read/input.ts";
import { isEncoding } from "../read/open.ts";
import type { ReadOptions } from "../reading.ts";
import { petStatuses } from "../../../domain/pet.ts";
import { counted } from "../../../cli/terminal/text.ts";
import { printJson, type Io } from "../../../cli/io.ts";
import { addJson } from "../../../cli/json.ts";
import { withServices } from "../../../cli/open.ts";
import { addSettings, configOf, storeSettings } from "../../../cli/options.ts";
import { type Progress, ProgressLine } from "../../../cli/progress.ts";
import { UsageError } from "../../../cli/errors.ts";
import {
  causesText,
  importSchema,
  importedJson,
  importedText,
  refusedText,
  Rejects,
} from "./import-report.ts";

interface Options {
  readonly format: string;
  readonly map?: string;
  readonly categories?: string;
  readonly createCategories?: true;
  readonly skipBad?: true;
  readonly dryRun?: true;
  readonly rejects?: string;
  readonly force?: true;
  readonly source?: string;
  readonly status?: readonly string[];
  readonly defaultStatus?: DefaultStatus;
  readonly encoding?: string;
  readonly sheet?: string;
  readonly records?: string;
  readonly json?: true;
}

const automatic = "auto";
const defaultStatuses = [...petStatuses, "none"] as const;
type DefaultStatus = (typeof defaultStatuses)[number];

export function importCommand(io: Io): Command {
  const command = new Command("import")
    .description("take animals over from a file, or from standard input with -")
    .argument("<file>", "JSON, NDJSON, CSV or .xlsx, perhaps as .gz; - for standard input")
    .addOption(
      new Option("--format <format>", "what the file is; found out by itself if not given")
        .choices([automatic, ...formats.map(({ name }) => name)])
        .default(automatic),
    )
    .option(
      "--map <pairs>",
      "columns or fields of any other file: name=A,categoryId=B,status=C,externalId=D,updatedAt=E",
    )
    .option("--source <name>", "whose ids these are; equal ids of two sources are two animals")
    .option(
      "--status <pairs>",
      "what words mean that are not known: WORD=available|pending|sold|none|gone (repeatable)",
      (pairs: string, before: readonly string[] | undefined) => [...(before ?? []), pairs],
    )
    .addOption(
      new Option("--default-status <status>", "for animals without one in the file").choices([
        ...defaultStatuses,
      ]),
    )
    .option(
      "--categories <file>",
      "names of categories and their ids: a JSON object, or CSV with name and id",
    )
    .option("--create-categories", "give new ids to category names that nothing knows")
    .option("--skip-bad", "take the rest over when records are bad; otherwise nothing is")
    .option("--dry-run", "change nothing, and say what would change")
    .option(
      "--rejects <file>",
      "write every bad record to this file, as NDJSON with line, field and problem",
    )
    .option("--force", "let --rejects overwrite a file")
    .option("--encoding <name>", "encoding of text that is neither UTF-8 nor marked UTF-16")
    .option("--sheet <name>", "sheet of a workbook; the first if not given")
    .option("--records <path>", "fields that lead to the list within JSON, with dots: result.pets")
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
  const { config } = configOf(command, io);
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
        const summary = await importCatalogue(services.catalogue, {
          input: input.chunks,
          read,
          categories,
          createCategories: options.createCategories === true,
          skipBad: options.skipBad === true,
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
        throw error instanceof UnreadableInput ? new Error(`${file}: ${error.message}`) : error;
      }
    },
    { begins: true, rehearses: options.dryRun === true },
  );
}

function nothingTaken(records: number): string {
  return `None of ${counted(records, "record")} could be taken over.\nTry: rehome pets import --help`;
}

/** How the input is to be read. Throws UsageError for options that cannot be understood. */
function readOptions(options: Options): ReadOptions {
  const { source, encoding, sheet, records } = options;
  if (encoding !== undefined && !isEncoding(encoding)) {
    throw new UsageError(
      `The encoding ${encoding} is not known.`,
      "Name one such as windows-1252, iso-8859-15 or utf-16le.",
    );
  }
  if (source !== undefined && !/^[^\s:]{1,40}$/u.test(source)) {
    throw new UsageError(
      "--source expects a name of at most 40 characters without blanks and colons.",
      "Name the shelter or the program, such as --source clinic.",
    );
  }
  return {
    format: formatOf(options),
    source,
    statuses: statusesOf(options),
    encoding,
    sheet,
    records: records?.split("."),
  };
}

function statusesOf({ status = [], defaultStatus }: Options): Statuses {
  try {
    return new Statuses(parseStatusWords(status), defaultStatus);
  } catch (error) {
    if (!(error instanceof InvalidStatuses)) throw error;
    throw new UsageError(error.message, "rehome pets import --help");
  }
}

/** Throws where the file of rejects, which is emptied at first, is one of those that are read. */
function refuseAsRejects(rejects: string | undefined, inputs: readonly (string | undefined)[]) {
  const found = fileAt(rejects);
  if (found === undefined) return;
  const isRead = inputs.map(fileAt).some((at) => at?.ino === found.ino && at.dev === found.dev);
  if (!isRead) return;
  throw new UsageError(
    `${rejects} is read by this import, and --rejects would empty it.`,
    "Name another file with --rejects.",
  );
}

/** The regular file of that name, if there is one. Why one cannot be had is said by whoever opens it. */
function fileAt(path: string | undefined): Stats | undefined {
  try {
    const found = path === undefined ? undefined : statSync(path, { throwIfNoEntry: false });
    return found?.isFile() === true ? found : undefined;
  } catch {
    return undefined;
  }
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

function formatOf({ format, map }: Options): Format | undefined {
  if (map === undefined) return formatNamed(format);
  if (format !== automatic) {
    throw new UsageError("--format and --map exclude each other.", "Leave one of them out.");
  }
  try {
    return mappedFormat(parseFieldMap(map));
  } catch (error) {
    if (error instanceof InvalidFieldMap)
      throw new UsageError(error.message, "rehome pets import --help");
    throw error;
  }
}

async function categoriesOf({ categories: file }: Options): Promise<readonly Category[]> {
  if (file === undefined) return [];
  try {
    return await readCategories(readable(file).stream());
  } catch (error) {
    throw error instanceof UnreadableInput ? new Error(`${file}: ${error.message}`) : error;
  }
}

interface Input {
  readonly chunks: ByteChunks;
  /** Undefined when nobody knows before the end. */
  readonly bytes: number | undefined;
  bytesRead(): number;
}

function openInput(io: Io, file: string): Input {
  const source = file === "-" ? io.input() : readable(file).stream();
  const size = file === "-" ? 0 : statSync(file).size;
  let bytesRead = 0;
  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const chunk of source) {
      bytesRead += chunk.length;
      yield chunk;
    }
  }
  return { chunks: counted(), bytes: size === 0 ? undefined : size, bytesRead: () => bytesRead };
}

/** A file that can be read, pipes under a name (`<(...)`) included. */
function readable(path: string): ReturnType<typeof Bun.file> {
  let problem: string | undefined;
  try {
    if (statSync(path).isDirectory()) problem = "it is a folder";
  } catch (error) {
    problem = reasonOf(error);
  }
  if (problem === undefined) return Bun.file(path);
  throw new UsageError(
    `${path} cannot be read: ${problem}.`,
    "Name a file, or - for standard input.",
  );
}
