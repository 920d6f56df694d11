/** The list of animals: searched, changed several at once, and saved as a file. */
import { parseInt64 } from "../../../domain/int64.ts";
import { AppError } from "../../../domain/errors.ts";
import { fold } from "../../visible.ts";
import type { Pet } from "../../../domain/pet.ts";
import type { Category } from "../../animals/categories.ts";
import { html, type Html } from "../../../web/html.ts";
import { csvField, guarded, inWorkbook } from "../../import/write/csv.ts";
import { readForm } from "../body.ts";
import type { AnimalQuery, FoundAnimals } from "../animals.ts";
import { query, type Visit } from "../visit.ts";
import { failure } from "../words/index.ts";
import { animalForm, askAgain, nextValues, seenAs } from "./animal.ts";
import { backPath, changeNotice, withChange } from "./changes.ts";
import { download, icon, orNotFound, page, seeOther } from "./page.ts";
import {
  animalsText,
  card,
  categoryName,
  desk,
  entry,
  hidden,
  lines,
  moment,
  noStatus,
  notice,
  number,
  shownName,
  statusChoice,
  statusChoices,
  storedAs,
  table,
  when,
} from "./parts.ts";
import { staleNotice } from "./sources.ts";

/** Animals on a page: as many as a thumb scrolls through. */
const pageAnimals = 25;
/** Categories to choose from on the start page; all of them are on their own page. */
const shownCategoriesMax = 60;
const offeredMax = 3;
/** Animals on a printed list: more than any shelter has. */
const printedMax = 2_000;
/** Animals that an export reads in one go; then everybody else gets a turn. */
const batchAnimals = 1_000;

/** What a list is asked for, as it stands in its address. */
function askedOf(visit: Visit): AnimalQuery {
  return {
    text: query(visit, "q"),
    categoryId: parseInt64(query(visit, "category")),
    status: statusChoice(query(visit, "status")),
    limit: pageAnimals,
    before: parseInt64(query(visit, "before")),
  };
}

/** The address of a list, or of another page about the same animals. */
export function listPath(asked: Partial<AnimalQuery>, path = "/animals"): string {
  const parameters = new URLSearchParams();
  if (asked.text) parameters.set("q", asked.text);
  if (asked.categoryId !== undefined) parameters.set("category", String(asked.categoryId));
  if (asked.status !== undefined) parameters.set("status", asked.status);
  if (asked.before !== undefined) parameters.set("before", String(asked.before));
  const text = parameters.toString();
  return text === "" ? path : `${path}?${text}`;
}

export async function animalsPage(visit: Visit): Promise<Response> {
  const { words, animals } = visit;
  const asked = askedOf(visit);
  const [found, categories, done, stale] = await Promise.all([
    animals.find(asked),
    animals.categories(),
    changeNotice(visit),
    staleNotice(visit),
  ]);
  const { categoryId, status } = asked;
  const kept = html`${categoryId !== undefined && hidden("category", String(categoryId))}
  ${status !== undefined && hidden("status", status)}`;
  const add = animalForm(visit, "/animals", nextValues(visit), categories, {
    button: words.buttons.addAnimal,
    isNext: query(visit, "in") !== "",
  });
  return page(visit, {
    title: words.sections.animals,
    section: "animals",
    beside: html`<a class="jump" href="#add">${words.animals.jump}</a>`,
    done,
    body: html`${stale}
    ${desk(
      html`${searchForm(visit, "/animals", { text: asked.text, hint: words.animals.searchHint, kept })}
        <div id="results">
          ${filters(visit, asked, categories)} ${offers(visit, asked, categories)}
          ${results(visit, asked, found, categories)}
        </div>`,
      html`<div id="add">${card(words.animals.addTitle, add)}</div>`,
    )}`,
  });
}

/** The search of a list whose results are the element `results`. It keeps the choices in `kept`. */
export function searchForm(
  { words }: Visit,
  action: string,
  { text, hint, kept }: { readonly text: string; readonly hint: string; readonly kept?: Html },
): Html {
  return html`<form class="search" action="${action}" data-live="results">
    <label for="q">${words.fields.search}</label>
    <div class="row">
      <input
        id="q"
        name="q"
        type="search"
        value="${text}"
        placeholder="${hint}"
        autocomplete="off"
        data-key="/"
      /><button class="quiet">${words.buttons.find}</button>
    </div>
    ${kept}
  </form>`;
}

