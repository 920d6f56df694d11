import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import {
  dataHomeVariable,
  serviceDataFolder,
  serviceSettingsFile,
  settings,
  variableOf,
  type EnvironmentVariables,
  type ServiceVariable,
} from "../../../config.ts";
import type { MachineService } from "../../../cli/machine.ts";
import { AppError } from "../../../domain/errors.ts";
import { reasonOf } from "../../../domain/system-error.ts";
import { accountNamed, type SystemAccount, userName } from "../../../storage/system-account.ts";
import { readEnvironmentFile, readUnit, type Specifiers, type Unit } from "./unit.ts";

/** Where units of the system lie; the first counts (systemd.unit(5), "Unit File Load Path"). */
const systemFolders = [
  "/etc/systemd/system",
  "/run/systemd/system",
  "/usr/local/lib/systemd/system",
  "/usr/lib/systemd/system",
  "/lib/systemd/system",
];
const unitName = "rehome.service";

/**
 * Finds the service of this machine: the unit of the user's own systemd, or the one of the system.
 * Returns undefined if there is none. Throws `unavailable` when its settings cannot be read.
 */
export function findService(
  env: EnvironmentVariables,
  uid: number | undefined,
): MachineService | undefined {
  return (uid === 0 ? undefined : userService(env)) ?? systemService();
}

function userService(env: EnvironmentVariables): MachineService | undefined {
  const home = env["HOME"] ?? "";
  if (dataHomeVariable(env) === undefined || home === "") return undefined;
  const configuration = env["XDG_CONFIG_HOME"] || join(home, ".config");
  const state = env["XDG_STATE_HOME"] || join(home, ".local/state");
  const found = unitIn([join(configuration, "systemd/user")], { state, home, configuration });
  if (found === undefined) return undefined;
  const { unit, file, setBy } = found;
  const variables = variablesOf(unit, file, setBy);
  return { file: unit.environmentFiles.find(existsSync) ?? file, variables, account: undefined };
}

function systemService(): MachineService | undefined {
  const specifiers = { state: "/var/lib", home: "/root", configuration: "/etc" };
  const found = unitIn(systemFolders, specifiers);
  const hasSettings = existsSync(serviceSettingsFile);
  if (found === undefined && !hasSettings) return undefined;
  const unit = found?.unit ?? { ...noUnit, environmentFiles: [serviceSettingsFile] };
  const from = found?.file ?? serviceSettingsFile;
  const variables = variablesOf(unit, from, found?.setBy);
  const data = variableOf(settings.data);
  // Settings outlive the unit when the package is removed; the data is where it was.
  if (found === undefined && !variables.has(data)) {
    variables.set(data, { text: serviceDataFolder, file: from });
  }
  const folder = variables.get(data)?.text;
  const account =
    (unit.user === undefined ? undefined : accountNamed(unit.user)) ??
    (folder !== undefined && existsSync(folder) ? ownerOf(folder) : undefined);
  const file = unit.environmentFiles.find(existsSync) ?? from;
  return { file, variables, account };
}

function ownerOf(folder: string): SystemAccount {
  const { uid, gid } = statSync(folder);
  return { name: userName(uid), uid, gid };
}

const noUnit: Unit = { user: undefined, environment: new Map(), environmentFiles: [], command: [] };

interface FoundUnit {
  readonly unit: Unit;
  readonly file: string;
  /** Which of its files, the unit or a drop-in, sets a variable. */
  readonly setBy: ReadonlyMap<string, string>;
}

function unitIn(folders: readonly string[], specifiers: Specifiers): FoundUnit | undefined {
  const files = unitFiles(folders);
  const [file] = files;
  if (file === undefined) return undefined;
  const texts = files.map(readText);
  const setBy = new Map<string, string>();
  let before = new Map<string, string>();
  for (const [at, each] of files.entries()) {
    const { environment, command } = readUnit(texts.slice(0, at + 1), specifiers);
    const now = new Map([...environment, ...flagsOf(command)]);
    for (const [name, text] of now) if (before.get(name) !== text) setBy.set(name, each);
    before = now;
  }
  return { unit: readUnit(texts, specifiers), file, setBy };
}

/**
 * The unit of our name in `folders` and its drop-ins, which follow by their names, whatever folder
 * they are in. Of two files of one name that of the first folder counts.
 */
export function unitFiles(folders: readonly string[]): string[] {
  const file = folders.map((folder) => join(folder, unitName)).find(existsSync);
  if (file === undefined) return [];
  const found = folders.map((folder) => join(folder, `${unitName}.d`)).filter(existsSync);
  const dropIns = found.toReversed().flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith(".conf"))
      .map((name) => [name, join(folder, name)] as const),
  );
  const byName = [...new Map(dropIns)].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return [file, ...byName.map(([, path]) => path)];
}

/** The variables that the unit, the files that it names, and flags set; the last counts. */
function variablesOf(
  unit: Unit,
  file: string,
  setBy: ReadonlyMap<string, string> = new Map(),
): Map<string, ServiceVariable> {
  const variables = new Map<string, ServiceVariable>();
  const take = (from: ReadonlyMap<string, string>, source?: string) => {
    for (const [name, text] of from) {
      if (!name.startsWith("REHOME_")) continue;
      variables.set(name, { text, file: source ?? setBy.get(name) ?? file });
    }
  };
  take(unit.environment);
  for (const each of unit.environmentFiles.filter(existsSync)) {
    take(readEnvironmentFile(readText(each)), each);
  }
  take(flagsOf(unit.command));
  return variables;
}

/** The flags of a command line as the variables that do the same. */
function flagsOf(words: readonly string[]): ReadonlyMap<string, string> {
  const variables = new Map<string, string>();
  for (const [at, word] of words.entries()) {
    const [, flag, joined] = /^--([a-z-]+)(?:=(.*))?$/s.exec(word) ?? [];
    if (flag === undefined) continue;
    const next = words[at + 1];
    const isSwitch = next === undefined || next.startsWith("--");
    const text = joined ?? (isSwitch ? "true" : next);
    const earlier = variables.get(variableOf({ flag }));
    // One that may be given again is a list.
    variables.set(variableOf({ flag }), earlier === undefined ? text : `${earlier},${text}`);
  }
  return variables;
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new AppError(
      "unavailable",
      `The settings of this machine's service cannot be read: ${file}: ${reasonOf(error)}.`,
      { cause: error, hint: "Run it with sudo, or name a data folder of your own with --data." },
    );
  }
}
