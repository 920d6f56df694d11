import { html } from "../../docs/html.ts";
import type { Visit } from "../web/visit.ts";
import { consolePage } from "./layout.ts";

/** `GET /help`: the keys of the keyboard, and what the words mean. */
export function helpPage(visit: Visit): Response {
  const { help, sections } = visit.words;
  const shortcuts: readonly (readonly [string, string])[] = [
    ["/", help.search],
    ["n", help.add],
    ["g a", sections.animals],
    ["g i", sections.import],
    ["g c", sections.categories],
    ["?", help.help],
    ["Esc", help.leave],
  ];
  return consolePage(visit, {
    title: help.title,
    section: "help",
    body: html`<h1>${help.title}</h1>
      <div class="desk">
        <section class="card">
          <h2>${help.shortcuts}</h2>
          <dl class="facts">
            ${shortcuts.map(
              ([key, what]) =>
                html`<div>
                  <dt>${key.split(" ").map((each) => html`<kbd>${each}</kbd> `)}</dt>
                  <dd>${what}</dd>
                </div>`,
            )}
          </dl>
        </section>
        <section class="card">
          <h2>${help.statuses}</h2>
          <dl class="facts">
            ${help.meanings.map(
              ([word, what]) =>
                html`<div>
                  <dt>${word}</dt>
                  <dd>${what}</dd>
                </div>`,
            )}
          </dl>
          <p>${help.undo}</p>
        </section>
      </div>`,
  });
}
