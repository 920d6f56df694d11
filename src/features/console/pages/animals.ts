/** The list of animals: searched, filtered, ordered, printed, and as a file. */
import { parseInt64 } from "../../../domain/int64.ts";
import type { Pet } from "../../../domain/pet.ts";
import { html, type Html } from "../../../web/html.ts";
import type { Category } from "../../animals/categories.ts";
import { inWorkbook } from "../../import/read/table.ts";
import type { AnimalQuery, FoundAnimals } from "../animals.ts";
import { pathWith, query, type Visit } from "../visit.ts";
import { icon, page, seeOther } from "./page.ts";
import * as ui from "./ui.ts";
import { staleNotice } from "./sources.ts";

const pageAnimals = 25;
/** As many as a page of 60 kB has room for. */
const wholeAnimals = { all: 400, ticked: 150 } as const;
const shownCategoriesMax = 60;
const ticksMax = wholeAnimals.ticked;
/** Animals that an export reads in one go; then everybody else gets a turn. */
const batchAnimals = 1_000;

interface AskedList extends AnimalQuery {
  /** One line for each animal: to print them, or ticked. */
  readonly whole: "all" | "ticked" | undefined;
}

function askedOf(visit: Visit): AskedList {
  const whole = (["all", "ticked"] as const).find((each) => each === query(visit, "list"));
  const from = Number(query(visit, "from"));
  const start = Number.isSafeInteger(from) && from > 0 ? from : 0;
  return {
    text: query(visit, "q"),
    categoryId: parseInt64(query(visit, "category")),
    status: ui.statusChoice(query(visit, "status")),
    limit: whole === undefined ? pageAnimals : wholeAnimals[whole],
    before: parseInt64(query(visit, "before")),
    byNameFrom: query(visit, "sort") === "name" ? start : undefined,
    whole,
  };
}

export function listPath(asked: Partial<AskedList>, path = "/animals"): string {
  const { text, categoryId, status, byNameFrom, before, whole } = asked;
  const sort = byNameFrom === undefined ? undefined : "name";
  const from = byNameFrom || undefined;
  return pathWith(path, { q: text, category: categoryId, status, sort, from, before, list: whole });
}

const firstOf = (asked: AskedList): AskedList => ({
  ...asked,
  before: undefined,
  byNameFrom: asked.byNameFrom === undefined ? undefined : 0,
});

const isFiltered = ({ text, categoryId, status }: AskedList) =>
  text !== "" || categoryId !== undefined || status !== undefined;

export const idsOf = (values: readonly string[]): bigint[] => [
  ...new Set(values.flatMap((each) => parseInt64(each.split(" ")[0] ?? "") ?? [])),
];

export const withTicks = (path: string, ids: readonly bigint[]): string =>
  pathWith(path, { id: ids.slice(0, ticksMax) });

interface ShownList {
  readonly asked: AskedList;
  readonly found: FoundAnimals;
  readonly categories: readonly Category[];
  readonly ticked: ReadonlySet<bigint>;
  /** Ticked, and not among what was found. */
  readonly also: readonly Pet[];
}

export async function animalsPage(visit: Visit): Promise<Response> {
  const { words, animals, typed, url } = visit;
  const asked = askedOf(visit);
  const ids = idsOf((typed ?? url.searchParams).getAll("id"));
  // A browser sends all of the form with a search; its address needs less.
  if (url.searchParams.has("back")) return seeOther(withTicks(listPath(asked), ids));
  const [found, categories, stale, ticked] = await Promise.all([
    animals.find(asked),
    animals.categories(),
    staleNotice(visit),
    animals.byIds(ids.slice(0, ticksMax)),
  ]);
  const shown = new Set(found.animals.map(({ id }) => id));
  const also = ticked.filter(({ id }) => !shown.has(id));
  // Whoever unticked some of them, and comes back, has the others.
  const isAllTicked = asked.whole === "ticked" && ids.length === 0 && typed === undefined;
  const list = { asked, found, categories, ticked: isAllTicked ? shown : new Set(ids), also };
  return page(visit, {
    title: words.sections.animals,
    section: "animals",
    body: html`${stale} ${actions(visit, asked)}
    ${ui.mainForm(
      visit,
      "/animals",
      html`${searchPart(visit, asked)}
        <div id="results">
          ${ui.hidden("back", listPath(asked))} ${filters(visit, list)} ${results(visit, list)}
        </div>`,
    )}
    ${legend(visit)}`,
  });
}

