/**
 * Checks the English of documents and comments, as a part of `bun run check`. Prints a line
 * `file:line: what is wrong` for each offence, and exits with 1 when there is one.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync } from "oxc-parser";

/** Where an offence is (the line counts from 1), and what to write instead. */
interface Offence {
  readonly line: number;
  readonly what: string;
}

export const sentenceWordsMax = 25;
const commentColumnsMax = 100;
/** Lines of text, without the marks around them and empty ones. */
const commentLinesMax = 3;

/** Expressions that we no longer use, with what to write instead. */
const retired: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/\bwho(?:so)?ever\b/i, 'name the person: "you", "the operator", "a client"'],
  [/\bwhere there (?:is|are|was|were) none\b/i, '"if there is none", "without one", "not found"'],
  [/\b(?:is|are|was|were|be|been) told (?:of|so)\b/i, '"learns of", "gets a message"'],
  [/\b(?:is|are|was|were|be|been) answered with\b/i, '"gets", "returns"'],
  [/\bto people\b/i, '"to you", or a verb such as "shows"'],
  [/\bitself again\b/i, '"restored", "unchanged"'],
  [/\bmore ado\b/i, '"by default"'],
  [/\bfor want of\b/i, '"because there is no"'],
  [/\ball the same\b/i, '"anyway", "still"'],
  [/\banew\b/i, '"again", or a verb such as "reopen"'],
  [/\b(?:nobody|nothing) knows\b/i, '"unknown", "does not exist"'],
  [/\bshall\b/i, '"must", "should", "will"'],
];

/** A sentence begins a paragraph, or follows a full stop with a capital, a digit, code or name. */
const sentenceStart = /^|(?<=[.!?]["')*_]*\s+)(?=["'(*_]*(?:[\p{Lu}\d`]|rehome\b|nginx\b))/gu;

/** The offences of a Markdown document: long sentences and retired words. */
export function documentOffences(markdown: string): Offence[] {
  return paragraphsOf(markdown).flatMap(({ lines, line }) => {
    const text = lines.join("\n");
    const starts = [...text.matchAll(sentenceStart)];
    const sentences = starts.map(({ index }, at) => ({
      line: line + text.slice(0, index).split("\n").length - 1,
      text: text.slice(index, starts[at + 1]?.index),
    }));
    const words = (sentence: string) => sentence.match(/\S*[\p{L}\d`]\S*/gu)?.length ?? 0;
    const long = sentences
      .filter((sentence) => words(sentence.text) > sentenceWordsMax)
      .map((sentence) => ({
        line: sentence.line,
        what: `a sentence of ${words(sentence.text)} words; split it (${sentenceWordsMax} at most)`,
      }));
    return [...long, ...lines.flatMap((each, at) => retiredIn(each, line + at))];
  });
}

/**
 * The offences of a file's comments: lines that are too wide, and comments that are too long. The
 * comment at the head of a file may be a manual.
 */
export function commentOffences(path: string, source: string): Offence[] {
  const lines = source.split("\n");
  const lineAt = (offset: number) => source.slice(0, offset).split("\n").length;
  return parseSync(path, source).comments.flatMap(({ start, end, value }) => {
    const first = lineAt(start);
    const offences = lines.slice(first - 1, lineAt(end)).flatMap((line, at) => {
      const columns = Bun.stringWidth(line);
      if (columns <= commentColumnsMax || /https?:\/\//.test(line)) return [];
      const what = `a comment of ${columns} columns; break it at ${commentColumnsMax}`;
      return [{ line: first + at, what }];
    });
    const length = value.split("\n").filter((line) => /[\p{L}\d]/u.test(line)).length;
    if (start > 0 && length > commentLinesMax) {
      const what = `a comment of ${length} lines; say why in ${commentLinesMax}, or link to docs/architecture.md`;
      offences.push({ line: first, what });
    }
    return offences;
  });
}

/** The retired words of a source file: in its comments, help texts and messages. */
export function wordOffences(source: string): Offence[] {
  return source.split("\n").flatMap((line, at) => retiredIn(line, at + 1));
}

function retiredIn(text: string, line: number): Offence[] {
  return retired.flatMap(([pattern, instead]) => {
    const found = pattern.exec(text)?.[0];
    return found === undefined ? [] : [{ line, what: `"${found}"; write ${instead}` }];
  });
}

interface Paragraph {
  readonly line: number;
  readonly lines: readonly string[];
}

/**
 * The paragraphs, items, headings and table cells of a document, without its blocks of code. An
 * inline code and a link's text count as words, an address does not.
 */
function paragraphsOf(markdown: string): Paragraph[] {
  const paragraphs: { line: number; lines: string[] }[] = [];
  let isCode = false;
  let isOpen = false;
  for (const [at, raw] of markdown.split("\n").entries()) {
    const isFence = /^\s*```/.test(raw);
    if (isFence) isCode = !isCode;
    const line = raw.replaceAll(/`[^`]*`/g, "`code`").replaceAll(/\]\([^)]*\)|<[^>]*>/g, "");
    const isRow = line.startsWith("|");
    if (isFence || isCode || line.trim() === "") isOpen = false;
    else if (isRow) {
      isOpen = false;
      for (const cell of line.split("|")) paragraphs.push({ line: at + 1, lines: [cell.trim()] });
    } else {
      const start = /^\s*(?:#+|[-*]|\d+\.)\s+/.exec(line)?.[0];
      if (start !== undefined || !isOpen) paragraphs.push({ line: at + 1, lines: [] });
      paragraphs.at(-1)?.lines.push(line.slice(start?.length ?? 0).trim());
      isOpen = start?.includes("#") !== true;
    }
  }
  return paragraphs;
}

/** Documents that the rule of sentences leaves alone, and why. */
const exempt: Readonly<Record<string, string>> = {
  "docs/cli.md": "written from the help texts, whose words are checked in src",
  "bench/RESULTS.md": "written by the bench; a title has a scenario's terms",
};
const documents =
  "{README,CHANGELOG,CONTRIBUTING,SECURITY}.md {docs,bench,packaging,examples}/**/*.md".split(" ");
const commented =
  "{src,test,scripts,bench}/**/*.{ts,js} tools/*.{mjs,cjs} tools/clients/*.ts".split(" ");

/** All offences below `root`, each as `file:line: what`. */
export function checkProse(root: string): string[] {
  const files = (glob: string) =>
    [...new Bun.Glob(glob).scanSync(root)].filter((path) => !path.includes("node_modules"));
  const report = (path: string, find: (text: string) => Offence[]) =>
    find(readFileSync(join(root, path), "utf8")).map(
      ({ line, what }) => `${path}:${line}: ${what}`,
    );
  return [
    ...documents
      .flatMap(files)
      .filter((path) => !(path in exempt))
      .flatMap((path) => report(path, documentOffences)),
    ...files("src/**/*.{ts,js}").flatMap((path) => report(path, wordOffences)),
    ...commented
      .flatMap(files)
      .flatMap((path) => report(path, (text) => commentOffences(path, text))),
  ].toSorted();
}

if (import.meta.main) {
  const offences = checkProse(join(import.meta.dir, ".."));
  for (const offence of offences) process.stdout.write(`${offence}\n`);
  process.exit(offences.length === 0 ? 0 : 1);
}
