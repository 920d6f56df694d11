import {
  accessSync,
  chmodSync,
  chownSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  statfsSync,
  statSync,
  type Stats,
} from "node:fs";
import { dirname, resolve } from "node:path";
import { AppError, shellWord } from "../../domain/errors.ts";
import { reasonOf } from "../../domain/system-error.ts";
import { userName } from "../system.ts";

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

/**
 * Makes the data folder for its user alone, or sees that the one there can be worked in. Throws
 * `unavailable` that says whose the folder is, who we are and what to do.
 */
export function prepareFolder(folder: string): void {
  if (!existsSync(folder)) makeFolder(folder);
  else if (!statSync(folder).isDirectory()) requireReachable(folder);
  else if (!mayWrite(folder)) {
    throw new AppError(
      "unavailable",
      `The data folder ${folder} cannot be written: it ${ownership(folder)}.`,
      { hint: folderRemedy(folder) },
    );
  }
  refuseNetwork(folder, statfsSync(folder).type);
}

/**
 * Throws when the folder or one above it is a file or a link to nothing, or this process may not
 * enter it: nothing in it can be seen.
 */
export function requireReachable(folder: string): void {
  refuseBrokenLink(folder);
  const at = existsSync(folder) ? folder : nearestFolder(folder);
  if (!statSync(at).isDirectory()) {
    const what = at === folder ? "" : ` cannot be reached: ${at}`;
    throw new AppError("unavailable", `The data folder ${folder}${what} is a file, not a folder.`, {
      hint: "Name another folder with --data.",
    });
  }
  if (obstacle(at, constants.X_OK) === undefined) return;
  throw new AppError(
    "unavailable",
    `The data folder ${folder} cannot be reached: ${at === folder ? "it" : at} ${ownership(at)}.`,
    {
      hint:
        at === folder
          ? folderRemedy(at)
          : "Choose another folder with --data, or run it as a user who can enter that one.",
    },
  );
}

/** Throws when the folder or one above it is a link to nothing, as to a disk not mounted. */
function refuseBrokenLink(folder: string): void {
  const link = lowest(folder, hasName);
  if (existsSync(link)) return;
  const at = link === resolve(folder) ? "it" : link;
  throw new AppError(
    "unavailable",
    `The data folder ${folder} cannot be reached: ${at} is a link to ${readlinkSync(link)}, which leads nowhere.`,
    { hint: "Mount the disk that it leads to, or choose another folder with --data." },
  );
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

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    if (/^E(?:NAMETOOLONG|NOSPC)$/.test((error as { code?: string }).code ?? "")) {
      throw notMade(folder, reasonOf(error), "Choose another folder with --data.", error);
    }
    requireReachable(folder);
    throw notOurs(folder, error);
  }
}

/** Throws for a missing folder that this user may not make, as to make it would. */
export function requireMakeable(folder: string): void {
  if (!mayWrite(nearestFolder(folder))) throw notOurs(folder);
}

function notOurs(folder: string, cause?: unknown): AppError {
  const parent = nearestFolder(folder);
  const hint = `Make it as root with: install -d -m 0700 -o ${ourOperand()} ${shellWord(folder)}; or choose another one with --data.`;
  return notMade(folder, `${parent} ${ownership(parent)}`, remedy(parent, hint), cause);
}

function notMade(folder: string, why: string, hint: string, cause: unknown): AppError {
  const message = `The data folder ${folder} is missing and cannot be made: ${why}.`;
  return new AppError("unavailable", message, { cause, hint });
}

/** True when this process is root and the folder another user's, such as the service's. */
function isRootElsewhere(folder: string): boolean {
  return process.geteuid?.() === 0 && statSync(folder).uid !== 0;
}

/**
 * Gives what root made in a service's folder to the service, which could not start with it
 * otherwise. Throws `unavailable` when it is not a plain file of one name.
 */
export function giveToOwner(file: string, folder: string): void {
  if (!isRootElsewhere(folder)) return;
  const { uid, gid } = statSync(folder);
  onPlainFile(file, folder, (path) => chownSync(path, uid, gid));
}

/**
 * Takes the file's permissions from everybody but its owner. Only the owner and root can; anybody
 * else leaves them. Throws `unavailable` when it is not a plain file, or root would change a file
 * of two names in another user's folder.
 */
export function closeToOthers(file: string, folder: string): void {
  onPlainFile(file, folder, (path, { mode, uid }) => {
    const may = [0, uid].includes(process.geteuid?.() ?? 0);
    if ((mode & 0o077) !== 0 && may) chmodSync(path, 0o600);
  });
}

