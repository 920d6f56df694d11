import { Argument, Command, type Option } from "commander";
import type { Io } from "../../../cli/io.ts";
import { createProgram } from "../../../cli/program.ts";
import bash from "./bash.txt" with { type: "text" };
import fish from "./fish.txt" with { type: "text" };
import zsh from "./zsh.txt" with { type: "text" };

export const scripts = { bash, zsh, fish } as const;

/** `rehome completion SHELL`: what teaches a shell to complete our commands. */
export function completionCommand(io: Io): Command {
  return new Command("completion")
    .description("print the script that completes commands, options, plans and statuses")
    .addArgument(new Argument("<shell>", "shell to print it for").choices(Object.keys(scripts)))
    .addHelpText(
      "after",
      `
Examples:
  rehome completion bash > /etc/bash_completion.d/rehome
  rehome completion zsh > "\${fpath[1]}/_rehome"
  rehome completion fish > ~/.config/fish/completions/rehome.fish
  source <(rehome completion bash)     for this shell only`,
    )
    .action((shell: keyof typeof scripts) => io.out(scripts[shell]));
}

/**
 * `rehome __complete -- WORDS`: one candidate per line, with its description after a tab; `:files`
 * for file names. It offers words of the program only and reads no store, whose texts are
 * strangers': a shell may run what stands inside quotes.
 */
export function completeCommand(io: Io): Command {
  return new Command("__complete")
    .argument("[words...]")
    .action(async (words: readonly string[]) => {
      const found = complete(await createProgram(io), words);
      if (found === "files") io.out(":files\n");
      else for (const { value, about = "" } of found) io.out(`${value}\t${about}\n`);
    });
}

interface Candidate {
  readonly value: string;
  readonly about?: string;
}

/** What completes the word: candidates, or the names of files, which the shell knows best. */
type Completion = readonly Candidate[] | "files";

/** Placeholders of values that are files or folders, or may be one. */
const filePlaceholders = new Set(["file", "FILE", "DIR", "dir", "place"]);

/** Completes the last of `words`, which stand behind the program's name. */
export function complete(program: Command, words: readonly string[]): Completion {
  // bash breaks words at =.
  const whole = words.filter((word, at) => word !== "=" || at === words.length - 1);
  const last = whole.at(-1) ?? "";
  const typed = last === "=" ? "" : last;
  const { command, positional, option } = placeOf(program, whole.slice(0, -1));
  const joined = /^(--[\w-]+)=(.*)$/s.exec(typed);
  if (joined !== null) {
    const [, name = "", begun = ""] = joined;
    const found = startingWith(begun, valuesOf(optionOf(command, name)));
    return found === "files" ? found : found.map(({ value }) => ({ value: `${name}=${value}` }));
  }
  if (option !== undefined) return startingWith(typed, valuesOf(option));
  if (typed.startsWith("-")) return startingWith(typed, optionsOf(command));
  const children = command.commands.length > 0 ? startingWith(typed, commandsOf(command)) : [];
  // A command with an argument and subcommands takes either: rehome backup FILE, rehome backup
  // verify FILE.
  const isMeant = typed !== "" && children.length > 0;
  const argument = command.registeredArguments[positional];
  if (isMeant || argument === undefined) return children;
  return startingWith(typed, valuesOf(argument));
}

interface Place {
  readonly command: Command;
  readonly positional: number;
  /** The option that waits for its value, if one does. */
  readonly option: Option | undefined;
}

/** Follows the words from command to command; options take their values with them. */
function placeOf(program: Command, words: readonly string[]): Place {
  let command = program;
  let positional = 0;
  let option: Option | undefined;
  for (const word of words) {
    if (option !== undefined) {
      option = undefined;
    } else if (word.startsWith("-")) {
      const found = optionOf(command, word);
      if (found?.required === true) option = found;
    } else {
      const child = command.commands.find((each) => each.name() === word);
      if (child === undefined) positional += 1;
      else command = child;
    }
  }
  return { command, positional, option };
}

function optionOf(command: Command, name: string): Option | undefined {
  return command.options.find(({ long, short }) => long === name || short === name);
}

/** The words that an option or an argument may have. */
function valuesOf(taken: Option | Argument | undefined): Completion {
  if (taken?.argChoices !== undefined) return taken.argChoices.map((value) => ({ value }));
  const [, placeholder = ""] =
    taken instanceof Argument ? ["", taken.name()] : (/<(\S+?)>/.exec(taken?.flags ?? "") ?? []);
  if (filePlaceholders.has(placeholder)) return "files";
  // A setting's placeholder lists its values: on|off. The N of N|auto is none.
  const words = placeholder.split("|");
  return words.length > 1 ? words.filter(isLowerCase).map((value) => ({ value })) : [];
}

const isLowerCase = (word: string) => word === word.toLowerCase();

function optionsOf(command: Command): Candidate[] {
  const options = command.options.map(({ long, description }) => ({
    value: long ?? "",
    about: description,
  }));
  return [...options, { value: "--help", about: "show help" }].filter(({ value }) => value !== "");
}

function commandsOf(command: Command): Candidate[] {
  return command
    .createHelp()
    .visibleCommands(command)
    .map((child) => ({ value: child.name(), about: child.description() }));
}

function startingWith<T extends Completion>(typed: string, found: T): T | Candidate[] {
  return found === "files" ? found : found.filter(({ value }) => value.startsWith(typed));
}
