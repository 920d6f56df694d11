import { accessSync, constants, statSync } from "node:fs";
import { type Command, Option } from "commander";
import { UsageError } from "../../usage-error.ts";
import type { Io } from "../../../cli/io.ts";
import { AppError } from "../../../domain/errors.ts";
import { reasonOf } from "../../../domain/system-error.ts";
import { type ByteChunks, isEncoding, UnreadableInput, wholeInput } from "../read/input.ts";
import { stepsOf } from "../read/read.ts";
import { parseFieldMap } from "../understand/columns.ts";
import { layouts } from "../understand/layouts.ts";
import type { Given } from "../understand/propose.ts";
import { parseStatusWords } from "../understand/words.ts";
import { type Meaning, meanings } from "../understand/words.ts";

export interface ReadingOptions {
  readonly format: string;
  readonly map?: string;
  readonly category?: string;
  readonly source?: string;
  readonly status?: readonly string[];
  readonly defaultStatus?: Meaning;
  readonly encoding?: string;
  readonly sheet?: string;
  readonly records?: string;
  readonly dayFirst?: true;
  readonly monthFirst?: true;
  readonly believe?: readonly string[];
  readonly ignore?: readonly string[];
}

const automatic = "auto";

export function addReadOptions(command: Command): Command {
  return command
    .addOption(
      new Option("--format <format>", "what the file is; found out by itself if not given")
        .choices([automatic, ...layouts.map(({ name }) => name)])
        .default(automatic),
    )
    .option(
      "--map <pairs>",
      "columns or fields: name=A,categoryId=B,status=C,externalId=D,updatedAt=E; the rest is guessed",
    )
    .option("--category <name>", "the category of all animals in the file, where no column has it")
    .option("--source <name>", "whose ids these are; equal ids of two sources are two animals")
    .option(
      "--status <pairs>",
      "what words mean that are not known: WORD=available|pending|sold|none|gone (repeatable)",
      more,
    )
    .addOption(
      new Option("--default-status <status>", "for animals without one in the file").choices(
        meanings,
      ),
    )
    .option("--day-first", "4/3/2026 is in March; found out if a date can only be read so")
    .option("--month-first", "4/3/2026 is in April")
    .option(
      "--believe <column>",
      "a column by which more than half of the available are not (repeatable)",
      more,
    )
    .option(
      "--ignore <column>",
      "a column that says nothing of whether animals are available (repeatable)",
      more,
    )
    .option("--encoding <name>", "encoding of text, such as big5; found out if it is a usual one")
    .option("--sheet <name>", "sheet of a workbook; the one with a list if not given")
    .option("--records <path>", "fields that lead to the list within JSON, with dots: result.pets");
}

const more = (value: string, before: readonly string[] | undefined) => [...(before ?? []), value];

const help = "rehome pets import --help";

/** What is said of the input. Throws UsageError for options that cannot be understood. */
export function givenBy(options: ReadingOptions): Given {
  const { source, status = [], defaultStatus, encoding, sheet, records, map, format } = options;
  const columns = map === undefined ? undefined : parseFieldMap(map);
  const category = options.category?.trim();
  const refuse = (isWrong: boolean, problem: string, hint: string) => {
    if (isWrong) throw new UsageError(problem, hint);
  };
  refuse(
    encoding !== undefined && !isEncoding(encoding),
    `The encoding ${encoding} is not known.`,
    "Name one such as windows-1252, iso-8859-15 or utf-16le.",
  );
  refuse(
    source !== undefined && !/^[^\s:]{1,40}$/u.test(source),
    "--source expects a name of at most 40 characters without blanks and colons.",
    "Name the shelter or the program, such as --source clinic.",
  );
  const isTwice = columns !== undefined && format !== automatic;
  refuse(isTwice, "--format and --map exclude each other.", "Leave one of them out.");
  const isNamed = category === undefined || /\p{L}/u.test(category);
  refuse(!isNamed, "--category expects a name, such as Cat.", help);
  refuse(
    category !== undefined && columns?.categoryId !== undefined,
    "--category and categoryId in --map exclude each other.",
    "Leave one out.",
  );
  refuse(
    options.dayFirst === true && options.monthFirst === true,
    "--day-first and --month-first exclude each other.",
    "Leave one out.",
  );
  return {
    format: format === automatic ? undefined : format,
    columns,
    category,
    source,
    statuses: parseStatusWords(status),
    defaultStatus,
    encoding,
    sheet,
    records: records === undefined ? undefined : stepsOf(records),
    dayFirst: options.dayFirst ?? (options.monthFirst && false),
    believed: options.believe,
    ignored: options.ignore,
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

/** All bytes of a file, or of standard input for `-`. Throws UsageError when it cannot be read. */
export async function bytesOf(io: Io, file: string): Promise<Uint8Array> {
  const source: ByteChunks = file === "-" ? io.input() : readable(file).stream();
  try {
    return await wholeInput(source);
  } catch (error) {
    if (error instanceof UnreadableInput) throw error;
    const name = file === "-" ? "Standard input" : file;
    throw new AppError("unavailable", `${name} cannot be read on: ${reasonOf(error)}.`, {
      cause: error,
      hint: "Copy the file to the disk of this machine. Nothing was changed.",
    });
  }
}

/** A file that can be read, pipes under a name (`<(...)`) included. */
function readable(path: string): ReturnType<typeof Bun.file> {
  let problem: string | undefined;
  let cause: unknown;
  try {
    accessSync(path, constants.R_OK);
    const found = statSync(path);
    if (found.isDirectory()) problem = "it is a folder";
    if (found.isCharacterDevice() || found.isBlockDevice()) problem = "it is a device";
  } catch (error) {
    cause = error;
    problem = reasonOf(error);
  }
  if (problem === undefined) return Bun.file(path);
  throw new UsageError(
    `${path} cannot be read: ${problem}.`,
    "Name a file, or - for standard input.",
    cause,
  );
}
