import { Command, CommanderError } from "commander";
import type { CommandEntry } from "../feature.ts";
import { AppError, firstOf, messageOf } from "../domain/errors.ts";
import { withoutSecrets } from "../domain/api-key.ts";
import { fullVersion } from "../version.ts";
import type { Io } from "./io.ts";

/** The core's only command; help shows it before those of the features. */
const serve: CommandEntry = {
  path: "serve",
  load: async () => (await import("./serve.ts")).serveCommand,
};

/** Help wraps descriptions in columns of at least so many cells. */
const helpCellsMin = 16;

const exitCodes = { ok: 0, failure: 1, usage: 2 } as const;

type Loaded = readonly [entry: CommandEntry, command: Command];

/** The program with these commands in it, all of which report errors in the same words. */
function assemble(io: Io, commands: readonly Loaded[]): Command {
  const program = new Command("rehome")
    .description("An animal-adoption catalogue as a service, in one executable.")
    .version(fullVersion, "--version", "print the version")
    // An option belongs to the command that it stands behind.
    .enablePositionalOptions()
    .helpCommand("help [command...]", "show help for a command")
    .addHelpText(
      "after",
      `
Examples:
  rehome serve                                   start the service on 127.0.0.1:8080
  rehome keys create --plan pro --name website   make a key for a customer
  rehome keys list                               see who has one`,
    );
  for (const [{ path, hidden = false }, command] of commands) {
    const parent = path.split(" ").slice(0, -1).reduce(below, program);
    parent.addCommand(command, { hidden });
  }
  configure(program, io);
  return program;
}

const below = (parent: Command, name: string) =>
  parent.commands.find((each) => each.name() === name) ?? parent;

const entriesOf = ({ features }: Io) => [
  serve,
  ...features.flatMap(({ commands = [] }) => commands),
];

export const createProgram = (io: Io): Promise<Command> => load(io, entriesOf(io));

async function load(io: Io, entries: readonly CommandEntry[]): Promise<Command> {
  const made = entries.map(async (entry) => [entry, (await entry.load())(io)] as const);
  return assemble(io, await Promise.all(made));
}

/**
 * Builds only the commands that `args` needs: all that help shows when it names none. A server
 * should not keep the others in memory, and `health`, which containers run often, loads half as
 * much code.
 */
async function programFor(args: readonly string[], io: Io): Promise<Command> {
  const [first] = args;
  if (first === "--version") return load(io, []);
  const entries = entriesOf(io);
  const wanted = entries.filter(({ path }) => path.split(" ", 1)[0] === first);
  return load(io, wanted.length === 0 ? entries.filter(({ hidden }) => !hidden) : wanted);
}

/** Every command reports errors in the same words, and none ends the process by itself. */
function configure(command: Command, io: Io): void {
  command
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.out(text),
      writeErr: (text) => io.err(text),
      outputError: (text, write) =>
        write(`${withoutSecrets(text).replace(/^error/, "Error")}Try: ${pathOf(command)} --help\n`),
      getOutHelpWidth: () => io.columns,
      getErrHelpWidth: () => io.columns,
    })
    .configureHelp({ minWidthToWrap: helpCellsMin })
    .showSuggestionAfterError()
    .allowExcessArguments(false);
  for (const child of command.commands) configure(child, io);
}

export function typedWords(command: Command): readonly string[] {
  let root = command;
  while (root.parent !== null) root = root.parent;
  return (root as Command & { rawArgs?: string[] }).rawArgs ?? [];
}

/** A command as it is typed: `rehome keys create`. */
export function pathOf(command: Command): string {
  const names = [command.name()];
  for (let at = command.parent; at !== null; at = at.parent) names.unshift(at.name());
  return names.join(" ");
}

/** Runs a command line. Returns the exit code: 0, 1 for a failure, 2 when it was called wrongly. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  try {
    const program = await programFor(args, io);
    // By itself, commander's help goes one command deep.
    const words = args[0] === "help" ? [...args.slice(1), "--help"] : args;
    await program.parseAsync(words, { from: "user" });
    return exitCodes.ok;
  } catch (error) {
    return report(firstOf(error), io);
  }
}

function report(error: unknown, io: Io): number {
  if (error instanceof CommanderError) {
    return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
  }
  io.err(`Error: ${withoutSecrets(messageOf(error))}\n`);
  if (error instanceof AppError) {
    if (error.hint !== undefined) io.err(`Try: ${error.hint}\n`);
    if (error.kind === "invalid_request") return exitCodes.usage;
  }
  return exitCodes.failure;
}
