/**
 * Transcripts: pages whose blocks have commands, as lines that begin with `$ `, and what these
 * print. With UPDATE_GUIDE=1 their tests write anew what is printed.
 */
import { expect } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "./binary.ts";
import type { CommandResult } from "./finished.ts";

export const isUpdate = process.env["UPDATE_GUIDE"] === "1";

/** A command of a page, and what the page says that it prints. */
export interface PageCommand {
  readonly command: string;
  readonly output: string;
  /** The command's first line and the line after its output, in the page, from 0. */
  readonly start: number;
  readonly end: number;
}

/** The commands of a page: lines that begin with `$ ` in its blocks, and the output below each. */
export function commandsOf(page: string): PageCommand[] {
  const lines = page.split("\n");
  const commands: PageCommand[] = [];
  let isInside = false;
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? "";
    if (line.startsWith("```")) isInside = !isInside;
    if (!isInside || !line.startsWith("$ ")) continue;
    const start = at;
    let command = line.slice(2);
    while (goesOn(command)) {
      command += `\n${lines[(at += 1)] ?? ""}`;
    }
    const output: string[] = [];
    while (!/^(?:\$ |```)/.test(lines[at + 1] ?? "```")) output.push(lines[(at += 1)] ?? "");
    commands.push({ command, output: output.join("\n").trimEnd(), start, end: at + 1 });
  }
  return commands;
}

/** Whether a shell waits for more of it: a line that is broken, or a text up to its end. */
function goesOn(command: string): boolean {
  const [, end] = /<<(\w+)/.exec(command) ?? [];
  return command.endsWith("\\") || (end !== undefined && !command.endsWith(`\n${end}`));
}

/** The page with other outputs, where they differ from what it says, and with no secret in full. */
export function withOutputs(page: string, outputs: readonly string[]): string {
  const lines = page.split("\n");
  const commands = commandsOf(page).map((each, at) => ({ ...each, now: outputs[at] ?? "" }));
  for (const { command, output, start, end, now } of commands.toReversed()) {
    if (isAlike(output, now)) continue;
    const masked = now.replaceAll(/(rehome_(?:live|test)_)\w{36}/g, "$1...");
    const shown = [...`$ ${command}`.split("\n"), ...(now === "" ? [] : masked.split("\n"))];
    lines.splice(start, end - start, ...shown);
  }
  return lines.join("\n");
}

/** A text without what differs from run to run, such as ids, keys, times and sizes. */
export function comparable(text: string): string {
  return (
    text
      .replaceAll(/key_[0-9a-z]{12}/g, "KEY-ID")
      .replaceAll(/(rehome_(?:live|test)_)\w*(?:\.\.\.)?/g, "$1SECRET")
      .replaceAll(/rehome-[\da-f]{8}-/g, "rehome-")
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:]{6,8}Z|\d{8}T\d{6}Z/g, "TIME")
      .replaceAll(/\d{4}-\d\d-\d\d/g, "DATE")
      .replaceAll(/[\d,.]+ (?:bytes|[KMGT]iB)/g, "SIZE")
      // What was used of a minute is over with the minute.
      .replaceAll(/^( {2}Minute +).*$/gm, "$1...")
      .replaceAll(/age1[0-9a-z]{10,}/g, "age1KEY")
      .replaceAll(/[ \t]+$/gm, "")
  );
}

/** Whether `now` is what a page says, in which `...` is any text, on a line alone any lines. */
function isAlike(said: string, now: string): boolean {
  // The width of a column is that of a path or an id.
  const patternOf = (text: string) => RegExp.escape(text).replaceAll(/(?:\\x20){2,}/g, " +");
  const lines = comparable(said).split("\n");
  const pattern = lines
    .map((line) => (line === "..." ? "[^]*" : line.split("...").map(patternOf).join(".*")))
    .join("\n");
  return new RegExp(`^${pattern}$`).test(comparable(now));
}

/** Runs a command line in the current folder. */
export type Play = (line: string, env: Record<string, string>) => Promise<CommandResult>;

/** The files of a page: blocks whose first line names one behind the language. */
const filesOf = (page: string) => page.matchAll(/^```\w+ (\S+)\n([^]*?)^```$/gm);

/** Runs the commands of a page with `play`, in a folder of its own with `data` in it. */
async function playPage(
  file: string,
  play: Play,
  shownOf: (result: CommandResult, command: string, folder: string) => string,
): Promise<void> {
  const page = readFileSync(file, "utf8");
  const commands = commandsOf(page);
  expect(commands.length).toBeGreaterThan(0);
  const outputs: string[] = [];
  using folder = temporaryFolder();
  const env = { HOME: folder.path, REHOME_DATA: join(folder.path, "data"), SUDO_USER: "kim" };
  const before = process.cwd();
  process.chdir(folder.path);
  try {
    for (const [, name = "", content = ""] of filesOf(page)) writeFileSync(name, content);
    for (const { command } of commands) {
      const shown = shownOf(await play(command, env), command, folder.path);
      outputs.push(shown.replaceAll("\r", "").trimEnd());
    }
  } finally {
    process.chdir(before);
  }
  const played = withOutputs(page, outputs);
  if (isUpdate) writeFileSync(file, played);
  else expect(played).toBe(page);
}

/** Plays a page of docs/, whose data folder is shown as `the folder`. */
export const playGuide = (file: string, play: Play) =>
  playPage(file, play, ({ stdout }, _, folder) =>
    stdout.replaceAll(join(folder, "data"), "the folder"),
  );

/**
 * Plays a session, whose folder is shown as `~`, lines on standard error behind `! `, an exit code
 * as `[2]`, JSON on one line, and the values of `variables` by their names.
 */
export const playSession = (file: string, play: Play, variables: Record<string, string> = {}) =>
  playPage(
    file,
    (line, env) => play(line, { ...env, ...variables }),
    ({ exitCode, stdout, stderr }, command, folder) => {
      const data = command.includes(" --json") ? stdout.replaceAll(/\n\s*/g, " ") : stdout;
      const said = stderr.trimEnd().replaceAll(/^(?=[^])/gm, "! ");
      const code = exitCode === 0 ? "" : `[${exitCode}]`;
      let shown = [data.trimEnd(), said, code].filter(Boolean).join("\n");
      for (const [name, value] of Object.entries(variables)) {
        shown = shown.replaceAll(value, `$${name}`);
      }
      return comparable(shown.replaceAll(folder, "~"));
    },
  );

const folder = join(import.meta.dir, "../sessions");
/** The pages of test/sessions, by their names. */
export const sessions = readdirSync(folder).map((name) => [name, join(folder, name)] as const);
