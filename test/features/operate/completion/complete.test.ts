import { describe, expect, test } from "bun:test";
import { complete, type Lookup } from "../../../../src/features/operate/completion/complete.ts";
import { createProgram } from "../../../../src/cli/program.ts";
import { testIo } from "../../../helpers/io.ts";

const program = await createProgram(testIo());

async function completed(...words: string[]) {
  const asked: unknown[] = [];
  const lookup: Lookup = async (kind, typed, flags) => {
    asked.push([kind, typed, Object.fromEntries(flags)]);
    return [{ value: "found" }];
  };
  const found = await complete(program, words, lookup);
  return { values: found === "files" ? "files" : found.map(({ value }) => value), asked };
}

describe("commands", () => {
  test("all of them, with what they do, and none that is hidden", async () => {
    const found = await complete(program, [""], async () => []);
    expect(found).toContainEqual({ value: "serve", about: "run the service" });
    expect(JSON.stringify(found)).not.toContain("__complete");
  });

  test.each([
    [["k"], ["keys"]],
    [["keys", "re"], ["revoke"]],
    [
      ["keys", "r"],
      ["rotate", "revoke"],
    ],
    [
      ["help", "pe"],
      ["pets", "people"],
    ],
    [["help", "keys", "sh"], ["show"]],
  ])("%j", async (words, values) => expect((await completed(...words)).values).toEqual(values));
});

describe("options", () => {
  test.each([
    [
      ["keys", "create", "--pe"],
      ["--per-minute", "--per-day"],
    ],
    [["keys", "revoke", "x", "--y"], ["--yes"]],
    [["serve", "--he"], ["--help"]],
    [["--vers"], ["--version"]],
  ])("%j", async (words, values) => expect((await completed(...words)).values).toEqual(values));
});

describe("values", () => {
  test.each([
    [
      ["keys", "create", "--plan", ""],
      ["free", "pro", "business", "enterprise"],
    ],
    [["keys", "create", "--plan", "b"], ["business"]],
    [["keys", "create", "--plan=b"], ["--plan=business"]],
    // bash breaks words at =.
    [["keys", "create", "--plan", "=", "b"], ["business"]],
    [
      ["keys", "create", "--plan", "="],
      ["free", "pro", "business", "enterprise"],
    ],
    [["pets", "list", "--status", "s"], ["sold"]],
    [
      ["pets", "set-status", "17", ""],
      ["available", "pending", "sold", "none"],
    ],
    [
      ["serve", "--bans", "o"],
      ["on", "off"],
    ],
    [
      ["serve", "--environment", ""],
      ["production", "staging"],
    ],
    [["completion", "f"], ["fish"]],
    [["serve", "--processes", ""], ["auto"]],
    [["pets", "list", "--category", ""], []],
    [["keys", "create", "--name", "w"], []],
  ])("%j", async (words, values) => expect((await completed(...words)).values).toEqual(values));

  test.each([
    [["backup", ""]],
    [["serve", "--data", "/v"]],
    [["serve", "--data=/v"]],
    [["store", "copy", "--from", "/v"]],
    [["pets", "import", "a"]],
  ])("%j is a file", async (words) => expect((await completed(...words)).values).toBe("files"));
});

describe("what the store knows", () => {
  test.each([
    [
      ["keys", "show", "key_"],
      ["key", "key_", {}],
    ],
    [
      ["usage", ""],
      ["key", "", {}],
    ],
    [
      ["keys", "update", "--data", "/x", "ab"],
      ["key", "ab", { "--data": "/x" }],
    ],
    [
      ["keys", "update", "--data=/x", "ab"],
      ["key", "ab", { "--data": "/x" }],
    ],
    [
      ["keys", "show", '"shelter web'],
      ["key", "shelter web", {}],
    ],
    [
      ["keys", "show", "shelter\\ web"],
      ["key", "shelter web", {}],
    ],
    [
      ["keys", "show", "'shelter\\ web"],
      ["key", "shelter\\ web", {}],
    ],
    [
      ["keys", "revoke", "--yes", "k"],
      ["key", "k", {}],
    ],
    [
      ["pets", "remove", "1", "2"],
      ["pet", "2", {}],
    ],
    [
      ["pets", "set-status", "1"],
      ["pet", "1", {}],
    ],
  ])("%j is looked up", async (words, question) => {
    const { values, asked } = await completed(...words);
    expect(values).toEqual(["found"]);
    expect(asked).toEqual([question]);
  });

  test.each([
    [["keys", "list", ""]],
    [["keys", "show", "x", ""]],
    [["pets", "set-status", "1", "x"]],
  ])("%j is not", async (words) => expect((await completed(...words)).asked).toEqual([]));
});
