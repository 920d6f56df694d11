/** The list of animals: searched, filtered, ordered, and printed. */
import { parseInt64 } from "../../../domain/int64.ts";
import type { Pet } from "../../../domain/pet.ts";
import { html, type Html } from "../../../web/html.ts";
import type { Category } from "../../animals/categories.ts";
import { fold } from "../../visible.ts";
import type { AnimalQuery, FoundAnimals } from "../animals.ts";
import { query, type Visit } from "../visit.ts";
import { changeNotice } from "./changes.ts";
import { exportFormats } from "./export.ts";
import { icon, page, seeOther } from "./page.ts";
import {
  animalsText,
  categoryName,
  facts,
  Fields,
  hidden,
  mainForm,
  moment,
  noStatus,
  number,
  pageLinks,
  shownName,
  statusChoice,
  statusChoices,
  storedAs,
  when,
} from "./parts.ts";
import { staleNotice } from "./sources.ts";

/** Animals on a page: as many as a thumb scrolls through; and on a page for paper. */
const pageAnimals = 25;
const wholeAnimals = 1_000;
/** Categories to choose from on the start page; all of them are on their own page. */
const shownCategoriesMax = 60;
const offeredMax = 3;
/** Ticks that an address takes along. */
const ticksMax = 100;

/** What a list is asked for, as it stands in its address. */
export interface AskedList extends AnimalQuery {
  /** One line for each animal: all of them, ticked or not. */
  readonly whole: "all" | "ticked" | undefined;
}

export function askedOf(visit: Visit): AskedList {
  const whole = (["all", "ticked"] as const).find((each) => each === query(visit, "list"));
  const from = Number(query(visit, "from"));
  return {
    text: query(visit, "q"),
    categoryId: parseInt64(query(visit, "category")),
    status: statusChoice(query(visit, "status")),
    limit: whole === undefined ? pageAnimals : wholeAnimals,
    before: parseInt64(query(visit, "before")),
    byNameFrom:
      query(visit, "sort") === "name"
        ? Number.isSafeInteger(from) && from > 0
          ? from
          : 0
        : undefined,
    whole,
  };
}

/** The address of a list, or of another page about the same animals. */
export function listPath(asked: Partial<AskedList>, path = "/animals"): string {
  const parameters = new URLSearchParams();
  if (asked.text) parameters.set("q", asked.text);
  if (asked.categoryId !== undefined) parameters.set("category", String(asked.categoryId));
  if (asked.status !== undefined) parameters.set("status", asked.status);
  if (asked.byNameFrom !== undefined) parameters.set("sort", "name");
  if (asked.byNameFrom) parameters.set("from", String(asked.byNameFrom));
  if (asked.before !== undefined) parameters.set("before", String(asked.before));
  if (asked.whole !== undefined) parameters.set("list", asked.whole);
  const text = parameters.toString();
  return text === "" ? path : `${path}?${text}`;
}

/** The same list from its beginning. */
const firstOf = (asked: AskedList): AskedList => ({
  ...asked,
  before: undefined,
  byNameFrom: asked.byNameFrom === undefined ? undefined : 0,
});

/** The ids of what is ticked, as a form or an address has them. */
export const idsOf = (values: readonly string[]): bigint[] => [
  ...new Set(values.flatMap((each) => parseInt64(each.split(" ")[0] ?? "") ?? [])),
];

/** Those in the address of a list: a search and a tap take them along. */
export const withTicks = (path: string, ids: readonly bigint[]): string => {
  const ticks = ids.slice(0, ticksMax).map((id) => `id=${String(id)}`);
  return ticks.length === 0 ? path : `${path}${path.includes("?") ? "&" : "?"}${ticks.join("&")}`;
};

