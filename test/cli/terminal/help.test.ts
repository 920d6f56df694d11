import { describe, expect, test } from "bun:test";
import { createProgram, run } from "../../../src/cli/program.ts";
import { wrapHelp } from "../../../src/cli/terminal/help.ts";
import { testIo } from "../../helpers/io.ts";

const wrapped = (text: string, columns = 30) => wrapHelp(text, columns).split("\n");

describe("a help page", () => {
  test("fills prose anew", () => {
    expect(wrapped("one two three four five six seven\neight\n\nnext")).toEqual([
      "one two three four five six",
      "seven eight",
      "",
      "next",
    ]);
  });

  test("breaks a command so that a shell reads on, and never within quotes", () => {
    expect(wrapped('Examples:\n  rehome keys create --name "city of Austin" --plan pro')).toEqual([
      "Examples:",
      "  rehome keys create --name \\",
      '    "city of Austin" --plan \\',
      "    pro",
    ]);
  });

  test("keeps a program in single quotes whole", () => {
    expect(wrapped("  rehome config --json | jq '.[] | .value'")).toEqual([
      "  rehome config --json | jq \\",
      "    '.[] | .value'",
    ]);
  });

  test("puts what explains a command below it", () => {
    expect(wrapped("  rehome serve --port 9000     begin anew")).toEqual([
      "  rehome serve --port 9000",
      "      begin anew",
    ]);
  });

  test("puts the whole description of an option below it when a word of the table is too long", () => {
    const table = [
      "Options:",
      "  --map <pairs>  columns or",
      "                 fields:",
      "                 name=A,categoryId=B",
      "  --yes          go on",
    ];
    expect(wrapped(table.join("\n"))).toEqual([
      "Options:",
      "  --map <pairs>",
      "      columns or fields:",
      "      name=A,categoryId=B",
      "  --yes",
      "      go on",
    ]);
  });

  test("leaves alone what fits", () => {
    const text = "a\nb\n\n  rehome x   y\n";
    expect(wrapHelp(text, 30)).toBe(text);
  });
});

/** The words of every command of the program. */
async function paths(): Promise<string[][]> {
  const found: string[][] = [];
  const visit = (command: Awaited<ReturnType<typeof createProgram>>, path: string[]) => {
    found.push(path);
    for (const child of command.commands) {
      if (!child.name().startsWith("__")) visit(child, [...path, child.name()]);
    }
  };
  visit(await createProgram(testIo()), []);
  return found;
}

test("every help page fits a terminal of 50 columns", async () => {
  const tooWide: string[] = [];
  for (const path of await paths()) {
    const io = testIo({ columns: 50 });
    expect(await run([...path, "--help"], io)).toBe(0);
    // A word that is longer than the line cannot be broken.
    const lines = io.printed().split("\n");
    tooWide.push(...lines.filter((line) => line.length > 50 && /\S\s+[^\s\\]/.test(line.trim())));
  }
  expect(tooWide).toEqual([]);
});

describe("a misspelt command", () => {
  const said = async (...args: string[]) => {
    const io = testIo();
    expect(await run(args, io)).toBe(2);
    return io.said();
  };

  test("is led to a near one", async () => {
    expect(await said("keys", "lst")).toContain("(Did you mean list?)");
    expect(await said("keys", "udpate")).toContain("(Did you mean update?)");
  });

  test.each(["keys revok", "keys rotat", "keys bann", "pets remov", "restor"])(
    "is never led to one that ends something: %s",
    async (line) => {
      expect(await said(...line.split(" "))).not.toMatch(
        /mean.*(?:revoke|rotate|\bban|remove|restore)/,
      );
    },
  );
});
