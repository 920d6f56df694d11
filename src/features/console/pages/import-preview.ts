import { petStatuses } from "../../../domain/pet.ts";
import { html, type Html } from "../../docs/html.ts";
import type { CandidateCategory } from "../../import/candidate.ts";
import type { ImportSummary } from "../../import/import.ts";
import { messageText } from "../../import/messages.ts";
import type { Note } from "../../import/notes.ts";
import { type Preview, unknownWords } from "../imports.ts";
import type { Visit } from "../web/visit.ts";
import type { Words } from "../words/index.ts";
import { table } from "./chart.ts";
import { noStatus, notice, number, selectField, shownName } from "./parts.ts";

/** The numbers of an import, those that are not zero, with the trouble in its colour. */
export function figures(visit: Visit, summary: ImportSummary): Html {
  const { words } = visit;
  const skipped = summary.skipped.reduce((sum, { records }) => sum + records, 0);
  const counts = { ...summary, skipped };
  const shown = (
    ["added", "updated", "withdrawn", "unchanged", "skipped", "superseded", "rejected"] as const
  ).filter((each) => counts[each] > 0 || each === "added" || each === "updated");
  return html`<dl class="figures">
    ${shown.map(
      (each) =>
        html`<div class="${each === "rejected" ? "some" : ""}">
          <dt>${words.import[each]}</dt>
          <dd>${number(visit, counts[each])}</dd>
        </div>`,
    )}
  </dl>`;
}

/** What a file is, what it would change, what is wrong with it, and its first animals. */
export function previewParts(visit: Visit, preview: Preview): Html {
  const { words } = visit;
  const { format, found, notes } = preview;
  const newCategories = preview.categoriesAdded.map(({ name }) => name);
  const isNothing = preview.added + preview.updated + preview.withdrawn === 0;
  return html`<p class="soft">
      ${words.import.format}: ${format === "map" ? words.import.mapped : format} ·
      ${words.import.read}: ${number(visit, preview.read)}
    </p>
    ${figures(visit, preview)} ${isNothing && notice("plain", html`<p>${words.import.nothing}</p>`)}
    ${
      found.encoding !== undefined &&
      notice("plain", html`<p>${words.import.encoding(found.encoding)}</p>`)
    }
    ${notes
      .filter(({ said }) => said.code !== "wholeRefused")
      .map((note) => notice("plain", html`<p>${noteText(visit, note)}</p>`))}
    ${
      newCategories.length > 0 &&
      html`<p>${words.import.newCategories}: ${newCategories.join(", ")}</p>`
    }
    ${badRows(visit, preview)} ${wordFields(visit, preview)}
    ${
      preview.sample.length > 0 &&
      html`<section class="card">
        <h2>${words.import.sample}</h2>
        ${table(
          [
            words.fields.name,
            words.fields.category,
            words.fields.status,
            words.import.columnFor.id,
          ],
          preview.sample.map(({ name, category, status, externalId }) => [
            shownName(visit, name),
            categoryName(category, preview),
            words.status[status ?? noStatus],
            externalId ?? "",
          ]),
        )}
      </section>`
    }`;
}

function noteText(visit: Visit, { said, records, firstLine, example }: Note): string {
  const { words } = visit;
  const text = messageText(said, words.messages);
  return words.import.note(text, number(visit, records), firstLine, example);
}

/** A category as the catalogue will show it; empty for one that a later record names. */
function categoryName(category: CandidateCategory, { categories }: Preview): string {
  if ("reference" in category) return "";
  const { id, name = "" } = category;
  return id === undefined || name !== "" ? name : (categories.get(id) ?? String(id));
}

function badRows(visit: Visit, { causes }: Preview): Html | undefined {
  const { words } = visit;
  if (causes.length === 0) return undefined;
  return html`<section class="card">
    <h2>${words.import.badTitle}</h2>
    <ul class="lines">
      ${causes.map(
        ({ field, problem, records, lines }) =>
          html`<li>
            <span>${field !== "" && `${field}: `}${messageText(problem, words.messages)}</span>
            <span class="soft"
              >${words.import.bad(number(visit, records), records)}
              (${words.import.lines(
                lines.join(", ") + (records > lines.length ? " …" : ""),
                records,
              )})</span
            >
          </li>`,
      )}
    </ul>
    <p><a href="/import/rejects" download>${words.import.rejects}</a></p>
  </section>`;
}

/** The unknown words for the status: what each of them means is the shelter's to say. */
function wordFields({ words }: Visit, preview: Preview): Html | undefined {
  const unknown = unknownWords(preview);
  if (unknown.length === 0) return undefined;
  const options = [
    { value: "", text: words.import.noColumn },
    ...petStatuses.map((each) => ({ value: each as string, text: words.status[each] })),
    { value: noStatus, text: words.status.none },
    { value: "gone", text: words.import.gone_ },
  ];
  return html`<section class="card">
    <h2>${words.import.statusWords}</h2>
    ${unknown.map((word, at) => selectField({ name: `word-${at}`, label: word }, options))}
    ${lookButton(words)}
  </section>`;
}

/** Shows what a form's choices come to. The first one of a form is what Enter presses. */
export function lookButton(words: Words): Html {
  return html`<button class="quiet" name="look" value="yes">${words.import.look}</button>`;
}
