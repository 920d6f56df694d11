import { accessSync, chmodSync, constants } from "node:fs";
import { AppError } from "../../domain/errors.ts";

/** Throws `unavailable` in words when this user may not write to `file`: SQLite would open it all the same, to read. */
export function requireWritable(file: string): void {
  try {
    accessSync(file, constants.R_OK | constants.W_OK);
  } catch (error) {
    throw new AppError("unavailable", `${file} cannot be written to.`, {
      cause: error,
      hint: "Give the file to the user that runs rehome, and mount its disk for writing.",
    });
  }
}

/** Leaves `file` to its owner alone. One that belongs to somebody else is theirs to protect. */
export function keepPrivate(file: string): void {
  try {
    chmodSync(file, 0o600);
  } catch (error) {
    if ((error as { code?: string }).code !== "EPERM") throw error;
  }
}
