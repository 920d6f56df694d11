/** What the commands on animals take and print, in this process. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { InvalidArgumentError } from "commander";
import { categoriesCommand } from "../../../src/features/animals/commands/categories.ts";
import { nameOption, parseStatusWord } from "../../../src/features/animals/commands/pets.ts";
import { petsCommand } from "../../../src/features/animals/commands/pets.ts";
import { undoCommand } from "../../../src/features/animals/commands/undo.ts";
import { openSqliteStore } from "../../../src/storage/sqlite/store.ts";
import { temporaryFolder } from "../../helpers/binary.ts";
import { testIo } from "../../helpers/io.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

async function run(
  command: string,
  args: readonly string[],
  options: Parameters<typeof testIo>[0] = {},
) {
  const io = testIo({ env: { REHOME_DATA: folder.path }, ...options });
  const make = { pets: petsCommand, undo: undoCommand, categories: categoriesCommand }[command];
  await make?.(io).parseAsync([...args], { from: "user" });
  return { out: io.printed(), err: io.said() };
}
const pets = (...args: string[]) => run("pets", args);
const categories = (...args: string[]) => run("categories", args);
/** The cells of the last line of a table. */
const lastRow = (text: string) => text.trimEnd().split("\n").at(-1)?.trim().split(/ {2,}/);

beforeAll(async () => {
  await categories("add", "Dog");
  for (const name of ["Rex", "Ada", "Tom", "Kim", "Lu", "Mo"]) {
    await pets("add", "--name", name, "--category", "Dog", "--status", "sold");
  }
});

test("a page that holds all of them names no next one", async () => {
  expect((await pets("list", "--limit", "6")).err).toBe("6 of 6 animals.\n");
  expect((await pets("list", "--limit", "5")).err).toContain(
    "More: rehome pets list --limit 5 --after 5",
  );
  expect((await pets("list", "--name", "a", "--limit", "5")).err).toBe("1 of 6 animals.\n");
});

test("an animal is shown with the name of its category, and what it lacks", async () => {
  await pets("update", "5", "--status", "none");
  const { out } = await pets("show", "5");
  expect(out.split("\n").map((line) => line.split(/ {2,}/))).toEqual([
    ["id", "5"],
    ["name", "Lu"],
    ["categoryId", "1 (Dog)"],
    ["status", "none"],
    [""],
  ]);
});

test("a history quotes what is no single word, and says what was not recorded", async () => {
  const changed = await pets("update", "4", "4", "--name", "Kim II");
  expect(changed.out).toBe('Changed 4 "Kim II" (category 1, sold).\n');
  const { out } = await pets("history", "4");
  expect(lastRow(out)?.at(-1)).toBe('name Kim to "Kim II"');
  expect(out.match(/Kim to/g)).toHaveLength(1);
  const store = openSqliteStore({
    folder: folder.path,
    clock: Date.now,
    timeoutMs: 1_000,
    serving: false,
  });
  const id = await store.pets.create({ name: "Old", categoryId: 1n });
  await store.close();
  expect(lastRow((await pets("history", String(id))).out)).toEqual([
    "-",
    "-",
    "-",
    "-",
    "not recorded",
  ]);
  const json = JSON.parse((await pets("history", "4", "--json")).out);
  expect(json.events[0].after).toEqual({
    name: "Kim II",
    categoryId: 1,
    status: "sold",
    source: "",
  });
});

test("a question names five animals at the most", async () => {
  const questions: string[] = [];
  const asked = { canAsk: true, ask: async (text: string) => (questions.push(text), "n") };
  for (const ids of ["12345", "123456"]) {
    await run("pets", ["remove", ...ids.split("")], asked).catch(() => undefined);
  }
  expect(questions[0]).toMatch(/, 5 "Lu" \([^)]+\)\? \[y\/N\] $/);
  expect(questions[1]).toMatch(/, 5 "Lu" \([^)]+\), and 1 more\? \[y\/N\] $/);
});

