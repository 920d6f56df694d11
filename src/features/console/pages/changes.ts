/** What is done with animals of the list, what a page says of a change, and its Undo. */
import { AppError } from "../../../domain/errors.ts";
import { parseInt64 } from "../../../domain/int64.ts";
import { type Pet, petFieldNames } from "../../../domain/pet.ts";
import { mergeAnimals as merge, removeAnimals, updateAnimals } from "../../animals/animals.ts";
import type { Category } from "../../animals/categories.ts";
import type { Editing } from "../../animals/changes.ts";
import { undoChange } from "../../animals/undo.ts";
import { html, type Html } from "../../../web/html.ts";
import type { ChangeMade, ChangeRecord } from "../animals.ts";
import { ownPage, pathOf, pathWith, query, type Visit } from "../visit.ts";
import { failure } from "../words/index.ts";
import { idsOf, withTicks } from "./animals.ts";
import { askPage, orNotFound, messagePage, page, seeOther } from "./page.ts";
import * as ui from "./ui.ts";

const shownChanges = 50;

export interface Replaced {
  readonly change: bigint;
  readonly actor: string;
}

/** The last change of an animal's field, if somebody else made it. */
export async function lastChangeOf(
  { animals, person }: Visit,
  id: bigint,
  field: "name" | "category" | "status",
): Promise<Replaced | undefined> {
  const name = field === "category" ? "categoryId" : field;
  const events = await animals.history(id);
  const last = events.find(({ changed }) => changed.some((each) => each.field === name));
  const { actor, change } = last ?? {};
  return actor === undefined || change === undefined || actor === person.name
    ? undefined
    : { actor, change };
}

/** The address of a page that says what a change did, and what it replaced. */
export const withChange = (path: string, { changeId }: ChangeMade, over?: Replaced): string =>
  changeId === undefined ? path : pathWith(path, { change: changeId, over: over?.change });

/** The page of the console that a form came from; else the start page. Never another site. */
export function backPath(visit: Visit, text: string): string {
  const target = ownPage(visit, text || "/animals");
  if (target === undefined) return "/animals";
  for (const name of ["change", "over", "in", "as"]) target.searchParams.delete(name);
  return pathOf({ url: target });
}

async function changeOf({ animals }: Visit, id: string): Promise<ChangeRecord | undefined> {
  const number = parseInt64(id);
  return number === undefined ? undefined : animals.recordById(number);
}

/** Says what the change in the address did, if it is the visitor's, with a button to undo it. */
export async function changeNotice(visit: Visit): Promise<Html | undefined> {
  const { words, person } = visit;
  const change = await changeOf(visit, query(visit, "change"));
  if (change === undefined || change.actor !== person.name) return undefined;
  const categories = await visit.animals.categories();
  const over = await changeOf(visit, query(visit, "over"));
  return ui.notice(
    "good",
    html`<p>
        ${changeWords(visit, change, categories)}
        ${change.left > 0 && words.changes.kept(ui.animalsText(visit, change.left))}
        ${
          over !== undefined &&
          over.actor !== person.name &&
          html`<br />${words.changes.over(ui.actorText(visit, over.actor))}
            ${changeWords(visit, over, categories)}
            <span class="soft">${ui.moment(visit, over.atMs)}</span>`
        }
      </p>
      ${mayUndo(visit, change) && undoButton(visit, change.id)}`,
  );
}

export function undoButton(visit: Visit, change: bigint, kind = "", back = pathOf(visit)): Html {
  const fields = ui.hidden("back", back);
  return ui.oneButton(`/changes/${String(change)}/undo`, visit.words.buttons.undo, {
    kind,
    fields,
  });
}

