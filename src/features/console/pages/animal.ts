/** One animal: added, corrected, removed, and what became of it. */
import { parseInt64 } from "../../../domain/int64.ts";
import {
  characterCount,
  isPetName,
  petFieldNames,
  petNameLengthMax,
  type Pet,
  type PetFieldName,
} from "../../../domain/pet.ts";
import { type Category, categoryKey } from "../../animals/categories.ts";
import { html, type Html } from "../../../web/html.ts";
import { optionalTextNames, textsOf } from "../../optional-texts.ts";
import { isVisible } from "../../visible.ts";
import { readForm, type Form } from "../body.ts";
import { named, type AnimalEvent } from "../animals.ts";
import { query, type Visit } from "../visit.ts";
import type { Words } from "../words/index.ts";
import { backPath, by, changeNotice, undoOf, withChange } from "./changes.ts";
import { orNotFound, page, seeOther } from "./page.ts";
import {
  actorText,
  card,
  desk,
  entry,
  fieldLabel,
  Fields,
  hidden,
  isWrong,
  lines,
  moment,
  noStatus,
  notice,
  oneButton,
  postForm,
  shownName,
  shownValue,
  statusChoice,
  statusOptions,
  storedAs,
  type StatusChoice,
  when,
  wordFor,
  type FieldErrors,
} from "./parts.ts";

type AnimalField = "category" | Exclude<PetFieldName, "categoryId">;
export type AnimalValues = Readonly<Record<AnimalField, string>>;

/** The fields of an animal that nobody described yet. */
export const noValues: AnimalValues = {
  name: "",
  category: "",
  status: "available",
  ...textsOf(() => ""),
};

const fieldsIn = (values: AnimalValues) => Object.entries(values) as [AnimalField, string][];

/** More than anybody reads through in a list of suggestions. */
const suggestionsMax = 300;

/**
 * The form of an animal. The browser checks nothing: what is wrong stands beside its field. `was`
 * is the animal while the form is shown: a field that stays so was not changed here.
 */
export function animalForm(
  visit: Visit,
  action: string,
  values: AnimalValues,
  categories: readonly Category[],
  {
    button = visit.words.buttons.save,
    errors,
    was,
    isNext = false,
  }: {
    readonly button?: string;
    readonly errors?: FieldErrors;
    readonly was?: AnimalValues;
    /** True where one was just added, and another one may follow. */
    readonly isNext?: boolean;
  } = {},
): Html {
  const fields = new Fields(visit, values, errors);
  return postForm(
    action,
    html`${
        was === undefined
          ? hidden("once", crypto.randomUUID())
          : fieldsIn(was).map(([name, value]) => hidden(`was-${name}`, value))
      }
      ${fields.text("name", { more: when(isNext, "autofocus") })}
      ${errors?.["category"] !== undefined && hidden("new", values.category)}
      ${fields.text("category", { more: html`list="categories" maxlength="1000"` })}
      <datalist id="categories">
        ${categories.slice(0, suggestionsMax).map(({ name }) => html`<option value="${name}"></option>`)}
      </datalist>
      ${fields.select("status", statusOptions(visit))}
      ${optionalTextNames.map((name) => fields.text(name))}`,
    button,
  );
}

function sentValues(form: Form): AnimalValues {
  return {
    name: form.exact("name"),
    category: form.text("category"),
    status: form.text("status"),
    ...textsOf((name) => form.exact(name)),
  };
}

function valuesOf(animal: Pet, categories: readonly Category[]): AnimalValues {
  const { name, categoryId, status = noStatus } = animal;
  const category = categories.find(({ id }) => id === categoryId)?.name ?? String(categoryId);
  return { name, category, status, ...textsOf((text) => animal[text] ?? "") };
}

/** A field holds one line: a name with a line break in it comes back without. */
const isSame = (one: string, other: string) => oneLine(one) === oneLine(other);
const oneLine = (text: string) => text.replaceAll(/[\r\n]/g, "");

/**
 * What a form makes of an animal that is `known` by now, and the fields that somebody else changed
 * too since the form was shown. Those that only others changed stay as these have them.
 */
function sentChanges(form: Form, known: AnimalValues) {
  const sent = sentValues(form);
  const changed = fieldsIn(known).flatMap(([field, value]) => {
    const was = form.has(`was-${field}`) ? form.exact(`was-${field}`) : value;
    const isChanged = !isSame(sent[field], was) && !isSame(sent[field], value);
    return isChanged ? [{ field, isConflict: !isSame(was, value) }] : [];
  });
  const own = Object.fromEntries(changed.map(({ field }) => [field, sent[field]]));
  return {
    values: { ...known, ...own } as AnimalValues,
    conflicts: changed.flatMap(({ field, isConflict }) => (isConflict ? [field] : [])),
  };
}

