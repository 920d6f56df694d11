import { accessSync, constants, statSync, type Stats } from "node:fs";
import { UsageError } from "../../../cli/errors.ts";
import type { Io } from "../../../cli/io.ts";
import { AppError } from "../../../domain/errors.ts";
import { reasonOf } from "../../../domain/system-error.ts";
import type { ByteChunks } from "../read/input.ts";
import { counted } from "../read/peek.ts";

/** What is imported, and how much of it was read. */
export interface Input {
  readonly chunks: ByteChunks;
  /** Undefined if unknown before the end. */
  readonly bytes: number | undefined;
  bytesRead(): number;
}

/** Opens a file, or standard input for `-`. Throws UsageError when it cannot be read. */
export function openInput(io: Io, file: string): Input {
  const source = file === "-" ? io.input() : readable(file).stream();
  const size = file === "-" ? 0 : statSync(file).size;
  const name = file === "-" ? "Standard input" : file;
  const { portions, bytesRead } = counted(readOn(name, source));
  return { chunks: portions, bytes: size === 0 ? undefined : size, bytesRead };
}

/** The bytes of `source`. Throws AppError in words when they cannot be read to the end. */
async function* readOn(name: string, source: ByteChunks): AsyncGenerator<Uint8Array> {
  try {
    yield* source;
  } catch (error) {
    throw new AppError("unavailable", `${name} cannot be read on: ${reasonOf(error)}.`, {
      cause: error,
      hint: "Copy the file to the disk of this machine. Nothing was changed.",
    });
  }
}

/** A file that can be read, pipes under a name (`<(...)`) included. */
export function readable(path: string): ReturnType<typeof Bun.file> {
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

/** Throws when the file of rejects, which is emptied at first, is one of those that are read. */
export function refuseAsRejects(
  rejects: string | undefined,
  inputs: readonly (string | undefined)[],
) {
  const found = fileAt(rejects);
  if (found === undefined) return;
  const isRead = inputs.map(fileAt).some((at) => at?.ino === found.ino && at.dev === found.dev);
  if (!isRead) return;
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
