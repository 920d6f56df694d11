import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import {
  checkProse,
  commentOffences,
  documentOffences,
  sentenceWordsMax,
  wordOffences,
} from "../../scripts/check-prose.ts";

const sentence = (words: number) => `A${" word".repeat(words - 1)}.`;
const longest = sentence(sentenceWordsMax);
const tooLong = sentence(sentenceWordsMax + 1);
const linesOf = (markdown: string) => documentOffences(markdown).map(({ line }) => line);

test("the project's own English passes", () => {
  expect(checkProse(join(import.meta.dir, "../.."))).toEqual([]);
});

describe("a sentence", () => {
  test("may have as many words as the bound says, and not one more", () => {
    expect(documentOffences(longest)).toEqual([]);
    expect(documentOffences(tooLong)).toEqual([
      { line: 1, what: expect.stringContaining(`${sentenceWordsMax + 1} words; split it`) },
    ]);
  });

  test.each([
    ["begins on a later line of its paragraph", `Short one.\nAnother. ${tooLong}`, [2]],
    ["is broken over lines", `# Title\n\n${tooLong.replaceAll("word word", "word\nword")}`, [3]],
    ["begins with a small letter", tooLong.toLowerCase(), [1]],
    ["is an item", `- Short.\n- ${tooLong}\n`, [2]],
    ["is a table's cell", `| a | b |\n| - | - |\n| ${longest} | ${tooLong} |`, [3]],
    ["follows a sentence in quotes", `"${longest}"\n${tooLong}`, [2]],
  ])("is found where it %s", (_, markdown, lines) => expect(linesOf(markdown)).toEqual(lines));

  test.each([
    ["two of them in one paragraph", `${longest} ${longest}`],
    ["one that begins with the program's name", `${longest} rehome ${longest.slice(2)}`],
    ["two items", `- ${longest.slice(0, -1)}\n- ${longest}`],
    ["two cells", `| ${longest.slice(0, -1)} | ${longest} |`],
    ["a block of code", `\`\`\`sh\n${tooLong}\n\`\`\``],
    ["code within a sentence", `Run \`${tooLong}\` first.`],
    ["the address of a link", `See [this page](${tooLong.replaceAll(" ", "/")}).`],
  ])("is not what %s would be", (_, markdown) => expect(linesOf(markdown)).toEqual([]));
});

describe("a retired word", () => {
  test.each([
    ["Whoever asks.", "name the person"],
    ["Undefined where there is none.", "if there is none"],
    ["The caller is told of it.", "learns of"],
    ["It was answered with 201.", "returns"],
    ["It reads the interface to people.", "shows"],
    ["One shall not.", "must"],
  ])("is found in %s", (text, instead) => {
    expect(documentOffences(`First.\n${text}`)).toEqual([
      { line: 2, what: expect.stringContaining(instead) },
    ]);
    expect(wordOffences(`const a = 1;\n// ${text}`)).toEqual([
      { line: 2, what: expect.stringContaining(instead) },
    ]);
    expect(wordOffences(`new Option("--a", "${text}");`)).toHaveLength(1);
  });
});

describe("a comment", () => {
  const wide = (columns: number, start: string) => start.padEnd(columns, "x");

  test.each([
    ["of one line", wide(101, "// "), [1]],
    ["behind code", wide(101, "const a = 1; // "), [1]],
    ["of several lines", `/**\n * Short.\n${wide(101, " * ")}\n */`, [3]],
  ])("%s must not be wider than the code", (_, source, lines) =>
    expect(commentOffences("a.ts", source).map(({ line }) => line)).toEqual(lines),
  );

  test("has at most three lines of text, except at the head of a file", () => {
    const block = (lines: number) => `/**\n${" * Text.\n *\n".repeat(lines)} */\n`;
    expect(commentOffences("a.ts", `${block(9)}const a = 1;\n${block(3)}`)).toEqual([]);
    expect(commentOffences("a.ts", `const a = 1;\n${block(4)}`)).toEqual([
      { line: 2, what: expect.stringContaining("a comment of 4 lines") },
    ]);
  });

  test.each([
    ["as wide as the code", wide(100, "// ")],
    ["with an address", wide(120, "// https://example.org/")],
    ["that is only text in a string", `const a = "${wide(120, "// ")}";`],
  ])("%s may stay", (_, source) => expect(commentOffences("a.ts", source)).toEqual([]));
});