test("a name is cut in a sentence, and moves no cursor", async () => {
  const { out } = await pets("add", "--name", `\u001B[2J${"x".repeat(100)}`, "--category", "1");
  expect(out).toMatch(/^Added \d+ "\\u001B\[2Jx+…" \(category 1, without a status\)\.\n$/);
  expect(out.length).toBeLessThan(120);
  const [id = ""] = /\d+/.exec(out) ?? [];
  await pets("remove", id, "--yes");
  expect((await pets("history", id)).out).toContain("(category 1, without a status), removed\n");
});

test("an undo takes back the change that it showed, and says what it left", async () => {
  await pets("update", "1", "2", "--status", "pending");
  const later = async () => {
    await pets("update", "2", "--status", "available");
    return "y";
  };
  const { out } = await run("undo", [], { canAsk: true, ask: later });
  expect(out).toMatch(
    /^Undid change \d+\. Animals: 1 changed back\. 1 left unchanged, because it was changed since\.\n$/,
  );
  await categories("add", "Owl");
  expect((await run("undo", ["--yes"])).out).toMatch(
    /^Undid change \d+\. 1 category changed back\.\n$/,
  );
});

test("categories without a name are listed and merged", async () => {
  await pets("add", "--name", "Eve", "--category", "8", "--create-category");
  expect(lastRow((await categories("list")).out)).toEqual(["8", "-", "1"]);
  expect((await categories("merge", "8", "Dog")).out).toBe("Moved 1 animal to Dog.\n");
});

describe("a status that is typed", () => {
  test.each([
    ["available", "available"],
    [" Sold ", "sold"],
    ["On Hold", "pending"],
    ["adopted", "sold"],
    ["NONE", "none"],
  ] as const)("%j is %s", (typed, status) => expect(parseStatusWord(typed)).toBe(status));

  test.each(["", "free", "constructor", "__proto__"])("%j is no status", (typed) =>
    expect(() => parseStatusWord(typed)).toThrow(InvalidArgumentError),
  );
});

test("a name that is typed is one that can be kept", () => {
  const parse = nameOption("its name").parseArg;
  expect(parse?.("é".repeat(1_000), undefined)).toHaveLength(1_000);
  for (const name of ["é".repeat(1_001), "a\0b", "\ud800"]) {
    expect(() => parse?.(name, undefined)).toThrow(InvalidArgumentError);
  }
});

test("a removal prints an animal as it was removed, also if it changed during the question", async () => {
  await pets("update", "6", "--status", "none");
  const ask = async () => {
    await pets("update", "6", "--name", "Max");
    return "y";
  };
  const { out } = await run("pets", ["remove", "6", "--json"], { canAsk: true, ask });
  expect(JSON.parse(out)).toEqual({ id: 6, name: "Max", categoryId: 1 });
});

test("two entries of an animal become one", async () => {
  const added = await pets("add", "--name", "Rexy", "--category", "1", "--json");
  const { id } = JSON.parse(added.out) as { id: number };
  const { out } = await pets("merge", String(id), "--into", "1");
  expect(out).toMatch(new RegExp(`^Merged ${id} into 1 "Rex" \\(category 1, \\w+\\)\\.\n$`));
  expect((await run("undo", ["--yes"])).out).toContain("Animals: 1 brought back.");
});

test("no name of a category moves a cursor", async () => {
  const { out } = await categories("add", "\u001B[2JFox");
  expect(out).toMatch(/^Category \\u001B\[2JFox is \d+\.\n$/);
  await categories("add", "Hound");
  expect((await categories("merge", "Hound", "\u001B[2Jfox")).out).toBe(
    "Moved 0 animals to \\u001B[2Jfox.\n",
  );
  expect((await categories("rename", "Dog", "\u001B[2JCat")).out).toBe(
    "Category 1 is \\u001B[2JCat now.\n",
  );
  const messageOf = async (work: Promise<unknown>) =>
    work.then(
      () => "none",
      (error: Error) => error.message,
    );
  expect(await messageOf(categories("rename", "Wolf", "Elk"))).toContain("Known: \\u001B[2JCat");
  expect(await messageOf(categories("merge", "1", "\u001B[2Jcat"))).toBe(
    "1 and \\u001B[2Jcat are the same category.",
  );
});
