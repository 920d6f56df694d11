/** Both languages of the console say the same things, each in its own words. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync, Visitor } from "oxc-parser";
import { type Language, languages } from "../../../src/features/console/words/index.ts";

/** What is the same in both languages: names, signs, and values that are only put together. */
const same = ["fields.plan", "export.excel", "keys.id"];

/** Each text of a language by its path; a function's with numbers for what it shows. */
function* texts(value: unknown, path: string): Generator<readonly [path: string, text: string]> {
  if (typeof value === "string") yield [path, value];
  else if (typeof value === "function") {
    yield [path, String((value as (...values: readonly string[]) => unknown)("2", "3", "4", "5"))];
  } else if (typeof value === "object" && value !== null) {
    for (const [key, each] of Object.entries(value)) {
      yield* texts(each, path === "" ? key : `${path}.${key}`);
    }
  }
}

const english = new Map(texts(languages.en.words, ""));
const spanish = new Map(texts(languages.es.words, ""));

test("the words of the console are the same in both languages where they have to be, and nowhere else", () => {
  const found = [...english].filter(([path, text]) => spanish.get(path) === text);
  expect(found.map(([path]) => path)).toEqual(same);
});

test("the words of the console show the same values in both languages", () => {
  const shown = (text: string) => text.match(/\d+/g)?.toSorted() ?? [];
  for (const [path, text] of english) {
    const other = spanish.get(path) ?? "";
    expect([path, other.trim() === ""]).toEqual([path, false]);
    // A list's causes show fewer values of a file in one language than in the other.
    if (path.startsWith("messages.")) continue;
    expect([path, shown(other)]).toEqual([path, shown(text)]);
  }
});

test("the words of the console stand in no page itself, where one language would be all that there is", () => {
  const folder = join(import.meta.dir, "../../../src/features/console");
  const found: string[] = [];
  for (const file of new Bun.Glob("**/*.ts").scanSync(folder)) {
    const { program } = parseSync(file, readFileSync(join(folder, file), "utf8"));
    new Visitor({
      TaggedTemplateExpression({ tag, quasi }) {
        if (tag.type !== "Identifier" || tag.name !== "html") return;
        const markup = quasi.quasis.map(({ value }) => value.raw).join("{}");
        const said = markup.matchAll(/(?:aria-label|title|placeholder|alt)="([^"]*)"/g);
        const parts = [...said].map(([, text]) => text);
        parts.push(markup.replace(/<(title|code)>.*?<\/\1>|<[^>]*>/gs, " "));
        found.push(...(parts.join(" ").match(/\p{L}{2,}/gu) ?? []));
      },
      CallExpression({ callee, arguments: given }) {
        if (callee.type !== "MemberExpression" || callee.object.type !== "Identifier") return;
        if (callee.object.name !== "ui") return;
        for (const each of given) {
          if (each.type === "Literal" && / /.test(String(each.value))) found.push(each.raw ?? "");
        }
      },
    }).visit(program);
  }
  expect(new Set(found)).toEqual(new Set(["rehome"]));
});

test("the words of the console have numbers as their readers write them", () => {
  const shown = (language: Language) => [1_569, 12_345].map(languages[language].number.format);
  expect(shown("en")).toEqual(["1,569", "12,345"]);
  expect(shown("es")).toEqual(["1569", "12.345"]);
  for (const [language, text] of [
    ["en", "A name has at most 1,000 characters."],
    ["es", "Un nombre tiene como mucho 1000 caracteres."],
  ] as const) {
    expect(languages[language].words.errors.nameLong(1_000)).toBe(text);
  }
});
