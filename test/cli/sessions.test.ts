/** The sessions of test/sessions, in this process: each `--json` has its documented shape. */
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import type { Command } from "commander";
import { createProgram } from "../../src/cli/program.ts";
import { jsonSchemaOf } from "../../src/features/json.ts";
import { command } from "../helpers/command.ts";
import type { CommandResult } from "../helpers/finished.ts";
import { testIo } from "../helpers/io.ts";
import { documentedJson } from "../helpers/json-contract.ts";
import { playSession, sessions } from "../helpers/transcript.ts";

const program = await createProgram(testIo());

/** The words of a line: a shell's quotes, and nothing else of it. */
const wordsOf = (line: string) =>
  [...line.matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g)].map(([word]) =>
    word.replaceAll(/'([^']*)'|"([^"]*)"/g, (_, single, double) => single ?? double),
  );

function requireDocumented(words: readonly string[], stdout: string): void {
  let found: Command = program;
  for (const word of words) {
    const next = found.commands.find((each) => each.name() === word);
    if (next === undefined) break;
    found = next;
  }
  const schema = jsonSchemaOf(found);
  expect(schema, words.join(" ")).toBeDefined();
  if (schema !== undefined) documentedJson(schema, stdout);
}

/** `[NAME=VALUE] rehome ... [>FILE] [<<END]`, or `cat >FILE <<END`. */
async function play(line: string, env: Record<string, string>): Promise<CommandResult> {
  const [typed = "", ...lines] = line.replaceAll("\\\n", " ").split("\n");
  const words = wordsOf(typed.replace(/<<\w+/, ""));
  const stdin = lines
    .slice(0, -1)
    .map((each) => `${each}\n`)
    .join("");
  const own = { ...env };
  while (/^[A-Z_]+=/i.test(words[0] ?? "")) {
    const [name = "", value = ""] = words.shift()?.split(/=(.*)/s) ?? [];
    own[name] = value;
  }
  const file = words.at(-1)?.startsWith(">") ? words.pop()?.slice(1) : undefined;
  const name = words.shift();
  const result =
    name === "cat"
      ? { exitCode: 0, stdout: stdin, stderr: "" }
      : await command(words, { env: own, stdin });
  if (name !== "cat") expect(name).toBe("rehome");
  if (words.includes("--json") && result.exitCode === 0) requireDocumented(words, result.stdout);
  if (file === undefined) return result;
  writeFileSync(file, result.stdout);
  return { ...result, stdout: "" };
}

test.each(sessions)("%s", (_, file) => playSession(file, play));