export async function animalsPage(visit: Visit): Promise<Response> {
  const { words, animals, typed, url } = visit;
  const asked = askedOf(visit);
  const ids = idsOf((typed ?? url.searchParams).getAll("id"));
  // A browser sends all of the form with a search; its address needs less.
  if (url.searchParams.has("back")) return seeOther(withTicks(listPath(asked), ids));
  const [found, categories, done, stale, ticked] = await Promise.all([
    animals.find(asked),
    animals.categories(),
    changeNotice(visit),
    staleNotice(visit),
    Promise.all(ids.slice(0, ticksMax).map(animals.byId)),
  ]);
  const shown = new Set(found.animals.map(({ id }) => id));
  const also = ticked.flatMap((each) => (each === undefined || shown.has(each.id) ? [] : [each]));
  const list = { asked, found, categories, ticked: new Set(ids), also };
  const isTyped = asked.text !== "" || asked.categoryId !== undefined || asked.status !== undefined;
  return page(visit, {
    title: words.sections.animals,
    section: "animals",
    beside:
      asked.whole !== undefined && isTyped
        ? html`<small>${aboutText(visit, asked, categories)}</small>`
        : undefined,
    done,
    body: html`${stale} ${actions(visit, asked)}
    ${mainForm(
      visit,
      "/animals",
      html`${searchField(visit, asked)}
        <div id="results">
          ${hidden("back", listPath(asked))} ${filters(visit, list)}
          ${offers(visit, asked, categories)} ${results(visit, list)}
        </div>`,
    )}
    ${legend(visit)}`,
  });
}

/** What a printed list shows. */
function aboutText(visit: Visit, asked: AskedList, categories: readonly Category[]): string {
  const { categoryId, status, text } = asked;
  const kind = categories.find(({ id }) => id === categoryId)?.name;
  return [kind, status && visit.words.status[status], text].filter(Boolean).join(", ");
}

/** What can be done with the list as a whole. */
function actions(visit: Visit, asked: AskedList): Html {
  const { words } = visit;
  const first = { ...firstOf(asked), whole: undefined };
  return html`<div class="acts start">
    <a class="button main small" href="/animals/new">${words.buttons.addAnimal}</a>
    ${
      asked.whole === undefined
        ? html`<a class="button small" href="${listPath({ ...first, whole: "all" })}"
            >${words.export.print}</a
          >`
        : html`<button class="quiet small only-script" type="button" data-print>
            ${words.export.print}
          </button>`
    }
    <span class="soft">${words.export.title}</span>
    ${exportFormats.map(
      (format) =>
        html`<a class="button small" href="${listPath(first, `/export/${format}`)}" download
          >${words.export[format]}</a
        >`,
    )}
    <a class="button small" href="/changes">${words.changes.title}</a>
  </div>`;
}

/** The first button of the form: Enter searches, and changes nothing. */
function searchField(visit: Visit, asked: AskedList): Html {
  const { words, typed } = visit;
  const { categoryId, status, byNameFrom, text } = asked;
  return html`<div class="search">
    <label for="q">${words.fields.search}</label>
    <div class="row">
      <input
        id="q"
        name="q"
        type="search"
        value="${typed?.text("q") ?? text}"
        placeholder="${words.animals.searchHint}"
      /><button class="quiet" formmethod="get" formaction="/animals">${words.buttons.find}</button>
    </div>
    ${categoryId !== undefined && hidden("category", String(categoryId))}
    ${status !== undefined && hidden("status", status)}
    ${byNameFrom !== undefined && hidden("sort", "name")}
  </div>`;
}

interface ShownList {
  readonly asked: AskedList;
  readonly found: FoundAnimals;
  readonly categories: readonly Category[];
  readonly ticked: ReadonlySet<bigint>;
  /** Ticked, and not among what was found. */
  readonly also: readonly Pet[];
}

