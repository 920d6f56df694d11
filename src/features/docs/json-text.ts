/**
 * JSON as text, for the page and for the code that it shows. Numbers are never parsed: a double
 * would round an int64. Runs in the browser too.
 */
const tokenPattern =
  /("(?:[^"\\]|\\.)*")(\s*:)?|(-?\d[\d.eE+-]*)|\b(true|false|null)\b|[{}[\],]|\s+|./gs;

type TokenKind = "key" | "string" | "number" | "word" | "mark";

export interface Token {
  readonly kind: TokenKind;
  /** The text as it stands; a key comes without its colon. */
  readonly text: string;
}

/** The pieces of JSON text, or of any other text, without the space between them. */
export function tokensOf(json: string): Token[] {
  const tokens: Token[] = [];
  for (const [text, string, colon, number, word] of json.matchAll(tokenPattern)) {
    if (string !== undefined) {
      tokens.push({ kind: colon === undefined ? "string" : "key", text: string });
    } else if (number !== undefined) tokens.push({ kind: "number", text });
    else if (word !== undefined) tokens.push({ kind: "word", text });
    else if (text.trim() !== "") tokens.push({ kind: "mark", text });
  }
  return tokens;
}

/** Lays JSON text out: two spaces a level, and an object of a list on one line. */
export function laidOut(json: string): Token[] {
  const tokens = tokensOf(json);
  const shown: Token[] = [];
  const open: string[] = [];
  const isInline = () => open.lastIndexOf("{") > open.indexOf("[") && open.includes("[");
  const space = (text: string) => shown.push({ kind: "mark", text });
  const newLine = () => space(isInline() ? "" : `\n${"  ".repeat(open.length)}`);
  for (const [at, token] of tokens.entries()) {
    const { kind, text } = token;
    const isEmpty = /^[{[]$/.test(tokens[at - 1]?.text ?? "");
    if (kind === "mark" && (text === "}" || text === "]")) {
      const wasInline = isInline();
      open.pop();
      if (!isEmpty && !wasInline) newLine();
      shown.push(token);
      continue;
    }
    shown.push(token);
    if (kind === "key") space(": ");
    if (kind !== "mark") continue;
    if (text === ",") space(isInline() ? " " : `\n${"  ".repeat(open.length)}`);
    if (text !== "{" && text !== "[") continue;
    open.push(text);
    if (!/^[}\]]$/.test(tokens[at + 1]?.text ?? "")) newLine();
  }
  return shown;
}

export const laidOutText = (json: string): string =>
  laidOut(json)
    .map(({ text }) => text)
    .join("");