function actions({ words }: Visit, asked: AskedList): Html {
  const first = { ...firstOf(asked), whole: undefined };
  const { print, excel } = words.export;
  const small = { class: "button small" };
  return html`<div class="acts start">
    ${ui.link("/animals/new", words.buttons.addAnimal, { class: "button main small" })}
    ${ui.link(listPath({ ...first, whole: "all" }), print, small)}
    ${ui.link(listPath(first, "/export/xlsx"), excel, { ...small, download: true })}
    ${ui.link("/changes", words.changes.title, small)}
  </div>`;
}

/** The first button of the form: Enter searches, and changes nothing. */
function searchPart(visit: Visit, { categoryId, status, byNameFrom, text }: AskedList): Html {
  const { words, typed } = visit;
  const find = { class: "quiet", formmethod: "get", formaction: "/animals" };
  const value = typed?.text("q") ?? text;
  const placeholder = words.animals.searchHint;
  const field = { id: "q", name: "q", type: "search", value, placeholder };
  return html`<div class="search">
    <label for="q">${words.fields.search}</label>
    <div class="row"><input${ui.attributes(field)} />${ui.button(words.buttons.find, find)}</div>
    ${categoryId !== undefined && ui.hidden("category", String(categoryId))}
    ${status !== undefined && ui.hidden("status", status)}
    ${byNameFrom !== undefined && ui.hidden("sort", "name")}
  </div>`;
}

function filters(visit: Visit, { asked, found, categories }: ShownList): Html {
  const { words } = visit;
  const { categoryId, status, byNameFrom } = asked;
  const { counts } = found;
  const chip = (chosen: Partial<AskedList>, text: string, isOn: boolean) =>
    ui.link(listPath({ ...firstOf(asked), ...chosen }), text, {
      class: "chip",
      "aria-current": isOn && "true",
    });
  const counted = (text: string, animals: number) => `${text} ${ui.number(visit, animals)}`;
  const sum = [...counts.values()].reduce((all, each) => all + each, 0);
  const all = words.animals.allKinds;
  const name = categories.find(({ id }) => id === categoryId)?.name;
  return html`<div class="filters">
    <div class="chips">
      ${chip({ status: undefined }, counted(words.animals.any, sum), status === undefined)}
      ${ui.statusChoices.map((each) => {
        const animals = counts.get(ui.storedAs(each)) ?? 0;
        return chip({ status: each }, counted(words.status[each], animals), status === each);
      })}
    </div>
    <div class="chips">
      ${chip({ byNameFrom: undefined }, words.animals.newestFirst, byNameFrom === undefined)}
      ${chip({ byNameFrom: 0 }, words.animals.byName, byNameFrom !== undefined)}
    </div>
    <details>
      <summary>
        ${categoryId === undefined ? all : ui.categoryName(visit, { id: categoryId, name })}
      </summary>
      <div class="chips">
        ${chip({ categoryId: undefined }, all, categoryId === undefined)}
        ${categories
          .slice(0, shownCategoriesMax)
          .map(({ id, name }) =>
            chip({ categoryId: id }, ui.categoryName(visit, { id, name }), id === categoryId),
          )}
        ${
          categories.length > shownCategoriesMax &&
          ui.link("/categories", words.animals.moreKinds, { class: "chip" })
        }
      </div>
    </details>
  </div>`;
}

function results(visit: Visit, list: ShownList): Html {
  const { words } = visit;
  const { asked, found, categories, also } = list;
  if (found.animals.length === 0 && also.length === 0) {
    const isFirst = !isFiltered(asked) && found.total === 0;
    return html`<div class="card">
      ${icon("animals")}
      <p>${isFirst ? words.animals.none : words.animals.noneFound}</p>
      ${!isFirst && html`<p>${ui.link("/animals", words.animals.backToAll)}</p>`}
    </div>`;
  }
  const names = new Map(categories.map(({ id, name }) => [id, name]));
  const { byNameFrom, before, limit } = asked;
  const isLater = before !== undefined || Boolean(byNameFrom);
  const next =
    byNameFrom === undefined
      ? { before: found.animals.at(-1)?.id }
      : { byNameFrom: byNameFrom + limit };
  const tickAll = listPath({ ...firstOf(asked), whole: "ticked" });
  return html`<p class="soft" role="status">
      ${countText(visit, list)} ·
      ${
        asked.whole === undefined
          ? ui.link(tickAll, words.animals.tickAll)
          : ui.moment(visit, visit.nowMs)
      }
    </p>
    <ul class="animals">
      ${also.map((animal) => row(visit, list, animal, names, true))}
      ${found.animals.map((animal) => row(visit, list, animal, names))}
    </ul>
    ${asked.whole !== "all" && severalActions(visit, categories)}
    ${ui.pageLinks(visit, [
      [isLater && listPath(firstOf(asked)), words.animals.start],
      [found.more && listPath({ ...asked, ...next }), words.animals.next],
    ])}`;
}

