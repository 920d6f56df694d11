import { parseInt64 } from "../../../domain/int64.ts";
import { html } from "../../docs/html.ts";
import { param, type Visit } from "../web/visit.ts";
import { animalForm, type AnimalValues } from "./animal-form.ts";
import { mayUndo, undoOf } from "./change-notice.ts";
import { notFoundPage } from "./failures.ts";
import { consolePage } from "./layout.ts";
import { moment, shownName } from "./parts.ts";

/**
 * `GET /animals/:id` of an animal that is gone: who removed it, and how it comes back. Keeps what
 * somebody meanwhile `sent` of it.
 */
export async function removedPage(visit: Visit, sent?: AnimalValues): Promise<Response> {
  const { words, desk } = visit;
  const id = parseInt64(param(visit, "id"));
  const removed = id === undefined ? undefined : await desk.animals.removed(id);
  if (removed === undefined) return notFoundPage(visit);
  const { name, change } = removed;
  const title = shownName(visit, name);
  const categories = await desk.animals.categories();
  return consolePage(visit, {
    title,
    section: "animals",
    status: "notFound",
    body: html`<p class="trail"><a href="/animals">${words.animals.backToAll}</a></p>
      <h1>${title} <small>${String(id)}</small></h1>
      <div class="notice plain">
        <p>
          ${words.animals.removed}
          ${change && html`<span class="soft">${change.actor} · ${moment(visit, change.atMs)}</span>`}
        </p>
        ${change && mayUndo(visit, change) && undoOf(visit, change)}
      </div>
      ${
        sent &&
        html`<section class="card">
          ${animalForm(visit, {
            action: `/animals/${String(id)}`,
            values: sent,
            names: categories.map((category) => category.name),
            button: words.buttons.save,
          })}
        </section>`
      }`,
  });
}
