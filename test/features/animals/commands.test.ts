/** What the sessions do not show of the commands on animals: questions, quoting, hostile names. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { InvalidArgumentError } from "commander";
import { categoriesCommand } from "../../../src/features/animals/commands/categories.ts";
import {
  nameOption,
  parseStatusWord,
  petsCommand,
} from "../../../src/features/animals/commands/pets.ts";
import { undoCommand } from "../../../src/features/animals/undo.ts";
import { temporaryFolder } from "../../helpers/binary.ts";
import { testIo } from "../../helpers/io.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

const commands = { pets: petsCommand, undo: undoCommand, categories: categoriesCommand };
/** What a command prints; with `meanwhile` its question is answered with yes after that. */
async function run(name: keyof typeof commands, args: string, meanwhile?: () => Promise<unknown>) {
  const ask = async () => (await meanwhile?.(), "y");
  const canAsk = meanwhile !== undefined;
  const io = testIo({ env: { REHOME_DATA: folder.path }, canAsk, ask });
  const words = args === "" ? [] : args.split(" ");
  await commands[name](io).parseAsync(words, { from: "user" });
  return io.printed();
}

beforeAll(async () => {
  for (const name of ["Rex", "Ada", "Tom", "Kim", "Lu", "Mo"]) {
    await run("pets", `add --name ${name} --category Dog --create-category --status sold`);
  }
});

test("a history quotes what is no single word", async () => {
  await run("pets", "update 4 4 --name Kim-II");
  expect(await run("pets", "history 4")).toEndWith(' name Kim to "Kim-II"\n');
});

test("what changed during a question is printed, and left by an undo", async () => {
  await run("pets", "update 1 2 --status pending");
  const undone = await run("undo", "", () => run("pets", "update 2 --status available"));
  expect(undone).toMatch(
    /^Undid change \d+\. Animals: 1 changed back\. 1 left unchanged, because it was changed since\.\n$/,
  );
  await run("categories", "add Owl");
  expect(await run("undo", "--yes")).toMatch(/^Undid change \d+\. 1 category changed back\.\n$/);
  const rename = () => run("pets", "update 6 --name Max --status none");
  const removed = await run("pets", "remove 6 --json", rename);
  expect(JSON.parse(removed)).toEqual({ id: 6, name: "Max", categoryId: 1 });
});

test("a name is cut in a sentence", async () => {
  const out = await run("pets", `add --name \u001B[2J${"x".repeat(100)} --category 1`);
  expect(out).toMatch(/^Added 7 "\\u001B\[2Jx+…" \(category 1, without a status\)\.\n$/);
  expect(out.length).toBeLessThan(120);
});

test("a status and a name that are typed are ones that can be kept", () => {
  const statuses = { available: "available", " Sold ": "sold", "On Hold": "pending", NONE: "none" };
  for (const [typed, status] of Object.entries(statuses)) {
    expect<string>(parseStatusWord(typed)).toBe(status);
  }
  for (const typed of ["", "free", "constructor", "__proto__"]) {
    expect(() => parseStatusWord(typed)).toThrow(InvalidArgumentError);
  }
  const parse = nameOption("its name").parseArg;
  expect(parse?.("é".repeat(1_000), undefined)).toHaveLength(1_000);
  for (const name of ["é".repeat(1_001), "a\0b", "\ud800"]) {
    expect(() => parse?.(name, undefined)).toThrow(InvalidArgumentError);
  }
});
