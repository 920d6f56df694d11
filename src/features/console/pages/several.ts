/** What is done with animals of the list: a tap on one, or a button for all that are ticked. */
import { AppError } from "../../../domain/errors.ts";
import { parseInt64 } from "../../../domain/int64.ts";
import type { Pet } from "../../../domain/pet.ts";
import { html } from "../../../web/html.ts";
import { readForm, type Form } from "../body.ts";
import { pathOf, query, type Visit } from "../visit.ts";
import { failure } from "../words/index.ts";
import { idsOf, withTicks } from "./animals.ts";
import { backPath, lastChangeOf, withChange, type Replaced } from "./changes.ts";
import { orNotFound, page, seeOther } from "./page.ts";
import {
  actorText,
  categoryName,
  entry,
  hidden,
  isTowardsAdoption,
  lines,
  noStatus,
  notice,
  shownName,
  statusChoice,
  storedAs,
  type StatusChoice,
} from "./parts.ts";

/** `POST /animals`: what a button of the list asks for. */
export async function changeAnimals(visit: Visit): Promise<Response> {
  const form = await readForm(visit);
  const back = backPath(visit, form.text("back"));
  const tap = form.text("tap").split(" ");
  if (form.has("tap")) {
    const [id = "", was, to = ""] = tap;
    const status = orNotFound(statusChoice(to));
    const place = `${withTicks(back, idsOf(form.getAll("id")))}#animal-${id}`;
    const animal = await visit.animals.byId(orNotFound(parseInt64(id)));
    // Its own page says who removed it.
    if (animal === undefined) return seeOther(`/animals/${id}`);
    return mark(visit, [animal], new Map([[animal.id, was]]), status, place);
  }
  const status = statusChoice(form.text("set"));
  if (status === undefined && !form.has("move") && !form.has("remove")) return seeOther(back);
  const chosen = await chosenIn(visit, form.getAll("id"));
  if (chosen.length === 0) return askFirst(visit, back, visit.words.animals.chooseFirst);
  const ids = chosen.map(({ id }) => id);
  if (status !== undefined) return mark(visit, chosen, seenIn(form), status, back);
  if (form.has("remove")) {
    const removed = visit.change(({ animals }) => animals.remove(ids));
    return seeOther(withChange(back, await removed.catch(tellGone)));
  }
  const into = (await visit.animals.categories()).find(
    ({ id }) => String(id) === form.text("into"),
  );
  if (into === undefined) {
    return askFirst(visit, withTicks(back, ids), visit.words.animals.categoryFirst);
  }
  const moving = visit.change(({ animals }) =>
    animals.update(ids, { category: { text: String(into.id) } }),
  );
  return seeOther(withChange(back, await moving.catch(tellGone)));
}

/** What a list showed of each animal that is ticked. */
const seenIn = (form: Form): ReadonlyMap<bigint, string | undefined> =>
  new Map(
    form.getAll("id").flatMap((each) => {
      const [text = "", was] = each.split(" ");
      const id = parseInt64(text);
      return id === undefined ? [] : [[id, was] as const];
    }),
  );

/** The animals that are ticked. Throws where one of them is gone: nothing is done with a part. */
async function chosenIn({ animals }: Visit, values: readonly string[]): Promise<Pet[]> {
  const ids = idsOf(values);
  const found = (await Promise.all(ids.map(animals.byId))).flatMap((each) => each ?? []);
  if (found.length < ids.length) throw failure("not_found", "someGone");
  return found;
}

/**
 * Gives animals a status. What somebody else did since the list was loaded is replaced, and said;
 * only a change towards adoption asks first.
 */
