import { AppError } from "../../../domain/errors.ts";
import { parseInt64 } from "../../../domain/int64.ts";
import type { Category } from "../../animals/category.ts";
import type { Pet, PetStatus } from "../../../domain/pet.ts";
import { html } from "../../docs/html.ts";
import { redirect } from "../web/answer.ts";
import { ConsoleError } from "../web/console-error.ts";
import { param, type Visit } from "../web/visit.ts";
import {
  animalForm,
  type AnimalValues,
  errorsOf,
  noValues,
  sentChanges,
  sentValues,
  textsOf,
} from "./animal-form.ts";
import { historyList } from "./animal-history.ts";
import { backPath, changeNotice, withChange } from "./change-notice.ts";
import { consolePage } from "./layout.ts";
import { notFoundPage } from "./failures.ts";
import { removedPage } from "./removed-animal.ts";
import { noStatus, notice, oneButton, shownName, statusChoice, type FieldErrors } from "./parts.ts";

const statusOfChoice = (choice: PetStatus | "none" | undefined): PetStatus | undefined =>
  choice === noStatus ? undefined : choice;

/** `GET /animals/new`: a page of its own to add an animal. */
export async function newAnimalPage(visit: Visit): Promise<Response> {
  return newPage(visit, noValues);
}

async function newPage(
  visit: Visit,
  values: AnimalValues,
  errors: FieldErrors = {},
): Promise<Response> {
  const { words, desk } = visit;
  const categories = await desk.animals.categories();
  return consolePage(visit, {
    title: words.animals.addTitle,
    section: "animals",
    errors,
    body: html`<h1>${words.animals.addTitle}</h1>
      <section class="card narrow">
        ${animalForm(visit, {
          action: "/animals",
          values,
          errors,
          names: categories.map(({ name }) => name),
          button: words.buttons.save,
        })}
      </section>
      <p><a href="/animals">${words.animals.showAll}</a></p>`,
  });
}

/** `POST /animals`: adds one. */
export async function addAnimal(visit: Visit): Promise<Response> {
  const values = sentValues(visit);
  const errors = errorsOf(values, visit.words);
  if (Object.keys(errors).length > 0) return newPage(visit, values, errors);
  const { name, category, status } = values;
  const added = await visit.desk.animals.add(
    {
      name,
      category,
      status: statusOfChoice(statusChoice(status)),
      ...textsOf((text) => values[text] || undefined),
    },
    visit.person.name,
  );
  return redirect(withChange("/animals", added));
}

/** `GET /animals/:id`: one animal, to correct, and what became of it. */
export async function animalPage(visit: Visit): Promise<Response> {
  const animal = await animalOf(visit);
  if (animal === undefined) return removedPage(visit);
  const categories = await visit.desk.animals.categories();
  return shown(visit, animal, valuesOf(animal, categories), categories);
}

async function shown(
  visit: Visit,
  animal: Pet,
  values: AnimalValues,
  categories: readonly Category[],
  errors: FieldErrors = {},
): Promise<Response> {
  const { words, desk } = visit;
  const { id } = animal;
  const [events, done] = await Promise.all([desk.animals.history(id), changeNotice(visit)]);
  const title = shownName(visit, animal.name);
  return consolePage(visit, {
    title,
    section: "animals",
    errors,
    body: html`<p class="trail"><a href="/animals">${words.animals.backToAll}</a></p>
      <h1>${title} <small>${String(id)}</small></h1>
      <div id="notices">${done}</div>
      <div class="desk">
        <section class="card">
          ${animalForm(visit, {
            action: `/animals/${String(id)}`,
            values,
            was: valuesOf(animal, categories),
            errors,
            names: categories.map(({ name }) => name),
            button: words.buttons.save,
          })}
          <div class="apart">
            ${oneButton(`/animals/${String(id)}/remove`, words.buttons.remove, {
              kind: "quiet bad",
            })}
            <p class="hint">${words.animals.removeHint}</p>
          </div>
        </section>
        <section class="card">
          <h2>${words.history.title}</h2>
          ${historyList(visit, events, categories)}
        </section>
      </div>`,
  });
}

