import { existsSync, writeFileSync } from "node:fs";
import { UsageError } from "../../usage-error.ts";
import { AppError } from "../../../domain/errors.ts";
import { jsonText } from "../../../domain/exact-json.ts";
import { reasonNotMade } from "../../../domain/system-error.ts";
import { messageText } from "../messages.ts";
import { limits } from "../read/input.ts";
import type { Rejection } from "../understand/record.ts";

/** A bad record is written down with its columns' names and the reason. */
const sharePerByte = 8;
const bytesMin = 1024 * 1024;

/** Before all has been read, when it would be late to learn it. Throws UsageError. */
export function refuseExisting(path: string | undefined): void {
  if (path === undefined || !existsSync(path)) return;
  throw new UsageError(`The file of rejects ${path} exists.`, "Name another file with --rejects.");
}

/**
 * Writes the rejections of an input of so many bytes to a new file, of a fitting size whatever the
 * input. Returns how many. Throws `unavailable` when it cannot be made.
 */
export function writeRejects(
  path: string | undefined,
  rejections: readonly Rejection[],
  inputBytes: number,
): number {
  if (path === undefined || rejections.length === 0) return 0;
  let left = Math.min(limits.bytes, Math.max(bytesMin, sharePerByte * inputBytes));
  const lines: string[] = [];
  for (const { line, field, problem, record } of rejections) {
    const said = `${jsonText({ line, field, problem: messageText(problem), record })}\n`;
    left -= Buffer.byteLength(said);
    if (left < 0) break;
    lines.push(said);
  }
  try {
    writeFileSync(path, lines.join(""), { flag: "wx", mode: 0o600 });
  } catch (error) {
    const why = reasonNotMade(error);
    const message = `The file of rejects ${path} cannot be written: ${why}.`;
    const hint = "Name a new file in a folder that this user can write to.";
    throw new AppError("unavailable", message, { cause: error, hint });
  }
  return lines.length;
}
