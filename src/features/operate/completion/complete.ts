import type { Argument, Command, Option } from "commander";

/** What may stand where the cursor is. */
export interface Candidate {
  readonly value: string;
  readonly about?: string;
}

/** A kind of value that is looked up when it is asked for. */
type LookupKind = "key" | "pet";

/** What completes the word: candidates, or the names of files, which the shell knows best. */
type Completion = readonly Candidate[] | "files";

export interface Lookup {
  /** Values that go on from what was typed; `flags` has the options before it. */
  (
    kind: LookupKind,
    typed: string,
    flags: ReadonlyMap<string, string>,
  ): Promise<readonly Candidate[]>;
}

/** Placeholders of values that are files or folders, or may be one. */
const filePlaceholders = new Set(["file", "FILE", "DIR", "dir", "place"]);

/** Where in a command line the last word stands. */
interface Place {
  readonly command: Command;
  readonly positional: number;
  readonly flags: ReadonlyMap<string, string>;
  /** The option that waits for its value, if one does. */
  readonly option: Option | undefined;
}

/** Completes the last of `words`, which stand behind the program's name. */
export async function complete(
  program: Command,
  words: readonly string[],
  lookup: Lookup,
): Promise<Completion> {
  const whole = words.map(unquoted).filter((word, at) => word !== "=" || at === words.length - 1);
  const last = whole.at(-1) ?? "";
  const typed = last === "=" ? "" : last;
  const place = placeOf(program, whole.slice(0, -1));
  const joined = /^(--[\w-]+)=(.*)$/s.exec(typed);
  if (joined !== null) {
    const [, name = "", begun = ""] = joined;
    const found = valuesOf(optionOf(place.command, name));
    if (found === "files") return found;
    return startingWith(begun, found).map(({ value }) => ({ value: `${name}=${value}` }));
  }
  if (place.option !== undefined) return filtered(typed, valuesOf(place.option));
  if (typed.startsWith("-")) return startingWith(typed, optionsOf(place.command));
  const { command } = place;
  const children = command.commands.length > 0 ? startingWith(typed, commandsOf(command)) : [];
  // A command with an argument and subcommands takes either: rehome backup FILE, rehome backup
  // verify FILE.
  const isMeant = typed !== "" && children.length > 0;
  if (isMeant || command.registeredArguments.length === 0) return children;
  const argument = command.registeredArguments[place.positional] ?? lastVariadic(command);
  return argumentValues(argument, typed, place, lookup);
}

async function argumentValues(
  argument: Argument | undefined,
  typed: string,
  place: Place,
  lookup: Lookup,
): Promise<Completion> {
  if (argument === undefined) return [];
  if (argument.argChoices !== undefined) {
    return startingWith(
      typed,
      argument.argChoices.map((value) => ({ value })),
    );
  }
  if (argument.name() === "key") return lookup("key", typed, place.flags);
  if (argument.name() === "id") return lookup("pet", typed, place.flags);
  return filePlaceholders.has(argument.name()) ? "files" : [];
}

function lastVariadic(command: Command): Argument | undefined {
  const last = command.registeredArguments.at(-1);
  return last?.variadic === true ? last : undefined;
}

/** Follows the words from command to command; options take their values with them. */
function placeOf(program: Command, words: readonly string[]): Place {
  let command = program;
  let positional = 0;
  const flags = new Map<string, string>();
  let option: Option | undefined;
  for (const word of words) {
    if (option !== undefined) {
      flags.set(option.long ?? "", word);
      option = undefined;
    } else if (word.startsWith("-")) {
      const [name = "", value] = word.split(/=(.*)/s);
      const found = optionOf(command, name);
      if (value !== undefined) flags.set(name, value);
      else if (found?.required === true) option = found;
    } else {
      const child = command.commands.find((each) => each.name() === word);
      if (child === undefined) positional += 1;
      else command = child;
    }
  }
  return { command, positional, flags, option };
}

function optionOf(command: Command, name: string): Option | undefined {
  return command.options.find(({ long, short }) => long === name || short === name);
}

function valuesOf(option: Option | undefined): Candidate[] | "files" {
  if (option?.argChoices !== undefined) return option.argChoices.map((value) => ({ value }));
  const [, placeholder = ""] = /[<[](\S+?)[>\]]/.exec(option?.flags ?? "") ?? [];
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

function filtered(typed: string, found: Candidate[] | "files"): Completion {
  return found === "files" ? found : startingWith(typed, found);
}

/** The candidates that go on from what was typed. */
export function startingWith<T extends Candidate>(typed: string, candidates: readonly T[]): T[] {
  return candidates.filter(({ value }) => value.startsWith(typed));
}

/** A word as the shell means it: bash hands over quotes and backslashes as they were typed. */
function unquoted(word: string): string {
  const [, quote, inside] = /^(["'])(.*?)\1?$/s.exec(word) ?? [];
  if (quote === "'") return inside ?? "";
  return (inside ?? word).replace(/\\(.)/gs, "$1");
}
