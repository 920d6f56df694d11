/** What was done lately, what a page says of it, and its Undo. */
import { parseInt64 } from "../../../domain/int64.ts";
import type { Category } from "../../animals/categories.ts";
import { html, type Html } from "../../../web/html.ts";
import { readForm } from "../body.ts";
import type { ChangeMade, ChangeRecord } from "../animals.ts";
import { ownPage, pathOf, query, type Visit } from "../visit.ts";
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
  pageLinks,
  shownName,
  shownValue,
} from "./parts.ts";

/** As many as anybody reads through to find what went wrong. */
const shownChanges = 50;

/** A change of somebody else, which a later one replaced. */
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

/**
 * The address of a page that says what a change did, if there was one, and offers to undo it. `over`
 * is what it replaced.
 */
export function withChange(path: string, { changeId }: ChangeMade, over?: Replaced): string {
  if (changeId === undefined) return path;
  const [page = "", place] = path.split("#");
  const more = `change=${String(changeId)}${over === undefined ? "" : `&over=${String(over.change)}`}`;
  const address = `${page}${page.includes("?") ? "&" : "?"}${more}`;
  return place === undefined ? address : `${address}#${place}`;
}

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
  return notice(
    "good",
    html`<p>
        ${changeWords(visit, change, categories)}
        ${change.left > 0 && words.done.kept(animalsText(visit, change.left))}
        ${
          over !== undefined &&
          over.actor !== person.name &&
          html`<br />${words.changes.over(actorText(visit, over.actor))}
            ${changeWords(visit, over, categories)}
            <span class="soft">${moment(visit, over.atMs)}</span>`
        }
      </p>
      ${mayUndo(visit, change) && undoButton(visit, change.id, words.buttons.undo)}`,
  );
}

export function undoButton(visit: Visit, changeId: bigint, label: string, kind = ""): Html {
  return oneButton(`/changes/${String(changeId)}/undo`, label, {
    kind,
    fields: hidden("back", pathOf(visit)),
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
  const moved = animalsText(visit, changed);
  const { merged } = change;
  const what =
    merged === undefined
      ? subjectOf(visit, change, changed)
      : visit.words.categories.merged(isolated(merged.from), isolated(merged.into), moved);
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
  const before = parseInt64(query(visit, "before"));
  const [found, categories, former, done] = await Promise.all([
    animals.recentChanges(shownChanges + 1, before),
    animals.categories(),
    animals.formerCategories(),
    changeNotice(visit),
  ]);
  const changes = found.slice(0, shownChanges);
  const older = found.length > shownChanges ? changes.at(-1)?.id : undefined;
  const listed = changes.map((change) =>
    entry(
      changeWords(visit, change, [...categories, ...former]),
      by(visit, change),
      undoOf(visit, change),
    ),
  );
  return page(visit, {
    title: words.changes.title,
    section: "animals",
    back: ["/animals", words.animals.backToAll],
    done,
    body: html`<section class="card narrow">
        ${listed.length === 0 ? html`<p class="soft">${words.changes.none}</p>` : lines(listed)}
      </section>
      ${pageLinks(visit, [
        [before !== undefined && "/changes", words.animals.newest],
        [older !== undefined && `/changes?before=${String(older)}`, words.animals.older],
      ])}`,
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
  const back = backPath(visit, (await readForm(visit)).text("back"));
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