async function mark(
  visit: Visit,
  chosen: readonly Pet[],
  seen: ReadonlyMap<bigint, string | undefined>,
  status: StatusChoice,
  back: string,
): Promise<Response> {
  const stale = chosen.filter(({ id, status: known = noStatus }) => {
    const was = seen.get(id);
    return was !== undefined && was !== known && status !== known;
  });
  const replaced = await Promise.all(stale.map(({ id }) => lastChangeOf(visit, id, "status")));
  const asked = stale.flatMap((animal, at) => {
    const over = replaced[at];
    const isAsked = isTowardsAdoption(animal.status ?? noStatus, status);
    return over !== undefined && isAsked ? [{ animal, over }] : [];
  });
  if (asked.length > 0) return askAgain(visit, { asked, chosen, status, back });
  const marking = visit.change(({ animals }) =>
    animals.update(
      chosen.map(({ id }) => id),
      { status: storedAs(status) },
    ),
  );
  const over = replaced.find((each) => each !== undefined);
  return seeOther(withChange(back, await marking.catch(tellGone), over));
}

interface Asked {
  readonly asked: readonly { readonly animal: Pet; readonly over: Replaced }[];
  readonly chosen: readonly Pet[];
  readonly status: StatusChoice;
  readonly back: string;
}

/** Asks for a tap again that would take back what somebody else decided. */
function askAgain(visit: Visit, { asked, chosen, status, back }: Asked): Response {
  const { words } = visit;
  const said = asked.map(
    ({ animal, over }) =>
      html`<p>
        ${shownName(visit, animal.name)}:
        ${words.animals.stale(actorText(visit, over.actor), words.status[animal.status ?? noStatus])}
      </p>`,
  );
  return page(visit, {
    title: words.sections.animals,
    section: "animals",
    status: "Conflict",
    back: [back, words.animals.backToAll],
    at: back,
    body: html`${notice("plain", html`${said}`)}
      <form method="post" action="/animals">
        ${chosen.map(({ id, status: known }) => hidden("id", `${id} ${known ?? noStatus}`))}
        ${hidden("back", back)}
        <button name="set" value="${status}">
          ${words.animals.markAnyway(words.status[status])}
        </button>
      </form>`,
  });
}

/** Says what is missing; Back has the list as it was. */
function askFirst(visit: Visit, back: string, text: string): Response {
  const { words } = visit;
  return page(visit, {
    title: words.sections.animals,
    section: "animals",
    status: "Bad Request",
    at: back,
    body: html`${notice("bad", text)}
      <p><a href="${back}">${words.animals.backToAll}</a></p>`,
  });
}

/** `GET /animals/merge`: asks which of several entries of one animal stays. */
export async function mergePage(visit: Visit): Promise<Response> {
  const { words, url } = visit;
  const values = url.searchParams.getAll("id");
  const back = withTicks(backPath(visit, query(visit, "back")), idsOf(values));
  if (idsOf(values).length !== 2) return askFirst(visit, back, words.animals.mergeFirst);
  // The address needs no more than the animals.
  const path = withTicks("/animals/merge", idsOf(values));
  if (pathOf(visit) !== path) return seeOther(path);
  const chosen = await chosenIn(visit, values);
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
    back: ["/animals", words.animals.backToAll],
    body: html`<form method="post" action="/animals/merge" class="card narrow">
      <p>${words.animals.mergeHint}</p>
      ${lines(entries)}
    </form>`,
  });
}

/** `POST /animals/merge`: makes one animal of several entries of it. */
export async function mergeAnimals(visit: Visit): Promise<Response> {
  const form = await readForm(visit);
  const into = orNotFound(parseInt64(form.text("into")));
  const from = idsOf(form.getAll("id")).find((id) => id !== into) ?? into;
  const merged = await visit.change(({ animals }) => animals.merge(from, into)).catch(tellGone);
  return seeOther(withChange(`/animals/${String(into)}`, merged));
}

/** Throws the failure of a change of several animals, in words if one of them is gone. */
function tellGone(error: unknown): never {
  const isGone = error instanceof AppError && error.kind === "not_found";
  throw isGone ? failure("not_found", "someGone", error) : error;
}