/**
 * O_PATH (open(2)): the descriptor names the file and does not open it. A pipe then waits for
 * nobody, and to close the descriptor takes no lock from another connection of this process.
 */
const nameOnly = 0o10000000;

/**
 * Runs `work` on a path that stays that file, whatever the folder's owner puts in its place
 * meanwhile. Throws `unavailable` when it is not a plain file, or in another user's folder one of
 * two names.
 */
function onPlainFile(
  file: string,
  folder: string,
  work: (path: string, found: Stats) => void,
): void {
  const descriptor = openSync(file, nameOnly | constants.O_NOFOLLOW);
  try {
    const found = fstatSync(descriptor);
    if (!found.isFile() || (isRootElsewhere(folder) && found.nlink !== 1)) throw notPlain(file);
    work(`/proc/self/fd/${descriptor}`, found);
  } finally {
    closeSync(descriptor);
  }
}

/** Makes an empty file, unless another process was faster. */
export function makeFor(folder: string, file: string): void {
  closeSync(openSync(file, constants.O_CREAT | constants.O_WRONLY | constants.O_NOFOLLOW, 0o600));
  giveToOwner(file, folder);
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

function nearestFolder(path: string): string {
  return lowest(dirname(resolve(path)), existsSync);
}

/** True when something has this name, such as a link that leads nowhere. */
function hasName(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch {
    return false;
  }
}

/** The path, or the lowest folder above it, that `isThere` says is there. */
function lowest(path: string, isThere: (path: string) => boolean): string {
  let at = resolve(path);
  while (!isThere(at) && at !== dirname(at)) at = dirname(at);
  return at;
}

/** True when this process may write to the file or folder; false on a read-only file system too. */
export function mayWrite(path: string): boolean {
  return obstacle(path) === undefined;
}

/** The system's code for why this process may not do that, such as EACCES or EROFS. */
function obstacle(path: string, mode = constants.W_OK): string | undefined {
  try {
    accessSync(path, mode);
    return undefined;
  } catch (error) {
    return (error as { code?: string }).code ?? "unknown";
  }
}

/** What to do about a path that cannot be written: `otherwise`, unless no permission would help. */
function remedy(path: string, otherwise: string): string {
  return obstacle(path) === "EROFS"
    ? "Mount that file system with write access, or choose another folder with --data."
    : otherwise;
}

/**
 * What to do about a data folder that cannot be written. A folder of another account is most likely
 * the service's: to take it away from the service would stop it.
 */
export function folderRemedy(folder: string): string {
  const { uid } = statSync(folder);
  const another = "choose another folder with --data";
  if (uid === process.geteuid?.())
    return remedy(folder, `chmod u+rwx ${shellWord(folder)}; or ${another}.`);
  if (uid === 0) {
    const chown = `chown -R ${ourOperand()} ${shellWord(folder)}`;
    return remedy(folder, `If the folder is for rehome alone: ${chown}; otherwise ${another}.`);
  }
  // As sudo takes a user: one without a name by its number.
  const user = userName(uid).replace(/^uid (\d+)$/, "'#$1'");
  return remedy(folder, `Run it as the folder's user: sudo -u ${user} rehome ...; or ${another}.`);
}

/** What to do about a file that cannot be written: its folder has the right owner. */
export function fileRemedy(path: string): string {
  const folder = dirname(path);
  const isOfOther = statSync(path).uid !== statSync(folder).uid;
  const steps = [
    ...(isOfOther ? [`chown --reference=${shellWord(folder)} ${shellWord(path)}`] : []),
    `chmod u+w ${shellWord(path)}`,
  ];
  const hint = `Make it writable with: ${steps.join("; ")}`;
  return remedy(path, `${hint}; and run rehome as the owner of the folder.`);
}

/** `belongs to root (mode 0755), and this process runs as alice`: the end of a sentence. */
export function ownership(path: string): string {
  if (obstacle(path) === "EROFS") return "is on a file system that is mounted read-only";
  const { uid, mode } = statSync(path);
  const permissions = (mode & 0o7777).toString(8).padStart(4, "0");
  return `belongs to ${userName(uid)} (mode ${permissions}), and this process runs as ${ourName()}`;
}

function ourName(): string {
  return userName(process.geteuid?.() ?? 0);
}

/** The same, as chown and install take a user: one without a name by its number. */
function ourOperand(): string {
  return ourName().replace(/^uid /, "");
}
