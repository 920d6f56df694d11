/** What all commands have in common. test/sessions/command-line.md has their mistakes. */
import { expect, test } from "bun:test";
import type { Command } from "commander";
import * as fc from "fast-check";
import { createProgram, pathOf } from "../../src/cli/program.ts";
import { grouped, printable } from "../../src/cli/terminal/text.ts";
import { AppError, firstOf, messageOf } from "../../src/domain/errors.ts";
import { cut } from "../../src/features/table.ts";
import { html, trusted } from "../../src/web/html.ts";
import { temporaryFolder } from "../helpers/binary.ts";
import { command } from "../helpers/command.ts";
import { testIo } from "../helpers/io.ts";

const withChildren = (each: Command): Command[] => [
  each,
  ...each.createHelp().visibleCommands(each).flatMap(withChildren),
];

test("every command says what it does, with examples, whichever way it is asked", async () => {
  const all = withChildren(await createProgram(testIo())).filter((each) => each.name() !== "help");
  for (const path of all.map(pathOf)) {
    const words = path.split(" ").slice(1);
    const asked = await command([...words, "--help"]);
    expect(asked).toMatchObject({ exitCode: 0, stderr: "" });
    expect(asked.stdout).toStartWith(`Usage: ${path}`);
    expect(asked.stdout).toMatch(/^Examples?:\n {2}\S/m);
    expect(await command(["help", ...words])).toEqual(asked);
  }
});

test.each([
  "postgres://kim:s3cret@db/x",
  "postgres://kim:s3:c@ret@db/x?password=s3cret",
  "postgres://kim:s3cret@db/x?sslpassword=s3cret",
  "postgres:kim:s3cret@db/x",
  "postgres:/kim:s3:c@ret@db/x",
  "kim:s3cret@db/x",
  "postgres://ki/m:s3cret@db/x",
])("config never shows the password of %s", async (address) => {
  for (const args of [["config"], ["config", "--json"], ["config", "--store", address]]) {
    const { exitCode, stdout } = await command(args, { env: { REHOME_STORE: address } });
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining(":***@db/x")]);
    expect(stdout).not.toMatch(/s3|c@ret/);
  }
});

test("a name commands no terminal, in whatever is printed of it", async () => {
  using folder = temporaryFolder();
  const name = "a\u001B[2J\u009B31m\u202Eb\u0007\u2066c";
  const env = { REHOME_DATA: folder.path };
  const harmless = async (line: string, ...names: readonly string[]) => {
    const { stdout, stderr } = await command([...line.split(" "), ...names], { env });
    // oxlint-disable-next-line no-control-regex -- they are what is looked for
    const found = (stdout + stderr).match(/[^\n\P{Cc}]|[\u202A-\u202E\u2066-\u2069]/gu);
    expect([line, found]).toEqual([line, null]);
    return stdout;
  };
  for (const line of ["categories add", "people invite", "pets add --category 1 --name"]) {
    await harmless(line, name);
  }
  await harmless("keys create --plan free --name", name);
  for (const line of ["keys list", "pets list", "pets show 1", "pets history 1"]) {
    for (const json of [[], ["--json"]]) await harmless(line, ...json);
  }
  for (const line of ["categories list", "people list", "categories rename Wolf Elk"]) {
    await harmless(line);
  }
  await harmless("categories rename 1", `${name}.`);
  await harmless("categories merge 1", `${name}.`);
  const [shown] = JSON.parse(await harmless("keys list --json")) as { name: string }[];
  expect(shown?.name).toBe(name);
});

test("nothing that a terminal obeys is left: C0, DEL, C1, separators and marks of direction", () => {
  for (const [from, to] of [
    [0, 0x1f],
    [0x7f, 0x9f],
    [0x61c, 0x61c],
    [0x200e, 0x200f],
    [0x2028, 0x202e],
    [0x2066, 0x2069],
  ] as const) {
    for (let code = from; code <= to; code += 1) {
      expect(printable(String.fromCodePoint(code))).toMatch(/^\\[\w]+$/);
    }
  }
});

test("an operator reads why it failed, of several errors the first", async () => {
  const failure = new AppError("unavailable", "The store cannot be used.", { why: "it is full" });
  const alone = new AppError("unavailable", "It broke.");
  const messages = [failure, alone, new TypeError("no such thing"), "a text"].map(messageOf);
  const store = "The store cannot be used: it is full.";
  expect(messages).toEqual([store, "It broke.", "no such thing", "a text"]);
  const closing = (text: string) => ({
    async [Symbol.asyncDispose]() {
      throw new Error(text);
    },
  });
  const work = async () => {
    await using _one = closing("one cannot be closed");
    await using _two = closing("two cannot be closed");
    throw alone;
  };
  expect(firstOf(await work().catch((error: unknown) => error))).toBe(alone);
  expect(firstOf(alone)).toBe(alone);
});

test("a whole number is grouped as English has it, whatever its size and sign", () => {
  fc.assert(fc.property(fc.bigInt(), (count) => grouped(count) === count.toLocaleString("en")));
  expect([0, 999, -1000].map(grouped)).toEqual(["0", "999", "-1,000"]);
});

test.each([
  ["Rex", 3, "Rex"],
  ["Rexie", 3, "Re…"],
  ["👩‍👩‍👧 and dog", 5, "👩‍👩‍👧 a…"],
])("%p in %i cells is %p", (text, width, shown) => expect(cut(text, width)).toBe(shown));

test("html escapes all but markup, joins lists, and shows nothing for nothing", () => {
  // By another name, because the formatter lays out what is tagged `html`.
  const tag = html;
  const text = "\"'<&>";
  const escaped = "&quot;&#39;&lt;&amp;&gt;";
  expect(tag`<p title="${text}">${text}</p>`.text).toBe(`<p title="${escaped}">${escaped}</p>`);
  const items = [1, 2].map((item) => tag`<li>${item}</li>`);
  expect(tag`<ul>${items}</ul>${undefined}${false}${trusted("<hr>")}`.text).toBe(
    "<ul><li>1</li><li>2</li></ul><hr>",
  );
});