function changeWords(
  visit: Visit,
  change: ChangeRecord,
  categories: readonly Category[] = [],
): string {
  const { changes, categories: kinds, import: said } = visit.words;
  const { action, merged, isUndone, undoes } = change;
  const called = ({ name, by }: ChangeRecord["kept"][number]) =>
    `${ui.shownName(visit, name)}${by === null ? "" : said.keptBy(ui.actorText(visit, by))}`;
  const kept = change.kept.map(called).join(", ");
  const changed = change.animals - change.left;
  if (change.animals > 0 && changed <= 0) return changes.nothing;
  const what =
    merged === undefined
      ? subjectOf(visit, change, changed)
      : kinds.merged(
          ui.isolated(merged.from),
          ui.isolated(merged.into),
          ui.animalsText(visit, changed),
        );
  if (isUndone) return changes.undone(what);
  const shown = change.changed.filter(({ field }) => petFieldNames.some((each) => each === field));
  if (action === "update" && undoes === undefined && shown.length > 0) {
    const parts = shown.map((each) =>
      change.animals > 1
        ? changes.now(ui.shownValue(visit, each.field, each.after, categories))
        : ui.fromTo(visit, each, categories),
    );
    return `${what}: ${parts.join("; ")}.`;
  }
  const did = undoes === undefined ? action : "undo";
  if (merged !== undefined && did === action) return `${what}.`;
  return `${ui.actionText(visit, did)}: ${what}.${kept && ` ${said.keptTitle(kept)}.`}`;
}

function subjectOf(visit: Visit, { name, names }: ChangeRecord, changed: number): string {
  const shown = (each: string) => ui.isolated(ui.shownName(visit, each.trim()));
  if (name !== undefined) return shown(name);
  if (names.length === 0 || changed < names.length) return ui.animalsText(visit, changed);
  const all = names.map(shown).join(", ");
  const more = changed - names.length;
  return more === 0 ? all : visit.words.changes.several(all, ui.number(visit, more));
}

export function by(visit: Visit, { actor, atMs }: Pick<ChangeRecord, "actor" | "atMs">): Html {
  return html`${ui.actorText(visit, actor)} · ${ui.moment(visit, atMs)}`;
}

/** The change of one animal is undone by a button; a larger one has a page that asks. */
export function undoOf(visit: Visit, change: ChangeRecord): Html | false {
  if (!mayUndo(visit, change)) return false;
  const { id, animals } = change;
  if (animals <= 1) return undoButton(visit, id, "quiet");
  const label = `${visit.words.buttons.undo} …`;
  return ui.link(`/changes/${String(id)}`, label, { class: "button" });
}

/** Staff undo what they did themselves; operators undo what anybody did. */
function mayUndo({ person }: Visit, { actor, isUndone, undoes }: ChangeRecord): boolean {
  const isTheirs = person.role === "operator" || actor === person.name;
  return isTheirs && !isUndone && undoes === undefined;
}

export async function changesPage(visit: Visit): Promise<Response> {
  const { words, animals } = visit;
  const before = parseInt64(query(visit, "before"));
  const [found, categories, former] = await Promise.all([
    animals.recentChanges(shownChanges + 1, before),
    animals.categories(),
    animals.formerCategories(),
  ]);
  const known = [...categories, ...former];
  const changes = found.slice(0, shownChanges);
  const older = found.length > shownChanges ? changes.at(-1)?.id : undefined;
  const listed = changes.map((change) =>
    ui.entry(changeWords(visit, change, known), by(visit, change), undoOf(visit, change)),
  );
  const none = html`<p class="soft">${words.changes.none}</p>`;
  return page(visit, {
    title: words.changes.title,
    section: "animals",
    body: html`${ui.narrow(listed.length === 0 ? none : ui.lines(listed))}
    ${ui.pageLinks(visit, [
      [before !== undefined && "/changes", words.animals.start],
      [older !== undefined && `/changes?before=${String(older)}`, words.animals.older],
    ])}`,
  });
}