function countText(visit: Visit, { asked, found }: ShownList): string {
  const { words } = visit;
  const total = ui.number(visit, found.total);
  const all = ui.number(visit, found.found);
  const text = isFiltered(asked)
    ? words.animals.countOf(all, total)
    : ui.animalsText(visit, found.total);
  if (asked.whole === undefined || found.animals.length === found.found) return text;
  return `${text}; ${words.animals.here(ui.number(visit, found.animals.length))}`;
}

function row(
  visit: Visit,
  { asked, ticked }: ShownList,
  animal: Pet,
  names: ReadonlyMap<bigint, string>,
  isLine = asked.whole !== undefined,
): Html {
  const { words } = visit;
  const { id, name, categoryId, status = ui.noStatus } = animal;
  const shown = ui.shownName(visit, name);
  // As a form names it: with the status that its list showed.
  const seen = `${id} ${status}`;
  const label = words.animals.choose(shown);
  const own = { name: "id", value: seen, "aria-label": label, checked: ticked.has(id) };
  const box = html`<input type="checkbox" ${ui.attributes(own)} />`;
  const link = ui.link(`/animals/${String(id)}`, shown);
  const category = ui.categoryName(visit, { id: categoryId, name: names.get(categoryId) });
  const kind = html`${category} · <bdi>${String(id)}</bdi>`;
  if (isLine) {
    const line = html`${link}<span>${kind} · ${words.status[status]}</span>`;
    return html`<li>${asked.whole !== "all" && box}${line}</li>`;
  }
  const taps = ui.statusChoices
    .filter((each) => each !== ui.noStatus)
    .map((each) =>
      ui.button(words.status[each], {
        class: `quiet small ${each}`,
        name: "tap",
        value: `${seen} ${each}`,
        "aria-pressed": each === status ? "true" : "false",
        "aria-label": `${words.status[each]}: ${shown}`,
      }),
    );
  return html`<li id="animal-${String(id)}">
    ${box}
    <div class="what">${link} <span class="soft">${kind}</span></div>
    <div class="segments">${taps}</div>
  </li>`;
}

function severalActions(visit: Visit, categories: readonly Category[]): Html {
  const { words } = visit;
  const { toCategory, chosen } = words.animals;
  const into = ui.categoryOptions(visit, toCategory, categories);
  const small = { class: "quiet small" };
  const merge = { ...small, formmethod: "get", formaction: "/animals/merge" };
  return html`<div id="several" class="several">
    <span class="soft">${chosen}</span>
    ${ui.statusChoices.map((value) => ui.button(words.status[value], { ...small, name: "set", value }))}
    <div class="row">
      ${new ui.Fields(visit).choice("into", into, { "aria-label": toCategory })}
      ${ui.button(words.buttons.move, { ...small, name: "move", value: "yes" })}
    </div>
    ${ui.button(words.buttons.merge, merge)}
    ${ui.button(words.buttons.remove, { class: "quiet small bad", name: "remove", value: "yes" })}
  </div>`;
}

function legend(visit: Visit): Html {
  const { words, publicPage } = visit;
  const url = publicUrlOf(visit);
  return html`<section class="legend">
    ${ui.facts(ui.statusChoices.map((each) => [words.status[each], words.legend[each]]))}
    <p class="hint">
      ${words.legend.undo} ${publicPage && words.legend.seen}
      ${url !== undefined && ui.link(url, words.legend.open)}
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

/** `GET /export/xlsx`: the file, written while it is read, so that its size costs no memory. */
export async function exportFile(visit: Visit): Promise<Response> {
  const { writeXlsxStream } = await import("hucre/xlsx");
  const sheet = { name: visit.words.sections.animals };
  const type = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
  const disposition = 'attachment; filename="animals.xlsx"';
  const headers = { "content-type": type, "content-disposition": disposition };
  return new Response(writeXlsxStream(exportRows(visit), sheet), { headers });
}

async function* exportRows(visit: Visit): AsyncGenerator<(string | number)[]> {
  const { words } = visit;
  const { fields, export: heads } = words;
  yield [heads.number, fields.name, fields.category, fields.status, heads.externalId, heads.source];
  for await (const batch of visit.animals.all({ ...askedOf(visit), limit: batchAnimals })) {
    for (const { id, name, category, categoryId, status, externalId, source } of batch) {
      yield [
        Number.isSafeInteger(Number(id)) ? Number(id) : String(id),
        inWorkbook(name),
        inWorkbook(category ?? String(categoryId)),
        words.status[status ?? ui.noStatus],
        inWorkbook(externalId ?? ""),
        inWorkbook(source ?? ""),
      ];
    }
  }
}
