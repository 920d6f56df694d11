import { type Argument, Command, type Option } from "commander";
import type { TSchema } from "@sinclair/typebox";
import { beginAsOwner, readSettings, sayService } from "../cli/command.ts";
import type { Io } from "../cli/io.ts";
import { passwordWarning } from "../cli/serve.ts";
import type { LoadedConfig, SettingName } from "../config.ts";
import type { Services } from "../service/services.ts";
import { addJson } from "./json.ts";
import { addSettings, storeSettings } from "./options.ts";
import { type Beginning, withServices } from "./with-services.ts";

/** What a command takes, and what its help says. */
export interface CommandForm<Arguments> {
  readonly name: string;
  readonly about: string;
  readonly arguments?: { readonly [Position in keyof Arguments]: Argument };
  readonly options?: readonly Option[];
  readonly remark?: string;
  readonly examples: readonly string[];
  readonly json?: TSchema;
}

/** The values of a command's options, whatever they are, and the settings that it runs with. */
export type Given<Options> = Options & { readonly json?: true; readonly loaded: LoadedConfig };

/** A command without its work. */
export function commandOf<Arguments extends readonly unknown[]>({
  name,
  about,
  remark,
  examples,
  ...takes
}: CommandForm<Arguments>): Command {
  const command = new Command(name).description(about);
  for (const argument of takes.arguments ?? []) command.addArgument(argument);
  for (const option of takes.options ?? []) command.addOption(option);
  const title = `Example${examples.length === 1 ? "" : "s"}:`;
  const lines = [title, ...examples.map((line) => `  ${line}`)].join("\n");
  command.addHelpText("after", `\n${remark === undefined ? "" : `${remark}\n\n`}${lines}`);
  return takes.json === undefined ? command : addJson(command, takes.json);
}

/** A command on the store, and what it does there. */
export interface StoreCommand<Options, Arguments extends readonly unknown[]>
  extends CommandForm<Arguments>, Beginning {
  readonly settings?: readonly SettingName[];
  run(io: Io, services: Services, given: Given<Options>, ...args: Arguments): Promise<void>;
}

/** Makes a command that opens the store, does its work, and closes the store whatever happens. */
export const storeCommand =
  <Options, Arguments extends readonly unknown[] = []>(form: StoreCommand<Options, Arguments>) =>
  (io: Io): Command => {
    const command = commandOf(form);
    addSettings(command, [...storeSettings, ...(form.settings ?? [])]);
    return command.action(async () => {
      const loaded = beginOnStore(command, io);
      const given = { ...command.opts<Options & { readonly json?: true }>(), loaded };
      const args = command.processedArgs as readonly unknown[] as Arguments;
      const work = (services: Services) => form.run(io, services, given, ...args);
      await withServices(loaded.config, io, work, form);
    });
  };

/** A command that has others. */
export function commandGroup(
  io: Io,
  form: Pick<CommandForm<[]>, "name" | "about" | "remark" | "examples">,
  commands: readonly ((io: Io) => Command)[],
): Command {
  const group = commandOf(form);
  for (const make of commands) group.addCommand(make(io));
  return group;
}

/** Begins a command that opens the store, and warns of a typed password. */
export function beginOnStore(command: Command, io: Io): LoadedConfig {
  const loaded = beginAsOwner(command, io);
  const warning = passwordWarning(loaded);
  warn(warning === undefined ? loaded.retired : [warning, ...loaded.retired], io);
  return loaded;
}

export function beginWithoutStore(command: Command, io: Io): LoadedConfig {
  const loaded = readSettings(command, io);
  sayService(loaded, io);
  warn(loaded.retired, io);
  return loaded;
}

function warn(warnings: readonly string[], io: Io): void {
  for (const warning of warnings) io.err(`Warning: ${warning}\n`);
}