function filters(visit: Visit, { asked, found, categories }: ShownList): Html {
  const { words } = visit;
  const { categoryId, status, byNameFrom } = asked;
  const { counts } = found;
  const chip = (chosen: Partial<AskedList>, text: string | Html, isOn: boolean) => {
    const path = listPath({ ...firstOf(asked), ...chosen });
    return html`<a class="chip" href="${path}" ${when(isOn, 'aria-current="true"')}>${text}</a>`;
  };
  const counted = (text: string, animals: number) =>
    html`${text} <small>${number(visit, animals)}${found.isMore && "+"}</small>`;
  const sum = [...counts.values()].reduce((all, each) => all + each, 0);
  const all = words.animals.allKinds;
  const name = categories.find(({ id }) => id === categoryId)?.name;
  return html`<div class="filters">
    <div class="chips">
      ${chip({ status: undefined }, counted(words.animals.any, sum), status === undefined)}
      ${statusChoices.map((each) => {
        const animals = counts.get(storedAs(each)) ?? 0;
        return chip({ status: each }, counted(words.status[each], animals), status === each);
      })}
    </div>
    <div class="chips">
      ${chip({ byNameFrom: undefined }, words.animals.newestFirst, byNameFrom === undefined)}
      ${chip({ byNameFrom: 0 }, words.animals.byName, byNameFrom !== undefined)}
    </div>
    <details>
      <summary>
        ${categoryId === undefined ? all : categoryName(visit, { id: categoryId, name })}
      </summary>
      <div class="chips">
        ${chip({ categoryId: undefined }, all, categoryId === undefined)}
        ${categories
          .slice(0, shownCategoriesMax)
          .map((each) =>
            chip({ categoryId: each.id }, categoryName(visit, each), each.id === categoryId),
          )}
        ${
          categories.length > shownCategoriesMax &&
          html`<a class="chip" href="/categories">${words.animals.moreKinds}</a>`
        }
      </div>
    </details>
  </div>`;
}

/** Categories whose name has what is searched for among the names of animals. */
function offers({ words }: Visit, { text }: AskedList, categories: readonly Category[]): Html {
  const wanted = fold(text);
  const found = categories.filter(({ name }) => text !== "" && fold(name).includes(wanted));
  return html`${found.slice(0, offeredMax).map(
    ({ id, name }) =>
      html`<p>
        <a href="${listPath({ categoryId: id })}">${words.animals.inCategory(name)}</a>
      </p>`,
  )}`;
}

function results(visit: Visit, list: ShownList): Html {
  const { words } = visit;
  const { asked, found, categories, also } = list;
  const isAll = asked.text === "" && asked.categoryId === undefined && asked.status === undefined;
  if (found.animals.length === 0 && also.length === 0) {
    const isFirst = isAll && found.total === 0;
    return html`<div class="empty">
      ${icon("animals")}
      <p>${isFirst ? words.animals.none : words.animals.noneFound}</p>
      ${!isFirst && html`<p><a href="/animals">${words.animals.backToAll}</a></p>`}
    </div>`;
  }
  const names = new Map(categories.map(({ id, name }) => [id, name]));
  const { byNameFrom, before, limit } = asked;
  const isLater = before !== undefined || Boolean(byNameFrom);
  const next =
    byNameFrom === undefined
      ? { before: found.animals.at(-1)?.id }
      : { byNameFrom: byNameFrom + limit };
  return html`<p class="soft" role="status">
      ${countText(visit, list, isAll)}
      ${
        asked.whole === undefined
          ? html`·
              <a href="${listPath({ ...firstOf(asked), whole: "ticked" })}"
                >${words.animals.tickAll}</a
              >`
          : html`· ${moment(visit, visit.nowMs)}`
      }
    </p>
    <ul class="animals">
      ${[...also, ...found.animals].map((animal) => row(visit, list, animal, names))}
    </ul>
    ${severalActions(visit, categories)}
    ${pageLinks(visit, [
      [isLater && listPath(firstOf(asked)), words.animals.start],
      [found.more && listPath({ ...asked, ...next }), words.animals.next],
    ])}`;
}

