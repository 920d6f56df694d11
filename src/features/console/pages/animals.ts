import { parseInt64 } from "../../../domain/int64.ts";
import type { Category } from "../../animals/category.ts";
import type { Pet } from "../../../domain/pet.ts";
import { html, type Html } from "../../docs/html.ts";
import type { AnimalQuery, FoundAnimals } from "../desk.ts";
import { query, type Visit } from "../web/visit.ts";
import { animalForm, noValues } from "./animal-form.ts";
import { changeNotice } from "./change-notice.ts";
import { icon } from "./icons.ts";
import { consolePage } from "./layout.ts";
import { pageLinks, searchForm } from "./list.ts";
import {
  categoryName,
  hidden,
  number,
  shownName,
  statusChoice,
  statusChoices,
  when,
} from "./parts.ts";

/** Animals on a page: as many as a thumb scrolls through. */
const pageAnimals = 25;
/** Categories to choose from on the start page; all of them are on their own page. */
const shownCategoriesMax = 60;

/** What a list is asked for, as it stands in its address. */
export function askedOf(visit: Visit): AnimalQuery {
  return {
    text: query(visit, "q"),
    categoryId: parseInt64(query(visit, "category")),
    status: statusChoice(query(visit, "status")),
    limit: pageAnimals,
    before: parseInt64(query(visit, "before")),
  };
}

/** The address of a list. */
export function listPath(asked: Partial<AnimalQuery>): string {
  const parameters = new URLSearchParams();
  if (asked.text) parameters.set("q", asked.text);
  if (asked.categoryId !== undefined) parameters.set("category", String(asked.categoryId));
  if (asked.status !== undefined) parameters.set("status", asked.status);
  if (asked.before !== undefined) parameters.set("before", String(asked.before));
  const text = parameters.toString();
  return text === "" ? "/animals" : `/animals?${text}`;
}

/** `GET /animals`: the start page. */
export async function animalsPage(visit: Visit): Promise<Response> {
  const { words, desk } = visit;
  const asked = askedOf(visit);
  const [found, categories, done] = await Promise.all([
    desk.animals.find(asked),
    desk.animals.categories(),
    changeNotice(visit),
  ]);
  const names = categories.map(({ name }) => name);
  return consolePage(visit, {
    title: words.sections.animals,
    section: "animals",
    body: html`<div class="head">
        <h1>${words.sections.animals}</h1>
        <a class="jump" href="#add">${words.animals.jump}</a>
      </div>
      <div id="notices">${done}</div>
      <div class="desk">
        <div>
          ${searchForm(visit, {
            action: "/animals",
            text: asked.text,
            hint: words.animals.searchHint,
            more: html`${
              asked.categoryId !== undefined && hidden("category", String(asked.categoryId))
            }
            ${asked.status !== undefined && hidden("status", asked.status)}`,
          })}
          <div id="results">
            ${filters(visit, asked, categories)} ${results(visit, asked, found, categories)}
          </div>
        </div>
        <section class="card" id="add" aria-labelledby="add-title">
          <h2 id="add-title">${words.animals.addTitle}</h2>
          ${animalForm(visit, {
            action: "/animals",
            values: noValues,
            names,
            button: words.buttons.addAnimal,
          })}
        </section>
      </div>`,
  });
}

function filters(visit: Visit, asked: AnimalQuery, categories: readonly Category[]): Html {
  const { words } = visit;
  const { before: _, ...kept } = asked;
  const chip = (path: string, text: string, isOn: boolean) =>
    html`<a class="chip" href="${path}" ${when(isOn, 'aria-current="true"')}>${text}</a>`;
  const chosen = categories.find(({ id }) => id === asked.categoryId);
  const label =
    asked.categoryId === undefined
      ? words.animals.allKinds
      : categoryName(visit, { id: asked.categoryId, name: chosen?.name });
  return html`<div class="filters">
    <div class="chips">
      ${chip(
        listPath({ ...kept, status: undefined }),
        words.animals.any,
        asked.status === undefined,
      )}
      ${statusChoices.map((each) =>
        chip(listPath({ ...kept, status: each }), words.status[each], asked.status === each),
      )}
    </div>
    <details class="kinds">
      <summary>${label}</summary>
      <div class="chips">
        ${chip(
          listPath({ ...kept, categoryId: undefined }),
          words.animals.allKinds,
          asked.categoryId === undefined,
        )}
        ${categories
          .slice(0, shownCategoriesMax)
          .map(({ id, name }) =>
            chip(
              listPath({ ...kept, categoryId: id }),
              categoryName(visit, { id, name }),
              id === asked.categoryId,
            ),
          )}
        ${
          categories.length > shownCategoriesMax &&
          html`<a class="chip" href="/categories">${words.animals.moreKinds}</a>`
        }
      </div>
    </details>
  </div>`;
}

