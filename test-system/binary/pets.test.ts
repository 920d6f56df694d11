/**
 * `rehome pets` beside a running server, the compiled executable. Import and export have a file of
 * their own.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { categoryListSchema } from "../../src/features/animals/commands/categories.ts";
import { historySchema } from "../../src/features/animals/commands/pets.ts";
import { petListSchema, petSchema } from "../../src/features/animals/commands/fields.ts";
import { undoneSchema } from "../../src/features/animals/commands/undo.ts";
import { makeKey, roomy, serve, temporaryFolder } from "../../test/helpers/binary.ts";
import { command } from "../../test/helpers/command.ts";
import { documentedJson } from "../../test/helpers/json-contract.ts";

const folder = temporaryFolder();
const env = { REHOME_DATA: folder.path };
const pets = (...args: string[]) => command(["pets", ...args], { env });
let server: Awaited<ReturnType<typeof serve>>;
let key: string;

beforeAll(async () => {
  server = await serve(folder.path);
  ({ key } = await makeKey(folder.path, ...roomy));
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

/** What the running server answers. */
async function served(path: string): Promise<string> {
  const answer = await fetch(`${server.origin}/v1${path}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  return answer.text();
}

describe("a running server shows at its next request", () => {
  test("what was added, to the last bit", async () => {
    const edge = "9223372036854775807";
    const before = await served("/pets?limit=100");
    const result = await pets("add", "--name", "Zoë 🐈", "--category", edge, "--json");
    expect(result.stdout).toContain(`"categoryId": ${edge}\n`);
    documentedJson(petSchema, result.stdout);
    const id = /"id": (\d+)/.exec(result.stdout)?.[1] ?? "";
    const shown = `{"id":${id},"name":"Zoë 🐈","categoryId":${edge}}`;
    expect(before).not.toContain(shown);
    expect(await served("/pets?limit=100")).toContain(shown);
    expect(await served(`/pets/${id}`)).toBe(shown);
    expect((await pets("show", id)).stdout).toContain(`categoryId  ${edge}\n`);
  });
});

describe("list", () => {
  const other = temporaryFolder();
  const list = (...args: string[]) => command(["pets", "list", "--data", other.path, ...args]);
  beforeAll(async () => {
    const lines = Array.from({ length: 30 }, (_, at) =>
      JSON.stringify({
        name: `Pet ${at + 1}`,
        categoryId: 7,
        status: at % 3 === 0 ? "sold" : "available",
      }),
    );
    const result = await command(["pets", "import", "-", "--data", other.path], {
      stdin: lines.join("\n"),
    });
    expect(result.exitCode).toBe(0);
  });
  afterAll(() => other[Symbol.dispose]());

  test("--json has the documented shape, filtered and limited", async () => {
    const result = await list("--json", "--status", "sold", "--limit", "3");
    expect(result.stderr).toBe("");
    const page = documentedJson(petListSchema, result.stdout);
    expect(page).toMatchObject([{ id: 1 }, { id: 4 }, { id: 7 }]);
  });

  test("nothing found is said", async () => {
    const { exitCode, stdout, stderr } = await list("--after", "30");
    expect([exitCode, stdout]).toEqual([0, ""]);
    expect(stderr).toStartWith(
      `There is no such animal in ${other.path}.\nAll of them: rehome pets list`,
    );
  });
});

describe("remove", () => {
  test("looks for more animals than the store answers at a time", async () => {
    const ids = Array.from({ length: 2_100 }, (_, at) => String(1_000_000 + at));
    const { exitCode, stderr } = await pets("remove", ...ids, "--yes");
    expect({ exitCode, stderr }).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("There is no animal with the id 1000000."),
    });
  });
});

describe("what people do at a front desk", () => {
  const desk = temporaryFolder();
  const run = (...args: string[]) => command(args, { env: { REHOME_DATA: desk.path } });
  const json = async (...args: string[]) => {
    const { stdout, stderr, exitCode } = await run(...args, "--json");
    expect(exitCode, stderr).toBe(0);
    return JSON.parse(stdout) as unknown;
  };
  afterAll(() => desk[Symbol.dispose]());

  test("add by category, correct, adopt, look back, remove, bring back, undo", async () => {
    const rex = ["pets", "add", "--name", "Rex", "--category", "Dog"];
    const unknown = await run(...rex);
    expect(unknown.exitCode).toBe(1);
    expect(unknown.stderr).toContain('There is no category "Dog". None has a name yet.');
    await run(...rex, "--create-category", "--status", "Adoptable");
    await run("pets", "add", "--name", "Ada", "--category", "dog");
    const known = await run("pets", "add", "--name", "Tom", "--category", "Cat");
    expect(known.stderr).toContain("Known: Dog (1).");
    const changed = await run("pets", "update", "1", "2", "--status", "ADOPTED");
    expect(changed.stdout).toBe(
      'Changed 1 "Rex" (category 1, sold).\nChanged 2 "Ada" (category 1, sold).\n',
    );
    const none = await run("pets", "update", "1", "3", "--name", "Max");
    expect(none.stderr).toContain("There is no animal with the id 3.");
    expect(none.stderr).toContain("rehome pets history 3 if it was removed");
    for (const command of ["history", "restore"]) {
      const never = await run("pets", command, "99");
      expect(never.stderr).toStartWith("Error: There is no animal with the id 99.\nTry: ");
      expect(never.stderr).not.toContain("rehome pets history");
    }
    expect(await json("pets", "list")).toEqual([
      { id: 1, name: "Rex", categoryId: 1, status: "sold" },
      { id: 2, name: "Ada", categoryId: 1, status: "sold" },
    ]);
    const history = documentedJson(
      historySchema,
      (await run("pets", "history", "1", "--json")).stdout,
    );
    expect(history).toMatchObject({
      removed: false,
      created: { action: "add" },
      events: [{ action: "update", before: { status: "available" }, after: { status: "sold" } }],
    });
    expect((await run("pets", "history", "1")).stdout).toContain("status available to sold");

    expect(await json("pets", "remove", "1", "2", "--yes")).toHaveLength(2);
    expect((await run("pets", "restore", "1")).stdout).toStartWith('Brought back 1 "Rex"');
    const refused = await run("undo");
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toMatch(/^Change \d+: restore by /m);
    const undone = documentedJson(undoneSchema, (await run("undo", "--yes", "--json")).stdout);
    expect(undone).toMatchObject({ action: "restore", removed: 1, left: 0 });
    await run("undo", "--yes");
    expect(await json("pets", "list")).toHaveLength(2);
    await run("undo", "--yes");
    expect(await json("pets", "list")).toMatchObject([{ status: "available" }, { id: 2 }]);
    expect(await run("undo", "99", "--yes")).toMatchObject({
      exitCode: 1,
      stderr: "Error: There is no change 99 to undo.\n",
    });
  });

  test("categories are listed, added, renamed and merged", async () => {
    await run("categories", "add", "Hound");
    await run("categories", "add", "Owl", "--id", "9223372036854775807");
    await run("categories", "rename", "hound", "Hounds");
    const listed = await run("categories", "list", "--json");
    expect(listed.stdout).toContain('"id": 9223372036854775807,');
    expect(documentedJson(categoryListSchema, listed.stdout)).toMatchObject([
      { id: 1, name: "Dog", animals: 2 },
      { id: 2, name: "Hounds", animals: 0 },
      { name: "Owl", animals: 0 },
    ]);
    const merged = await run("categories", "merge", "Dog", "Hounds");
    expect(merged.stdout).toBe("Moved 2 animals to Hounds.\n");
  });
});

describe("mistakes", () => {
  test.each([
    [["show", "999999"], 1, "There is no animal with the id 999999."],
    [["remove", "999999", "--yes"], 1, "There is no animal with the id 999999."],
    [["show", "9223372036854775808"], 2, "It must be an integer of 64 bits."],
    [["update", "1", "--status", "gone"], 2, "Allowed choices are available, pending, sold, none."],
    [["set-status", "1", "sold"], 2, "There is no command rehome pets set-status any more."],
    [["add", "--category", "1"], 2, "required option '--name <name>' not specified"],
    [["add", "--name", "Rex", "--category", "1.5"], 1, 'There is no category "1.5".'],
    [["update", "1"], 2, "There is nothing to change"],
    [["list", "--limit", "101"], 2, "It must be an integer from 1 to 100."],
  ])("%j ends with %d and words", async (args, exitCode, words) => {
    const result = await pets(...args);
    expect(result).toMatchObject({ exitCode, stdout: "" });
    expect(result.stderr).toStartWith("Error: ");
    expect(result.stderr).toContain(words);
    expect(result.stderr).toContain("\nTry: ");
  });
});
