import { openSync } from "node:fs";
import type { FileSink } from "bun";
import { AppError } from "../../domain/errors.ts";
import { jsonText } from "../../domain/exact-json.ts";
import { reasonNotMade } from "../../domain/system-error.ts";
import { quietly } from "../../service/closing.ts";
import type { Rejection } from "../../service/catalogue/candidate.ts";
import type { ImportSummary } from "../../service/catalogue/import.ts";
import { json, type Static } from "../json.ts";
import { counted, grouped } from "../terminal/text.ts";

/** Rejections that are shown to a person; a file holds them all. */
const shownMax = 10;

/** What becomes of records that are rejected: the first are remembered to be shown, all go to the file if there is one. */
export class Rejects {
  readonly #file: FileSink | undefined;
  readonly #path: string | undefined;
  readonly #first: Rejection[] = [];
  #count = 0;
  /** True when ids for names of categories would let some of them in. */
  hasUnknownCategory = false;

  private constructor(path: string | undefined, file: FileSink | undefined) {
    this.#path = path;
    this.#file = file;
  }

  /** Opens the file, empty. Throws `unavailable` when it cannot be written. */
  static open(path: string | undefined): Rejects {
    if (path === undefined) return new Rejects(path, undefined);
    try {
      // A sink that is given a path opens it at the first rejection, readable for everybody: after all has been read it
      // would be late to learn that its folder is missing. No folder is made; a misspelt one would be too. The sink does
      // not own a descriptor that it is given, so this one stays open until the process ends, right after the import.
      return new Rejects(path, Bun.file(openSync(path, "w", 0o600)).writer());
    } catch (error) {
      const hint = "Name a file in a folder that this user may write to.";
      throw unwritable(path, error, hint);
    }
  }

  async add(rejection: Rejection): Promise<void> {
    this.#count += 1;
    if (rejection.unknownCategory) this.hasUnknownCategory = true;
    if (this.#first.length < shownMax) this.#first.push(rejection);
    const { line, field, problem, record } = rejection;
    const text = `${jsonText({ line, field, problem, record })}\n`;
    await this.#written((file) => file.write(text));
  }

  /** Returns once all of them are in the file; throws `unavailable` where they are not. */
  async end(): Promise<void> {
    await this.#written((file) => file.end());
  }

  async #written(write: (file: FileSink) => number | Promise<number>): Promise<void> {
    if (this.#file === undefined) return;
    try {
      await write(this.#file);
    } catch (error) {
      throw unwritable(this.#path, error, "Name a file on another disk.");
    }
  }

  /** The first of them, a line each, and where the others are. */
  text(): string {
    const lines = this.#first.map(
      ({ line, field, problem }) =>
        `  line ${line}: ${field === "" ? "" : `${field}: `}${problem}\n`,
    );
    const more = this.#count - this.#first.length;
    if (this.#path !== undefined) lines.push(`  All of them are in ${this.#path}.\n`);
    else if (more > 0) lines.push(`  and ${grouped(more)} more; --rejects FILE keeps them all\n`);
    return lines.join("");
  }

  /** After an import that was to be heard of, `end` has told already; on one that failed, its own error says more. */
  async [Symbol.asyncDispose](): Promise<void> {
    await quietly(() => this.#file?.end());
  }
}

function unwritable(path: string | undefined, error: unknown, hint: string): AppError {
  const why = reasonNotMade(error);
  const message = `The file of rejects ${path} cannot be written: ${why}.`;
  return new AppError("unavailable", message, { cause: error, hint });
}

export const importSchema = json.object({
  format: json.text("format that the input was read as"),
  shape: json.oneOf(["json", "ndjson", "csv"] as const, "how its records are laid out"),
  dryRun: json.flag("true with --dry-run"),
  applied: json.flag(
    "false when nothing was changed: a dry run, or bad records without --skip-bad",
  ),
  read: json.count("records read"),
  added: json.count("animals added, or that would be"),
  updated: json.count("animals changed, or that would be"),
  unchanged: json.count("animals that were the same already"),
  superseded: json.count("older records of animals that have a newer one in the input"),
  rejected: json.count("bad records"),
  skipped: json.count("sound records that are no animals for the catalogue"),
  skippedReasons: json.list(
    json.object({ reason: json.text("why"), records: json.count("how many of them") }),
  ),
  categoriesAdded: json.list(
    json.object({ id: json.int64("new id"), name: json.text("name of the category") }),
  ),
});

/** The summary as `--json` prints it. */
export function importedJson(summary: ImportSummary): Static<typeof importSchema> {
  const { format, shape, dryRun, applied, read, added, updated, unchanged } = summary;
  const { superseded, skipped, rejected, categoriesAdded } = summary;
  const counts = { read, added, updated, unchanged, superseded, rejected };
  return {
    format,
    shape,
    dryRun,
    applied,
    ...counts,
    skipped: skipped.reduce((sum, { records }) => sum + records, 0),
    skippedReasons: skipped.map(({ reason, records }) => ({ reason, records })),
    categoriesAdded: categoriesAdded.map(({ id, name }) => ({ id, name })),
  };
}

/** The summary for a person. */
export function importedText(summary: ImportSummary): string {
  const { format, shape, applied, read, added, updated, unchanged } = summary;
  const { superseded, skipped, rejected, categoriesAdded } = summary;
  const would = applied ? "" : "would be ";
  const rows: (readonly [number, string])[] = [
    [added, `${would}added`],
    [updated, `${would}updated`],
    [unchanged, "unchanged"],
  ];
  if (superseded > 0) rows.push([superseded, "older records of animals that have a newer one"]);
  for (const { reason, records } of skipped) rows.push([records, `skipped: ${reason}`]);
  if (rejected > 0) rows.push([rejected, "bad"]);
  const width = Math.max(...rows.map(([count]) => grouped(count).length));
  const lines = rows.map(([count, what]) => `  ${grouped(count).padStart(width)}  ${what}\n`);
  for (const { id, name } of categoriesAdded) {
    lines.push(`Category ${name} ${applied ? "is" : "would be"} ${id}.\n`);
  }
  return `Read ${counted(read, "record")} (${format}, ${shape}).\n${lines.join("")}`;
}

/** Why nothing was changed. */
export function refusedText(summary: ImportSummary, rejects: Rejects): string {
  const { rejected, read, dryRun } = summary;
  const consequence = dryRun ? "nothing would be changed" : "nothing was changed";
  const remedy = rejects.hasUnknownCategory
    ? "Add --create-categories for new ids or --categories FILE for given ones, mend"
    : "Mend";
  return `${grouped(rejected)} of ${grouped(read)} records cannot be taken over, so ${consequence}.
${rejects.text()}Try: ${remedy} the records, or take the rest over with --skip-bad.`;
}
