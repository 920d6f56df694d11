import { realpathSync } from "node:fs";
import { Argument, Command, InvalidArgumentError, Option } from "commander";
import { commandOf } from "../../../cli/command.ts";
import { UsageError } from "../../../cli/errors.ts";
import type { Io } from "../../../cli/io.ts";
import { settings, type Setting } from "../../../config.ts";
import { installService, uninstallService, type InstallOptions } from "./install.ts";
import { units } from "./units.ts";

export function serviceCommand(io: Io): Command {
  return new Command("service")
    .description("run rehome under systemd: print, install or remove its units")
    .addCommand(printCommand(io))
    .addCommand(installCommand(io))
    .addCommand(uninstallCommand(io))
    .addHelpText(
      "after",
      "\nExamples:\n  rehome service print rehome.service\n  sudo rehome service install",
    );
}

const userOption = () =>
  new Option("--user <NAME>", "account that the service runs as")
    .default("rehome")
    .argParser((value) => {
      if (/^[a-z_][a-z0-9_-]{0,31}$/.test(value)) return value;
      throw new InvalidArgumentError("It must be the name of an account.");
    });

const executable = () => realpathSync(process.execPath);

function printCommand(io: Io): Command {
  return commandOf({
    name: "print",
    about: "print the systemd units",
    arguments: [new Argument("[unit]", "one of them: rehome.service")],
    options: [userOption()],
    examples: ["rehome service print rehome.service | less"],
  }).action((name: string | undefined, { user }: { user: string }) => {
    const all = units({ executable: executable(), user });
    if (name === undefined) {
      for (const [file, text] of all) io.out(`# --- ${file}\n${text}\n`);
      return;
    }
    const text = all.get(name);
    if (text !== undefined) return io.out(text);
    const names = [...all.keys()].join(", ");
    throw new UsageError(`There is no unit ${name}.`, `Name one of ${names}.`);
  });
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
    about: "write the systemd units, create the account and start the service",
    options: [
      userOption(),
      new Option(
        "--root <DIR>",
        "install into the system below this folder; nothing is started",
      ).default("/"),
      listenOption(settings.host, settings.host.description),
      listenOption(settings.port, "port to listen on"),
    ],
    remark: `Run it again after an upgrade to rewrite the units. In /etc/default/rehome it changes
only --host and --port. For a port below 1024 it adds the necessary capability, in a
drop-in of the unit.`,
    examples: [
      "sudo rehome service install",
      "sudo rehome service install --host 0.0.0.0 --port 80",
      "sudo rehome service install --user shelter",
    ],
  }).action(async (options: Omit<InstallOptions, "executable">) => {
    if (options.port === 0) {
      throw new UsageError("The service needs a port that stays.", "Name one, such as 8080.");
    }
    await installService({ ...options, executable: executable() }, io);
  });
}

function uninstallCommand(io: Io): Command {
  return commandOf({
    name: "uninstall",
    about: "stop the service and remove its units; data, settings and account stay",
    examples: ["sudo rehome service uninstall"],
  }).action(() => uninstallService("/", io));
}
