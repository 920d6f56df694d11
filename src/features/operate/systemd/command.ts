/** `rehome service`: the systemd unit, and what its installation writes, starts and removes. */
import {
  realpathSync,
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { type Command, InvalidArgumentError, Option } from "commander";
import { commandGroup, commandOf } from "../../command.ts";
import type { Io } from "../../../cli/io.ts";
import {
  settings,
  type Setting,
  loadConfig,
  serviceDataFolder,
  variableOf,
  serviceSettingsFile,
} from "../../../config.ts";
import { UsageError } from "../../usage-error.ts";
import { dirname } from "node:path";
import { placeOf, readSettingsFile, accountNamed } from "../../../cli/machine.ts";
import { featureSettings } from "../../../cli/command.ts";
import { AppError, shellWord } from "../../../domain/errors.ts";
import { reasonNotMade } from "../../../domain/system-error.ts";
import defaults from "./rehome.default" with { type: "text" };
import service from "./rehome.service" with { type: "text" };

export function serviceCommand(io: Io): Command {
  const form = {
    name: "service",
    about: "run rehome under systemd: print, install or remove its unit",
    examples: ["rehome service print", "sudo rehome service install"],
  };
  return commandGroup(io, form, [printCommand, installCommand, uninstallCommand]);
}

const executable = () => realpathSync(process.execPath);

function printCommand(io: Io): Command {
  return commandOf({
    name: "print",
    about: "print the systemd unit",
    examples: ["rehome service print | less"],
  }).action(() => io.out(unitOf(executable())));
}

/** A setting of the service that is written to its file. */
function listenOption(
  { flag, placeholder, parse, rule }: Setting<string> | Setting<number>,
  description: string,
): Option {
  return new Option(
    `--${flag} <${placeholder}>`,
    `${description}; written to the settings`,
  ).argParser((value) => {
    const read = parse(value);
    if (read === undefined) throw new InvalidArgumentError(`It ${rule}.`);
    return read;
  });
}

function installCommand(io: Io): Command {
  return commandOf({
    name: "install",
    about: "write the systemd unit, create the account and start the service",
    options: [
      listenOption(settings.host, settings.host.description),
      listenOption(settings.port, "port to listen on"),
    ],
    remark: `Run it again after an upgrade to rewrite the unit. In /etc/default/rehome it changes
only --host and --port. For a port below 1024 it adds the necessary capability, in a
drop-in of the unit.`,
    examples: [
      "sudo rehome service install",
      "sudo rehome service install --host 0.0.0.0 --port 80",
    ],
  }).action(async (options: ListenOptions) => {
    if (options.port === 0) {
      throw new UsageError("The service needs a port that stays.", "Name one, such as 8080.");
    }
    await installService(executable(), options, io);
  });
}

function uninstallCommand(io: Io): Command {
  return commandOf({
    name: "uninstall",
    about: "stop the service and remove its unit; data, settings and account stay",
    examples: ["sudo rehome service uninstall"],
  }).action(() => uninstallService(io));
}

/** What an installation writes to the settings. */
export interface ListenOptions {
  readonly host?: string | undefined;
  readonly port?: number | undefined;
}

/** Folders that the service does not see, because its unit protects them. */
const hiddenFolders = /^\/(?:home|root|run\/user|tmp|var\/tmp)\//;

/** True where systemd runs, and not in a container. */
const hasSystemd = () => existsSync("/run/systemd/system");

/**
 * Writes the unit, creates the account, and starts the service if systemd runs. The settings of an
 * administrator stay. Throws AppError when a step fails; all steps can be repeated.
 */
async function installService(
  executable: string,
  { host, port }: ListenOptions,
  io: Io,
): Promise<void> {
  // What is made here is for all users to read, unlike what this program makes elsewhere.
  process.umask(0o022);
  if (hiddenFolders.test(executable)) {
    throw notThere(executable, "the service cannot read it there");
  }
  putUnit(unitOf(executable), io);
  setLowPort(port, io);
  const variables = new Map<string, string>();
  if (host !== undefined) variables.set(variableOf(settings.host), host);
  if (port !== undefined) variables.set(variableOf(settings.port), String(port));
  makeAccount(io);
  putSettings(settingsFile.path, settingsFile.text, variables, io);
  // systemd would make it too, at the first start. Commands may come before.
  if (!existsSync(serviceDataFolder)) {
    command(["install", "-d", "-m", "700", "-o", account, serviceDataFolder]);
  }
  if (hasSystemd()) startService(io);
  else io.out("systemd does not run here. The unit is installed for later.\n");
}

function startService(io: Io): void {
  const ranBefore = Bun.spawnSync(["systemctl", "is-active", "--quiet", unitName]).exitCode === 0;
  command(["systemctl", "daemon-reload"]);
  command(
    ["systemctl", "enable", "--now", unitName],
    `journalctl -u rehome -o cat -n 20 shows why. Correct ${settingsFile.path}, then: systemctl restart rehome`,
  );
  if (ranBefore) {
    return io.out(
      "The service is still running as before. To use the new unit, settings and executable: systemctl restart rehome\n",
    );
  }
  const loaded = loadConfig({}, {}, featureSettings(io.features), io.machine.service());
  io.out(`The service is running and will start at boot. Its data is in ${placeOf(loaded)}.\n`);
  return io.out(`Next: sudo -u ${account} rehome keys create --plan free --name LABEL\n`);
}

/** Stops the service and removes what an installation wrote, but for its settings and its data. */
function uninstallService(io: Io): void {
  const found = [unitFile, lowPort.path].filter(existsSync);
  if (found.length === 0) {
    throw new AppError("not_found", `There is no unit of rehome in ${dirname(unitFile)}.`, {
      hint: "If the package installed it: apt remove rehome",
    });
  }
  if (hasSystemd()) command(["systemctl", "disable", "--now", unitName]);
  for (const file of found) remove(file, io);
  const dropIns = dirname(lowPort.path);
  if (existsSync(dropIns) && readdirSync(dropIns).length === 0) rmdirSync(dropIns);
  if (hasSystemd()) command(["systemctl", "daemon-reload"]);
  io.out(`The service is stopped. Its data is still in ${serviceDataFolder}.\n`);
  io.out(
    `To delete everything: sudo rm -r ${serviceDataFolder} ${settingsFile.path}; sudo userdel ${account}\n`,
  );
}

/** Writes the unit, unless it is the one that the Debian package has installed. */
function putUnit(text: string, io: Io): void {
  // A copy would hide the package's unit from its upgrades, and stay after its removal.
  const isPackaged = existsSync(packagedUnit) && readFileSync(packagedUnit, "utf8") === text;
  if (existsSync(unitFile) || !isPackaged) put(unitFile, text, io);
}

/** Ports below it need a right of their own (ip(7)). */
const unprivilegedPortMin = 1_024;

/**
 * Gives the service the right to low ports where it listens on one: on `given`, or as its settings
 * say. Takes the right away where it does not.
 */
function setLowPort(given: number | undefined, io: Io): void {
  const { path, text } = lowPort;
  const set = existsSync(settingsFile.path) ? readSettingsFile(settingsFile.path) : undefined;
  const port = given ?? settings.port.parse(set?.get(variableOf(settings.port)) ?? "");
  const isThere = existsSync(path);
  if (port !== undefined && port < unprivilegedPortMin) {
    if (!isThere) put(path, text, io);
  } else if (isThere && readFileSync(path, "utf8") === text) {
    // What somebody has changed is theirs.
    remove(path, io);
  }
}

/**
 * The text of a settings file with these variables set. Each takes the place of the last line that
 * sets it or shows it as a comment; all other lines stay as they are.
 */
export function withVariables(text: string, variables: ReadonlyMap<string, string>): string {
  const lines = text.replace(/\n$/, "").split("\n");
  for (const [name, value] of variables) {
    const isOfIt = (line: string) => new RegExp(`^\\s*#?\\s*${name}\\s*=`).test(line);
    // The last assignment counts.
    const at = lines.findLastIndex(isOfIt);
    lines.splice(at === -1 ? lines.length : at, 1, `${name}=${value}`);
  }
  return `${lines.join("\n")}\n`;
}

/**
 * Creates the settings file with `text` if there is none, and sets `variables` in it. Other lines
 * of an administrator stay. Its account reads it, and no other user, because it may hold a
 * password. Throws `unavailable` when it cannot be written.
 */
export function putSettings(
  path: string,
  text: string,
  variables: ReadonlyMap<string, string>,
  io: Io,
  { uid, gid } = { uid: 0, gid: accountNamed(account)?.gid ?? 0 },
): void {
  const before = existsSync(path) ? readFileSync(path, "utf8") : undefined;
  const after = withVariables(before ?? text, variables);
  if (after !== before) put(path, after, io, settingsMode);
  asRoot(path, "given to its account", () => {
    chownSync(path, uid, gid);
    chmodSync(path, settingsMode);
  });
}

const settingsMode = 0o640;

/** Writes a file, by default for every user to read, and says so. */
function put(path: string, text: string, io: Io, mode = 0o644): void {
  asRoot(path, "written", () => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { mode });
    chmodSync(path, mode);
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

/** Makes the account without a shell and a home, unless there is one. */
function makeAccount(io: Io): void {
  if (Bun.spawnSync(["id", "-u", account]).exitCode === 0) return;
  const home = ["--no-create-home", "--home-dir", serviceDataFolder];
  const shell = ["--shell", "/usr/sbin/nologin"];
  command(["useradd", "--system", "--user-group", ...home, ...shell, account]);
  io.out(`Made the account ${account}\n`);
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

/** The path that the template is written with. */
const writtenPath = "/usr/bin/rehome";

/** The account that the service runs as. */
const account = "rehome";

/** The file with the service's settings: an administrator's, never written over. */
export const settingsFile = { path: serviceSettingsFile, text: defaults };

const unitFolder = "/etc/systemd/system";
export const unitName = "rehome.service";
export const unitFile = `${unitFolder}/${unitName}`;
/** Where the Debian package has the same unit. */
export const packagedUnit = `/lib/systemd/system/${unitName}`;

/** What lets the service listen on a port below 1024, and nothing else, beside its unit. */
const lowPort = {
  path: `${unitFile}.d/low-port.conf`,
  text: `[Service]
AmbientCapabilities=CAP_NET_BIND_SERVICE
CapabilityBoundingSet=CAP_NET_BIND_SERVICE
PrivateUsers=no
`,
};

/** The characters of a path that mean the same to systemd and to the shell in its units. */
const plainPath = /^[\w@+,./-]+$/;

/**
 * The systemd unit for the executable at this path. Throws AppError where the path has a space or
 * another character with a meaning of its own.
 */
export function unitOf(executable = writtenPath): string {
  if (!plainPath.test(executable)) {
    throw notThere(executable, "a unit cannot hold a path with such characters");
  }
  return service.replaceAll(writtenPath, () => executable);
}

function notThere(executable: string, why: string): AppError {
  return new AppError("invalid_request", `The executable is ${executable}, and ${why}.`, {
    hint: `sudo install -m 755 ${shellWord(executable)} /usr/local/bin/rehome`,
  });
}