/** How many there are; of a part of them, how many these are. */
function countText(visit: Visit, { asked, found }: ShownList, isAll: boolean): string {
  const { words } = visit;
  const total = number(visit, found.total);
  const all = `${number(visit, found.found)}${found.isMore ? "+" : ""}`;
  const text = isAll ? animalsText(visit, found.total) : words.animals.countOf(all, total);
  if (asked.whole === undefined || found.animals.length === found.found) return text;
  return `${text}; ${words.animals.here(number(visit, found.animals.length))}`;
}

/** An animal as a form names it: with the status that its list showed. */
const seenAs = ({ id, status }: Pet): string => `${id} ${status ?? noStatus}`;

function row(
  visit: Visit,
  { asked, ticked }: ShownList,
  animal: Pet,
  names: ReadonlyMap<bigint, string>,
): Html {
  const { words } = visit;
  const { id, name, categoryId, status = noStatus } = animal;
  const shown = shownName(visit, name);
  const isTicked = ticked.has(id) || asked.whole === "ticked";
  const box = html`<input
    type="checkbox"
    name="id"
    value="${seenAs(animal)}"
    aria-label="${words.animals.choose(shown)}"
    ${when(isTicked, "checked")}
  />`;
  const kind = categoryName(visit, { id: categoryId, name: names.get(categoryId) });
  return html`<li id="animal-${String(id)}">
    ${box}
    <div class="what">
      <a href="/animals/${String(id)}">${shown}</a>
      <span class="soft">${kind} · <bdi>${String(id)}</bdi></span>
    </div>
    ${
      asked.whole === undefined
        ? html`<div class="segments">
            ${statusChoices
              .filter((each) => each !== noStatus)
              .map(
                (each) =>
                  html`<button
                    class="quiet small ${each}"
                    name="tap"
                    value="${seenAs(animal)} ${each}"
                    aria-pressed="${each === status ? "true" : "false"}"
                    aria-label="${words.animals.mark(words.status[each], shown)}"
                  >
                    ${words.status[each]}
                  </button>`,
              )}
          </div>`
        : html`<span class="tag ${status}">${words.status[status]}</span>`
    }
  </li>`;
}

/** What is done with the animals that are ticked. */
function severalActions(visit: Visit, categories: readonly Category[]): Html {
  const { words } = visit;
  const into = [
    { value: "", text: words.animals.toCategory },
    ...categories.map((each) => ({ value: String(each.id), text: categoryName(visit, each) })),
  ];
  return html`<div id="several" class="several">
    <span class="soft">${words.animals.chosen}</span>
    ${statusChoices.map(
      (each) =>
        html`<button class="quiet small" name="set" value="${each}">${words.status[each]}</button>`,
    )}
    <div class="row">
      ${new Fields(visit).bare("into", into, words.animals.toCategory)}
      <button class="quiet small" name="move" value="yes">${words.buttons.move}</button>
    </div>
    <button class="quiet small" formmethod="get" formaction="/animals/merge">
      ${words.buttons.merge}
    </button>
    <button class="quiet small bad" name="remove" value="yes">${words.buttons.remove}</button>
  </div>`;
}

/** What the statuses mean, and what everybody sees. */
function legend(visit: Visit): Html {
  const { words, publicPage } = visit;
  const publicUrl = publicUrlOf(visit);
  return html`<section class="legend">
    ${facts(statusChoices.map((each) => [words.status[each], words.legend[each]]))}
    <p class="hint">
      ${words.legend.undo}
      ${
        publicPage &&
        html`${words.legend.seen}
        ${publicUrl !== undefined && html`<a href="${publicUrl}">${words.legend.open}</a>`}`
      }
    </p>
  </section>`;
}

/** The address of that page. Without a setting it is beside the console, unless a proxy is before. */
function publicUrlOf({ publicPage, url, isProxied, isSecure }: Visit): string | undefined {
  if (publicPage === undefined || publicPage.url !== undefined) return publicPage?.url;
  const { port } = publicPage;
  if (isProxied || port === 0) return undefined;
  return `${isSecure ? "https" : "http"}://${url.hostname}:${port}/animals`;
}
