import { type Command, Option } from "commander";
import { UsageError } from "../../../cli/errors.ts";
import { petStatuses } from "../../../domain/pet.ts";
import { mappedFormat, parseFieldMap } from "../formats/field-map.ts";
import type { Format } from "../formats/format.ts";
import { formatNamed, formats } from "../formats/index.ts";
import { parseStatusWords, Statuses } from "../formats/statuses.ts";
import { isEncoding } from "../read/open.ts";
import type { ReadOptions } from "../reading.ts";

/** The options that say how an input is to be read. */
export interface ReadingOptions {
  readonly format: string;
  readonly map?: string;
  readonly source?: string;
  readonly status?: readonly string[];
  readonly defaultStatus?: DefaultStatus;
  readonly encoding?: string;
  readonly sheet?: string;
  readonly records?: string;
}

const automatic = "auto";
const defaultStatuses = [...petStatuses, "none"] as const;
type DefaultStatus = (typeof defaultStatuses)[number];

export function addReadOptions(command: Command): Command {
  return command
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
    .option("--encoding <name>", "encoding of text that is neither UTF-8 nor marked UTF-16")
    .option("--sheet <name>", "sheet of a workbook; the first if not given")
    .option("--records <path>", "fields that lead to the list within JSON, with dots: result.pets");
}

/** How the input is to be read. Throws UsageError for options that cannot be understood. */
export function readOptions(options: ReadingOptions): ReadOptions {
  const { source, status = [], defaultStatus, encoding, sheet, records } = options;
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
    statuses: new Statuses(parseStatusWords(status), defaultStatus),
    encoding,
    sheet,
    records: records?.split("."),
  };
}

function formatOf({ format, map }: ReadingOptions): Format | undefined {
  if (map === undefined) return formatNamed(format);
  if (format !== automatic) {
    throw new UsageError("--format and --map exclude each other.", "Leave one of them out.");
  }
  return mappedFormat(parseFieldMap(map));
}
