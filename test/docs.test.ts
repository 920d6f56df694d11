/** The pages for people name commands, options, variables, formats and files that exist. */
import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { featureSettings } from "../src/cli/command.ts";
import { createProgram, pathOf } from "../src/cli/program.ts";
import { settings, variableOf } from "../src/config.ts";
import { layouts } from "../src/features/import/understand/layouts.ts";
import { features } from "../src/features/index.ts";
import { testIo } from "./helpers/io.ts";

const root = join(import.meta.dir, "..");
const filesOf = (...globs: readonly string[]) =>
  globs.flatMap((glob) => [...new Bun.Glob(glob).scanSync(root)]);
const read = (file: string) => readFileSync(join(root, file), "utf8");
const program = await createProgram(testIo());

/** What is wrong with a command line as a page has it, if anything. */
function mistakeIn(line: string): string | undefined {
  // What stands behind a pipe, a redirection, a comment or another command is not ours.
  const [own = ""] = line.split(/ (?:[|<>&#;]|2>)|\.\.\.|\s{3,}/);
  const words = own.match(/"[^"]*"|'[^']*'|\S+/g) ?? [];
  let command: Command = program;
  for (const word of words) {
    const child: Command | undefined = command.commands.find((each) => each.name() === word);
    if (child === undefined) break;
    command = child;
  }
  if (command === program && !(words[0] ?? "").startsWith("-")) return `no command: ${own}`;
  const names = [...command.options.flatMap(({ long, short }) => [long, short]), "--help"];
  const flags = words.filter((word) => /^--?[a-z]/.test(word)).map((word) => word.split("=")[0]);
  const wrong = flags.filter((name) => !names.includes(name));
  return wrong.length === 0 ? undefined : `${pathOf(command)} has no ${wrong.join(", ")}`;
}

/** The command lines in the fenced blocks of a page: at a prompt, or alone on a line. */
const commandLines = (page: string) =>
  (page.match(/^```[^\n]*\n[\s\S]*?^```/gm) ?? [])
    .flatMap((block) => block.split("\n"))
    .map((line) => /^(?:\$ )?(?:sudo (?:-u \S+ )?)?(?:dist\/)?rehome (?!\d)(.+)$/.exec(line)?.[1])
    .filter((line) => line !== undefined);

// The reference of the commands is made from the program itself.
const pages = filesOf("README.md", "docs/**/*.md").filter((page) => page !== "docs/cli.md");

test.each(pages.filter((page) => commandLines(read(page)).length > 0))(
  "%s names no command and no option that there is not",
  (page) => {
    const mistakes = commandLines(read(page)).map(mistakeIn);
    expect(mistakes.filter((mistake) => mistake !== undefined)).toEqual([]);
  },
);

test("what people are told to set does not stop their commands", () => {
  const known = [...Object.values(settings), ...featureSettings(features)].map(variableOf);
  const strange = (text: string) =>
    (text.match(/\bREHOME_\w+/g) ?? []).filter((name) => !known.includes(name));
  const files = filesOf("README.md", "docs/**/*.md", "examples/*", "packaging/**/*");
  expect(files).toContain("examples/session.sh");
  for (const file of files) expect([file, ...strange(read(file))]).toEqual([file]);
  expect(strange("REHOME_PORT=80 REHOME_KEY=x")).toEqual(["REHOME_KEY"]);
});

test("the page about imports lists every format", () => {
  const listed = [...read("docs/import.md").matchAll(/^\| `([a-z][a-z-]*)` /gm)];
  const names = new Set(listed.map(([, name]) => name));
  expect(names).toEqual(new Set(layouts.map(({ name }) => name)));
});

test.each(filesOf("CONTRIBUTING.md", "SECURITY.md", "docs/**/*.md"))(
  "%s names files of the source that exist",
  (page) => {
    const quoted = read(page).match(/`[a-z][\w./-]*\/[\w.-]+\.(?:ts|js|md|css|sh|ya?ml)`/g) ?? [];
    const isThere = (path: string) =>
      [root, join(root, "src")].some((folder) => existsSync(join(folder, path)));
    // What is written in capitals there stands for any name.
    const paths = quoted.map((each) => each.slice(1, -1)).filter((path) => !path.includes("NAME"));
    expect(paths.filter((path) => !isThere(path))).toEqual([]);
  },
);
