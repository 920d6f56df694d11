import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  statfsSync,
  statSync,
} from "node:fs";
import { dirname, resolve } from "node:path";
import { AppError } from "../../domain/errors.ts";
import { reasonNotMade } from "../../domain/system-error.ts";

/** File systems (statfs(2), linux/magic.h) where SQLite's locks or shared memory do not hold. */
const networkFileSystems: ReadonlyMap<number, string> = new Map([
  [0x6969, "NFS"],
  [0x51_7b, "SMB"],
  [0xff_53_4d_42, "CIFS"],
  [0xfe_53_4d_42, "SMB2"],
  [0x56_4c, "NCP"],
  [0x53_46_41_4f, "AFS"],
  [0x6b_41_46_53, "AFS"],
  [0x73_75_72_01, "Coda"],
  [0x01_02_19_97, "9p"],
  [0x00_c3_64_00, "Ceph"],
  [0x0b_d0_0b_d0, "Lustre"],
  [0x47_50_46_53, "GPFS"],
  [0x74_61_63_6f, "OCFS2"],
  [0x01_16_19_70, "GFS2"],
]);

/** Makes the data folder for its user alone. Throws `unavailable` when it cannot be worked in. */
export function prepareFolder(folder: string): void {
  requireFolder(folder);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw unusable(folder, error);
  }
  refuseNetwork(folder, statfsSync(folder).type);
}

/**
 * Throws `unavailable` when this process may not work in the folder or, where it is missing, in the
 * nearest one above it.
 */
export function requireFolder(folder: string, access = constants.W_OK | constants.X_OK): void {
  let at = resolve(folder);
  while (!existsSync(at) && at !== dirname(at)) at = dirname(at);
  try {
    accessSync(`${at}/`, access);
  } catch (error) {
    throw unusable(folder, error);
  }
}

const remedies: Readonly<Record<string, string>> = {
  EACCES: "Run rehome as the owner of that folder",
  EPERM: "Run rehome as the owner of that folder",
  EROFS: "Mount its disk for writing",
  ENOSPC: "Free some space",
};

function unusable(folder: string, error: unknown): AppError {
  const { code } = error as NodeJS.ErrnoException;
  const why = code === "EEXIST" ? "it is a link that leads nowhere" : reasonNotMade(error);
  const message = `The data folder ${folder} cannot be used: ${why}.`;
  const remedy = remedies[code ?? ""];
  const choose = remedy === undefined ? "Choose" : `${remedy}, or choose`;
  const hint = `${choose} another folder with --data.`;
  return new AppError("unavailable", message, { cause: error, hint });
}

/** Throws when `type`, the kind of file system that holds `folder`, is one of a network. */
export function refuseNetwork(folder: string, type: number): void {
  // The C library gives the kind as a signed number on some machines.
  const name = networkFileSystems.get(type >>> 0);
  if (name === undefined) return;
  throw new AppError(
    "unavailable",
    `The data folder ${folder} is on a network file system (${name}), where SQLite's locks do not hold and data is lost.`,
    { hint: "Choose a folder on a disk of this machine with --data." },
  );
}

/** What SQLite keeps beside a database, under names of its own. */
const besides = ["", "-wal", "-shm", "-journal"];

/** Throws for a link, pipe or device in the place of a database, or of a file that SQLite adds. */
export function requirePlainFiles(databases: readonly string[]): void {
  for (const file of databases.flatMap((path) => besides.map((ending) => path + ending))) {
    if (lstatSync(file, { throwIfNoEntry: false })?.isFile() === false) throw notPlain(file);
  }
}

function notPlain(file: string): AppError {
  return new AppError("unavailable", `${file} is not a plain file.`, {
    hint: "Put the file itself in its place, with one name. To keep the data elsewhere, name that folder with --data.",
  });
}

/** Makes the file if it is missing, and keeps it to its user, as SQLite then does beside it. */
export function makePrivate(file: string): void {
  try {
    closeSync(openSync(file, "a", 0o600));
  } catch (error) {
    throw unusable(dirname(file), error);
  }
  if ((statSync(file).mode & 0o077) === 0) return;
  try {
    chmodSync(file, 0o600);
  } catch {
    // Some file systems have no permissions. What others can read, rehome doctor names.
  }
}

export function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}
