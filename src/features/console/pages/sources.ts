/** Lists that the service imports by itself: how they are, and what they wait for. */
import { runJob } from "../../schedule/child.ts";
import type { EnvironmentVariables } from "../../../config.ts";
import { claimJob, failJob, type JobProblem } from "../../schedule/jobs.ts";
import type { Services } from "../../../service/services.ts";
import { html, type Html } from "../../../web/html.ts";
import { message, messageText } from "../../import/messages.ts";
import { type Meaning, meanings, statusKey } from "../../import/understand/words.ts";
import { pullCommand } from "../../sources/index.ts";
import {
  findFollowed,
  type Followed,
  followed,
  heldMark,
  isStale,
  setSource,
  stateOf,
  waitingWords,
  withdrawHeld,
} from "../../sources/pull.ts";
import { changeBy } from "../animals.ts";
import type { Form } from "../body.ts";
import type { Visit } from "../visit.ts";
import { withChange } from "./changes.ts";
import { wordOptions } from "./import-look.ts";
import { messagePage, seeOther } from "./page.ts";
import * as ui from "./ui.ts";

const pullWaitMs = 8_000;
const heldShown = 20;
const path = "/import/sources";

const tones = { ok: "ok", waiting: "", failing: "fail", held: "warn", partial: "warn", paused: "" };

export async function sourcesPart(visit: Visit): Promise<Html | undefined> {
  const { words, sources } = visit;
  const all = await sources.list();
  if (all.length === 0) return undefined;
  const rows = await Promise.all(all.map((each) => sourceRow(visit, each)));
  const body = html`<p class="hint">${words.sources.hint}</p>
    ${ui.lines(rows)}`;
  return html`<div id="sources">${ui.card(words.sources.title, body)}</div>`;
}

async function sourceRow(visit: Visit, list: Followed): Promise<Html> {
  const { words, sources } = visit;
  const { source, job } = list;
  const state = stateOf(list);
  const waits = waitingWords(source);
  const read = job.succeededAtMs === null ? words.keys.never : ui.moment(visit, job.succeededAtMs);
  const problem = job.problem !== null && html`<span>${problemText(visit, job.problem)}</span>`;
  const pull = { class: "quiet small", name: "do", value: "pull" };
  return html`<li>
    <div class="what">
      <span>
        <strong>${source.name}</strong>
        <span class="tag ${tones[state]}">${words.sources.states[state]}</span>
      </span>
      <span class="soft">${words.sources.last}: ${read}</span>
      ${waits.length > 0 && html`<span>${words.sources.explain}</span>`}
      ${state !== "held" && problem} ${source.held !== null && (await heldForm(visit, list))}
    </div>
    ${waits.length > 0 && explainForm(visit, list)}
    <form method="post" action="${path}" class="acts">
      ${ui.hidden("list", source.name)}
      ${
        sources.isPulling(source.name)
          ? html`<span class="soft">${words.sources.pulling}</span>`
          : ui.button(words.sources.pull, pull)
      }
    </form>
  </li>`;
}

function explainForm(visit: Visit, { source }: Followed): Html {
  const fields = new ui.Fields(visit);
  const asked = waitingWords(source).map(({ word, animals }) =>
    fields.select(`word-${word}`, wordOptions(visit), {
      label: `${word} (${ui.animalsText(visit, animals)})`,
      id: `${source.name}-${word}`,
    }),
  );
  const save = { class: "small", name: "do", value: "explain" };
  return html`<form method="post" action="${path}">
    ${ui.hidden("list", source.name)} ${asked} ${ui.button(visit.words.buttons.save, save)}
  </form>`;
}

/** What is wrong, in the words of the visit; another version may have codes of its own. */
function problemText({ words }: Visit, { text, code, values = [] }: JobProblem): string {
  const { messages } = words;
  const isKnown = (known?: string): known is keyof typeof messages =>
    known !== undefined && Object.hasOwn(messages, known);
  return messageText(isKnown(code) ? { code, values } : message("other", text), messages);
}

async function heldForm(visit: Visit, { source }: Followed): Promise<Html> {
  const { words, animals } = visit;
  const held = source.held ?? [];
  const shown = await animals.byIds(held.slice(0, heldShown).map(BigInt));
  const names = shown.map((each) => ui.shownName(visit, each.name)).join(", ");
  const more = held.length > heldShown ? " …" : "";
  const count = ui.animalsText(visit, held.length);
  const fields = html`<p>${words.sources.heldText(count, names + more)}</p>
    ${ui.hidden("list", source.name)} ${ui.hidden("held", heldMark(source))}
    ${ui.hidden("do", "withdraw")}`;
  return ui.oneButton(path, words.sources.withdraw(count), { kind: "quiet small bad", fields });
}

export async function steerSource(visit: Visit): Promise<Response> {
  const { sources, words, person, form } = visit;
  const name = form.exact("list");
  const what = form.text("do");
  if (what === "withdraw") {
    const made = await sources.withdraw(name, form.text("held"), person.name);
    if (made.changeId !== undefined) return seeOther(withChange("/import", made));
    return messagePage(visit, 409, words.sources.heldOther);
  }
  if (what === "explain") await sources.explain(name, wordsIn(form));
  if (["explain", "pull"].includes(what)) {
    await Promise.race([sources.pull(name), Bun.sleep(pullWaitMs)]);
  }
  return seeOther("/import#sources");
}

export function wordsIn(form: Form): ReadonlyMap<string, Meaning> {
  const pairs = form.under("word-").flatMap(([word, value]) => {
    const meaning = meanings.find((each) => each === value);
    return meaning === undefined ? [] : [[statusKey(word), meaning] as const];
  });
  return new Map(pairs);
}

/** Names the lists that were not read for long: their animals may not be for adoption any more. */
export async function staleNotice(visit: Visit): Promise<Html | undefined> {
  const { words, sources, nowMs } = visit;
  const stale = (await sources.list()).filter((each) => isStale(each, nowMs));
  if (stale.length === 0) return undefined;
  const said = words.sources.stale(stale.map(({ source }) => source.name).join(", "));
  const there = ui.link("/import#sources", words.sections.import);
  return ui.notice("bad", html`<p>${said} ${there}</p>`);
}

export type SourceActions = ReturnType<typeof sourceActions>;

export function sourceActions({ store: { db }, clock }: Services, env: EnvironmentVariables) {
  const pulls = new Map<string, Promise<void>>();
  const start = async (name: string) => {
    try {
      const { job: seen } = await db.read((tx) => findFollowed(tx, name));
      const job = await claimJob(db, seen, clock());
      if (job === undefined) return;
      const problem = await runJob(pullCommand.words(name), env);
      // Otherwise its process has stored how it ended.
      if (problem !== undefined) await failJob(db, job, problem, clock());
    } finally {
      pulls.delete(name);
    }
  };
  return {
    list: () => db.read((tx) => followed(tx)),
    isPulling: (name: string) => pulls.has(name),
    async pull(name: string): Promise<void> {
      const pulling = pulls.get(name) ?? start(name);
      if (!pulls.has(name)) pulls.set(name, pulling);
      await pulling;
    },
    async explain(name: string, statuses: ReadonlyMap<string, Meaning>): Promise<void> {
      await db.transaction((tx) => setSource(tx, name, statuses, clock()));
    },
    /** Withdraws the animals that wait for it and were `shown`; nobody if these are others now. */
    withdraw: (name: string, shown: string, actor: string) =>
      changeBy({ db, clock, actor }, (by) => withdrawHeld(by, name, shown)),
  };
}
