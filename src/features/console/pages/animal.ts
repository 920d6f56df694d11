/** One animal: added, corrected, removed, and what became of it. */
import { parseInt64 } from "../../../domain/int64.ts";
import {
  characterCount,
  isPetName,
  petFieldNames,
  petNameLengthMax,
  type Pet,
} from "../../../domain/pet.ts";
import { html, type Html } from "../../../web/html.ts";
import { type Category, categoryKey } from "../../animals/categories.ts";
import { isVisible } from "../../visible.ts";
import { named, type AnimalEvent } from "../animals.ts";
import { Form, readForm } from "../body.ts";
import { query, type Visit } from "../visit.ts";
import type { Words } from "../words/index.ts";
import { by, changeNotice, lastChangeOf, undoOf, withChange } from "./changes.ts";
import { orNotFound, page, seeOther } from "./page.ts";
import {
  actorText,
  card,
  desk,
  entry,
  facts,
  fieldLabel,
  Fields,
  hidden,
  isTowardsAdoption,
  isWrong,
  lines,
  mainForm,
  moment,
  noStatus,
  notice,
  shownName,
  shownValue,
  statusChoice,
  statusOptions,
  storedAs,
  wordFor,
  type FieldErrors,
} from "./parts.ts";

const fieldNames = ["name", "category", "status"] as const;
type AnimalValues = Readonly<Record<(typeof fieldNames)[number], string>>;

/** More than anybody reads through in a list of suggestions. */
const suggestionsMax = 300;

/**
 * The fields of an animal. The browser checks nothing: what is wrong stands beside its field. What
 * they had when the page was made goes along: a form changes only what its person changed.
 */
function animalFields(
  visit: Visit,
  values: AnimalValues,
  categories: readonly Category[],
  errors: FieldErrors,
): Html {
  const fields = new Fields(visit, { ...values }, errors);
  return html`${fields.text("name")}
    ${errors["category"] !== undefined && hidden("new", visit.typed?.text("category") ?? "")}
    ${fields.text("category", { more: html`list="categories" maxlength="1000"` })}
    <datalist id="categories">
      ${categories.slice(0, suggestionsMax).map(({ name }) => html`<option value="${name}"></option>`)}
    </datalist>
    ${fields.select("status", statusOptions(visit))}`;
}

function sentValues(form: Form): AnimalValues {
  return { name: form.exact("name"), category: form.text("category"), status: form.text("status") };
}

function valuesOf(animal: Pet, categories: readonly Category[]): AnimalValues {
  const { name, categoryId, status = noStatus } = animal;
  const category = categories.find(({ id }) => id === categoryId)?.name ?? String(categoryId);
  return { name, category, status };
}

/** What is wrong with the fields, in words. `alike` is a category that may be meant. */
function errorsOf(values: AnimalValues, words: Words, alike: string | undefined): FieldErrors {
  const { name, category, status } = values;
  const wrongCategory = category === "" ? words.errors.categoryMissing : nameError(category, words);
  return {
    name: nameError(name, words),
    category: wrongCategory ?? (alike && words.errors.categoryAlike(alike)),
    status: statusChoice(status) === undefined ? words.errors.status : undefined,
  };
}

/**
 * The category that `category` is one letter away from, where that would be a new one and nobody
 * has agreed to it.
 */
export function alikeCategory(
  form: Form,
  category: string,
  categories: readonly Category[],
): string | undefined {
  const key = categoryKey(category);
  if (form.text("new") === category || categories.some(({ name }) => categoryKey(name) === key)) {
    return undefined;
  }
  return categories.find(({ name }) => isOneSlipApart(categoryKey(name), key))?.name;
}

/** True for texts of which one letter is missing, more, or another, or two have changed places. */
export function isOneSlipApart(one: string, other: string): boolean {
  const [short, long] = one.length <= other.length ? [one, other] : [other, one];
  if (short.length < 3 || long.length - short.length > 1) return false;
  let at = 0;
  while (at < short.length && short[at] === long[at]) at += 1;
  const rest = long.slice(at + 1);
  if (short.length < long.length) return rest === short.slice(at);
  const isTurned = short[at] === long[at + 1] && short[at + 1] === long[at];
  return rest === short.slice(at + 1) || (isTurned && short.slice(at + 2) === long.slice(at + 2));
}

/** What is wrong with a name of an animal, a category, a key or a person. */
export function nameError(name: string, words: Words): string | undefined {
  if (!isVisible(name)) return words.errors.nameMissing;
  if (characterCount(name) > petNameLengthMax) return words.errors.nameLong(petNameLengthMax);
  return isPetName(name) ? undefined : words.errors.name;
}

