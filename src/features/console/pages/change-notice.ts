import { parseInt64 } from "../../../domain/int64.ts";
import { html, type Html } from "../../docs/html.ts";
import type { ChangeMade, ChangeRecord } from "../desk.ts";
import { redirect } from "../web/answer.ts";
import { ownPage, param, query, type Visit } from "../web/visit.ts";
import { messagePage, notFoundPage } from "./failures.ts";
import { hidden, notice, number, oneButton, shownName } from "./parts.ts";

/** The address of a page that says what a change did, if there was one, and offers to undo it. */
export function withChange(path: string, { changeId }: ChangeMade): string {
  if (changeId === undefined) return path;
  return `${path}${path.includes("?") ? "&" : "?"}change=${String(changeId)}`;
}

/** The page of the console that a form came from; else the start page. Never another site. */
export function backPath(visit: Visit): string {
  const target = ownPage(visit, visit.form.text("back") || "/animals");
  if (target === undefined) return "/animals";
  target.searchParams.delete("change");
  return target.pathname + target.search;
}

/** Says what the change in the address did, if it is the visitor's, with a button to undo it. */
export async function changeNotice(visit: Visit): Promise<Html | undefined> {
  const id = parseInt64(query(visit, "change"));
  const change = id === undefined ? undefined : await visit.desk.animals.changeById(id);
  if (change === undefined || change.actor !== visit.person.name) return undefined;
  return notice(
    "good",
    html`<p>
        ${changeWords(visit, change)}
        ${change.left > 0 && visit.words.done.kept(animalsText(visit, change.left))}
      </p>
      ${mayUndo(visit, change) && undoButton(visit, change.id, visit.words.buttons.undo)}`,
  );
}

export function undoButton({ url }: Visit, changeId: bigint, label: string, kind = "undo"): Html {
  return oneButton(`/changes/${String(changeId)}/undo`, label, {
    kind,
    fields: hidden("back", url.pathname + url.search),
  });
}

const animalsText = (visit: Visit, count: number) =>
  visit.words.categories.animals(number(visit, count), count);

/** What a change did, as a sentence. */
export function changeWords(visit: Visit, change: ChangeRecord): string {
  const { done } = visit.words;
  const changed = change.animals - change.left;
  if (change.animals > 0 && changed <= 0) return done.nothing();
  const what =
    change.name === undefined ? animalsText(visit, changed) : shownName(visit, change.name.trim());
  const words = change.undoes === undefined ? done[change.action as keyof typeof done] : done.undo;
  if (change.isUndone) return done.undone(what);
  return (words ?? done.other)(what, change.name !== undefined || changed === 1);
}

/** The change of one animal is undone by a button; a larger one has a page that asks. */
export function undoOf(visit: Visit, { id, animals }: ChangeRecord): Html {
  const { undo } = visit.words.buttons;
  return animals <= 1
    ? undoButton(visit, id, undo, "quiet")
    : html`<a class="button" href="/changes/${String(id)}">${undo} …</a>`;
}

/** Staff undo what they did themselves; operators undo what anybody did. */
export function mayUndo({ person }: Visit, { actor, isUndone, undoes }: ChangeRecord): boolean {
  const isTheirs = person.role === "operator" || actor === person.name;
  return isTheirs && !isUndone && undoes === undefined;
}

/** `POST /changes/:id/undo`. What was undone already stays as it is. */
export async function undoChange(visit: Visit): Promise<Response> {
  const { desk, person, words } = visit;
  const id = parseInt64(param(visit, "id"));
  const change = id === undefined ? undefined : await desk.animals.changeById(id);
  if (change === undefined) return notFoundPage(visit);
  if (change.isUndone || change.undoes !== undefined) {
    return redirect(withChange(backPath(visit), { changeId: change.id }));
  }
  if (!mayUndo(visit, change)) return messagePage(visit, "forbidden", words.failures.othersChange);
  // A million animals take minutes on a small machine.
  visit.bePatient();
  return redirect(withChange(backPath(visit), await desk.animals.undo(change.id, person.name)));
}
