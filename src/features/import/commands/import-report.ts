import { closeSync, openSync, statSync, writeSync } from "node:fs";
import { AppError, shellWord } from "../../../domain/errors.ts";
import { jsonText } from "../../../domain/exact-json.ts";
import { reasonNotMade } from "../../../domain/system-error.ts";
import type { Rejection } from "../candidate.ts";
import type { ImportSummary } from "../import.ts";
import { json, type Static } from "../../../cli/json.ts";
import { counted, grouped } from "../../../cli/terminal/text.ts";
import { UsageError } from "../../../cli/errors.ts";
import { meanings, wordKey } from "../formats/statuses.ts";
import { messageText } from "../messages.ts";

/** Characters that are kept before they are written to the file. */
const pendingMax = 65_536;

/** The file to which rejected records go, if there is one. */
export class Rejects {
  readonly path: string | undefined;
  #descriptor: number | undefined;
  #pending = "";

  private constructor(path: string | undefined, descriptor: number | undefined) {
    this.path = path;
    this.#descriptor = descriptor;
  }

  /** Opens the file, empty. Throws UsageError for one with content, `unavailable` on failure. */
  static open(path: string | undefined, overwrites: boolean): Rejects {
    if (path === undefined) return new Rejects(path, undefined);
    if (!overwrites && hasContent(path)) {
      throw new UsageError(
        `The file of rejects ${path} exists.`,
        "Name another file, or overwrite it with --force.",
      );
    }
    try {
      // Before all has been read, when it would be late to learn that its folder is missing. No
      // folder is made; a misspelt one would be too.
      return new Rejects(path, openSync(path, "w", 0o600));
    } catch (error) {
      const hint = "Name a file in a folder that this user can write to.";
      throw unwritable(path, error, hint);
    }
  }

  /** Throws `unavailable` when the file cannot be written on. */
  add({ line, field, problem, record }: Rejection): void {
    if (this.#descriptor === undefined) return;
    this.#pending += `${jsonText({ line, field, problem: messageText(problem), record })}\n`;
    if (this.#pending.length > pendingMax) this.#flush(this.#descriptor);
  }

  /** All of them are in the file when it returns; throws `unavailable` when they cannot be. */
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
      throw unwritable(this.path, error, "Name a file on another disk.");
    }
    this.#pending = "";
  }

  /** Keeps what it has of an import that failed, whatever is wrong with the file. */
  [Symbol.dispose](): void {
    try {
      this.end();
    } catch {
      // The error on its way says more.
    }
  }
}

/**
 * True for a file that overwriting would lose; one of an import without bad records is empty. Why
 * something cannot be a file is said by the attempt to open it.
 */
function hasContent(path: string): boolean {
  try {
    const found = statSync(path);
    return found.isFile() && found.size > 0;
  } catch {
    return false;
  }
}

function unwritable(path: string | undefined, error: unknown, hint: string): AppError {
  const why = reasonNotMade(error);
  const message = `The file of rejects ${path} cannot be written: ${why}.`;
  return new AppError("unavailable", message, { cause: error, hint });
}

const cause = json.object({
  field: json.text("field at fault; empty for the record as a whole"),
  problem: json.text("what is wrong, in the words of the first of them"),
  records: json.count("how many records"),
  lines: json.list(json.count("one of the first lines")),
});
const note = json.object({
  text: json.text("what to know about some records that are taken"),
  records: json.count("how many records"),
  firstLine: json.count("line of the first of them"),
  example: json.text("its value"),
});

export const importSchema = json.object({
  format: json.text("format that the input was read as"),
  shape: json.oneOf(["json", "ndjson", "csv", "xlsx"] as const, "how its records are laid out"),
  source: json.text("whose ids its animals have; empty when nobody said"),
  dryRun: json.flag("true with --dry-run"),
  applied: json.flag(
    "false when nothing was changed: a dry run, or bad records without --skip-bad, or nothing but bad records",
  ),
  read: json.count("records read"),
  added: json.count("animals added, or that would be"),
  updated: json.count("animals changed, or that would be"),
  unchanged: json.count("animals that were the same already"),
  withdrawn: json.count("animals taken out because they are gone, or that would be"),
  missing: json.count("those of them that the source's whole list does not have (--complete)"),
  superseded: json.count("older records of animals that have a newer one in the input"),
  rejected: json.count("bad records"),
  causes: json.list(cause),
  skipped: json.count("sound records of animals that are not for adoption"),
  skippedReasons: json.list(
    json.object({ reason: json.text("why"), records: json.count("how many of them") }),
  ),
  notes: json.list(note),
  categoriesAdded: json.list(
    json.object({ id: json.int64("new id"), name: json.text("name of the category") }),
  ),
});

