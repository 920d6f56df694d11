import { closeSync, openSync, writeSync } from "node:fs";
import { AppError } from "../../../domain/errors.ts";
import { jsonText } from "../../../domain/exact-json.ts";
import { reasonNotMade } from "../../../domain/system-error.ts";
import type { Rejection } from "../candidate.ts";
import type { ImportSummary } from "../import.ts";
import { json, type Static } from "../../../cli/json.ts";
import { counted, grouped } from "../../../cli/terminal/text.ts";

/** Rejections that are shown to a person; a file holds them all. */
const shownMax = 10;

/** Characters that are kept before they are written to the file. */
const pendingMax = 65_536;

/** What becomes of records that are rejected: the first are remembered to be shown, all go to the file if there is one. */
export class Rejects {
  readonly #path: string | undefined;
  #descriptor: number | undefined;
  #pending = "";
  readonly #first: Rejection[] = [];
  #count = 0;
  /** True when ids for names of categories would let some of them in. */
  hasUnknownCategory = false;

  private constructor(path: string | undefined, descriptor: number | undefined) {
    this.#path = path;
    this.#descriptor = descriptor;
  }

  /** Opens the file, empty. Throws `unavailable` when it cannot be written. */
  static open(path: string | undefined): Rejects {
    if (path === undefined) return new Rejects(path, undefined);
    try {
      // Before all has been read, when it would be late to learn that its folder is missing. No folder is made; a misspelt
      // one would be too.
      return new Rejects(path, openSync(path, "w", 0o600));
    } catch (error) {
      const hint = "Name a file in a folder that this user may write to.";
      throw unwritable(path, error, hint);
    }
  }

  /** Throws `unavailable` when the file cannot be written on. */
  add(rejection: Rejection): void {
    this.#count += 1;
    if (rejection.unknownCategory) this.hasUnknownCategory = true;
    if (this.#first.length < shownMax) this.#first.push(rejection);
    if (this.#descriptor === undefined) return;
    const { line, field, problem, record } = rejection;
    this.#pending += `${jsonText({ line, field, problem, record })}\n`;
    if (this.#pending.length > pendingMax) this.#flush(this.#descriptor);
  }

  /** All of them are in the file when it returns; throws `unavailable` where they cannot be. */
  end(): void {
    const descriptor = this.#descriptor;
    if (descriptor === undefined) return;
    this.#flush(descriptor);
    this.#descriptor = undefined;
    closeSync(descriptor);
  }

  /** By hand: Bun's FileSink loses the error of a write that it begins by itself. */
  #flush(descriptor: number): void {
    const bytes = Buffer.from(this.#pending);
    try {
      for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes, at);
    } catch (error) {
      throw unwritable(this.#path, error, "Name a file on another disk.");
    }
    this.#pending = "";
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

  /** Keeps what it has of an import that failed; what is wrong with the file then matters less than why. */
  [Symbol.dispose](): void {
    try {
      this.end();
    } catch {
      // The error on its way says more.
    }
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
