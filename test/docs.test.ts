/** The pages for people name commands that exist, with options that they take. */
import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";
import type { Command } from "commander";
import { createProgram, pathOf } from "../src/cli/program.ts";
import { features } from "../src/features/index.ts";
import { layouts } from "../src/features/import/understand/layouts.ts";
import { featureSettings } from "../src/cli/options.ts";
import { settings, variableOf } from "../src/config.ts";
import { testIo } from "./helpers/io.ts";

const root = join(import.meta.dir, "..");
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
  const unknown = words.filter((word) => /^--?[a-z]/.test(word)).map((word) => word.split("=")[0]);
  const wrong = unknown.filter((name) => !names.includes(name));
  return wrong.length === 0 ? undefined : `${pathOf(command)} has no ${wrong.join(", ")}`;
}

/**
 * The command lines in the fenced blocks of a page: at a prompt, or alone at the beginning of a
 * line.
 */
function commandLines(page: string): string[] {
  const blocks = page.match(/^```[^\n]*\n[\s\S]*?^```/gm) ?? [];
  return blocks.flatMap((block) =>
    block
      .split("\n")
      .map((line) => /^(?:\$ )?(?:sudo (?:-u \S+ )?)?(?:dist\/)?rehome (?!\d)(.+)$/.exec(line)?.[1])
      .filter((line) => line !== undefined),
  );
}

/**
 * Pages for people with the command lines in them. The reference of the commands is made from the
 * program itself.
 */
const pages = ["README.md", ...new Glob("docs/**/*.md").scanSync(root)]
  .filter((page) => page !== "docs/cli.md")
  .map((page) => ({ page, lines: commandLines(readFileSync(join(root, page), "utf8")) }));

test.each(pages.filter(({ lines }) => lines.length > 0))(
  "$page names no command and no option that there is not",
  ({ lines }) =>
    expect(lines.map(mistakeIn).filter((mistake) => mistake !== undefined)).toEqual([]),
);

/**
 * Variables that begin with `REHOME_` in a text, and are no settings: every command refuses to run
 * with one.
 */
function strangeVariables(text: string): string[] {
  const known = [...Object.values(settings), ...featureSettings(features)].map(variableOf);
  return (text.match(/\bREHOME_\w+/g) ?? []).filter((name) => !known.includes(name));
}

test("what people are told to set does not stop their commands", async () => {
  const files = ["README.md", "docs/**/*.md", "examples/*", "packaging/**/*"].flatMap((glob) => [
    ...new Bun.Glob(glob).scanSync(root),
  ]);
  expect(files).toContain("examples/session.sh");
  for (const file of files) {
    const strange = strangeVariables(await Bun.file(join(root, file)).text());
    expect({ file, strange }).toEqual({ file, strange: [] });
  }
  expect(strangeVariables("REHOME_PORT=80 REHOME_KEY=x")).toEqual(["REHOME_KEY"]);
});

test("the page about imports lists every format", async () => {
  const page = await Bun.file(join(root, "docs/import.md")).text();
  const listed = [...page.matchAll(/^\| `([a-z][a-z-]*)` /gm)].map(([, name]) => name);
  expect(new Set(listed)).toEqual(new Set(layouts.map(({ name }) => name)));
});

/** Paths of files in a page. What is written in capitals there stands for any name. */
const pathsIn = (text: string) =>
  (text.match(/`[a-z][\w./-]*\/[\w.-]+\.(?:ts|js|md|css|sh|ya?ml)`/g) ?? [])
    .map((quoted) => quoted.slice(1, -1))
    .filter((path) => !path.includes("NAME"));

test.each(["CONTRIBUTING.md", "SECURITY.md", ...new Glob("docs/**/*.md").scanSync(root)])(
  "%s names files of the source that exist",
  (page) => {
    const folders = [root, join(root, "src")];
    const isThere = (path: string) => folders.some((folder) => existsSync(join(folder, path)));
    const paths = pathsIn(readFileSync(join(root, page), "utf8"));
    expect(paths.filter((path) => !isThere(path))).toEqual([]);
  },
);
