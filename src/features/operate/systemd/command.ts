import { realpathSync } from "node:fs";
import { Command, InvalidArgumentError, Option } from "commander";
import { commandOf } from "../../command.ts";
import type { Io } from "../../../cli/io.ts";
import { settings, type Setting } from "../../../config.ts";
import { UsageError } from "../../usage-error.ts";
import { installService, uninstallService, type ListenOptions } from "./install.ts";
import { unitOf } from "./units.ts";

export function serviceCommand(io: Io): Command {
  return new Command("service")
    .description("run rehome under systemd: print, install or remove its unit")
    .addCommand(printCommand(io))
    .addCommand(installCommand(io))
    .addCommand(uninstallCommand(io))
    .addHelpText("after", "\nExamples:\n  rehome service print\n  sudo rehome service install");
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
