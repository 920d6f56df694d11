/** What was done lately, what a page says of it, and its Undo. */
import { parseInt64 } from "../../../domain/int64.ts";
import type { Category } from "../../animals/categories.ts";
import { html, type Html } from "../../../web/html.ts";
import { readForm, type Form } from "../body.ts";
import type { ChangeMade, ChangeRecord } from "../animals.ts";
import { ownPage, query, type Visit } from "../visit.ts";
import { orNotFound, messagePage, page, seeOther } from "./page.ts";
import {
  actorText,
  animalsText,
  entry,
  fieldLabel,
  hidden,
  lines,
  moment,
  notice,
  number,
  oneButton,
  shownName,
  shownValue,
} from "./parts.ts";

/** As many as anybody reads through to find what went wrong. */
const shownChanges = 50;

/** The address of a page that says what a change did, if there was one, and offers to undo it. */
export function withChange(path: string, { changeId }: ChangeMade): string {
  if (changeId === undefined) return path;
  return `${path}${path.includes("?") ? "&" : "?"}change=${String(changeId)}`;
}

/** The page of the console that a form came from; else the start page. Never another site. */
export function backPath(visit: Visit, form: Form): string {
  const target = ownPage(visit, form.text("back") || "/animals");
  if (target === undefined) return "/animals";
  for (const name of ["change", "in", "as"]) target.searchParams.delete(name);
  return target.pathname + target.search;
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
  return notice(
    "good",
    html`<p>
        ${changeWords(visit, change, await visit.animals.categories())}
        ${change.left > 0 && words.done.kept(animalsText(visit, change.left))}
      </p>
      ${mayUndo(visit, change) && undoButton(visit, change.id, words.buttons.undo)}`,
  );
}

export function undoButton({ url }: Visit, changeId: bigint, label: string, kind = ""): Html {
  return oneButton(`/changes/${String(changeId)}/undo`, label, {
    kind,
    fields: hidden("back", url.pathname + url.search),
  });
}

/** What a change did, as a sentence. */
function changeWords(
  visit: Visit,
  change: ChangeRecord,
  categories: readonly Category[] = [],
): string {
  const { done } = visit.words;
  const changed = change.animals - change.left;
  if (change.animals > 0 && changed <= 0) return done.nothing();
  const what = subjectOf(visit, change, changed);
  const isPlain = change.action === "update" && !change.isUndone && change.undoes === undefined;
  if (isPlain && change.changed.length > 0) {
    const parts = change.changed.flatMap(({ field, before, after }) => {
      const [from, to] = [before, after].map((each) =>
        isolated(shownValue(visit, field, each, categories)),
      );
      const label = fieldLabel(visit, field);
      return label === undefined
        ? []
        : [`${field === "status" ? "" : `${label}: `}${from} → ${to}`];
    });
    return visit.words.changes.changed(what, parts.join("; "));
  }
  const words = change.undoes === undefined ? done[change.action as keyof typeof done] : done.undo;
  if (change.isUndone) return done.undone(what);
  return (words ?? done.other)(what, change.name !== undefined || changed === 1);
}

/** A name that is read from the right does not turn what stands beside it (UAX 9). */
const isolated = (text: string) =>
  /[\u0590-\u08ff\ufb1d-\ufefc]/.test(text) ? `\u2068${text}\u2069` : text;

/** The animals of a change by name, as far as a line has room. */
function subjectOf(visit: Visit, { name, names }: ChangeRecord, changed: number): string {
  if (name !== undefined) return isolated(shownName(visit, name.trim()));
  if (names.length === 0 || changed < names.length) return animalsText(visit, changed);
  const shown = names.map((each) => isolated(shownName(visit, each.trim()))).join(", ");
  const more = changed - names.length;
  return more === 0 ? shown : visit.words.changes.several(shown, number(visit, more));
}

export function by(visit: Visit, { actor, atMs }: Pick<ChangeRecord, "actor" | "atMs">): Html {
  return html`${actorText(visit, actor)} · ${moment(visit, atMs)}`;
}

/** The change of one animal is undone by a button; a larger one has a page that asks. */
export function undoOf(visit: Visit, change: ChangeRecord): Html | false {
  const { id, animals } = change;
  const { undo } = visit.words.buttons;
  if (!mayUndo(visit, change)) return false;
  return animals <= 1
    ? undoButton(visit, id, undo, "quiet")
    : html`<a class="button" href="/changes/${String(id)}">${undo} …</a>`;
}

/** Staff undo what they did themselves; operators undo what anybody did. */
function mayUndo({ person }: Visit, { actor, isUndone, undoes }: ChangeRecord): boolean {
  const isTheirs = person.role === "operator" || actor === person.name;
  return isTheirs && !isUndone && undoes === undefined;
}

/** `GET /changes`: what was done lately and by whom, each with its Undo. */
export async function changesPage(visit: Visit): Promise<Response> {
  const { words, animals } = visit;
  const [changes, categories, done] = await Promise.all([
    animals.recentChanges(shownChanges),
    animals.categories(),
    changeNotice(visit),
  ]);
  const listed = changes.map((change) =>
    entry(changeWords(visit, change, categories), by(visit, change), undoOf(visit, change)),
  );
  return page(visit, {
    title: words.changes.title,
    section: "animals",
    back: ["/animals", words.animals.backToAll],
    done,
    body: html`<section class="card narrow">
      ${listed.length === 0 ? html`<p class="soft">${words.changes.none}</p>` : lines(listed)}
    </section>`,
  });
}

/** `GET /changes/:id`: what the undo of a change would do. */
export async function changePage(visit: Visit, id: string): Promise<Response> {
  const { words } = visit;
  const change = orNotFound(await changeOf(visit, id));
  return page(visit, {
    title: changeWords(visit, change),
    section: "animals",
    back: ["/changes", words.changes.title],
    body: html`<p class="soft">${by(visit, change)}</p>
      ${
        mayUndo(visit, change) &&
        html`<section class="card narrow">
          <p>${words.changes.sure(animalsText(visit, change.animals))}</p>
          ${oneButton(`/changes/${String(change.id)}/undo`, words.buttons.undo, {
            kind: "",
            fields: hidden("back", "/changes"),
          })}
        </section>`
      }`,
  });
}

/** `POST /changes/:id/undo`. What was undone already stays as it is. */
export async function postUndo(visit: Visit, id: string): Promise<Response> {
  const { words } = visit;
  const back = backPath(visit, await readForm(visit));
  const change = orNotFound(await changeOf(visit, id));
  if (change.isUndone || change.undoes !== undefined) {
    return seeOther(withChange(back, { changeId: change.id }));
  }
  if (!mayUndo(visit, change)) return messagePage(visit, "Forbidden", words.failures.othersChange);
  // The undo of a large import takes longer than a connection may be silent.
  visit.sender.limitTime(0);
  let left = 0;
  const made = await visit.change(async ({ animals }) => {
    ({ left } = await animals.undo({ change: change.id }));
  });
  if (made.changeId !== undefined) return seeOther(withChange(back, made));
  // All of it was changed since.
  return page(visit, {
    title: words.changes.title,
    section: "animals",
    status: "Conflict",
    back: [back, words.animals.backToAll],
    body: notice("bad", `${words.done.nothing()} ${words.done.kept(animalsText(visit, left))}`),
  });
}
