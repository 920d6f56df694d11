/** The categories: each with its animals, another name for one, or one with another. */
import { parseInt64 } from "../../../domain/int64.ts";
import { html } from "../../../web/html.ts";
import {
  addCategory as add,
  categoryKey,
  mergeCategories as merge,
  renameCategory as rename,
} from "../../animals/categories.ts";
import { query, type Visit } from "../visit.ts";
import { alikeError, nameError } from "./animal.ts";
import { listPath } from "./animals.ts";
import { withChange } from "./changes.ts";
import { askPage, orNotFound, page, seeOther } from "./page.ts";
import * as ui from "./ui.ts";

export async function categoriesPage(visit: Visit, errors: ui.FieldErrors = {}): Promise<Response> {
  const { words, animals } = visit;
  const categories = await animals.countedCategories();
  const listed = categories.map((each) => {
    const count = ui.animalsText(visit, each.animals);
    return html`<li>
      ${ui.link(`/categories/${String(each.id)}`, ui.categoryName(visit, each))}
      ${ui.link(listPath({ categoryId: each.id }), count, { class: "soft" })}
    </li>`;
  });
  const { addCategory: add } = words.buttons;
  const fields = new ui.Fields(visit, {}, errors);
  const form = html`${fields.agreement("name")} ${fields.text("name")} ${ui.button(add)}`;
  return page(visit, {
    title: words.sections.categories,
    section: "categories",
    errors,
    body: ui.desk(
      html`<section class="card">
        ${categories.length === 0 && html`<p class="soft">${words.categories.none}</p>`}
        ${ui.lines(listed)}
      </section>`,
      ui.card(add, ui.mainForm(visit, "/categories", form, { makes: true })),
    ),
  });
}

export async function addCategory(visit: Visit): Promise<Response> {
  const name = visit.form.text("name");
  const wrong = async () =>
    (await errorOf(visit, name)) ?? alikeError(visit, name, await visit.animals.categories());
  const path = await visit.once(async () => {
    if ((await wrong()) !== undefined) return undefined;
    return withChange("/categories", await visit.change((by) => add(by, name)));
  });
  return path === undefined ? categoriesPage(visit, { name: await wrong() }) : seeOther(path);
}

async function errorOf({ words, animals }: Visit, name: string, own?: bigint) {
  const known = await animals.categories();
  const other = known.find((each) => categoryKey(each.name) === categoryKey(name));
  const isTaken = other !== undefined && other.id !== own;
  return nameError(name, words) ?? (isTaken ? words.errors.nameTaken : undefined);
}

async function categoryOf({ animals }: Visit, id: string) {
  const categories = await animals.countedCategories();
  const category = orNotFound(categories.find((each) => each.id === parseInt64(id)));
  const path = `/categories/${String(category.id)}`;
  return { category, path, others: categories.filter((each) => each !== category) };
}

export async function categoryPage(
  visit: Visit,
  id: string,
  errors: ui.FieldErrors = {},
): Promise<Response> {
  const { words } = visit;
  const { category, path, others } = await categoryOf(visit, id);
  const fields = new ui.Fields(visit, { name: category.name }, errors);
  const options = ui.categoryOptions(visit, words.import.choose, others);
  const merge = { class: "quiet", formmethod: "get", formaction: `${path}/merge` };
  const form = html`${fields.text("name")} ${fields.was("name")} ${ui.button(words.buttons.save)}
  ${
    others.length > 0 &&
    html`<div class="apart">
      <h2>${words.categories.mergeTitle}</h2>
      <p class="hint">${words.categories.mergeHint}</p>
      ${fields.select("into", options)} ${ui.button(`${words.buttons.merge} …`, merge)}
    </div>`
  }`;
  return page(visit, {
    title: ui.categoryName(visit, category),
    section: "categories",
    errors,
    body: ui.narrow(ui.mainForm(visit, path, form)),
  });
}

export async function renameCategory(visit: Visit, id: string): Promise<Response> {
  const own = orNotFound(parseInt64(id));
  const { form } = visit;
  const name = form.text("name");
  const path = `/categories/${String(own)}`;
  if (!form.isChanged("name")) return seeOther(path);
  const error = await errorOf(visit, name, own);
  if (error !== undefined) return categoryPage(visit, id, { name: error });
  const changed = await visit.change((by) => rename(by, String(own), name));
  return seeOther(withChange(path, changed));
}

export async function mergePage(visit: Visit, id: string): Promise<Response> {
  const { words } = visit;
  const { category, path, others } = await categoryOf(visit, id);
  const into = others.find((each) => String(each.id) === query(visit, "into"));
  if (into === undefined) return categoryPage(visit, id, { into: words.errors.categoryMissing });
  const from = ui.categoryName(visit, category);
  const animals = ui.animalsText(visit, category.animals);
  const fields = ui.hidden("into", String(into.id));
  return askPage(visit, {
    title: words.categories.mergeTitle,
    section: "categories",
    back: [path, from],
    sure: words.categories.mergeSure(from, ui.categoryName(visit, into), animals),
    does: ui.oneButton(`${path}/merge`, words.buttons.merge, { kind: "", fields }),
  });
}

export async function postMerge(visit: Visit, id: string): Promise<Response> {
  const from = orNotFound(parseInt64(id));
  const wanted = parseInt64(visit.form.text("into"));
  const into = orNotFound(wanted === from ? undefined : wanted);
  const changed = await visit.change((by) => merge(by, String(from), String(into)));
  return seeOther(withChange("/categories", changed));
}
