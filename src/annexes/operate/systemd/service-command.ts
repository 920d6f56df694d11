import { realpathSync } from "node:fs";
import { Command, InvalidArgumentError, Option } from "commander";
import type { Io } from "../../../cli/io.ts";
import { UsageError } from "../../../cli/usage-error.ts";
import { installService } from "./install.ts";
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

/** `rehome service print|install`: rehome under systemd. */
export function serviceCommand(io: Io): Command {
  const executable = () => realpathSync(process.execPath);
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
  const install = new Command("install")
    .description("write the systemd units, make the account and start the service")
    .addOption(userOption())
    .addOption(
      new Option(
        "--root <DIR>",
        "install into the system below this folder; nothing is started",
      ).default("/"),
    )
    .addHelpText(
      "after",
      `
Run it again after an upgrade: it writes the units anew and leaves /etc/default/rehome as it is.

Examples:
  sudo rehome service install
  sudo rehome service install --user shelter`,
    )
    .action(({ user, root }: { user: string; root: string }) => {
      installService({ executable: executable(), user, root }, io);
    });
  return new Command("service")
    .description("run rehome under systemd: print or install its units")
    .addCommand(print)
    .addCommand(install)
    .addHelpText(
      "after",
      "\nExamples:\n  rehome service print rehome.service\n  sudo rehome service install",
    );
}

function unitNamed(name: string, all: ReadonlyMap<string, string>): string {
  const text = all.get(name);
  if (text !== undefined) return text;
  throw new UsageError(`There is no unit ${name}.`, `Name one of ${[...all.keys()].join(", ")}.`);
}
