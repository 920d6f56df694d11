/** Lists that the service imports by itself: how they are, and how a new one begins. */
import { runJob } from "../../schedule/child.ts";
import type { EnvironmentVariables } from "../../../config.ts";
import type { JobProblem } from "../../schedule/job-times.ts";
import type { Services } from "../../../service/services.ts";
import { failJob } from "../../schedule/jobs.ts";
import { html, type Html } from "../../../web/html.ts";
import { message, messageText } from "../../import/messages.ts";
import { statusKey } from "../../import/understand/statuses.ts";
import { type Meaning, meanings } from "../../import/understand/words.ts";
import { pullCommand } from "../../sources/index.ts";
import { heldMark, withdrawHeld } from "../../sources/pull.ts";
import {
  claimPull,
  findFollowed,
  type Followed,
  followed,
  isStale,
  pullJob,
  setSource,
  stateOf,
  waitingWords,
} from "../../sources/store.ts";
import { changeBy } from "../animals.ts";
import { type Form, readForm } from "../body.ts";
import type { Visit } from "../visit.ts";
import { withChange } from "./changes.ts";
import { wordOptions } from "./import-look.ts";
import { page, seeOther } from "./page.ts";
import * as ui from "./ui.ts";

/** How long a response waits for a pull: most take less. */
const pullWaitMs = 8_000;
const heldShown = 20;

const tones = { ok: "ok", waiting: "", failing: "fail", held: "warn", partial: "warn", paused: "" };

/** What is followed, each with how it is and a button that reads it now. */
export async function sourcesPart(visit: Visit): Promise<Html | undefined> {
  const { words, sources } = visit;
  const all = await sources.list();
  if (all.length === 0) return undefined;
  const rows = await Promise.all(all.map((each) => sourceRow(visit, each)));
  return html`<div id="sources">
    ${ui.card(
      words.sources.title,
      html`<p class="hint">${words.sources.hint}</p>
        ${ui.lines(rows)}`,
    )}
  </div>`;
}

async function sourceRow(visit: Visit, list: Followed): Promise<Html> {
  const { words, sources } = visit;
  const { source, job } = list;
  const state = stateOf(list);
  const isPulling = sources.isPulling(source.name);
  return html`<li>
    <div class="what">
      <span
        ><strong>${source.name}</strong>
        <span class="tag ${tones[state]}">${words.sources.states[state]}</span></span
      >
      <span class="soft">
        ${words.sources.last}:
        ${job.succeededAtMs === null ? words.keys.never : ui.moment(visit, job.succeededAtMs)}
      </span>
      ${waitingWords(source).length > 0 && html`<span>${words.sources.explain}</span>`}
      ${
        source.held === null
          ? job.problem !== null && html`<span>${problemText(visit, job.problem)}</span>`
          : await heldForm(visit, list)
      }
    </div>
    ${explainForm(visit, list)}
    <form method="post" action="/import/sources" class="acts">
      ${ui.hidden("list", source.name)}
      ${
        isPulling
          ? html`<span class="soft">${words.sources.pulling}</span>`
          : html`<button class="quiet small" name="do" value="pull">${words.sources.pull}</button>`
      }
    </form>
  </li>`;
}

/** The words for the status that nobody explained yet. The list is read again with the answers. */
function explainForm(visit: Visit, { source }: Followed): Html | false {
  const { words } = visit;
  const waiting = waitingWords(source);
  const fields = new ui.Fields(visit);
  const asked = waiting.map(({ word, animals }) =>
    fields.select(`word-${word}`, wordOptions(visit), {
      label: `${word} (${ui.animalsText(visit, animals)})`,
      id: `${source.name}-${word}`,
    }),
  );
  return (
    waiting.length > 0 &&
    html`<form method="post" action="/import/sources">
      ${ui.hidden("list", source.name)} ${asked}
      <button class="small" name="do" value="explain">${words.buttons.save}</button>
    </form>`
  );
}

/** What is wrong, in the words of the visit; another version may have codes of its own. */
function problemText(
  { words: { messages } }: Visit,
  { text, code, values = [] }: JobProblem,
): string {
  const isKnown = (known?: string): known is keyof typeof messages =>
    known !== undefined && Object.hasOwn(messages, known);
  return messageText(isKnown(code) ? { code, values } : message("other", text), messages);
}

