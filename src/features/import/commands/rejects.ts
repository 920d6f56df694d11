import { closeSync, constants, openSync, statSync, writeSync } from "node:fs";
import { UsageError } from "../../../cli/errors.ts";
import { AppError } from "../../../domain/errors.ts";
import { jsonText } from "../../../domain/exact-json.ts";
import { reasonNotMade } from "../../../domain/system-error.ts";
import { writeFlags } from "../../../storage/sqlite/folder.ts";
import { messageText } from "../messages.ts";
import { limits } from "../read/input.ts";
import type { Rejection } from "../understand/record.ts";

const { O_CREAT, O_TRUNC, O_WRONLY } = constants;

/** Characters that are kept before they are written to the file. */
const pendingMax = 65_536;
/** A bad record is written down with its columns' names and the reason. */
const sharePerByte = 8;
const bytesMin = 1024 * 1024;

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
      return new Rejects(
        path,
        openSync(path, writeFlags(path, O_WRONLY | O_CREAT | O_TRUNC), 0o600),
      );
    } catch (error) {
      const hint = "Name a file in a folder that this user can write to.";
      throw unwritable(path, error, hint);
    }
  }

  /**
   * Writes rejections of an input of so many bytes: a file of a fitting size, whatever the input.
   * Returns how many. Throws `unavailable` when they cannot be written.
   */
  write(rejections: readonly Rejection[], inputBytes: number): number {
    const descriptor = this.#descriptor;
    if (descriptor === undefined) return 0;
    let left = Math.min(limits.bytes, Math.max(bytesMin, sharePerByte * inputBytes));
    let count = 0;
    for (const { line, field, problem, record } of rejections) {
      const text = `${jsonText({ line, field, problem: messageText(problem), record })}\n`;
      left -= Buffer.byteLength(text);
      if (left < 0) break;
      count += 1;
      this.#pending += text;
      if (this.#pending.length > pendingMax) this.#flush(descriptor);
    }
    this.#flush(descriptor);
    return count;
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

  [Symbol.dispose](): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
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
