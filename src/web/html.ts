/** Markup that goes into a page as it is. Only `html` and `trusted` make it. */
export class Html {
  constructor(readonly text: string) {}
}

const escapes: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

export type Value = Html | string | number | undefined | false | readonly Html[];

/** The parts of a template without its indentation, which is a third of a page. */
const parts = new WeakMap<TemplateStringsArray, readonly string[]>();

export function html(strings: TemplateStringsArray, ...values: readonly Value[]): Html {
  let known = parts.get(strings);
  if (known === undefined) {
    known = strings.map((part) => part.replace(/\n\s*/g, "\n"));
    parts.set(strings, known);
  }
  return new Html(
    known.map((part, at) => part + (at < values.length ? shown(values[at]) : "")).join(""),
  );
}

export function trusted(text: string): Html {
  return new Html(text);
}

function shown(value: Value): string {
  if (value === undefined || value === false) return "";
  if (value instanceof Html) return value.text;
  if (typeof value === "object") return value.map(({ text }) => text).join("");
  return String(value).replace(/[&<>"']/g, (character) => escapes[character] ?? "");
}