/** What is wrong with the fields, in words. `alike` is a category that may be meant. */
function errorsOf(values: AnimalValues, words: Words, alike: string | undefined): FieldErrors {
  const { name, category, status } = values;
  const wrongCategory = category === "" ? words.errors.categoryMissing : nameError(category, words);
  return {
    name: nameError(name, words),
    category: wrongCategory ?? (alike && words.errors.categoryAlike(alike)),
    status: statusChoice(status) === undefined ? words.errors.status : undefined,
    ...textsOf((text) => (isPetName(values[text]) ? undefined : words.errors.name)),
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
  return categories.find(({ name }) => isOneLetterApart(categoryKey(name), key))?.name;
}

/** True for texts of which one letter is missing, more, or another. */
function isOneLetterApart(one: string, other: string): boolean {
  const [short, long] = one.length <= other.length ? [one, other] : [other, one];
  if (short.length < 3 || long.length - short.length > 1) return false;
  let at = 0;
  while (at < short.length && short[at] === long[at]) at += 1;
  const rest = long.slice(at + 1);
  return rest === short.slice(short.length === long.length ? at + 1 : at);
}

/** What is wrong with a name of an animal, a category, a key or a person. */
export function nameError(name: string, words: Words): string | undefined {
  if (!isVisible(name)) return words.errors.nameMissing;
  if (characterCount(name) > petNameLengthMax) return words.errors.nameLong(petNameLengthMax);
  return isPetName(name) ? undefined : words.errors.name;
}

export async function newAnimalPage(
  visit: Visit,
  values = noValues,
  errors: FieldErrors = {},
): Promise<Response> {
  const { words, animals } = visit;
  return page(visit, {
    title: words.animals.addTitle,
    section: "animals",
    errors,
    body: html`<section class="card narrow">
        ${animalForm(visit, "/animals", values, await animals.categories(), { errors })}
      </section>
      <p><a href="/animals">${words.animals.backToAll}</a></p>`,
  });
}

export async function addAnimal(visit: Visit): Promise<Response> {
  const form = await readForm(visit);
  const values = sentValues(form);
  const alike = alikeCategory(form, values.category, await visit.animals.categories());
  const errors = errorsOf(values, visit.words, alike);
  if (isWrong(errors)) return newAnimalPage(visit, values, errors);
  const { name, category } = values;
  const status = statusChoice(values.status);
  const path = await visit.once(form, async () => {
    const animal = {
      name,
      category: named(category),
      status: status === noStatus ? undefined : status,
      ...textsOf((text) => values[text] || undefined),
    };
    const added = await visit.change(({ animals }) => animals.add(animal));
    // Back at the form, as another one of the same kind may follow.
    const next = new URLSearchParams({ in: category, as: values.status }).toString();
    return `${withChange("/animals", added)}&${next}#add`;
  });
  return seeOther(path);
}

/** The fields of the next animal, where one was just added. */
export function nextValues(visit: Visit): AnimalValues {
  const [category, status] = [query(visit, "in"), query(visit, "as")];
  return { ...noValues, category, ...(statusChoice(status) !== undefined && { status }) };
}

async function animalOf({ animals }: Visit, id: string): Promise<Pet | undefined> {
  return animals.byId(orNotFound(parseInt64(id)));
}

/** `GET /animals/:id`: one animal, to correct, and what became of it. */
export async function animalPage(visit: Visit, id: string): Promise<Response> {
  const animal = await animalOf(visit, id);
  if (animal === undefined) return removedPage(visit, id);
  const categories = await visit.animals.categories();
  return shown(visit, animal, valuesOf(animal, categories), categories);
}

async function shown(
  visit: Visit,
  animal: Pet,
  values: AnimalValues,
  categories: readonly Category[],
  errors: FieldErrors = {},
): Promise<Response> {
  const { words, animals } = visit;
  const { id, name } = animal;
  const path = `/animals/${String(id)}`;
  const [events, done] = await Promise.all([animals.history(id), changeNotice(visit)]);
  const was = valuesOf(animal, categories);
  return page(visit, {
    title: shownName(visit, name),
    section: "animals",
    beside: html`<small>${String(id)}</small>`,
    back: ["/animals", words.animals.backToAll],
    done,
    errors,
    body: desk(
      html`<section class="card">
        ${animalForm(visit, path, values, categories, { was, errors })}
        <div class="apart">
          ${oneButton(`${path}/remove`, words.buttons.remove, { kind: "quiet bad" })}
          <p class="hint">${words.animals.removeHint}</p>
        </div>
        <p class="hint">${words.animals.photos}</p>
      </section>`,
      card(
        words.history.title,
        lines(
          events.map((event) =>
            entry(
              eventWords(visit, event, categories),
              html`${event.actor === undefined ? words.history.unknown : actorText(visit, event.actor)}${
                event.atMs !== undefined && html` · ${moment(visit, event.atMs)}`
              }`,
            ),
          ),
        ),
      ),
    ),
  });
}

/** `GET /animals/:id` of an animal that is gone: who removed it, and how it comes back. */
async function removedPage(visit: Visit, id: string, sent?: AnimalValues): Promise<Response> {
  const { words, animals } = visit;
  const number = orNotFound(parseInt64(id));
  const { name, change } = orNotFound(await animals.removed(number));
  const categories = await animals.categories();
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
    ${
      sent &&
      html`<section class="card">
        ${animalForm(visit, `/animals/${String(number)}`, sent, categories)}
      </section>`
    }`,
  });
}

/** `POST /animals/:id`: keeps what was corrected. */
export async function saveAnimal(visit: Visit, id: string): Promise<Response> {
  const { animals, words } = visit;
  const form = await readForm(visit);
  const animal = await animalOf(visit, id);
  // What somebody sent meanwhile stays on the page.
  if (animal === undefined) return removedPage(visit, id, sentValues(form));
  const categories = await animals.categories();
  const known = valuesOf(animal, categories);
  const { values, conflicts } = sentChanges(form, known);
  // What nobody changed is not judged: an import may have brought a name that no form takes.
  const judged = {
    ...values,
    ...(values.name === known.name && { name: "-" }),
    ...(values.category === known.category && { category: "-" }),
  };
  const alike =
    judged.category === "-" ? undefined : alikeCategory(form, values.category, categories);
  const errors: Record<string, string | undefined> = { ...errorsOf(judged, words, alike) };
  for (const field of conflicts) errors[field] ??= words.animals.meanwhile(known[field]);
  if (isWrong(errors)) return shown(visit, animal, values, categories, errors);
  const status = statusChoice(values.status);
  const patch = {
    ...(values.name !== known.name && { name: values.name }),
    ...(values.category !== known.category && { category: named(values.category) }),
    ...(status !== undefined && values.status !== known.status && { status: storedAs(status) }),
    ...textsOf((text) => (values[text] === known[text] ? undefined : values[text] || null)),
  };
  const changed = await visit.change((by) => by.animals.update([animal.id], patch));
  return seeOther(withChange(`/animals/${String(animal.id)}`, changed));
}

export async function markAnimal(visit: Visit, id: string): Promise<Response> {
  const form = await readForm(visit);
  const animal = orNotFound(await animalOf(visit, id));
  const status = orNotFound(statusChoice(form.text("status")));
  const back = backPath(visit, form);
  if (form.has("was") && ![form.text("was"), status].includes(animal.status ?? noStatus)) {
    return askAgain(visit, { stale: [animal], chosen: [animal], status, back });
  }
  const changed = await visit.change(({ animals }) =>
    animals.update([animal.id], { status: storedAs(status) }),
  );
  return seeOther(withChange(back, changed));
}

/** An animal as a form names it: with the status that its list showed. */
export const seenAs = ({ id, status }: Pet): string => `${id} ${status ?? noStatus}`;

/** Asks for a tap again on a list that is older than somebody else's change of some animals. */
export function askAgain(
  visit: Visit,
  {
    stale,
    chosen,
    status,
    back,
  }: {
    readonly stale: readonly Pet[];
    readonly chosen: readonly Pet[];
    /** Undefined to remove them. */
    readonly status: StatusChoice | undefined;
    readonly back: string;
  },
): Response {
  const { words } = visit;
  const [verb, value, label] =
    status === undefined
      ? ["remove", "yes", words.buttons.remove]
      : ["status", status, words.animals.markAnyway(words.status[status])];
  const fields = html`${chosen.map((each) => hidden("id", seenAs(each)))} ${hidden(verb, value)}
  ${hidden("back", back)}`;
  const said = stale.map(
    (each) =>
      html`<p>
        ${shownName(visit, each.name)}:
        ${words.animals.stale(words.status[each.status ?? noStatus])}
      </p>`,
  );
  return page(visit, {
    title: words.sections.animals,
    section: "animals",
    status: "Conflict",
    back: [back, words.animals.backToAll],
    body: html`${notice("bad", html`${said}`)}
    ${oneButton("/animals/several", label, { kind: "", fields })}`,
  });
}

/** `POST /animals/:id/remove`. The list then offers to undo it. */
export async function removeAnimal(visit: Visit, id: string): Promise<Response> {
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
  const { history } = visit.words;
  const changes = petFieldNames.flatMap((field) => {
    const change = changed.find((each) => each.field === field);
    if (change === undefined) return [];
    const [before, after] = [change.before, change.after].map((each) =>
      shownValue(visit, field, each, categories),
    );
    return [html`${fieldLabel(visit, field)}: <bdi>${before}</bdi> → <bdi>${after}</bdi>`];
  });
  const isNew = did !== undefined && !saysWhat.has(action);
  const what = [...(isNew ? [html`${history.did[did]}`] : []), ...changes];
  return html`${wordFor(action, history.actions)}${what.map(
    (each, at) => html`${at === 0 ? ": " : "; "}${each}`,
  )}`;
}
