/** `rehome service install` and `uninstall`: what they write, start, stop and remove. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { Io } from "../../../cli/io.ts";
import { placeOf, readSettingsFile } from "../../../cli/machine.ts";
import { featureSettings } from "../../../cli/options.ts";
import {
  loadConfig,
  serviceDataFolder,
  settings,
  variableOf,
  type AnySetting,
  type Config,
} from "../../../config.ts";
import { reachOf } from "../reach.ts";
import { backupSettings } from "../backup/settings.ts";
import { AppError } from "../../../domain/errors.ts";
import { reasonNotMade } from "../../../domain/system-error.ts";
import {
  formerUnits,
  lowPort,
  settingsFile,
  unitFolder,
  notThere,
  unitName,
  unitOf,
  type UnitOptions,
} from "./units.ts";

export interface InstallOptions extends UnitOptions {
  /** `/`, or the root folder of another system, where nothing is started. */
  readonly root: string;
  readonly host?: string | undefined;
  readonly port?: number | undefined;
}

/** Folders that the service does not see, because its unit protects them. */
const hiddenFolders = /^\/(?:home|root|run\/user|tmp|var\/tmp)\//;

/** True where systemd runs, and not in a container or a root folder. */
const hasSystemd = () => existsSync("/run/systemd/system");

/**
 * Writes the unit, creates the account, and starts the service if systemd runs. The settings of an
 * administrator stay. Throws AppError when a step fails; all steps can be repeated.
 */
export async function installService(options: InstallOptions, io: Io): Promise<void> {
  const { root, host, port } = options;
  // What is made here is for all users to read, unlike what this program makes elsewhere.
  process.umask(0o022);
  if (hiddenFolders.test(options.executable)) {
    throw notThere(options.executable, "the service cannot read it there");
  }
  putUnit(options, io);
  setLowPort(root, port, io);
  const variables = new Map<string, string>();
  if (host !== undefined) variables.set(variableOf(settings.host), host);
  if (port !== undefined) variables.set(variableOf(settings.port), String(port));
  takeOverTimer(root, variables, io);
  putSettings(join(root, settingsFile.path), settingsFile.text, variables, io);
  if (root !== "/") return;
  makeAccount(options.user, io);
  // systemd would make it too, at the first start. Commands may come before.
  if (!existsSync(serviceDataFolder)) {
    command(["install", "-d", "-m", "700", "-o", options.user, serviceDataFolder]);
  }
  if (hasSystemd()) await startService(io);
  else io.out("systemd does not run here. The units are installed for later.\n");
}

async function startService(io: Io): Promise<void> {
  const ranBefore = Bun.spawnSync(["systemctl", "is-active", "--quiet", unitName]).exitCode === 0;
  command(["systemctl", "daemon-reload"]);
  command(
    ["systemctl", "enable", "--now", unitName],
    `journalctl -u rehome -o cat -n 20 shows why. Correct ${settingsFile.path}, then: systemctl restart rehome`,
  );
  if (ranBefore) {
    return io.out(
      "The service is still running as before. To use the new units, settings and executable: systemctl restart rehome\n",
    );
  }
  const loaded = loadConfig({}, {}, featureSettings(io.features), io.machine.service());
  io.out(`The service is running and will start at boot. Its data is in ${placeOf(loaded)}.\n`);
  await sayReach(loaded.config, io);
  return io.out("Next: sudo rehome keys create --plan free --name LABEL\n");
}

/** Stops the service and removes what an installation wrote, but for its settings and its data. */
export function uninstallService(root: string, io: Io): void {
  const folder = join(root, unitFolder);
  const ours = [unitName, ...formerUnits, lowPort.path].map((name) => join(folder, name));
  const found = ours.filter(existsSync);
  if (found.length === 0) {
    throw new AppError("not_found", `There is no unit of rehome in ${folder}.`, {
      hint: "If the package installed it: apt remove rehome",
    });
  }
  if (root === "/" && hasSystemd()) {
    const former = formerUnits.filter((name) => existsSync(join(folder, name)));
    command(["systemctl", "disable", "--now", unitName, ...former]);
  }
  for (const file of found) remove(file, io);
  const dropIns = dirname(join(folder, lowPort.path));
  if (existsSync(dropIns) && readdirSync(dropIns).length === 0) rmdirSync(dropIns);
  if (root !== "/") return;
  if (hasSystemd()) command(["systemctl", "daemon-reload"]);
  const account = io.machine.service()?.account?.name ?? "rehome";
  io.out(`The service is stopped. Its data is still in ${serviceDataFolder}.\n`);
  io.out(
    `To delete everything: sudo rm -r ${serviceDataFolder} ${settingsFile.path}; sudo userdel ${account}\n`,
  );
}

/**
 * Removes the timer of version 1.0.0, and lets the service make the backups where it did, unless
 * the settings have a place of their own or a database.
 */
function takeOverTimer(root: string, variables: Map<string, string>, io: Io): void {
  const found = formerUnits.filter((name) => existsSync(join(root, unitFolder, name)));
  if (found.length === 0) return;
  if (root === "/" && hasSystemd()) command(["systemctl", "disable", "--now", ...found]);
  for (const name of found) remove(join(root, unitFolder, name), io);
  const file = join(root, settingsFile.path);
  const set = existsSync(file) ? readSettingsFile(file) : new Map<string, string>();
  const places = [backupSettings.to, settings.store, settings.storeFile];
  if (places.some((setting) => set.has(variableOf(setting)))) return;
  variables.set(variableOf(backupSettings.to), join(serviceDataFolder, "backups"));
  variables.set(variableOf(backupSettings.keep), "14");
}

