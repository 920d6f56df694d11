import { parseInt64 } from "../../../domain/int64.ts";
import { html, type Html } from "../../docs/html.ts";
import type { ChangeRecord } from "../desk.ts";
import { param, type Visit } from "../web/visit.ts";
import { changeNotice, changeWords, mayUndo, undoOf } from "./change-notice.ts";
import { consolePage } from "./layout.ts";
import { notFoundPage } from "./failures.ts";
import { hidden, moment, number, oneButton } from "./parts.ts";

/** As many as anybody reads through to find what went wrong. */
const shownChanges = 50;

/** `GET /changes`: what was done lately and by whom, each with its Undo. */
export async function changesPage(visit: Visit): Promise<Response> {
  const { words, desk } = visit;
  const [changes, done] = await Promise.all([
    desk.animals.recentChanges(shownChanges),
    changeNotice(visit),
  ]);
  return consolePage(visit, {
    title: words.changes.title,
    section: "animals",
    body: html`<p class="trail"><a href="/animals">${words.animals.backToAll}</a></p>
      <h1>${words.changes.title}</h1>
      <div id="notices">${done}</div>
      <section class="card narrow">
        ${
          changes.length === 0
            ? html`<p class="soft">${words.changes.none}</p>`
            : html`<ul class="lines">
                ${changes.map((change) => changeLine(visit, change))}
              </ul>`
        }
      </section>`,
  });
}

function changeLine(visit: Visit, change: ChangeRecord): Html {
  const { actor, atMs } = change;
  return html`<li>
    <div class="what">
      <span>${changeWords(visit, change)}</span>
      <span class="soft">${actor} · ${moment(visit, atMs)}</span>
    </div>
    ${mayUndo(visit, change) && undoOf(visit, change)}
  </li>`;
}

/** `GET /changes/:id`: what the undo of a change would do. */
export async function changePage(visit: Visit): Promise<Response> {
  const { words, desk } = visit;
  const id = parseInt64(param(visit, "id"));
  const change = id === undefined ? undefined : await desk.animals.changeById(id);
  if (change === undefined) return notFoundPage(visit);
  const { animals, actor, atMs } = change;
  return consolePage(visit, {
    title: changeWords(visit, change),
    section: "animals",
    body: html`<p class="trail"><a href="/changes">${words.changes.title}</a></p>
      <h1>${changeWords(visit, change)}</h1>
      <p class="soft">${actor} · ${moment(visit, atMs)}</p>
      ${
        mayUndo(visit, change) &&
        html`<section class="card narrow">
          <p>${words.changes.sure(words.categories.animals(number(visit, animals), animals))}</p>
          ${oneButton(`/changes/${String(change.id)}/undo`, words.buttons.undo, {
            kind: "undo",
            fields: hidden("back", "/changes"),
          })}
        </section>`
      }`,
  });
}
