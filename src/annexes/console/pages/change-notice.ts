import { parseInt64 } from "../../../domain/int64.ts";
import { html, type Html } from "../../page/html.ts";
import type { ChangeMade, ChangeRecord } from "../desk.ts";
import { redirect } from "../web/answer.ts";
import { param, query, type Visit } from "../web/visit.ts";
import { hidden, notice, number, oneButton } from "./parts.ts";

/**
 * The address of a page that says what was just done, and offers to undo it. Nothing was done
 * without a change.
 */
export function withChange(path: string, { changeId }: ChangeMade): string {
  if (changeId === undefined) return path;
  return `${path}${path.includes("?") ? "&" : "?"}change=${String(changeId)}`;
}

/**
 * Where a form came from, as far as that is a page of the console; else the start page. Never
 * another site.
 */
export function backPath({ form, url }: Visit): string {
  const back = form.text("back");
  if (!back.startsWith("/") || !URL.canParse(back, url.origin)) return "/animals";
  const target = new URL(back, url.origin);
  if (target.origin !== url.origin) return "/animals";
  target.searchParams.delete("change");
  return target.pathname + target.search;
}

/**
 * Says what the change in the address did, when it is the visitor's own, with a button that takes
 * it back.
 */
export async function changeNotice(visit: Visit): Promise<Html | undefined> {
  const id = parseInt64(query(visit, "change"));
  const change = id === undefined ? undefined : await visit.desk.animals.changeById(id);
  if (change === undefined || change.actor !== visit.person.name) return undefined;
  return notice(
    "good",
    html`<p>${changeWords(visit, change)}</p>
      ${
        change.isUndone || change.undoes !== undefined
          ? undefined
          : undoButton(visit, change.id, visit.words.buttons.undo)
      }`,
  );
}

export function undoButton({ url }: Visit, changeId: bigint, label: string): Html {
  return oneButton(`/changes/${String(changeId)}/undo`, label, {
    kind: "undo",
    fields: hidden("back", url.pathname + url.search),
  });
}

function changeWords(visit: Visit, change: ChangeRecord): string {
  const { done, animals } = visit.words;
  const what =
    change.name === undefined
      ? animals.several(number(visit, change.animals))
      : change.name.trim() || animals.unnamed;
  const words = change.undoes === undefined ? done[change.action as keyof typeof done] : done.undo;
  return change.isUndone ? done.undone(what) : (words ?? done.other)(what);
}

/** `POST /changes/:id/undo`. */
export async function undoChange(visit: Visit): Promise<Response> {
  const id = parseInt64(param(visit, "id"));
  if (id === undefined) return redirect(backPath(visit));
  const undone = await visit.desk.animals.undo(id, visit.person.name);
  return redirect(withChange(backPath(visit), undone));
}
