import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  loadConfig,
  serviceDataFolder,
  settings,
  variableOf,
  type Config,
} from "../../../config.ts";
import { AppError, shellWord } from "../../../domain/errors.ts";
import type { Io } from "../../../cli/io.ts";
import { placeOf } from "../../../cli/machine.ts";
import { featureSettings } from "../../../cli/options.ts";
import { reachOf } from "../../../cli/reach.ts";
import { isYes } from "../../../cli/terminal/confirm.ts";
import { isServiceNew, requireTrial, takeAlong, trialOf } from "./trial.ts";
import { put, putSettings } from "./settings-file.ts";
import { setLowPort } from "./low-port.ts";
import { settingsFile, unitFolder, units, type UnitOptions } from "./units.ts";

export interface InstallOptions extends UnitOptions {
  /** `/`, or the root folder of another system, where nothing is started. */
  readonly root: string;
  /** What the service listens on; undefined for what its settings say. */
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  /** The data folder of a trial, to take along. */
  readonly from?: string | undefined;
}

/** Folders that the service does not see, because its unit protects them. */
const hiddenFolders = /^\/(?:home|root|run\/user|tmp|var\/tmp)\//;
const service = "rehome.service";

/**
 * Writes the units, creates the account, and starts the service if systemd runs. The settings of an
 * administrator stay. Throws AppError when a step fails; all steps can be repeated.
 */
export async function installService(options: InstallOptions, io: Io): Promise<void> {
  const { root, host, port } = options;
  const isThisSystem = root === "/";
  // What is made here is for all users to read, unlike what this program makes elsewhere.
  process.umask(0o022);
  if (hiddenFolders.test(options.executable)) {
    throw new AppError(
      "invalid_request",
      `The executable is ${options.executable}, which the service cannot read.`,
      { hint: `sudo install -m 755 ${shellWord(options.executable)} /usr/local/bin/rehome` },
    );
  }
  const trial = isThisSystem ? await chosenTrial(options, io) : undefined;
  putUnits(options, io);
  setLowPort(root, port, io);
  const variables = new Map<string, string>();
  if (host !== undefined) variables.set(variableOf(settings.host), host);
  if (port !== undefined) variables.set(variableOf(settings.port), String(port));
  putSettings(join(root, settingsFile.path), settingsFile.text, variables, io);
  if (!isThisSystem) return;
  makeAccount(options.user, io);
  // systemd would make it too, at the first start. Commands may come before.
  if (!existsSync(serviceDataFolder)) {
    command(["install", "-d", "-m", "700", "-o", options.user, serviceDataFolder]);
  }
  if (trial !== undefined) await takeAlong(trial, io);
  if (!existsSync("/run/systemd/system")) {
    io.out("systemd does not run here. The units are installed for later.\n");
    return;
  }
  const ranBefore = Bun.spawnSync(["systemctl", "is-active", "--quiet", service]).exitCode === 0;
  command(["systemctl", "daemon-reload"]);
  command(
    ["systemctl", "enable", "--now", service, "rehome-backup.timer"],
    `journalctl -u rehome -o cat -n 20 shows why. Correct ${settingsFile.path}, then: systemctl restart rehome`,
  );
  if (ranBefore) {
    io.out(
      "The service runs as before. To use the new units, settings and executable: systemctl restart rehome\n",
    );
    return;
  }
  const loaded = loadConfig({}, {}, featureSettings(io.features), io.machine.service());
  io.out(`The service runs, and starts with the machine. Its data is in ${placeOf(loaded)}.\n`);
  await sayReach(loaded.config, io);
  io.out("Next: sudo rehome keys create --plan free --name LABEL\n");
}

/** Writes the units, but for those that the Debian package has installed. */
function putUnits(options: InstallOptions, io: Io): void {
  for (const [name, text] of units(options)) {
    const file = join(options.root, unitFolder, name);
    const packaged = join(options.root, "lib/systemd/system", name);
    // A copy would hide the package's unit from its upgrades, and stay after its removal.
    const isPackaged = existsSync(packaged) && readFileSync(packaged, "utf8") === text;
    if (existsSync(file) || !isPackaged) put(file, text, io);
  }
}

/** The trial whose data comes along: the named one, or one that a person agrees to. */
async function chosenTrial({ from }: InstallOptions, io: Io): Promise<string | undefined> {
  if (from !== undefined) {
    requireTrial(from, io);
    return from;
  }
  const found = isServiceNew() ? trialOf(io) : undefined;
  if (found === undefined) return undefined;
  const answer = io.canAsk
    ? await io.ask(`Copy the data of the trial in ${found} to the service? [y/N] `)
    : "";
  if (!isYes(answer)) {
    io.err(
      `The data of the trial stays in ${found}; --from ${shellWord(found)} copies it to the service.\n`,
    );
    return undefined;
  }
  requireTrial(found, io);
  return found;
}

/** Where others reach the service, unless only this machine does. */
async function sayReach({ host, port, tlsCert }: Config, io: Io): Promise<void> {
  const reaches = await reachOf({ host, port, isHttps: tlsCert !== undefined });
  for (const { origin, via } of reaches)
    io.out(`Other machines reach it at ${origin}/v1 (${via}).\n`);
  const [first] = reaches;
  if (first === undefined) return;
  io.out(
    `Try it there, and open the firewall if nothing answers: curl -i ${first.origin}/health\n`,
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
  hint = "Do this step by hand, then run rehome service install again.",
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
