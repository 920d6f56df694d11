import { describe, expect, test } from "bun:test";
import { complete } from "../../../../src/features/operate/completion/completion.ts";
import { createProgram } from "../../../../src/cli/program.ts";
import { testIo } from "../../../helpers/io.ts";

const program = await createProgram(testIo());

function completed(...words: string[]) {
  const found = complete(program, words);
  return found === "files" ? found : found.map(({ value }) => value);
}

describe("commands", () => {
  test("all of them, with what they do, and none that is hidden", () => {
    const found = complete(program, [""]);
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
  ])("%j", (words, values) => expect(completed(...words)).toEqual(values));
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
  ])("%j", (words, values) => expect(completed(...words)).toEqual(values));
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
    [["keys", "show", ""], []],
    [["pets", "show", "1"], []],
  ])("%j", (words, values) => expect(completed(...words)).toEqual(values));

  test.each([
    [["backup", ""]],
    [["serve", "--data", "/v"]],
    [["serve", "--data=/v"]],
    [["store", "copy", "--from", "/v"]],
    [["pets", "import", "a"]],
  ])("%j is a file", (words) => expect(completed(...words)).toBe("files"));
});
