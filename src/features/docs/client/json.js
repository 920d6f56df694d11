import { tokensOf } from "../json-text.ts";
import { element } from "./elements.js";

const classes = { key: "k", string: "s", number: "n", word: "w" };

/** Pieces of JSON as coloured nodes. */
export function coloured(tokens) {
  return tokens.map(({ kind, text }) =>
    kind === "mark" ? text : element("span", { className: classes[kind] }, text),
  );
}

/** The text of a block, coloured in place with the space between its pieces as it is. */
export function colourBlock(block) {
  const text = block.textContent;
  const nodes = [];
  let at = 0;
  for (const token of tokensOf(text)) {
    const start = text.indexOf(token.text, at);
    nodes.push(text.slice(at, start), ...coloured([token]));
    at = start + token.text.length;
  }
  block.replaceChildren(...nodes, text.slice(at));
}
