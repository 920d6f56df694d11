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
} from "../config.ts";
import { AppError, shellWord } from "../domain/errors.ts";
import { reasonOf } from "../domain/system-error.ts";
import { inMemory } from "../storage/sqlite/files.ts";
import { accountNamed, type SystemAccount, userName } from "../storage/system.ts";
import type { Io } from "./io.ts";

/** The service of this machine, as its settings file and its data folder say. */
export interface MachineService extends ServiceSettings {
  /** The owner of its data; undefined while there is none. */
  readonly account: SystemAccount | undefined;
}

/** What a command may know of the machine that it runs on, and do there. */
export interface Machine {
  /** The user that this process runs as; undefined on a system without such numbers. */
  readonly uid: number | undefined;
  /** The machine's service, if any. Throws AppError when its settings cannot be read. */
  service(): MachineService | undefined;
  /** Goes on as `account` for good. Only root can. */
  become(account: SystemAccount): void;
  /** The name of the account that `become` changed to. */
  readonly actsAs?: string | undefined;
}

export function machineOf(): Machine {
  let actsAs: string | undefined;
  return {
    get uid() {
      return process.geteuid?.();
    },
    service: () => findService(),
    become(account) {
      become(account);
      actsAs = account.name;
    },
    get actsAs() {
      return actsAs;
    },
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
): MachineService | undefined {
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
  } catch (error) {
    throw new AppError(
      "unavailable",
      `The settings of this machine's service cannot be read: ${file}: ${reasonOf(error)}.`,
      { cause: error, hint: "Run it with sudo, or name a data folder of your own with --data." },
    );
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
 * Makes this process work as `account` for good: its user, its group and the groups that it is a
 * member of. Only root can, and what root opened before stays open.
 */
function become({ name, uid, gid }: SystemAccount): void {
  // Bun's types lack it.
  const { initgroups } = process as { initgroups?: (user: string, group: number) => void };
  const hasName = accountNamed(name) !== undefined;
  if (hasName && initgroups !== undefined) initgroups(name, gid);
  else process.setgroups?.([gid]);
  process.setgid?.(gid);
  process.setuid?.(uid);
}

/**
 * Changes to the account of the service whose store is about to be opened. Only root can; other
 * users get the command to type, with `words` after the program's name.
 */
export function workAsService(
  service: MachineService,
  loaded: LoadedConfig,
  words: readonly string[],
  io: Io,
): void {
  const { account } = service;
  const { uid } = io.machine;
  if (account === undefined || uid === undefined || uid === account.uid) return;
  if (uid === 0) return io.machine.become(account);
  throw new AppError(
    "unavailable",
    `The service of this machine keeps its data in ${placeOf(loaded)}, which belongs to the account ${account.name}.`,
    {
      hint: `sudo ${["rehome", ...words].map(shellWord).join(" ")}`,
    },
  );
}

/**
 * As root, goes on as the owner of the data folder that was named, or of the one in which it would
 * be made: a link that the owner puts into the place of a file would lead root's writes elsewhere.
 */
export function workAsOwner(folder: string, { machine }: Io): void {
  let at = resolve(folder);
  while (!existsSync(at) && at !== dirname(at)) at = dirname(at);
  const owner = folder === inMemory ? undefined : ownerOf(at);
  if (machine.uid === 0 && owner !== undefined && owner.uid !== 0) machine.become(owner);
}

/** Prints on a terminal that the service's settings apply, because nobody typed them. */
export function sayService({ file }: MachineService, io: Io): void {
  if (!io.stderrIsTTY) return;
  const { actsAs } = io.machine;
  const as = actsAs === undefined ? "" : `, as ${actsAs}`;
  io.err(`On the service of this machine: settings from ${file}${as}.\n`);
}

/** The folder or the database that the settings name, without a password. */
export function placeOf({ config, loadedOf }: LoadedConfig): string {
  if (config.storeFile !== undefined) return `the database of ${config.storeFile}`;
  if (config.store === undefined) return config.data;
  return String(shownValue(loadedOf(settings.store)));
}
