import { html } from "../../docs/html.ts";
import type { Visit } from "../visit.ts";
import { page } from "./page.ts";
import { facts, oneButton } from "./parts.ts";

/** `GET /help`: the keys of the keyboard, and what the words mean. */
export function helpPage(visit: Visit): Response {
  const { help, animals, fields, layout } = visit.words;
  const shortcuts = [
    ["/", fields.search],
    ["n", animals.addTitle],
    ["?", help.help],
    ["Esc", help.leave],
  ] as const;
  return page(visit, {
    title: layout.help,
    section: "help",
    body: html`<div class="desk">
      <section class="card">
        <h2>${help.statuses}</h2>
        ${facts(help.meanings)}
        <p>${help.undo}</p>
        ${oneButton("/link", layout.ownLink)}
      </section>
      <section class="card">
        <h2>${help.shortcuts}</h2>
        ${facts(shortcuts.map(([key, what]) => [html`<kbd>${key}</kbd>`, what]))}
      </section>
    </div>`,
  });
}
