import { html } from "../../../web/html.ts";
import type { Visit } from "../visit.ts";
import { page } from "./page.ts";
import { card, desk, facts, oneButton } from "./parts.ts";

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
    body: desk(
      card(
        help.statuses,
        html`${facts(help.meanings)}
          <p>${help.undo}</p>
          ${oneButton("/link", layout.ownLink)}`,
      ),
      card(help.shortcuts, facts(shortcuts.map(([key, what]) => [html`<kbd>${key}</kbd>`, what]))),
    ),
  });
}
