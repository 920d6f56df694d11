/** The categories: each with its animals, another name for one, or one with another. */
import { parseInt64 } from "../../../domain/int64.ts";
import { categoryKey, type Category } from "../../animals/categories.ts";
import { html, type Html } from "../../../web/html.ts";
import { readForm } from "../body.ts";
import type { Visit } from "../visit.ts";
import { alikeCategory, nameError } from "./animal.ts";
import { listPath } from "./animals.ts";
import { changeNotice, withChange } from "./changes.ts";
import { orNotFound, page, seeOther } from "./page.ts";
import {
  animalsText,
  card,
  categoryName,
  desk,
  Fields,
  hidden,
  lines,
  postForm,
  type FieldErrors,
} from "./parts.ts";

export async function categoriesPage(
  visit: Visit,
  name = "",
  errors: FieldErrors = {},
): Promise<Response> {
  const { words, animals } = visit;
  const [categories, done] = await Promise.all([animals.countedCategories(), changeNotice(visit)]);
  const listed = categories.map(
    (each) =>
      html`<li>
        <a href="/categories/${String(each.id)}">${categoryName(visit, each)}</a>
        <a class="soft" href="${listPath({ categoryId: each.id })}"
          >${animalsText(visit, each.animals)}</a
        >
      </li>`,
  );
  const fields = html`${hidden("once", crypto.randomUUID())}
  ${errors["name"] !== undefined && hidden("new", name)}
  ${new Fields(visit, { name }, errors).text("name")}`;
  return page(visit, {
    title: words.sections.categories,
    section: "categories",
    done,
    errors,
    body: desk(
      html`<section class="card">
        ${categories.length === 0 && html`<p class="soft">${words.categories.none}</p>`}
        ${lines(listed)}
      </section>`,
      card(words.buttons.addCategory, postForm("/categories", fields, words.buttons.addCategory)),
    ),
  });
}

export async function addCategory(visit: Visit): Promise<Response> {
  const { animals, words } = visit;
  const form = await readForm(visit);
  const name = form.text("name");
  const wrong = async () => {
    const alike = alikeCategory(form, name, await animals.categories());
    return (await errorOf(visit, name)) ?? (alike && words.errors.categoryAlike(alike));
  };
  const path = await visit.once(form, async () => {
    if ((await wrong()) !== undefined) return undefined;
    return withChange("/categories", await visit.change(({ categories }) => categories.add(name)));
  });
  return path === undefined ? categoriesPage(visit, name, { name: await wrong() }) : seeOther(path);
}

/** What is wrong with a name for a new category, or for the one with the id `own`. */
async function errorOf({ words, animals }: Visit, name: string, own?: bigint) {
  const known = await animals.categories();
  const other = known.find((each) => categoryKey(each.name) === categoryKey(name));
  const isTaken = other !== undefined && other.id !== own;
  return nameError(name, words) ?? (isTaken ? words.errors.nameTaken : undefined);
}

export async function categoryPage(
  visit: Visit,
  id: string,
  sent?: string,
  errors: FieldErrors = {},
): Promise<Response> {
  const { words, animals } = visit;
  const categories = await animals.categories();
  const category = orNotFound(categories.find((each) => each.id === parseInt64(id)));
  const path = `/categories/${String(category.id)}`;
  const others = categories.filter((each) => each !== category);
  const name = new Fields(visit, { name: sent ?? category.name }, errors).text("name");
  return page(visit, {
    title: categoryName(visit, category),
    section: "categories",
    back: ["/categories", words.animals.allKinds],
    done: await changeNotice(visit),
    errors,
    body: desk(
      html`<section class="card">${postForm(path, name, words.buttons.save)}</section>`,
      html`${others.length > 0 && mergeForm(visit, path, others)}`,
    ),
  });
}

function mergeForm(visit: Visit, path: string, others: readonly Category[]): Html {
  const { words } = visit;
  const options = others.map((each) => ({
    value: String(each.id),
    text: categoryName(visit, each),
  }));
  const into = new Fields(visit).select("into", options);
  return card(
    words.categories.mergeTitle,
    html`<p class="hint">${words.categories.mergeHint}</p>
      ${postForm(`${path}/merge`, into, words.buttons.merge, "quiet")}`,
  );
}

export async function renameCategory(visit: Visit, id: string): Promise<Response> {
  const own = orNotFound(parseInt64(id));
  const name = (await readForm(visit)).text("name");
  const error = await errorOf(visit, name, own);
  if (error !== undefined) return categoryPage(visit, id, name, { name: error });
  const changed = await visit.change(({ categories }) => categories.rename(String(own), name));
  return seeOther(withChange(`/categories/${String(own)}`, changed));
}

/** `POST /categories/:id/merge`: its animals go to another one, and it goes. */
export async function mergeCategories(visit: Visit, id: string): Promise<Response> {
  const from = orNotFound(parseInt64(id));
  const wanted = parseInt64((await readForm(visit)).text("into"));
  const into = orNotFound(wanted === from ? undefined : wanted);
  const changed = await visit.change(({ categories }) =>
    categories.merge([String(from)], String(into)),
  );
  return seeOther(withChange("/categories", changed));
}
