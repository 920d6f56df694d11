/** What is done with animals of the list: a tap on one, or a button for all that are ticked. */
import { AppError } from "../../../domain/errors.ts";
import { parseInt64 } from "../../../domain/int64.ts";
import type { Pet } from "../../../domain/pet.ts";
import { html, type Html } from "../../../web/html.ts";
import { mergeAnimals as merge, removeAnimals, updateAnimals } from "../../animals/animals.ts";
import type { Editing } from "../../animals/changes.ts";
import { pathOf, query, type Visit } from "../visit.ts";
import { failure } from "../words/index.ts";
import { idsOf, withTicks } from "./animals.ts";
import { backPath, lastChangeOf, withChange, type Replaced } from "./changes.ts";
import { orNotFound, page, seeOther } from "./page.ts";
import * as ui from "./ui.ts";

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
  if (form.has("remove")) return change(visit, back, (by) => removeAnimals(by, ids));
  const into = (await animals.categories()).find(({ id }) => String(id) === form.text("into"));
  if (into === undefined) return askFirst(visit, withTicks(back, ids), words.animals.categoryFirst);
  const category = { text: String(into.id) };
  return change(visit, back, (by) => updateAnimals(by, ids, { category }));
}

/** Changes several animals, and leads back. Says so in words if one of them is gone. */
async function change(
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
  return change(visit, back, (by) => updateAnimals(by, ids, fields), replaced);
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
  return change(visit, `/animals/${String(into)}`, (by) => merge(by, from, into));
}