/** The links below a list, those that lead somewhere. */
export function pageLinks(
  { words }: Visit,
  links: readonly (readonly [path: string | false | undefined, text: string])[],
): Html {
  return html`<nav class="pages" aria-label="${words.animals.pages}">
    ${links.flatMap(([path, text]) => (path ? [html`<a href="${path}">${text}</a>`] : []))}
  </nav>`;
}

function filters(visit: Visit, asked: AnimalQuery, categories: readonly Category[]): Html {
  const { words } = visit;
  const { categoryId, status } = asked;
  const chip = (chosen: Partial<AnimalQuery>, text: string, isOn: boolean) => {
    const path = listPath({ ...asked, before: undefined, ...chosen });
    return html`<a class="chip" href="${path}" ${when(isOn, 'aria-current="true"')}>${text}</a>`;
  };
  const all = words.animals.allKinds;
  const name = categories.find(({ id }) => id === categoryId)?.name;
  return html`<div class="filters">
    <div class="chips">
      ${chip({ status: undefined }, words.animals.any, status === undefined)}
      ${statusChoices.map((each) => chip({ status: each }, words.status[each], status === each))}
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
function offers({ words }: Visit, { text }: AnimalQuery, categories: readonly Category[]): Html {
  const wanted = fold(text);
  const found = categories.filter(({ name }) => text !== "" && fold(name).includes(wanted));
  return html`${found.slice(0, offeredMax).map(
    ({ id, name }) =>
      html`<p>
        <a href="${listPath({ categoryId: id })}">${words.animals.inCategory(name)}</a>
      </p>`,
  )}`;
}

function results(
  visit: Visit,
  asked: AnimalQuery,
  found: FoundAnimals,
  categories: readonly Category[],
): Html {
  const { words } = visit;
  const isAll = asked.text === "" && asked.categoryId === undefined && asked.status === undefined;
  if (found.animals.length === 0) {
    const isFirst = isAll && found.total === 0;
    return html`<div class="empty">
      ${icon("animals")}
      <p>${isFirst ? words.animals.none : words.animals.noneFound}</p>
      ${!isFirst && html`<p><a href="/animals">${words.animals.backToAll}</a></p>`}
    </div>`;
  }
  const total = number(visit, found.total);
  const names = new Map(categories.map(({ id, name }) => [id, name]));
  const first = { ...asked, before: undefined };
  return html`<p class="soft" role="status">
      ${isAll ? animalsText(visit, found.total) : words.animals.countOf(countOf(visit, found), total)}
    </p>
    <ul class="animals">
      ${found.animals.map((animal) => row(visit, asked, animal, names))}
    </ul>
    ${severalForm(visit, asked)}
    ${pageLinks(visit, [
      [asked.before !== undefined && listPath(first), words.animals.newest],
      [found.more && listPath({ ...asked, before: found.animals.at(-1)?.id }), words.animals.older],
      [listPath(first, "/print"), words.export.print],
      [listPath(first, "/export"), words.export.title],
      ["/changes", words.changes.title],
    ])}`;
}

const countOf = (visit: Visit, { found, isMore }: FoundAnimals) =>
  `${number(visit, found)}${isMore ? "+" : ""}`;

function row(
  visit: Visit,
  asked: AnimalQuery,
  animal: Pet,
  names: ReadonlyMap<bigint, string>,
): Html {
  const { words } = visit;
  const { id, name, categoryId, status } = animal;
  const shown = shownName(visit, name);
  return html`<li id="animal-${String(id)}">
    <input
      type="checkbox"
      id="choose-${String(id)}"
      form="several"
      name="id"
      value="${seenAs(animal)}"
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
      ${hidden("back", listPath(asked))} ${hidden("was", status ?? noStatus)}
      ${statusChoices
        .filter((each) => each !== "none")
        .map(
          (each) =>
            html`<button
              class="quiet small ${each}"
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
      >${words.animals.chosen("")}</span
    >
    ${statusChoices.map(
      (each) =>
        html`<button class="quiet small" name="status" value="${each}">
          ${words.status[each]}
        </button>`,
    )}
    <button class="quiet small" name="merge" value="yes">${words.buttons.merge}</button>
    <button class="quiet small bad" name="remove" value="yes">${words.buttons.remove}</button>
  </form>`;
}

/** `POST /animals/several`: a status for all that are chosen, one entry of them, or away. */
export async function changeSeveral(visit: Visit): Promise<Response> {
  const { animals, words } = visit;
  const form = await readForm(visit);
  const back = backPath(visit, form);
  const seen = new Map(
    form.getAll("id").flatMap((each) => {
      const [text = "", was] = each.split(" ");
      const id = parseInt64(text);
      return id === undefined ? [] : [[id, was] as const];
    }),
  );
  const ids = [...seen.keys()];
  const status = statusChoice(form.text("status"));
  const isMerge = form.has("merge");
  if (status === undefined && !isMerge && !form.has("remove")) return seeOther(back);
  if (ids.length === 0 || (isMerge && ids.length !== 2)) {
    return page(visit, {
      title: words.sections.animals,
      section: "animals",
      status: "Bad Request",
      body: html`${notice("bad", isMerge ? words.animals.mergeFirst : words.animals.chooseFirst)}
        <p><a href="${back}">${words.animals.backToAll}</a></p>`,
    });
  }
  const found = await Promise.all(ids.map(animals.byId));
  const chosen = found.flatMap((each) => each ?? []);
  if (chosen.length < ids.length) throw failure("not_found", "someGone");
  if (isMerge) return mergePage(visit, chosen, back);
  const stale = chosen.filter(({ id, status: known = noStatus }) => {
    const was = seen.get(id);
    return was !== undefined && was !== known && status !== known;
  });
  if (stale.length > 0) return askAgain(visit, { stale, chosen, status, back });
  const changing = visit.change((by) =>
    status === undefined
      ? by.animals.remove(ids)
      : by.animals.update(ids, { status: storedAs(status) }),
  );
  return seeOther(withChange(back, await changing.catch(tellGone)));
}

/** Asks which of several entries of one animal stays. */
async function mergePage(visit: Visit, chosen: readonly Pet[], back: string): Promise<Response> {
  const { words } = visit;
  const names = new Map((await visit.animals.categories()).map(({ id, name }) => [id, name]));
  const entries = chosen.map(({ id, name, categoryId, status }) => {
    const kind = categoryName(visit, { id: categoryId, name: names.get(categoryId) });
    return entry(
      shownName(visit, name),
      `${kind} · ${words.status[status ?? noStatus]} · ${String(id)}`,
      html`${hidden("id", String(id))}
        <button class="quiet small" name="into" value="${String(id)}">
          ${words.animals.mergeKeep}
        </button>`,
    );
  });
  return page(visit, {
    title: words.animals.mergeTitle,
    section: "animals",
    back: [back, words.animals.backToAll],
    body: html`<form method="post" action="/animals/merge" class="card narrow">
      <p>${words.animals.mergeHint}</p>
      ${lines(entries)}
    </form>`,
  });
}

/** `POST /animals/merge`: makes one animal of several entries of it. */
export async function mergeSeveral(visit: Visit): Promise<Response> {
  const form = await readForm(visit);
  const into = orNotFound(parseInt64(form.text("into")));
  const ids = form.getAll("id").flatMap((each) => parseInt64(each) ?? []);
  const from = ids.find((id) => id !== into) ?? into;
  const merged = await visit.change(({ animals }) => animals.merge(from, into)).catch(tellGone);
  return seeOther(withChange(`/animals/${String(into)}`, merged));
}

/** Throws the failure of a change of several animals, in words if one of them is gone. */
function tellGone(error: unknown): never {
  const isGone = error instanceof AppError && error.kind === "not_found";
  throw isGone ? failure("not_found", "someGone", error) : error;
}

const exportFormats = ["xlsx", "csv"] as const;

/** `GET /export`: the animals of a list as a file, in each format. */
export async function exportPage(visit: Visit): Promise<Response> {
  const { words, animals } = visit;
  const asked = { ...askedOf(visit), before: undefined };
  const found = await animals.find({ ...asked, limit: 1 });
  return page(visit, {
    title: words.export.title,
    section: "animals",
    back: [listPath(asked), words.animals.backToAll],
    body: html`<section class="card narrow">
      <p>${words.animals.countOf(countOf(visit, found), number(visit, found.total))}</p>
      <ul class="lines">
        ${exportFormats.map(
          (format) =>
            html`<li>
              <a href="${listPath(asked, `/export/${format}`)}" download>${words.export[format]}</a>
            </li>`,
        )}
      </ul>
    </section>`,
  });
}

/** The rows of an export in the language of its reader, the headings first. */
async function* exportRows(
  visit: Visit,
  textOf: (text: string) => string,
): AsyncGenerator<(string | number)[]> {
  const { words } = visit;
  const { fields, export: heads } = words;
  yield [heads.number, fields.name, fields.category, fields.status, heads.externalId, heads.source];
  for await (const batch of visit.animals.all({ ...askedOf(visit), limit: batchAnimals })) {
    for (const { id, name, category, categoryId, status, externalId, source } of batch) {
      yield [
        Number.isSafeInteger(Number(id)) ? Number(id) : String(id),
        textOf(name),
        textOf(category ?? String(categoryId)),
        words.status[status ?? noStatus],
        textOf(externalId ?? ""),
        textOf(source ?? ""),
      ];
    }
  }
}

/** `GET /export/:format`: the file, written while it is read, so that its size costs no memory. */
export async function exportFile(visit: Visit, name: string): Promise<Response> {
  const format = orNotFound(exportFormats.find((each) => each === name));
  if (format === "csv") {
    const lines = csvLines(exportRows(visit, guarded));
    return download(lines, "animals.csv", "text/csv; charset=utf-8");
  }
  // Loaded where it is wanted.
  const { writeXlsxStream } = await import("hucre/xlsx");
  const sheet = { name: visit.words.sections.animals };
  const type = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
  return download(writeXlsxStream(exportRows(visit, inWorkbook), sheet), "animals.xlsx", type);
}

/** The rows behind the mark by which a spreadsheet takes a file for UTF-8. */
async function* csvLines(rows: ReturnType<typeof exportRows>): AsyncGenerator<string> {
  yield "\uFEFF";
  for await (const row of rows) yield `${row.map((each) => csvField(String(each))).join(",")}\r\n`;
}

/** `GET /print`: all animals of a list on paper, for the front desk. */
export async function printPage(visit: Visit): Promise<Response> {
  const { words, animals } = visit;
  const asked = { ...askedOf(visit), before: undefined };
  const [found, categories] = await Promise.all([
    animals.find({ ...asked, limit: printedMax }),
    animals.categories(),
  ]);
  const names = new Map(categories.map(({ id, name }) => [id, name]));
  const kind = asked.categoryId !== undefined && names.get(asked.categoryId);
  const status = asked.status !== undefined && words.status[asked.status];
  const about = [kind, status, asked.text].filter(Boolean);
  return page(visit, {
    title: [words.sections.animals, ...about].join(", "),
    section: "animals",
    back: [listPath(asked), words.animals.backToAll],
    body: html`<p class="soft">
        ${words.animals.countOf(countOf(visit, found), number(visit, found.total))} ·
        ${moment(visit, visit.nowMs)}
        <button class="quiet small only-script" type="button" data-print>
          ${words.export.print}
        </button>
      </p>
      <div class="printed">
        ${table(
          ["", words.fields.name, words.fields.category, words.fields.status],
          found.animals.map(({ id, name, categoryId, status: each }) => [
            String(id),
            shownName(visit, name),
            categoryName(visit, { id: categoryId, name: names.get(categoryId) }),
            words.status[each ?? noStatus],
          ]),
        )}
      </div>`,
  });
}