/** `GET /animals/new`: a form for an animal, and for the next one of its kind. */
export async function newAnimalPage(
  visit: Visit,
  errors: FieldErrors = {},
  asked?: Html,
): Promise<Response> {
  const { words, animals } = visit;
  const [categories, done] = await Promise.all([animals.categories(), changeNotice(visit)]);
  const status = statusChoice(query(visit, "as")) ?? "available";
  const values = { name: "", category: query(visit, "in"), status };
  const body = html`${animalFields(visit, values, categories, errors)}
  ${asked ?? html`<button>${words.buttons.addAnimal}</button>`}`;
  return page(visit, {
    title: words.animals.addTitle,
    section: "animals",
    back: ["/animals", words.animals.backToAll],
    status: asked === undefined ? undefined : "Conflict",
    done,
    errors,
    at: "/animals/new",
    body: html`<section class="card narrow">
      ${mainForm(visit, "/animals/new", body, { makes: true })}
    </section>`,
  });
}

/** `POST /animals/new`. One that is here already, by name and category, is asked for. */
export async function addAnimal(visit: Visit): Promise<Response> {
  const { animals, words } = visit;
  const typed = await readForm(visit);
  const values = sentValues(typed);
  const categories = await animals.categories();
  const errors = errorsOf(values, words, alikeCategory(typed, values.category, categories));
  if (isWrong(errors)) return newAnimalPage({ ...visit, typed }, errors);
  const { name, category } = values;
  const status = statusChoice(values.status);
  let same: Pet | undefined;
  const path = await visit.once(typed, async () => {
    same = typed.has("anyway") ? undefined : await animals.named(name, category);
    if (same !== undefined) return undefined;
    const animal = { name, category: named(category), status: storedAs(status ?? noStatus) };
    const added = await visit.change((by) =>
      by.animals.add({ ...animal, status: animal.status ?? undefined }),
    );
    // Back at the form, as another one of the same kind may follow.
    const next = new URLSearchParams({ in: category, as: values.status }).toString();
    return withChange(`/animals/new?${next}`, added);
  });
  if (path !== undefined) return seeOther(path);
  const asked = html`${notice(
      "plain",
      html`<p>
        ${words.animals.existing(shownName(visit, name), category)}
        <a href="/animals/${String(same?.id)}">${words.animals.openIt}</a>
      </p>`,
    )}<button name="anyway" value="yes">${words.animals.addAnyway}</button>`;
  return newAnimalPage({ ...visit, typed }, {}, asked);
}

async function animalOf({ animals }: Visit, id: string): Promise<Pet | undefined> {
  return animals.byId(orNotFound(parseInt64(id)));
}

/** `GET /animals/:id`: one animal, to correct, and what became of it. */
export async function animalPage(
  visit: Visit,
  id: string,
  errors: FieldErrors = {},
): Promise<Response> {
  const { words, animals } = visit;
  const animal = await animalOf(visit, id);
  if (animal === undefined) return removedPage(visit, id);
  const path = `/animals/${String(animal.id)}`;
  const [categories, former, origin, events, done] = await Promise.all([
    animals.categories(),
    animals.formerCategories(),
    animals.origin(animal.id),
    animals.history(animal.id),
    changeNotice(visit),
  ]);
  const values = valuesOf(animal, categories);
  const fields = new Fields(visit, { ...values });
  return page(visit, {
    title: shownName(visit, animal.name),
    section: "animals",
    beside: html`<small>${String(animal.id)}</small>`,
    back: ["/animals", words.animals.backToAll],
    done,
    errors,
    at: path,
    body: desk(
      html`<section class="card">
        ${mainForm(
          visit,
          path,
          html`${animalFields(visit, values, categories, errors)} ${fields.was(...fieldNames)}
            <button>${words.buttons.save}</button>
            <div class="apart">
              <button class="quiet bad" formaction="${path}/remove">${words.buttons.remove}</button>
              <p class="hint">${words.animals.removeHint}</p>
            </div>`,
        )}
        ${originPart(visit, animal, origin)}
        <p class="hint">${words.animals.photos}</p>
      </section>`,
      card(words.history.title, history(visit, events, [...categories, ...former])),
    ),
  });
}

/** The list that it came with, its id there, and what the list says, which one tap takes. */
function originPart(
  { words }: Visit,
  animal: Pet,
  origin: Awaited<ReturnType<Visit["animals"]["origin"]>>,
): Html | undefined {
  if (origin === undefined) return undefined;
  const { externalId, source, said } = origin;
  const id = String(animal.id);
  const status = animal.status ?? noStatus;
  const listed = said?.presence === "there" ? (said.status ?? noStatus) : status;
  return html`${facts([
    externalId !== undefined && [words.animals.externalId, html`<bdi>${externalId}</bdi>`],
    [words.animals.source, html`<bdi>${source}</bdi>`],
  ])}
  ${
    listed !== status &&
    html`<form method="post" action="/animals" class="acts start">
      ${hidden("back", `/animals/${id}`)}
      <span>${words.animals.listSays(words.status[listed])}</span>
      <button class="quiet small" name="tap" value="${id} ${status} ${listed}">
        ${words.animals.takeThat}
      </button>
    </form>`
  }`;
}