export async function changePage(visit: Visit, id: string): Promise<Response> {
  const { words } = visit;
  const change = orNotFound(await changeOf(visit, id));
  const sure = words.changes.sure(ui.animalsText(visit, change.animals));
  return askPage(visit, {
    title: changeWords(visit, change),
    section: "animals",
    back: ["/changes", words.changes.title],
    above: html`<p class="soft">${by(visit, change)}</p>`,
    ...(mayUndo(visit, change) && { sure, does: undoButton(visit, change.id, "", "/changes") }),
  });
}

/** `POST /changes/:id/undo`. What was undone already stays as it is. */
export async function postUndo(visit: Visit, id: string): Promise<Response> {
  const { words } = visit;
  const back = backPath(visit, visit.form.text("back"));
  const change = orNotFound(await changeOf(visit, id));
  if (change.isUndone || change.undoes !== undefined) {
    return seeOther(withChange(back, { changeId: change.id }));
  }
  if (!mayUndo(visit, change)) return messagePage(visit, 403, words.failures.othersChange);
  // The undo of a large import takes longer than a connection may be silent.
  visit.sender.limitTime(0);
  let left = 0;
  const made = await visit.change(async (by) => {
    ({ left } = await undoChange(by, { change: change.id }));
  });
  if (made.changeId !== undefined) return seeOther(withChange(back, made));
  // All of it was changed since.
  const kept = words.changes.kept(ui.animalsText(visit, left));
  return messagePage(visit, 409, `${words.changes.nothing} ${kept}`);
}

export async function changeAnimals(visit: Visit): Promise<Response> {
  const { animals, words, form } = visit;
  const back = backPath(visit, form.text("back"));
  if (form.has("tap")) {
    const [id = "", , to = ""] = form.text("tap").split(" ");
    const status = orNotFound(ui.statusChoice(to));
    const place = `${withTicks(back, idsOf(form.getAll("id")))}#animal-${id}`;
    const animal = await animals.byId(orNotFound(parseInt64(id)));
    // Its own page says who removed it.
    if (animal === undefined) return seeOther(`/animals/${id}`);
    return mark(visit, [animal], seenIn([form.text("tap")]), status, place);
  }
  const status = ui.statusChoice(form.text("set"));
  if (status === undefined && !form.has("move") && !form.has("remove")) return seeOther(back);
  const chosen = await chosenIn(visit, form.getAll("id"));
  if (chosen.length === 0) return askFirst(visit, back, words.animals.chooseFirst);
  const ids = chosen.map(({ id }) => id);
  if (status !== undefined) return mark(visit, chosen, seenIn(form.getAll("id")), status, back);
  if (form.has("remove")) return changeAll(visit, back, (by) => removeAnimals(by, ids));
  const into = (await animals.categories()).find(({ id }) => String(id) === form.text("into"));
  if (into === undefined) return askFirst(visit, withTicks(back, ids), words.animals.categoryFirst);
  const category = { text: String(into.id) };
  return changeAll(visit, back, (by) => updateAnimals(by, ids, { category }));
}

/** Changes several animals, and leads back. Says so in words if one of them is gone. */
async function changeAll(
  visit: Visit,
  back: string,
  work: (by: Editing) => Promise<unknown>,
  over?: Replaced,
): Promise<Response> {
  const made = await visit.change(work).catch((error: unknown) => {
    const isGone = error instanceof AppError && error.kind === "not_found";
    throw isGone ? failure("not_found", "someGone", error) : error;
  });
  return seeOther(withChange(back, made, over));
}

/** What a list showed of each animal that is ticked or tapped. */
const seenIn = (values: readonly string[]): ReadonlyMap<string | undefined, string | undefined> =>
  new Map(values.map((each) => each.split(" ")).map(([id, was]) => [id, was]));

/** The animals that are ticked. Throws where one of them is gone: nothing is done with a part. */
async function chosenIn({ animals }: Visit, values: readonly string[]): Promise<Pet[]> {
  const ids = idsOf(values);
  const found = await animals.byIds(ids);
  if (found.length < ids.length) throw failure("not_found", "someGone");
  return found;
}

