import { describe, expect, test } from "bun:test";
import { stylesOf, printTable } from "../../src/features/table.ts";
import { testIo } from "../helpers/io.ts";

const header = [
  "ID",
  { title: "LABEL", flexible: true },
  { title: "COUNT", align: "right" },
] as const;

function printed(
  rows: Parameters<typeof printTable>[2],
  options: Parameters<typeof testIo>[0] = {},
) {
  const io = testIo(options);
  printTable(io, header, rows);
  return io.printed();
}

test("columns line up, numbers at their right", () => {
  expect(
    printed([
      ["a", "one", "1,000"],
      ["bcd", "three", "7"],
    ]),
  ).toBe("ID   LABEL  COUNT\na    one    1,000\nbcd  three      7\n");
});

test("wide characters and combined ones count as the cells that they take", () => {
  const lines = printed([
    ["a", "東京", "1"],
    ["b", "e\u0301", "2"],
    ["c", "👩‍👩‍👧", "3"],
  ]).split("\n");
  for (const line of lines.slice(0, 4)) expect(Bun.stringWidth(line)).toBe(16);
});

describe("on a narrow terminal", () => {
  const narrow = { isTerminal: true, columns: 24, env: { NO_COLOR: "1" } };

  test("the flexible column is cut with … and every line fits", () => {
    const text = printed([["key_1", "a long label for somebody", "12"]], narrow);
    expect(text).toBe("ID     LABEL       COUNT\nkey_1  a long la…     12\n");
    for (const line of text.trimEnd().split("\n")) expect(Bun.stringWidth(line)).toBe(24);
  });

  test("what is optional is left out where cutting is not enough, the last one first", () => {
    const columns = [
      "ID",
      { title: "LABEL", flexible: true },
      { title: "USED", optional: true },
      { title: "TODAY", align: "right" },
      { title: "USE", optional: true },
    ] as const;
    const linesAt = (width: number) => {
      const io = testIo({ ...narrow, columns: width });
      printTable(io, columns, [["key_123", "a long label", "yesterday", "12", "50 %"]]);
      return io.printed().split("\n");
    };
    expect(linesAt(60)[0]).toBe("ID       LABEL         USED       TODAY  USE");
    expect(linesAt(41)[1]).toBe("key_123  a long …  yesterday     12  50 %");
    expect(linesAt(35)[1]).toBe("key_123  a long …  yesterday     12");
    expect(linesAt(26)).toEqual(["ID       LABEL       TODAY", "key_123  a long la…     12", ""]);
    // A line that is still too long is the terminal's to break.
    expect(linesAt(10)[1]).toBe("key_123  a long …     12");
  });

  test("nothing is cut or left out where a script reads", () => {
    const io = testIo({ columns: 8 });
    printTable(io, ["ID", { title: "USED", optional: true }], [["key_1", "a long time ago"]]);
    expect(io.printed()).toBe("ID     USED\nkey_1  a long time ago\n");
  });
});

test("a name cannot command the terminal", () => {
  const text = printed([["1", "a\u001B[2Jb\nc\u202Ed\u009Be\u0007", "1"]]);
  expect(text).toContain("a\\u001B[2Jb\\nc\\u202Ed\\u009Be\\u0007");
  expect(text.trimEnd().split("\n")).toHaveLength(2);
});

describe("colours", () => {
  const painted = (options: Parameters<typeof testIo>[0]) => {
    const io = testIo(options);
    return stylesOf(io).red("a");
  };

  test("are for terminals that can, unless NO_COLOR is set", () => {
    expect(painted({ isTerminal: true })).toBe("\u001B[31ma\u001B[39m");
    expect(painted({ isTerminal: true, env: { NO_COLOR: "" } })).toBe("\u001B[31ma\u001B[39m");
    expect(painted({ isTerminal: true, env: { NO_COLOR: "1" } })).toBe("a");
    expect(painted({ isTerminal: true, env: { TERM: "dumb" } })).toBe("a");
    expect(painted({ isTerminal: false })).toBe("a");
  });
});
