/** One animal: a form to add or correct it, and what became of it. */
import { parseInt64 } from "../../../domain/int64.ts";
import {
  characterCount,
  isPetName,
  petFieldNames,
  petNameLengthMax,
  type Pet,
} from "../../../domain/pet.ts";
import { html, type Html } from "../../../web/html.ts";
import { addAnimal as add, removeAnimals, updateAnimals } from "../../animals/animals.ts";
import type { Category } from "../../animals/categories.ts";
import { isVisible } from "../../visible.ts";
import { alikeCategory, named, type AnimalEvent } from "../animals.ts";
import { Form } from "../body.ts";
import { pathWith, query, type Visit } from "../visit.ts";
import type { Words } from "../words/index.ts";
import { by, lastChangeOf, undoOf, withChange } from "./changes.ts";
import { orNotFound, page, seeOther } from "./page.ts";
import * as ui from "./ui.ts";

const fieldNames = ["name", "category", "status"] as const;
type AnimalValues = Readonly<Record<(typeof fieldNames)[number], string>>;

const suggestionsMax = 300;

/**
 * The fields of an animal. The browser checks nothing: what is wrong stands beside its field.
 */
function animalFields(visit: Visit, fields: ui.Fields, categories: readonly Category[]): Html {
  const suggested = categories.slice(0, suggestionsMax);
  return html`${fields.text("name")} ${fields.agreement("category")}
    ${fields.text("category", { more: { list: "categories", maxlength: "1000" } })}
    <datalist id="categories">
      ${suggested.map(({ name }) => html`<option value="${name}"></option>`)}
    </datalist>
    ${fields.select("status", ui.statusOptions(visit))}`;
}

function sentValues(form: Form): AnimalValues {
  return { name: form.exact("name"), category: form.text("category"), status: form.text("status") };
}

function valuesOf(animal: Pet, categories: readonly Category[]): AnimalValues {
  const { name, categoryId, status = ui.noStatus } = animal;
  const category = categories.find(({ id }) => id === categoryId)?.name ?? String(categoryId);
  return { name, category, status };
}

const choiceOf = ({ status }: AnimalValues) => ui.statusChoice(status) ?? ui.noStatus;

function errorsOf(visit: Visit, categories: readonly Category[]): ui.FieldErrors {
  const { form, words } = visit;
  const { name, category, status } = sentValues(form);
  return {
    name: nameError(name, words),
    category:
      category === ""
        ? words.errors.categoryMissing
        : (nameError(category, words) ?? alikeError(visit, category, categories)),
    status: ui.statusChoice(status) === undefined ? words.errors.status : undefined,
  };
}

/** Asks for a category one slip away from another, if it is new and nobody has agreed to it. */
export function alikeError(
  { form, words }: Visit,
  category: string,
  categories: readonly Category[],
): string | undefined {
  const alike = form.text("new") === category ? undefined : alikeCategory(category, categories);
  return alike && words.errors.categoryAlike(alike.name);
}

/** What is wrong with a name of an animal, a category, a key or a person. */
export function nameError(name: string, words: Words): string | undefined {
  if (!isVisible(name)) return words.errors.nameMissing;
  if (characterCount(name) > petNameLengthMax) return words.errors.nameLong(petNameLengthMax);
  return isPetName(name) ? undefined : words.errors.name;
}

export async function newAnimalPage(
  visit: Visit,
  errors: ui.FieldErrors = {},
  asked?: Html,
): Promise<Response> {
  const { words, animals } = visit;
  const categories = await animals.categories();
  const status = ui.statusChoice(query(visit, "as")) ?? "available";
  const fields = new ui.Fields(visit, { category: query(visit, "in"), status }, errors);
  const body = html`${animalFields(visit, fields, categories)}
  ${asked ?? ui.button(words.buttons.addAnimal)}`;
  return page(visit, {
    title: words.animals.addTitle,
    section: "animals",
    status: asked && 409,
    errors,
    body: ui.narrow(ui.mainForm(visit, "/animals/new", body, { makes: true })),
  });
}

