import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { serviceDataFolder } from "../../../config.ts";
import { AppError } from "../../../domain/errors.ts";
import { shellWord } from "../../../domain/shell-word.ts";
import { reasonNotMade } from "../../../domain/system-error.ts";
import type { Io } from "../../../cli/io.ts";
import { settingsFile, units, type UnitOptions } from "./units.ts";

export interface InstallOptions extends UnitOptions {
  /** The root of the system that is installed on: `/`, or another one's folder, where nothing is started. */
  readonly root: string;
}

/** Folders that the service does not see, because its unit protects them. */
const hiddenFolders = /^\/(?:home|root|run\/user|tmp|var\/tmp)\//;
const unitFolder = "etc/systemd/system";
const service = "rehome.service";

/**
 * Writes the units, makes the account, and starts the service where systemd runs. What an administrator wrote into the
 * settings file stays. Throws AppError in words when a step fails; all steps may be done again.
 */
export function installService({ root, ...options }: InstallOptions, io: Io): void {
  const isThisSystem = root === "/";
  if (hiddenFolders.test(options.executable)) {
    throw new AppError(
      "invalid_request",
      `The executable is ${options.executable}, where the service may not look.`,
      { hint: `sudo install -m 755 ${shellWord(options.executable)} /usr/local/bin/rehome` },
    );
  }
  for (const [name, text] of units(options)) put(join(root, unitFolder, name), text, io);
  const settings = join(root, settingsFile.path);
  if (!existsSync(settings)) put(settings, settingsFile.text, io);
  if (!isThisSystem) return;
  makeAccount(options.user, io);
  // systemd would make it too, at the first start. Commands may come before.
  if (!existsSync(serviceDataFolder)) {
    command(["install", "-d", "-m", "700", "-o", options.user, serviceDataFolder]);
  }
  if (!existsSync("/run/systemd/system")) {
    io.out("systemd does not run here; the units are in place for when it does.\n");
    return;
  }
  const ranBefore = Bun.spawnSync(["systemctl", "is-active", "--quiet", service]).exitCode === 0;
  command(["systemctl", "daemon-reload"]);
  command(["systemctl", "enable", "--now", service, "rehome-backup.timer"]);
  if (ranBefore) {
    io.out(
      "rehome runs on as it was. With the new units and executable: systemctl restart rehome\n",
    );
    return;
  }
  io.out(
    `rehome runs, and will after a restart of the machine. Its data is in ${serviceDataFolder}.\n`,
  );
  io.out("Next: sudo rehome keys create --plan free --name LABEL\n");
}

function put(path: string, text: string, io: Io): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    // Whatever the umask is: every user's commands read where the service is.
    chmodSync(path, 0o644);
  } catch (error) {
    throw new AppError("unavailable", `${path} cannot be written: ${reasonNotMade(error)}.`, {
      cause: error,
      hint: "Run it as root: sudo rehome service install",
    });
  }
  io.out(`Wrote ${path}\n`);
}

/** Makes the account without a shell and a home, unless there is one. */
function makeAccount(user: string, io: Io): void {
  if (Bun.spawnSync(["id", "-u", user]).exitCode === 0) return;
  const home = ["--no-create-home", "--home-dir", serviceDataFolder];
  command(["useradd", "--system", "--user-group", ...home, "--shell", "/usr/sbin/nologin", user]);
  io.out(`Made the account ${user}\n`);
}

function command(words: readonly string[]): void {
  const [tool = ""] = words;
  let why = "it is not on this machine";
  if (Bun.which(tool) !== null) {
    const { exitCode, stderr } = Bun.spawnSync([...words], { stdout: "ignore", stderr: "pipe" });
    if (exitCode === 0) return;
    why = stderr.toString().trim();
  }
  throw new AppError("unavailable", `${words.join(" ")} failed: ${why}.`, {
    hint: "Do this step by hand, then run rehome service install again.",
  });
}
