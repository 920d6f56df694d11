import { closeSync, constants, openSync, statSync, type Stats, writeSync } from "node:fs";
import { dirname } from "node:path";
import { UsageError } from "../../usage-error.ts";
import { AppError } from "../../../domain/errors.ts";
import { jsonText } from "../../../domain/exact-json.ts";
import { reasonNotMade } from "../../../domain/system-error.ts";
import { messageText } from "../messages.ts";
import { limits } from "../read/input.ts";
import type { Rejection } from "../understand/record.ts";

const { O_CREAT, O_NOFOLLOW, O_TRUNC, O_WRONLY } = constants;

/** A bad record is written down with its columns' names and the reason. */
const sharePerByte = 8;
const bytesMin = 1024 * 1024;

/** Root follows no link in a folder where others can put one. */
function writeFlags(path: string): number {
  const folder =
    process.geteuid?.() === 0 ? statSync(dirname(path), { throwIfNoEntry: false }) : undefined;
  const othersMayLink = folder !== undefined && (folder.uid !== 0 || (folder.mode & 0o022) !== 0);
  return O_WRONLY | O_CREAT | O_TRUNC | (othersMayLink ? O_NOFOLLOW : 0);
}

/** The file to which rejected records go, if there is one. */
export class Rejects {
  readonly path: string | undefined;
  readonly #descriptor: number | undefined;

  private constructor(path: string | undefined, descriptor: number | undefined) {
    this.path = path;
    this.#descriptor = descriptor;
  }

  /** Opens the file, empty. Throws UsageError for one with content, `unavailable` on failure. */
  static open(path: string | undefined, overwrites: boolean): Rejects {
    if (path === undefined) return new Rejects(path, undefined);
    // One of an import without bad records is empty.
    if (!overwrites && (fileAt(path)?.size ?? 0) > 0) {
      throw new UsageError(
        `The file of rejects ${path} exists.`,
        "Name another file, or overwrite it with --force.",
      );
    }
    try {
      // Before all has been read, when it would be late to learn that its folder is missing. No
      // folder is made; a misspelt one would be too.
      return new Rejects(path, openSync(path, writeFlags(path), 0o600));
    } catch (error) {
      throw unwritable(path, error, "Name a file in a folder that this user can write to.");
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
    try {
      for (const { line, field, problem, record } of rejections) {
        const said = { line, field, problem: messageText(problem), record };
        const bytes = Buffer.from(`${jsonText(said)}\n`);
        left -= bytes.length;
        if (left < 0) break;
        // By hand: Bun's FileSink loses the error of a write that it begins by itself.
        for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes, at);
        count += 1;
      }
    } catch (error) {
      throw unwritable(this.path, error, "Name a file on another disk.");
    }
    return count;
  }

  [Symbol.dispose](): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
  }
}

/** Throws when the file of rejects, which is emptied at first, is the one that is read. */
export function refuseAsRejects(rejects: string | undefined, input: string) {
  const [found, read] = [fileAt(rejects), fileAt(input)];
  if (found === undefined || found.ino !== read?.ino || found.dev !== read.dev) return;
  throw new UsageError(
    `${rejects} is read by this import, and --rejects would empty it.`,
    "Name another file with --rejects.",
  );
}

/** The regular file of that name, if there is one. Opening it reports why it cannot be read. */
function fileAt(path: string | undefined): Stats | undefined {
  try {
    const found = path === undefined ? undefined : statSync(path, { throwIfNoEntry: false });
    return found?.isFile() === true ? found : undefined;
  } catch {
    return undefined;
  }
}

function unwritable(path: string | undefined, error: unknown, hint: string): AppError {
  const why = reasonNotMade(error);
  const message = `The file of rejects ${path} cannot be written: ${why}.`;
  return new AppError("unavailable", message, { cause: error, hint });
}