/** Writes the unit, unless it is the one that the Debian package has installed. */
function putUnit(options: InstallOptions, io: Io): void {
  const text = unitOf(options);
  const file = join(options.root, unitFolder, unitName);
  const packaged = join(options.root, "lib/systemd/system", unitName);
  // A copy would hide the package's unit from its upgrades, and stay after its removal.
  const isPackaged = existsSync(packaged) && readFileSync(packaged, "utf8") === text;
  if (existsSync(file) || !isPackaged) put(file, text, io);
}

/** Ports below it need a right of their own (ip(7)). */
const unprivilegedPortMin = 1_024;

/**
 * Gives the service in `root` the right to low ports where it listens on one: on `given`, or as its
 * settings say. Takes the right away where it does not.
 */
function setLowPort(root: string, given: number | undefined, io: Io): void {
  const path = join(root, unitFolder, lowPort.path);
  const file = join(root, settingsFile.path);
  const variables = existsSync(file) ? readSettingsFile(file) : new Map<string, string>();
  const valueOf = (setting: AnySetting) => setting.parse(variables.get(variableOf(setting)) ?? "");
  // The console and the metrics have an address and a port.
  const others = featureSettings(io.features).map((setting) => valueOf(setting));
  const ports = [
    given ?? valueOf(settings.port),
    ...others.map((value) => (value as { port?: number } | undefined)?.port),
  ];
  const isThere = existsSync(path);
  // 0 is any port that is free.
  if (ports.some((port) => Number(port) > 0 && Number(port) < unprivilegedPortMin)) {
    if (!isThere) put(path, lowPort.text, io);
  } else if (isThere && readFileSync(path, "utf8") === lowPort.text) {
    // What somebody has changed is theirs.
    remove(path, io);
  }
}

/**
 * The text of a settings file with these variables set. Each takes the place of the line that sets
 * it, or else of the comment that shows it; all other lines stay as they are.
 */
export function withVariables(text: string, variables: ReadonlyMap<string, string>): string {
  const lines = text.replace(/\n$/, "").split("\n");
  for (const [name, value] of variables) {
    const assigned = `${name}=${value}`;
    const isSet = (line: string) => new RegExp(`^\\s*${name}\\s*=`).test(line);
    const isShown = (line: string) => new RegExp(`^#\\s*${name}=`).test(line);
    // The last assignment counts.
    const at = lines.findLastIndex(isSet);
    const place = at === -1 ? lines.findIndex(isShown) : at;
    if (place === -1) lines.push(assigned);
    else lines[place] = assigned;
  }
  return `${lines.join("\n")}\n`;
}

/**
 * Creates the settings file with `text` if there is none, and sets `variables` in it. Other lines
 * of an administrator stay. Throws `unavailable` when it cannot be written.
 */
export function putSettings(
  path: string,
  text: string,
  variables: ReadonlyMap<string, string>,
  io: Io,
): void {
  const before = existsSync(path) ? readFileSync(path, "utf8") : undefined;
  const after = withVariables(before ?? text, variables);
  // One that is there keeps its mode: it may hold the password of a database.
  if (after !== before) put(path, after, io, before === undefined);
}

/** Writes a file and says so; `isOpen` lets every user's commands read it. */
function put(path: string, text: string, io: Io, isOpen = true): void {
  asRoot(path, "written", () => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    if (isOpen) chmodSync(path, 0o644);
  });
  io.out(`Wrote ${path}\n`);
}

function remove(path: string, io: Io): void {
  asRoot(path, "removed", () => rmSync(path));
  io.out(`Removed ${path}\n`);
}

function asRoot(path: string, done: string, work: () => void): void {
  try {
    work();
  } catch (error) {
    throw new AppError("unavailable", `${path} cannot be ${done}: ${reasonNotMade(error)}.`, {
      cause: error,
      hint: "Run it as root, with sudo.",
    });
  }
}

/** Where others reach the service, unless only this machine does. */
async function sayReach(config: Config, io: Io): Promise<void> {
  const reaches = await reachOf(config);
  for (const { origin, via } of reaches)
    io.out(`Other machines reach it at ${origin}/v1 (${via}).\n`);
  const [first] = reaches;
  if (first === undefined) return;
  io.out(
    `Try it there, and open the firewall if nothing responds: curl -i ${first.origin}/health\n`,
  );
}

/** Makes the account without a shell and a home, unless there is one. */
function makeAccount(user: string, io: Io): void {
  if (Bun.spawnSync(["id", "-u", user]).exitCode === 0) return;
  const home = ["--no-create-home", "--home-dir", serviceDataFolder];
  command(["useradd", "--system", "--user-group", ...home, "--shell", "/usr/sbin/nologin", user]);
  io.out(`Made the account ${user}\n`);
}

function command(
  words: readonly string[],
  hint = "Do this step by hand, then run the same command again.",
): void {
  const [tool = ""] = words;
  let why = "it is not on this machine";
  if (Bun.which(tool) !== null) {
    const { exitCode, stderr } = Bun.spawnSync([...words], { stdout: "ignore", stderr: "pipe" });
    if (exitCode === 0) return;
    why = stderr.toString().trim().replace(/\.$/, "");
  }
  throw new AppError("unavailable", `${words.join(" ")} failed: ${why}.`, { hint });
}
