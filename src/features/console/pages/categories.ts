/** The categories: each with its animals, another name for one, or one with another. */
import { parseInt64 } from "../../../domain/int64.ts";
import { html, type Html } from "../../../web/html.ts";
import { categoryKey, type Category } from "../../animals/categories.ts";
import { readForm } from "../body.ts";
import { query, type Visit } from "../visit.ts";
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
  mainForm,
  oneButton,
  type FieldErrors,
} from "./parts.ts";

export async function categoriesPage(visit: Visit, errors: FieldErrors = {}): Promise<Response> {
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
  const fields = html`${errors["name"] !== undefined && hidden("new", visit.typed?.text("name") ?? "")}
    ${new Fields(visit, {}, errors).text("name")} <button>${words.buttons.addCategory}</button>`;
  return page(visit, {
    title: words.sections.categories,
    section: "categories",
    done,
    errors,
    at: "/categories",
    body: desk(
      html`<section class="card">
        ${categories.length === 0 && html`<p class="soft">${words.categories.none}</p>`}
        ${lines(listed)}
      </section>`,
      card(words.buttons.addCategory, mainForm(visit, "/categories", fields, { makes: true })),
    ),
  });
}

export async function addCategory(visit: Visit): Promise<Response> {
  const { animals, words } = visit;
  const typed = await readForm(visit);
  const name = typed.text("name");
  const wrong = async () => {
    const alike = alikeCategory(typed, name, await animals.categories());
    return (await errorOf(visit, name)) ?? (alike && words.errors.categoryAlike(alike));
  };
  const path = await visit.once(typed, async () => {
    if ((await wrong()) !== undefined) return undefined;
    return withChange("/categories", await visit.change(({ categories }) => categories.add(name)));
  });
  if (path !== undefined) return seeOther(path);
  return categoriesPage({ ...visit, typed }, { name: await wrong() });
}

/** What is wrong with a name for a new category, or for the one with the id `own`. */
async function errorOf({ words, animals }: Visit, name: string, own?: bigint) {
  const known = await animals.categories();
  const other = known.find((each) => categoryKey(each.name) === categoryKey(name));
  const isTaken = other !== undefined && other.id !== own;
  return nameError(name, words) ?? (isTaken ? words.errors.nameTaken : undefined);
}

async function categoryOf({ animals }: Visit, id: string) {
  const categories = await animals.countedCategories();
  const category = orNotFound(categories.find((each) => each.id === parseInt64(id)));
  return { category, others: categories.filter((each) => each !== category) };
}

/** `GET /categories/:id`: its name, and what it can be merged into. */
export async function categoryPage(
  visit: Visit,
  id: string,
  errors: FieldErrors = {},
): Promise<Response> {
  const { words } = visit;
  const { category, others } = await categoryOf(visit, id);
  const path = `/categories/${String(category.id)}`;
  const fields = new Fields(visit, { name: category.name }, errors);
  return page(visit, {
    title: categoryName(visit, category),
    section: "categories",
    back: ["/categories", words.animals.allKinds],
    done: await changeNotice(visit),
    errors,
    at: path,
    body: html`<section class="card narrow">
      ${mainForm(
        visit,
        path,
        html`${fields.text("name")} ${fields.was("name")}
          <button>${words.buttons.save}</button>
          ${others.length > 0 && mergeFields(visit, path, fields, others)}`,
      )}
    </section>`,
  });
}

function mergeFields(
  visit: Visit,
  path: string,
  fields: Fields,
  others: readonly Category[],
): Html {
  const { words } = visit;
  const options = [
    { value: "", text: words.import.choose },
    ...others.map((each) => ({ value: String(each.id), text: categoryName(visit, each) })),
  ];
  return html`<div class="apart">
    <h2>${words.categories.mergeTitle}</h2>
    <p class="hint">${words.categories.mergeHint}</p>
    ${fields.select("into", options)}
    <button class="quiet" formmethod="get" formaction="${path}/merge">
      ${words.buttons.merge} …
    </button>
  </div>`;
}

export async function renameCategory(visit: Visit, id: string): Promise<Response> {
  const own = orNotFound(parseInt64(id));
  const typed = await readForm(visit);
  const name = typed.text("name");
  const path = `/categories/${String(own)}`;
  if (!typed.isChanged("name")) return seeOther(path);
  const error = await errorOf(visit, name, own);
  if (error !== undefined) return categoryPage({ ...visit, typed }, id, { name: error });
  const changed = await visit.change(({ categories }) => categories.rename(String(own), name));
  return seeOther(withChange(path, changed));
}

/** `GET /categories/:id/merge`: says what would move where, and asks. */
export async function mergePage(visit: Visit, id: string): Promise<Response> {
  const { words } = visit;
  const { category, others } = await categoryOf(visit, id);
  const into = others.find((each) => String(each.id) === query(visit, "into"));
  if (into === undefined) return categoryPage(visit, id, { into: words.errors.categoryMissing });
  const path = `/categories/${String(category.id)}/merge`;
  const [from, to] = [category, into].map((each) => categoryName(visit, each));
  return page(visit, {
    title: words.categories.mergeTitle,
    section: "categories",
    back: [`/categories/${String(category.id)}`, from ?? ""],
    body: html`<section class="card narrow">
      <p>
        ${words.categories.mergeSure(from ?? "", to ?? "", animalsText(visit, category.animals))}
      </p>
      ${oneButton(path, words.buttons.merge, {
        kind: "",
        fields: hidden("into", String(into.id)),
      })}
    </section>`,
  });
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
