import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import {
  serviceDataFolder,
  serviceSettingsFile,
  settings,
  shownValue,
  variableOf,
  type LoadedConfig,
  type ServiceSettings,
  type SystemAccount,
} from "../config.ts";
import { AppError, shellWord } from "../domain/errors.ts";
import { reasonOf } from "../domain/system-error.ts";
import { inMemory } from "../storage/sqlite/files.ts";
import type { Io } from "./io.ts";

export interface Machine {
  /** The user that this process runs as; undefined on a system without such numbers. */
  readonly uid: number | undefined;
  /** The machine's service, if any. Throws AppError when its settings cannot be read. */
  service(): ServiceSettings | undefined;
  readonly isContainer: boolean;
  /** What starts this program: its name, or its path if no shell finds it. */
  readonly program: string;
  /** True for a program that this user's shell finds. */
  hasProgram(name: string): boolean;
}

const passwdFile = "/etc/passwd";
/** Files that container engines put into each container: Docker's, and Podman's. */
const containerMarks = ["/.dockerenv", "/run/.containerenv"];

export function machineOf(): Machine {
  return {
    uid: process.geteuid?.(),
    service: () => findService(),
    get isContainer() {
      return containerMarks.some((file) => existsSync(file));
    },
    get program() {
      return Bun.isStandaloneExecutable && Bun.which("rehome") === null
        ? process.execPath
        : "rehome";
    },
    hasProgram: (name) => Bun.which(name) !== null,
  };
}

/**
 * The service whose settings are in `file`, or undefined if there is no such file. Throws
 * `unavailable` when it cannot be read. The unit of the service names `folder` before it reads the
 * settings.
 */
export function findService(
  file = serviceSettingsFile,
  folder = serviceDataFolder,
): ServiceSettings | undefined {
  if (!existsSync(file)) return undefined;
  const ours = readSettingsFile(file)
    .entries()
    .filter(([name]) => /^(?:REHOME|AWS)_/.test(name));
  const variables = new Map([[variableOf(settings.data), folder], ...ours]);
  return { file, variables, account: ownerOf(variables.get(variableOf(settings.data)) ?? folder) };
}

function ownerOf(folder: string): SystemAccount | undefined {
  if (!existsSync(folder)) return undefined;
  const { uid, gid } = statSync(folder);
  return { name: userName(uid), uid, gid };
}

/** The variables in a file, as systemd reads it (systemd.exec(5), "EnvironmentFile="). */
export function readSettingsFile(file: string): ReadonlyMap<string, string> {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (cause) {
    const message = `The settings of this machine's service cannot be read: ${file}: ${reasonOf(cause)}.`;
    const hint =
      "Run it as the account of the service, or name a data folder of your own with --data.";
    throw new AppError("unavailable", message, { cause, hint });
  }
  const lines = text.replaceAll(/\\\r?\n/g, "").split("\n");
  const assigned = lines.map((line) => /^\s*([A-Za-z_]\w*)\s*=\s*(.*?)\s*$/s.exec(line));
  return new Map(
    assigned.flatMap((found): [string, string][] => {
      const [, name, value = ""] = found ?? [];
      return name === undefined ? [] : [[name, unquoted(value)]];
    }),
  );
}

function unquoted(value: string): string {
  return value.replaceAll(
    /"((?:[^"\\]|\\.)*)"|'([^']*)'|\\(.)/gs,
    (_, double: string | undefined, single: string | undefined, escaped: string | undefined) =>
      double?.replaceAll(/\\(.)/gs, "$1") ?? single ?? escaped ?? "",
  );
}

/**
 * Throws where this process would work on the service's store as another account: files of its own
 * would be closed to the service. `words` is the command line.
 */
export function requireServiceAccount(
  { account }: ServiceSettings,
  loaded: LoadedConfig,
  words: readonly string[],
  { machine }: Io,
): void {
  if (account === undefined || machine.uid === undefined || machine.uid === account.uid) return;
  throw new AppError(
    "unavailable",
    `The service of this machine keeps its data in ${placeOf(loaded)}, which belongs to the account ${account.name}.`,
    { hint: asOwner(account, words, machine) },
  );
}

/**
 * Throws where root would work on a data folder of another user, or make one in such a folder: a
 * link that the owner puts into the place of a file would lead root's writes elsewhere.
 */
export function refuseRoot(folder: string, words: readonly string[], { machine }: Io): void {
  if (machine.uid !== 0 || folder === inMemory) return;
  let at = resolve(folder);
  while (!existsSync(at) && at !== dirname(at)) at = dirname(at);
  const owner = ownerOf(at);
  if (owner === undefined || owner.uid === 0) return;
  throw new AppError(
    "unavailable",
    `${at} belongs to ${owner.name}, and root does not work on data of others.`,
    { hint: asOwner(owner, words, machine) },
  );
}

/**
 * What to type so that the command works as `account`: by what this place has. An image has none of
 * these programs, and a folder that is mounted into it may have an owner without a name there.
 */
export function asOwner(
  { name, uid, gid }: SystemAccount,
  words: readonly string[],
  { isContainer, hasProgram, program, uid: own }: Machine,
): string {
  const command = [program, ...words].map(shellWord).join(" ");
  const account = shellWord(name);
  if (accountNamed(name) !== undefined) {
    if (hasProgram("sudo")) return `sudo -u ${account} ${command}`;
    if (hasProgram("runuser")) return `runuser -u ${account} -- ${command}`;
    if (hasProgram("su")) return `su -s /bin/sh ${account} -c ${shellWord(command)}`;
  } else if (!isContainer && hasProgram("setpriv")) {
    const sudo = own === 0 ? "" : "sudo ";
    return `${sudo}setpriv --reuid=${uid} --regid=${gid} --clear-groups ${command}`;
  }
  return `Give the container that user: --user ${uid}:${gid} behind docker run, docker exec or podman.`;
}

/** The folder or the database that the settings name, without a password. */
export function placeOf({ config, loadedOf }: LoadedConfig): string {
  if (config.storeFile !== undefined) return `the database of ${config.storeFile}`;
  if (config.store === undefined) return config.data;
  return String(shownValue(loadedOf(settings.store)));
}

/** The accounts of this machine, or none: an image may come without the file. */
function accounts(): SystemAccount[] {
  if (!existsSync(passwdFile)) return [];
  return readFileSync(passwdFile, "utf8")
    .split("\n")
    .map((line) => line.split(":"))
    .map(([name = "", , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }));
}

/** The name of `uid`, or `uid 1000` if it has none. Bun's `userInfo()` reads the variable USER. */
export function userName(uid: number): string {
  return accounts().find((account) => account.uid === uid)?.name || `uid ${uid}`;
}

export function accountNamed(name: string): SystemAccount | undefined {
  return accounts().find((account) => account.name === name);
}