function history(
  visit: Visit,
  events: readonly AnimalEvent[],
  categories: readonly Category[],
): Html {
  return lines(
    events.map((event) =>
      entry(
        eventWords(visit, event, categories),
        html`${event.actor === undefined ? visit.words.history.unknown : actorText(visit, event.actor)}${
          event.atMs !== undefined && html` · ${moment(visit, event.atMs)}`
        }`,
      ),
    ),
  );
}

/** `GET /animals/:id` of an animal that is gone: who removed it, and how it comes back. */
async function removedPage(visit: Visit, id: string): Promise<Response> {
  const { words, animals, typed } = visit;
  const number = orNotFound(parseInt64(id));
  const { name, change } = orNotFound(await animals.removed(number));
  const values = { name: "", category: "", status: noStatus };
  // What somebody typed meanwhile stays on the page.
  const kept = typed && animalFields(visit, values, await animals.categories(), {});
  return page(visit, {
    title: shownName(visit, name),
    section: "animals",
    status: "Not Found",
    beside: html`<small>${String(number)}</small>`,
    back: ["/animals", words.animals.backToAll],
    body: html`${notice(
      "plain",
      html`<p>
          ${words.animals.removed} ${change && html`<span class="soft">${by(visit, change)}</span>`}
        </p>
        ${change && undoOf(visit, change)}`,
    )}
    ${kept && html`<section class="card">${mainForm(visit, `/animals/${String(number)}`, kept)}</section>`}`,
  });
}

/** `POST /animals/:id`: keeps what its person corrected, and no more. */
export async function saveAnimal(visit: Visit, id: string): Promise<Response> {
  const { animals, words } = visit;
  const form = await readForm(visit);
  const typed = form;
  const animal = await animalOf(visit, id);
  if (animal === undefined) return removedPage({ ...visit, typed }, id);
  const categories = await animals.categories();
  const known = valuesOf(animal, categories);
  const sent = sentValues(form);
  const changed = fieldNames.filter((each) => form.isChanged(each) && sent[each] !== known[each]);
  // What nobody changed is not judged: an import may have brought a name that no form takes.
  const alike = alikeCategory(form, sent.category, categories);
  const all = errorsOf(sent, words, alike);
  const errors = Object.fromEntries(changed.map((each) => [each, all[each]]));
  if (isWrong(errors)) return animalPage({ ...visit, typed }, id, errors);
  const stale = changed.filter((each) => (form.was(each) ?? known[each]) !== known[each]);
  const over = stale[0] && (await lastChangeOf(visit, animal.id, stale[0]));
  const status = statusChoice(sent.status) ?? noStatus;
  if (over && stale.includes("status") && isTowardsAdoption(storedChoice(known), status)) {
    const asking = new Form(form);
    asking.set("was-status", known.status);
    const said = words.animals.stale(
      actorText(visit, over.actor),
      words.status[storedChoice(known)],
    );
    return animalPage({ ...visit, typed: asking }, id, { status: said });
  }
  const isSet = (each: (typeof fieldNames)[number]) => changed.includes(each);
  const made = await visit.change((by) =>
    by.animals.update([animal.id], {
      ...(isSet("name") && { name: sent.name }),
      ...(isSet("category") && { category: named(sent.category) }),
      ...(isSet("status") && { status: storedAs(status) }),
    }),
  );
  return seeOther(withChange(`/animals/${String(animal.id)}`, made, over));
}

const storedChoice = ({ status }: AnimalValues) => statusChoice(status) ?? noStatus;

/** `POST /animals/:id/remove`. The list then offers to undo it. */
export async function removeAnimal(visit: Visit, id: string): Promise<Response> {
  await readForm(visit);
  const animal = await animalOf(visit, id);
  if (animal === undefined) return removedPage(visit, id);
  const changed = await visit.change(({ animals }) => animals.remove([animal.id]));
  return seeOther(withChange("/animals", changed));
}

/** Actions whose name says that the animal went or came back. */
const saysWhat: ReadonlySet<string> = new Set(["remove", "restore"]);

/** What an event did: that the animal went or came back, and the fields that it changed. */
function eventWords(
  visit: Visit,
  { action, did, changed }: AnimalEvent,
  categories: readonly Category[],
): Html {
  const { history: words } = visit.words;
  const changes = petFieldNames.flatMap((field) => {
    const change = changed.find((each) => each.field === field);
    if (change === undefined) return [];
    const [before, after] = [change.before, change.after].map((each) =>
      shownValue(visit, field, each, categories),
    );
    return [html`${fieldLabel(visit, field)}: <bdi>${before}</bdi> → <bdi>${after}</bdi>`];
  });
  const isNew = did !== undefined && !saysWhat.has(action);
  const what = [...(isNew ? [html`${words.did[did]}`] : []), ...changes];
  return html`${wordFor(action, words.actions)}${what.map(
    (each, at) => html`${at === 0 ? ": " : "; "}${each}`,
  )}`;
}