/** Replaces what others did since the list was loaded; asks first if it is towards adoption. */
async function mark(
  visit: Visit,
  chosen: readonly Pet[],
  seen: ReturnType<typeof seenIn>,
  status: ui.StatusChoice,
  back: string,
): Promise<Response> {
  const { words } = visit;
  const asked: string[] = [];
  let replaced: Replaced | undefined;
  for (const { id, name, status: known = ui.noStatus } of chosen) {
    const was = seen.get(String(id));
    if (was === undefined || was === known || status === known) continue;
    const over = await lastChangeOf(visit, id, "status");
    replaced ??= over;
    if (over === undefined || !ui.isTowardsAdoption(known, status)) continue;
    const said = words.animals.stale(ui.actorText(visit, over.actor), words.status[known]);
    asked.push(`${ui.shownName(visit, name)}: ${said}`);
  }
  if (asked.length > 0) return askAgain(visit, asked, chosen, status, back);
  const ids = chosen.map(({ id }) => id);
  const fields = { status: ui.storedAs(status) };
  return changeAll(visit, back, (by) => updateAnimals(by, ids, fields), replaced);
}

function askAgain(
  visit: Visit,
  asked: readonly string[],
  chosen: readonly Pet[],
  status: ui.StatusChoice,
  back: string,
): Response {
  const anyway = visit.words.animals.markAnyway(visit.words.status[status]);
  const said = ui.notice("plain", html`${asked.map((each) => html`<p>${each}</p>`)}`);
  const form = html`<form method="post" action="/animals">
    ${chosen.map(({ id, status: known }) => ui.hidden("id", `${id} ${known ?? ui.noStatus}`))}
    ${ui.hidden("back", back)} ${ui.button(anyway, { name: "set", value: status })}
  </form>`;
  return besideList(visit, 409, back, html`${said} ${form}`);
}

const askFirst = (visit: Visit, back: string, text: string): Response =>
  besideList(visit, 400, back, ui.notice("bad", text));

function besideList(visit: Visit, status: number, back: string, body: Html): Response {
  const { words } = visit;
  return page(visit, {
    title: words.sections.animals,
    section: "animals",
    status,
    at: back,
    back: [back, words.animals.backToAll],
    body,
  });
}

export async function mergePage(visit: Visit): Promise<Response> {
  const { words, url } = visit;
  const values = url.searchParams.getAll("id");
  const ids = idsOf(values);
  const back = withTicks(backPath(visit, query(visit, "back")), ids);
  if (ids.length !== 2) return askFirst(visit, back, words.animals.mergeFirst);
  // The address needs no more than the animals.
  const path = withTicks("/animals/merge", ids);
  if (pathOf(visit) !== path) return seeOther(path);
  const chosen = await chosenIn(visit, values);
  const names = new Map((await visit.animals.categories()).map(({ id, name }) => [id, name]));
  const entries = chosen.map(({ id, name, categoryId, status }) => {
    const kind = ui.categoryName(visit, { id: categoryId, name: names.get(categoryId) });
    const keep = { class: "quiet small", name: "into", value: String(id) };
    return ui.entry(
      ui.shownName(visit, name),
      `${kind} · ${words.status[status ?? ui.noStatus]} · ${String(id)}`,
      html`${ui.hidden("id", String(id))} ${ui.button(words.animals.mergeKeep, keep)}`,
    );
  });
  return page(visit, {
    title: words.animals.mergeTitle,
    section: "animals",
    body: html`<form method="post" action="/animals/merge" class="card narrow">
      <p>${words.animals.mergeHint}</p>
      ${ui.lines(entries)}
    </form>`,
  });
}

export async function mergeAnimals(visit: Visit): Promise<Response> {
  const { form } = visit;
  const into = orNotFound(parseInt64(form.text("into")));
  const from = idsOf(form.getAll("id")).find((id) => id !== into) ?? into;
  return changeAll(visit, `/animals/${String(into)}`, (by) => merge(by, from, into));
}
