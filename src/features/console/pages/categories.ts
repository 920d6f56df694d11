import { categoryKey } from "../../animals/category.ts";
import { parseInt64 } from "../../../domain/int64.ts";
import { html, type Html } from "../../docs/html.ts";
import { redirect } from "../web/answer.ts";
import { param, type Visit } from "../web/visit.ts";
import { nameErrorOf } from "./animal-form.ts";
import { listPath } from "./animals.ts";
import { changeNotice, withChange } from "./change-notice.ts";
import { notFoundPage } from "./failures.ts";
import { consolePage } from "./layout.ts";
import { categoryName, number, selectField, textField, type FieldErrors } from "./parts.ts";

/** `GET /categories`: all of them, with how many animals each has. */
export async function categoriesPage(visit: Visit): Promise<Response> {
  return shown(visit, "");
}

async function shown(visit: Visit, name: string, errors: FieldErrors = {}): Promise<Response> {
  const { words, desk } = visit;
  const [categories, done] = await Promise.all([
    desk.animals.countedCategories(),
    changeNotice(visit),
  ]);
  return consolePage(visit, {
    title: words.sections.categories,
    section: "categories",
    errors,
    body: html`<h1>${words.sections.categories}</h1>
      <div id="notices">${done}</div>
      <div class="desk">
        <section class="card">
          ${
            categories.length === 0
              ? html`<p class="soft">${words.categories.none}</p>`
              : html`<ul class="lines">
                  ${categories.map(
                    (each) =>
                      html`<li>
                        <a href="/categories/${String(each.id)}">${categoryName(visit, each)}</a>
                        <a class="soft" href="${listPath({ categoryId: each.id })}"
                          >${words.categories.animals(number(visit, each.animals), each.animals)}</a
                        >
                      </li>`,
                  )}
                </ul>`
          }
        </section>
        <section class="card" aria-labelledby="add-title">
          <h2 id="add-title">${words.categories.addTitle}</h2>
          <form method="post" action="/categories" novalidate>
            ${textField({
              name: "name",
              label: words.fields.name,
              value: name,
              error: errors["name"],
            })}
            <button>${words.buttons.addCategory}</button>
          </form>
        </section>
      </div>`,
  });
}

/** `POST /categories`. */
export async function addCategory(visit: Visit): Promise<Response> {
  const { desk, form, words, person } = visit;
  const name = form.text("name");
  const known = await desk.animals.categories();
  const error = nameErrorOf(name, words) ?? takenError(visit, known, name, undefined);
  if (error !== undefined) return shown(visit, name, { name: error });
  return redirect(withChange("/categories", await desk.animals.addCategory(name, person.name)));
}

/** `GET /categories/:id`: another name for one, or one with another. */
export async function categoryPage(visit: Visit): Promise<Response> {
  return shownOne(visit, undefined);
}

async function shownOne(
  visit: Visit,
  sent: string | undefined,
  errors: FieldErrors = {},
): Promise<Response> {
  const { words, desk } = visit;
  const categories = await desk.animals.categories();
  const id = parseInt64(param(visit, "id"));
  const category = categories.find((each) => each.id === id);
  if (category === undefined) return notFoundPage(visit);
  const others = categories.filter((each) => each.id !== id);
  const path = `/categories/${String(category.id)}`;
  return consolePage(visit, {
    title: categoryName(visit, category),
    section: "categories",
    errors,
    body: html`<p class="trail"><a href="/categories">${words.categories.back}</a></p>
      <h1>${categoryName(visit, category)}</h1>
      <div id="notices">${await changeNotice(visit)}</div>
      <div class="desk">
        <section class="card">
          <form method="post" action="${path}" novalidate>
            ${textField({
              name: "name",
              label: words.fields.name,
              value: sent ?? category.name,
              error: errors["name"],
            })}
            <button>${words.buttons.save}</button>
          </form>
        </section>
        ${others.length > 0 && mergeForm(visit, path, others)}
      </div>`,
  });
}

function mergeForm(
  visit: Visit,
  path: string,
  others: readonly { readonly id: bigint; readonly name: string }[],
): Html {
  const { words } = visit;
  return html`<section class="card" aria-labelledby="merge-title">
    <h2 id="merge-title">${words.categories.mergeTitle}</h2>
    <p class="hint">${words.categories.mergeHint}</p>
    <form method="post" action="${path}/merge">
      ${selectField(
        { name: "into", label: words.categories.into },
        others.map((each) => ({ value: String(each.id), text: categoryName(visit, each) })),
      )}
      <button class="quiet">${words.buttons.merge}</button>
    </form>
  </section>`;
}

/** `POST /categories/:id`. */
export async function renameCategory(visit: Visit): Promise<Response> {
  const { desk, form, words, person } = visit;
  const id = parseInt64(param(visit, "id"));
  if (id === undefined) return notFoundPage(visit);
  const known = await desk.animals.categories();
  const name = form.text("name");
  const error = nameErrorOf(name, words) ?? takenError(visit, known, name, id);
  if (error !== undefined) return shownOne(visit, name, { name: error });
  const changed = await desk.animals.renameCategory(id, name, person.name);
  return redirect(withChange(`/categories/${String(id)}`, changed));
}

/** `POST /categories/:id/merge`: its animals go to another one, and it goes. */
export async function mergeCategories(visit: Visit): Promise<Response> {
  const { desk, form, person } = visit;
  const [id, into] = [parseInt64(param(visit, "id")), parseInt64(form.text("into"))];
  if (id === undefined || into === undefined || id === into) return notFoundPage(visit);
  const changed = await desk.animals.mergeCategories(id, into, person.name);
  return redirect(withChange("/categories", changed));
}

function takenError(
  { words }: Visit,
  known: readonly { readonly id: bigint; readonly name: string }[],
  name: string,
  own: bigint | undefined,
): string | undefined {
  const other = known.find((each) => categoryKey(each.name) === categoryKey(name));
  return other === undefined || other.id === own ? undefined : words.categories.taken;
}