/** `POST /animals/new`. One that is here already, by name and category, is asked for. */
export async function addAnimal(visit: Visit): Promise<Response> {
  const { animals, words, form } = visit;
  const errors = errorsOf(visit, await animals.categories());
  if (ui.isWrong(errors)) return newAnimalPage(visit, errors);
  const sent = sentValues(form);
  const { name, category } = sent;
  let same: Pet | undefined;
  const path = await visit.once(async () => {
    same = form.has("anyway") ? undefined : await animals.named(name, category);
    if (same !== undefined) return undefined;
    const status = ui.storedAs(choiceOf(sent)) ?? undefined;
    const added = await visit.change((by) => add(by, { name, category: named(category), status }));
    // Back at the form, as another one of the same kind may follow.
    return withChange(pathWith("/animals/new", { in: category, as: sent.status }), added);
  });
  if (path !== undefined) return seeOther(path);
  const said = html`<p>
    ${words.animals.existing(ui.shownName(visit, name), category)}
    ${ui.link(`/animals/${String(same?.id)}`, words.animals.openIt)}
  </p>`;
  const anyway = ui.button(words.animals.addAnyway, { name: "anyway", value: "yes" });
  return newAnimalPage(visit, {}, html`${ui.notice("plain", said)}${anyway}`);
}

async function animalOf({ animals }: Visit, id: string): Promise<Pet | undefined> {
  return animals.byId(orNotFound(parseInt64(id)));
}

export async function animalPage(
  visit: Visit,
  id: string,
  errors: ui.FieldErrors = {},
): Promise<Response> {
  const { words, animals } = visit;
  const animal = await animalOf(visit, id);
  if (animal === undefined) return removedPage(visit, id);
  const path = `/animals/${String(animal.id)}`;
  const [categories, former, origin, events] = await Promise.all([
    animals.categories(),
    animals.formerCategories(),
    animals.origin(animal.id),
    animals.history(animal.id),
  ]);
  const fields = new ui.Fields(visit, { ...valuesOf(animal, categories) }, errors);
  const { remove, save } = words.buttons;
  const form = html`${animalFields(visit, fields, categories)} ${fields.was(...fieldNames)}
    ${ui.button(save)}
    <div class="apart">
      ${ui.button(remove, { class: "quiet bad", formaction: `${path}/remove` })}
      <p class="hint">${words.animals.removeHint}</p>
    </div>`;
  const known = [...categories, ...former];
  return page(visit, {
    title: ui.shownName(visit, animal.name),
    section: "animals",
    beside: html`<small>${String(animal.id)}</small>`,
    errors,
    body: ui.desk(
      html`<section class="card">
        ${ui.mainForm(visit, path, form)} ${originPart(visit, animal, origin)}
        <p class="hint">${words.animals.photos}</p>
      </section>`,
      ui.card(
        words.history.title,
        ui.lines(events.map((event) => historyLine(visit, event, known))),
      ),
    ),
  });
}

/** The list that it came with, its ID there, and what the list says, which one tap takes. */
function originPart(
  { words }: Visit,
  animal: Pet,
  origin: Awaited<ReturnType<Visit["animals"]["origin"]>>,
): Html | undefined {
  if (origin === undefined) return undefined;
  const { externalId, source, said } = origin;
  const id = String(animal.id);
  const status = animal.status ?? ui.noStatus;
  const listed = said?.presence === "there" ? (said.status ?? ui.noStatus) : status;
  const tap = { class: "quiet small", name: "tap", value: `${id} ${status} ${listed}` };
  return html`${ui.facts([
    externalId !== undefined && [words.animals.externalId, html`<bdi>${externalId}</bdi>`],
    source !== "" && [words.animals.source, html`<bdi>${source}</bdi>`],
  ])}
  ${
    listed !== status &&
    html`<form method="post" action="/animals" class="acts start">
      ${ui.hidden("back", `/animals/${id}`)}
      <span>${words.animals.listSays(words.status[listed])}</span>
      ${ui.button(words.animals.takeThat, tap)}
    </form>`
  }`;
}

