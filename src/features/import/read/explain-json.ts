import { nestingMax } from "../../../domain/exact-json.ts";

/** Where a text stops being JSON, and what stands in the way. */
interface JsonFault {
  /** Newlines before the fault. */
  readonly linesDown: number;
  readonly problem: string;
}

/** The first fault of a text that JSON.parse refuses, in words; undefined when there is none. */
export function explainJson(text: string): JsonFault | undefined {
  const walk = new Walk(text);
  const problem = walk.document();
  if (problem === undefined) return undefined;
  return { linesDown: text.slice(0, walk.at).split("\n").length - 1, problem };
}

const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
// oxlint-disable-next-line no-control-regex -- JSON strings must not hold control characters
const plainText = /[^"\\\u0000-\u001f]+/y;
const escape = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const blanks = /[ \t\r\n]*/y;

/** Walks over a text by the grammar of RFC 8259; every step returns its problem or undefined. */
class Walk {
  at = 0;
  #depth = 0;

  constructor(readonly text: string) {}

  document(): string | undefined {
    const problem = this.#value("a value");
    if (problem !== undefined) return problem;
    this.#take(blanks);
    return this.at < this.text.length ? this.#expected("the end of the record") : undefined;
  }

  #value(what: string): string | undefined {
    this.#take(blanks);
    const first = this.text[this.at];
    if (first === "{") return this.#members();
    if (first === "[") return this.#elements();
    if (first === '"') return this.#string();
    for (const word of ["true", "false", "null"]) {
      if (this.text.startsWith(word, this.at)) {
        this.at += word.length;
        return undefined;
      }
    }
    return this.#take(number) ? undefined : this.#expected(what);
  }

  #members(): string | undefined {
    return this.#series("}", () => {
      this.#take(blanks);
      if (this.text[this.at] !== '"') return this.#expected("a field name in double quotes");
      const problem = this.#string();
      if (problem !== undefined) return problem;
      this.#take(blanks);
      if (this.text[this.at] !== ":") return this.#expected("':' after the field name");
      this.at += 1;
      return this.#value("a value after ':'");
    });
  }

  #elements(): string | undefined {
    return this.#series("]", () => this.#value("a value"));
  }

  #series(close: string, item: () => string | undefined): string | undefined {
    this.#depth += 1;
    if (this.#depth > nestingMax) return `nested deeper than ${nestingMax} levels`;
    const problem = this.#items(close, item);
    this.#depth -= 1;
    return problem;
  }

  #items(close: string, item: () => string | undefined): string | undefined {
    this.at += 1;
    this.#take(blanks);
    if (this.text[this.at] === close) {
      this.at += 1;
      return undefined;
    }
    for (;;) {
      const problem = item();
      if (problem !== undefined) return problem;
      this.#take(blanks);
      const next = this.text[this.at];
      if (next !== "," && next !== close) return this.#expected(`',' or '${close}'`);
      this.at += 1;
      if (next === close) return undefined;
    }
  }

  #string(): string | undefined {
    this.at += 1;
    while (this.#take(plainText) || this.#take(escape));
    const next = this.text[this.at];
    if (next === "\\") return this.#expected("a valid escape");
    if (next !== '"') return this.#expected("a closing '\"'");
    this.at += 1;
    return undefined;
  }

  #take(pattern: RegExp): boolean {
    pattern.lastIndex = this.at;
    const length = pattern.exec(this.text)?.[0].length ?? 0;
    this.at += length;
    return length > 0;
  }

  #expected(what: string): string {
    return `expected ${what}, found ${foundIn(this.text, this.at)}`;
  }
}

const shownCharacters = 20;

/** The text at a place as a person would point at it: quoted and short, or the end. */
function foundIn(text: string, at: number): string {
  if (at >= text.length) return "the end";
  const rest = text.slice(at, at + shownCharacters);
  const [line = ""] = rest.split(/[\r\n]/, 1);
  if (line === "") return "the end of the line";
  return JSON.stringify(line + (text.length > at + line.length && line === rest ? "..." : ""));
}