/** `POST /animals/:id`: keeps what was corrected. */
export async function saveAnimal(visit: Visit): Promise<Response> {
  const { desk, words, person } = visit;
  const animal = await animalOf(visit);
  if (animal === undefined) return removedPage(visit, sentValues(visit));
  const categories = await desk.animals.categories();
  const known = valuesOf(animal, categories);
  const { values, conflicts } = sentChanges(visit, known);
  // What nobody changed is not judged: an import may have brought a name that no form takes.
  const kept = {
    ...values,
    ...(values.name === known.name && { name: "-" }),
    ...(values.category === known.category && { category: "-" }),
  };
  const meanwhile = conflicts.map((field) => [field, words.animals.meanwhile(known[field])]);
  const errors = { ...Object.fromEntries(meanwhile), ...errorsOf(kept, words) };
  if (Object.keys(errors).length > 0) return shown(visit, animal, values, categories, errors);
  const status = statusChoice(values.status);
  const changed = await desk.animals.update(
    [animal.id],
    {
      ...(values.name !== known.name && { name: values.name }),
      ...(values.category !== known.category && { category: values.category }),
      ...(status !== undefined && values.status !== known.status && { status }),
      ...textsOf((text) => (values[text] === known[text] ? undefined : values[text] || null)),
    },
    person.name,
  );
  return redirect(withChange(`/animals/${String(animal.id)}`, changed));
}

/** `POST /animals/:id/status`: one tap. */
export async function markAnimal(visit: Visit): Promise<Response> {
  const { desk, form, person } = visit;
  const animal = await animalOf(visit);
  const status = statusChoice(form.text("status"));
  if (animal === undefined || status === undefined) return notFoundPage(visit);
  const changed = await desk.animals.update([animal.id], { status }, person.name);
  return redirect(withChange(backPath(visit), changed));
}

/** `POST /animals/:id/remove`. The list then offers to undo it. */
export async function removeAnimal(visit: Visit): Promise<Response> {
  const animal = await animalOf(visit);
  if (animal === undefined) return removedPage(visit);
  const changed = await visit.desk.animals.remove([animal.id], visit.person.name);
  return redirect(withChange("/animals", changed));
}

/** `POST /animals/several`: a status for all that are chosen, or away with them. */
export async function changeSeveral(visit: Visit): Promise<Response> {
  const { desk, form, person, words } = visit;
  const ids = form
    .all("id")
    .map(parseInt64)
    .filter((id) => id !== undefined);
  const status = statusChoice(form.text("status"));
  if (status === undefined && !form.has("remove")) return redirect(backPath(visit));
  if (ids.length === 0) {
    return consolePage(visit, {
      title: words.sections.animals,
      section: "animals",
      status: "invalid",
      body: html`${notice("bad", html`<p>${words.animals.chooseFirst}</p>`)}
        <p><a href="${backPath(visit)}">${words.animals.showAll}</a></p>`,
    });
  }
  const { animals } = desk;
  const changed = await (
    status === undefined
      ? animals.remove(ids, person.name)
      : animals.update(ids, { status }, person.name)
  ).catch(tellGone);
  return redirect(withChange(backPath(visit), changed));
}

/** Throws the failure of a change of several animals, in words if one of them is gone. */
function tellGone(error: unknown): never {
  const isGone = error instanceof AppError && error.kind === "not_found";
  throw isGone ? new ConsoleError("not_found", "someGone", { cause: error }) : error;
}

async function animalOf(visit: Visit): Promise<Pet | undefined> {
  const id = parseInt64(param(visit, "id"));
  return id === undefined ? undefined : visit.desk.animals.byId(id);
}

function valuesOf(animal: Pet, categories: readonly Category[]): AnimalValues {
  const { name, categoryId, status } = animal;
  const category = categories.find(({ id }) => id === categoryId)?.name ?? String(categoryId);
  return {
    name,
    category,
    status: status ?? noStatus,
    ...textsOf((text) => animal[text] ?? ""),
  };
}