/** The animals whose withdrawal waits for a person, by name, and the button that does it. */
async function heldForm(visit: Visit, { source }: Followed): Promise<Html> {
  const { words, animals } = visit;
  const held = source.held ?? [];
  const shown = await Promise.all(held.slice(0, heldShown).map((id) => animals.byId(BigInt(id))));
  const names = shown.flatMap((each) => (each === undefined ? [] : ui.shownName(visit, each.name)));
  const more = held.length > heldShown ? " …" : "";
  const count = ui.animalsText(visit, held.length);
  return ui.oneButton("/import/sources", words.sources.withdraw(count), {
    kind: "quiet small bad",
    fields: html`<p>${words.sources.heldText(count, names.join(", ") + more)}</p>
      ${ui.hidden("list", source.name)} ${ui.hidden("held", heldMark(source))}
      ${ui.hidden("do", "withdraw")}`,
  });
}

/** `POST /import/sources`: pulls a list, or withdraws what waits for a person. */
export async function steerSource(visit: Visit): Promise<Response> {
  const { sources, words, person } = visit;
  const form = await readForm(visit);
  const name = form.exact("list");
  switch (form.text("do")) {
    case "pull":
      await Promise.race([sources.pull(name), Bun.sleep(pullWaitMs)]);
      break;
    case "explain":
      await sources.explain(name, wordsIn(form));
      await Promise.race([sources.pull(name), Bun.sleep(pullWaitMs)]);
      break;
    case "withdraw": {
      const made = await sources.withdraw(name, form.text("held"), person.name);
      if (made.changeId !== undefined) return seeOther(withChange("/import", made));
      return page(visit, {
        title: name,
        section: "import",
        status: "Conflict",
        back: ["/import", words.import.title],
        body: ui.notice("bad", words.sources.heldOther),
      });
    }
  }
  return seeOther("/import#sources");
}

/** What words mean by the fields of a form. */
export function wordsIn(form: Form): ReadonlyMap<string, Meaning> {
  const pairs = [...form].flatMap(([name, value]) => {
    const meaning = meanings.find((each) => each === value);
    const isWord = name.startsWith("word-") && meaning !== undefined;
    return isWord ? [[statusKey(name.slice("word-".length)), meaning] as const] : [];
  });
  return new Map(pairs);
}

/** Names the lists that were not read for long: their animals may not be for adoption any more. */
export async function staleNotice(visit: Visit): Promise<Html | undefined> {
  const { words, sources, nowMs } = visit;
  const stale = (await sources.list()).filter((each) => isStale(each, nowMs));
  if (stale.length === 0) return undefined;
  const names = stale.map(({ source }) => source.name).join(", ");
  return ui.notice(
    "bad",
    html`<p>
      ${words.sources.stale(names)} <a href="/import#sources">${words.sections.import}</a>
    </p>`,
  );
}

export type SourceActions = ReturnType<typeof sourceActions>;

/** `env` names the store to the process that pulls. */
export function sourceActions({ store: { db }, clock }: Services, env: EnvironmentVariables) {
  const pulls = new Map<string, Promise<void>>();
  const start = async (name: string) => {
    try {
      const triedAtMs = await claimPull(db, name, clock());
      const problem = await runJob(pullCommand, name, env);
      // Otherwise its process has stored how it ended.
      if (problem !== undefined) await failJob(db, pullJob(name), problem, clock(), triedAtMs);
    } finally {
      pulls.delete(name);
    }
  };
  return {
    list: () => followed(db),
    isPulling: (name: string) => pulls.has(name),
    /** Fetches and imports a list; resolves when that is done. */
    async pull(name: string): Promise<void> {
      await findFollowed(db, name);
      const pulling = pulls.get(name) ?? start(name);
      if (!pulls.has(name)) pulls.set(name, pulling);
      await pulling;
    },
    async explain(name: string, statuses: ReadonlyMap<string, Meaning>): Promise<void> {
      await db.transaction((tx) => setSource(tx, name, { statuses }, clock()));
    },
    /** Withdraws the animals that wait for it and were `shown`; nobody if these are others now. */
    withdraw: (name: string, shown: string, actor: string) =>
      changeBy(actor, (editing) => withdrawHeld({ db, clock, actor, ...editing }, name, shown)),
  };
}