function results(
  visit: Visit,
  asked: AnimalQuery,
  found: FoundAnimals,
  categories: readonly Category[],
): Html {
  const { words } = visit;
  const isAll = asked.text === "" && asked.categoryId === undefined && asked.status === undefined;
  const count = `${number(visit, found.found)}${found.isMore ? "+" : ""}`;
  const total = number(visit, found.total);
  if (found.animals.length === 0) {
    const isFirst = isAll && found.total === 0;
    return html`<div class="empty">
      ${icon("paw")}
      <p>${isFirst ? words.animals.none : words.animals.noneFound}</p>
      ${!isFirst && html`<p><a href="/animals">${words.animals.showAll}</a></p>`}
    </div>`;
  }
  const names = new Map(categories.map(({ id, name }) => [id, name]));
  const last = found.animals.at(-1);
  const first = listPath({ ...asked, before: undefined });
  return html`<p class="count" role="status">
      ${isAll ? words.animals.count(total) : words.animals.countOf(count, total)}
    </p>
    <ul class="animals">
      ${found.animals.map((animal) => row(visit, asked, animal, names))}
    </ul>
    ${severalForm(visit, asked)}
    ${pageLinks(visit, [
      [asked.before !== undefined && first, words.animals.newest],
      [found.more && last && listPath({ ...asked, before: last.id }), words.animals.older],
      [first.replace("/animals", "/export"), words.animals.export],
      ["/changes", words.changes.title],
    ])}`;
}

function row(
  visit: Visit,
  asked: AnimalQuery,
  { id, name, categoryId, status }: Pet,
  names: ReadonlyMap<bigint, string>,
): Html {
  const { words } = visit;
  const shown = shownName(visit, name);
  return html`<li id="animal-${String(id)}">
    <input
      type="checkbox"
      id="choose-${String(id)}"
      form="several"
      name="id"
      value="${String(id)}"
      aria-label="${words.animals.choose(shown)}"
    />
    <div class="what">
      <a href="/animals/${String(id)}">${shown}</a>
      <span class="soft"
        >${categoryName(visit, { id: categoryId, name: names.get(categoryId) })} ·
        <bdi>${String(id)}</bdi></span
      >
    </div>
    <form method="post" action="/animals/${String(id)}/status" class="segments">
      ${hidden("back", listPath(asked))}
      ${statusChoices
        .filter((each) => each !== "none")
        .map(
          (each) =>
            html`<button
              class="${each}"
              id="status-${String(id)}-${each}"
              name="status"
              value="${each}"
              aria-pressed="${each === status ? "true" : "false"}"
              aria-label="${words.animals.mark(words.status[each], shown)}"
            >
              ${words.status[each]}
            </button>`,
        )}
    </form>
  </li>`;
}

/**
 * What is done with the chosen animals. The boxes stand in their rows and belong to this form.
 * Enter in a box presses the first button, which changes nothing.
 */
function severalForm({ words }: Visit, asked: AnimalQuery): Html {
  return html`<form method="post" action="/animals/several" id="several" class="several">
    ${hidden("back", listPath(asked))}
    <button hidden></button>
    <span class="soft" data-count="${words.animals.chosen("{n}")}"
      >${words.animals.withChosen}</span
    >
    ${statusChoices.map(
      (each) =>
        html`<button class="quiet small" name="status" value="${each}">
          ${words.status[each]}
        </button>`,
    )}
    <button class="quiet small bad" name="remove" value="yes">${words.buttons.remove}</button>
  </form>`;
}
