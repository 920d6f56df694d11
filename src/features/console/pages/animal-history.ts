import type { Category } from "../../animals/category.ts";
import { type PetFieldName, petFieldNames } from "../../../domain/pet.ts";
import { html, type Html } from "../../docs/html.ts";
import type { FieldValue } from "../../animals/events.ts";
import type { AnimalEvent } from "../desk.ts";
import type { Visit } from "../web/visit.ts";
import { moment, noStatus, shownName, statusChoice } from "./parts.ts";

/** What became of an animal, in the order of `events`. */
export function historyList(
  visit: Visit,
  events: readonly AnimalEvent[],
  categories: readonly Category[],
): Html {
  const { words } = visit;
  if (events.length === 0) return html`<p class="soft">${words.history.none}</p>`;
  return html`<ol class="history">
    ${events.map(
      (event) =>
        html`<li>
          <p>${eventWords(visit, event, categories)}</p>
          <p class="soft">
            ${event.actor ?? words.history.unknown}${
              event.atMs !== undefined && html` · ${moment(visit, event.atMs)}`
            }
          </p>
        </li>`,
    )}
  </ol>`;
}

/** What an event did: that the animal went or came back, and the fields that it changed. */
function eventWords(
  visit: Visit,
  { action, did, changed }: AnimalEvent,
  categories: readonly Category[],
): Html {
  const { fields, history } = visit.words;
  const valueWords = valuesIn(visit, categories);
  const changes = petFieldNames.flatMap((field) => {
    const change = changed.find((each) => each.field === field);
    if (change === undefined) return [];
    const label = fields[field === "categoryId" ? "category" : field];
    const [before, after] = [valueWords(field, change.before), valueWords(field, change.after)];
    return [html`${label}: <bdi>${before}</bdi> → <bdi>${after}</bdi>`];
  });
  const name = history.actions(action);
  const isNew = did !== undefined && !saysWhat.has(action);
  const what = [...(isNew ? [html`${history.did[did]}`] : []), ...changes];
  return html`${name}${what.map((each, at) => html`${at === 0 ? ": " : "; "}${each}`)}`;
}

/** Actions whose name says that the animal went or came back. */
const saysWhat: ReadonlySet<string> = new Set(["remove", "restore"]);

function valuesIn(visit: Visit, categories: readonly Category[]) {
  const { status } = visit.words;
  return (field: PetFieldName, value: FieldValue): string => {
    const text = String(value ?? "");
    if (field === "name") return shownName(visit, text);
    if (field === "status") return status[statusChoice(text) ?? noStatus];
    if (field !== "categoryId") return text;
    return categories.find(({ id }) => String(id) === text)?.name ?? text;
  };
}
