import { realpathSync } from "node:fs";
import { Command, InvalidArgumentError, Option } from "commander";
import type { Io } from "../../../cli/io.ts";
import { settings, type Setting } from "../../../config.ts";
import { UsageError } from "../../../cli/errors.ts";
import { installService, type InstallOptions } from "./install.ts";
import { units } from "./units.ts";

const userOption = () =>
  new Option("--user <NAME>", "account that the service runs as")
    .default("rehome")
    .argParser((value) => {
      if (!/^[a-z_][a-z0-9_-]{0,31}$/.test(value)) {
        throw new InvalidArgumentError("It must be the name of an account.");
      }
      return value;
    });

const executable = () => realpathSync(process.execPath);

/** A setting of the service that is written to its file. */
function listenOption(
  setting: Setting<string> | Setting<number>,
  description = setting.description,
): Option {
  const { flag, placeholder, parse, rule } = setting;
  return new Option(
    `--${flag} <${placeholder}>`,
    `${description}; written to the settings`,
  ).argParser((value) => {
    const read = parse(value);
    if (read === undefined) throw new InvalidArgumentError(`It ${rule}.`);
    return read;
  });
}

/** `rehome service print|install`: rehome under systemd. */
export function serviceCommand(io: Io): Command {
  const print = new Command("print")
    .description("print the systemd units")
    .argument("[unit]", "one of them: rehome.service, rehome-backup.service, rehome-backup.timer")
    .addOption(userOption())
    .addHelpText("after", "\nExample:\n  rehome service print rehome.service | less")
    .action((name: string | undefined, { user }: { user: string }) => {
      const all = units({ executable: executable(), user });
      if (name === undefined) {
        for (const [file, text] of all) io.out(`# --- ${file}\n${text}\n`);
        return;
      }
      io.out(unitNamed(name, all));
    });
  return new Command("service")
    .description("run rehome under systemd: print or install its units")
    .addCommand(print)
    .addCommand(installCommand(io))
    .addHelpText(
      "after",
      "\nExamples:\n  rehome service print rehome.service\n  sudo rehome service install",
    );
}

function installCommand(io: Io): Command {
  return new Command("install")
    .description("write the systemd units, create the account and start the service")
    .addOption(userOption())
    .addOption(
      new Option(
        "--root <DIR>",
        "install into the system below this folder; nothing is started",
      ).default("/"),
    )
    .addOption(
      new Option(
        "--from <DIR>",
        "data folder of a trial, to copy into the service's folder, which must be empty",
      ),
    )
    .addOption(listenOption(settings.host))
    .addOption(listenOption(settings.port, "port to listen on"))
    .addHelpText(
      "after",
      `
Run it again after an upgrade to rewrite the units. In /etc/default/rehome it changes only --host and --port. For a port
below 1024 it adds the necessary capability, in a drop-in of the unit.

Examples:
  sudo rehome service install
  sudo rehome service install --host 0.0.0.0 --port 80
  sudo rehome service install --from ~/.local/share/rehome
  sudo rehome service install --user shelter`,
    )
    .action(async (options: Omit<InstallOptions, "executable">) => {
      if (options.port === 0) {
        throw new UsageError("The service needs a port that stays.", "Name one, such as 8080.");
      }
      if (options.from !== undefined && options.root !== "/") {
        throw new UsageError(
          "--from and --root cannot be combined.",
          "Copy the data on that system.",
        );
      }
      await installService({ ...options, executable: executable() }, io);
    });
}

function unitNamed(name: string, all: ReadonlyMap<string, string>): string {
  const text = all.get(name);
  if (text !== undefined) return text;
  throw new UsageError(`There is no unit ${name}.`, `Name one of ${[...all.keys()].join(", ")}.`);
}