/** The summary as `--json` prints it. */
export function importedJson(summary: ImportSummary): Static<typeof importSchema> {
  const { format, shape, source, dryRun, applied, read, added, updated, unchanged } = summary;
  const { withdrawn, missing, superseded, skipped, rejected, causes, notes } = summary;
  const counts = { read, added, updated, unchanged, withdrawn, missing, superseded, rejected };
  return {
    format,
    shape,
    source,
    dryRun,
    applied,
    ...counts,
    causes: causes.map(({ field, problem, records, lines }) => {
      return { field, problem: messageText(problem), records, lines: [...lines] };
    }),
    skipped: skipped.reduce((sum, { records }) => sum + records, 0),
    skippedReasons: skipped.map(({ reason, records }) => ({ reason, records })),
    notes: notes.map(({ said, ...each }) => ({ text: messageText(said), ...each })),
    categoriesAdded: summary.categoriesAdded.map(({ id, name }) => ({ id, name })),
  };
}

/** The summary for a person. */
export function importedText(summary: ImportSummary): string {
  const { format, shape, applied, read, added, updated, unchanged } = summary;
  const { superseded, skipped, rejected, categoriesAdded, notes, withdrawn, missing } = summary;
  const would = applied ? "" : "would be ";
  const rows: (readonly [number, string])[] = [
    [added, `${would}added`],
    [updated, `${would}updated`],
    [unchanged, "unchanged"],
  ];
  if (withdrawn > 0) rows.push([withdrawn, `${would}withdrawn${missingWords(missing)}`]);
  if (superseded > 0) rows.push([superseded, "older records of animals that have a newer one"]);
  for (const { reason, records } of skipped) rows.push([records, `not for adoption: ${reason}`]);
  if (rejected > 0) rows.push([rejected, "bad"]);
  const width = Math.max(...rows.map(([count]) => grouped(count).length));
  const lines = rows.map(([count, what]) => `  ${grouped(count).padStart(width)}  ${what}\n`);
  for (const { id, name } of categoriesAdded) {
    lines.push(`Category ${name} ${applied ? "is" : "would be"} ${id}.\n`);
  }
  for (const { said, records, firstLine, example } of notes) {
    const first = firstLine === 0 ? "" : `, first on line ${firstLine}: ${example}`;
    lines.push(`Note: ${messageText(said)} (${grouped(records)}${first}).\n`);
  }
  return `Read ${counted(read, "record")} (${format}, ${shape}).\n${lines.join("")}`;
}

function missingWords(missing: number): string {
  return missing === 0 ? "" : `, ${grouped(missing)} of them not in the whole list`;
}

/** Causes that are shown to a person beside all the unknown words; `--json` has more. */
const causesMax = 20;

/** What is wrong with the rejected records, a line for each cause, and where all of them are. */
export function causesText({ causes }: ImportSummary, rejects: Rejects): string {
  const others = causes.filter(({ unknownStatus }) => unknownStatus === undefined);
  const left = new Set(others.slice(causesMax));
  const shown = causes.filter((each) => !left.has(each));
  const width = Math.max(...shown.map(({ records }) => grouped(records).length));
  const lines = shown.map(({ field, problem, records, lines: [...at] }) => {
    const where = `line${at.length > 1 ? "s" : ""} ${at.join(", ")}${records > at.length ? ", ..." : ""}`;
    const text = messageText(problem);
    const what = field === "" ? text : `${field}: ${text}`;
    return `  ${grouped(records).padStart(width)}  ${what} (${where})\n`;
  });
  if (left.size > 0) lines.push(`  and ${grouped(left.size)} more causes\n`);
  if (rejects.path !== undefined) lines.push(`  All of them are in ${rejects.path}.\n`);
  return lines.join("");
}

/** Why nothing was changed. */
export function refusedText(summary: ImportSummary, rejects: Rejects): string {
  const { rejected, read, dryRun } = summary;
  const consequence = dryRun ? "nothing would be changed" : "nothing was changed";
  return `${grouped(rejected)} of ${grouped(read)} records cannot be imported, so ${consequence}.
${causesText(summary, rejects)}Try: ${remedies(summary).join(" ")}`;
}

function remedies({ causes }: ImportSummary): string[] {
  const unknown = causes
    .flatMap(({ unknownStatus }) => unknownStatus ?? [])
    // Without letters it is nothing that --status could name; quotes and line ends do not count.
    .filter((word) => wordKey(word) !== "")
    .map((word) => word.replaceAll(/["\s]+/g, " ").trim());
  const all = [];
  if (unknown.length > 0) {
    const pairs = unknown.map((word) => `${/[,=]/.test(word) ? `"${word}"` : word}=gone`);
    const words = `Say what the statuses mean (${meanings.join(", ")})`;
    all.push(`${words}, such as --status ${shellWord(pairs.join(","))}.`);
  }
  if (causes.some(({ unknownCategory }) => unknownCategory)) {
    all.push("Add --create-categories for new ids or --categories FILE for given ones.");
  }
  all.push("Fix the records, or import the rest with --skip-bad.");
  return all;
}