async function removedPage(visit: Visit, id: string): Promise<Response> {
  const { words, animals, typed } = visit;
  const number = orNotFound(parseInt64(id));
  const { name, change } = orNotFound(await animals.removed(number));
  // What somebody typed meanwhile stays on the page.
  const fields = new ui.Fields(visit, { status: ui.noStatus });
  const isTyped = typed?.has("name") === true;
  const kept = isTyped && animalFields(visit, fields, await animals.categories());
  const said = html`<p>
      ${words.animals.removed} ${change && html`<span class="soft">${by(visit, change)}</span>`}
    </p>
    ${change && undoOf(visit, change)}`;
  const path = `/animals/${String(number)}`;
  return page(visit, {
    title: ui.shownName(visit, name),
    section: "animals",
    status: 404,
    beside: html`<small>${String(number)}</small>`,
    body: html`${ui.notice("plain", said)}
    ${kept && html`<section class="card">${ui.mainForm(visit, path, kept)}</section>`}`,
  });
}

export async function saveAnimal(visit: Visit, id: string): Promise<Response> {
  const { animals, words, form } = visit;
  const animal = await animalOf(visit, id);
  if (animal === undefined) return removedPage(visit, id);
  const categories = await animals.categories();
  const known = valuesOf(animal, categories);
  const sent = sentValues(form);
  const changed = fieldNames.filter((each) => form.isChanged(each) && sent[each] !== known[each]);
  // What nobody changed is not judged: an import may have brought a name that no form takes.
  const all = errorsOf(visit, categories);
  const errors = Object.fromEntries(changed.map((each) => [each, all[each]]));
  if (ui.isWrong(errors)) return animalPage(visit, id, errors);
  const stale = changed.filter((each) => (form.was(each) ?? known[each]) !== known[each]);
  const over = stale[0] && (await lastChangeOf(visit, animal.id, stale[0]));
  const [from, to] = [choiceOf(known), choiceOf(sent)];
  if (over && stale.includes("status") && ui.isTowardsAdoption(from, to)) {
    const asking = new Form(form);
    asking.set("was-status", known.status);
    const said = words.animals.stale(ui.actorText(visit, over.actor), words.status[from]);
    return animalPage({ ...visit, typed: asking }, id, { status: said });
  }
  const made = await visit.change((by) =>
    updateAnimals(by, [animal.id], {
      ...(changed.includes("name") && { name: sent.name }),
      ...(changed.includes("category") && { category: named(sent.category) }),
      ...(changed.includes("status") && { status: ui.storedAs(to) }),
    }),
  );
  return seeOther(withChange(`/animals/${String(animal.id)}`, made, over));
}

export async function removeAnimal(visit: Visit, id: string): Promise<Response> {
  const animal = await animalOf(visit, id);
  if (animal === undefined) return removedPage(visit, id);
  return seeOther(
    withChange("/animals", await visit.change((by) => removeAnimals(by, [animal.id]))),
  );
}

const saysWhat: ReadonlySet<string> = new Set(["remove", "restore"]);

function historyLine(
  visit: Visit,
  { action, did, changed, actor, atMs }: AnimalEvent,
  categories: readonly Category[],
): Html {
  const { history: words } = visit.words;
  const changes = petFieldNames.flatMap((field) =>
    changed
      .filter((each) => each.field === field)
      .map((each) => ui.fromTo(visit, each, categories)),
  );
  const isNew = did !== undefined && !saysWhat.has(action);
  const what = [...(isNew ? [words.did[did]] : []), ...changes].join("; ");
  return ui.entry(
    [ui.actionText(visit, action), what].filter(Boolean).join(": "),
    html`${actor === undefined ? words.unknown : ui.actorText(visit, actor)}
    ${atMs !== undefined && html`· ${ui.moment(visit, atMs)}`}`,
  );
}
