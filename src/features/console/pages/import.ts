/** A person's list, from the choice of its file to what became of it. */
import { html } from "../../../web/html.ts";
import { forgetReading, recallReading } from "../../import/import.ts";
import { messageText } from "../../import/messages.ts";
import { partName } from "../../import/read/read.ts";
import { mapTargets } from "../../import/understand/columns.ts";
import { type Form, readFile } from "../body.ts";
import {
  type Agreed,
  type Answers,
  type Failure,
  type Look,
  noAnswers,
  type ListSummary,
} from "../import-work.ts";
import type { ImportJob } from "../imports.ts";
import type { Visit } from "../visit.ts";
import { undoButton } from "./changes.ts";
import { countsText, lookForm } from "./import-look.ts";
import { page, seeOther } from "./page.ts";
import { sourcesPart, wordsIn } from "./sources.ts";
import * as ui from "./ui.ts";

/** How long a response waits for its work: a small file is read before the page is shown. */
const waitMs = 400;
const pollMs = 700;
const refreshSeconds = 2;

export async function importPage(visit: Visit, errors: ui.FieldErrors = {}): Promise<Response> {
  await dropOver(visit);
  const job = visit.imports.job(visit.person.id);
  const { title, body } = job === undefined ? await chooseForm(visit) : stateOf(visit, job, errors);
  return page(visit, {
    title,
    section: "import",
    errors,
    refreshSeconds: job?.state.is === "working" ? refreshSeconds : undefined,
    body,
  });
}

/** What was undone is over: there is room for another file. */
async function dropOver({ animals, imports, person }: Visit): Promise<void> {
  const job = imports.job(person.id);
  const changeId = job?.state.is === "done" ? job.state.summary.change : undefined;
  const change = changeId === undefined ? undefined : await animals.recordById(changeId);
  if (change?.isUndone === true) await imports.drop(person.id);
}

async function chooseForm(visit: Visit) {
  const { words } = visit;
  const body = html`<p>${words.import.what}</p>
    <form class="card" method="post" action="/import" enctype="multipart/form-data">
      <div class="field">
        <label for="file">${words.import.file}</label>
        <input id="file" name="file" type="file" />
      </div>
      <progress max="1" value="0" hidden aria-label="${words.import.sending}"></progress>
      ${ui.button(words.buttons.import, { "data-upload": true })}
    </form>
    ${await sourcesPart(visit)}`;
  return { title: words.import.title, body };
}

function stateOf(visit: Visit, job: ImportJob, errors: ui.FieldErrors) {
  const { words } = visit;
  const { state, name } = job;
  const another = ui.oneButton("/import/drop", words.import.cancel);
  switch (state.is) {
    case "working": {
      const phase = words.import[job.phase];
      const body = html`<div data-poll="${pollMs}">
        <progress aria-label="${phase}"></progress>
        <p role="status">${phase}</p>
      </div>`;
      return { title: `${phase}: ${name}`, body };
    }
    case "examined": {
      const title = words.import.previewTitle(name);
      return { title, body: lookForm(visit, job, state.look, errors) };
    }
    case "failed": {
      const fields = html`${ui.hidden("reading", job.reading)} ${ui.hidden("columns", "yes")}`;
      const body = html`${ui.notice("bad", `${name}: ${failureText(visit, state.failure)}`)}
        <div class="acts start">
          ${ui.oneButton("/import/run", words.import.columnsOwn, { fields })} ${another}
        </div>`;
      return { title: words.failures.title, body };
    }
    case "done": {
      const { summary } = state;
      const { change, applied } = summary;
      const said = applied ? countsText(visit, summary, true) : words.import.notDone;
      const body = html`<section class="card">
        <p><strong>${said}.</strong> ${ui.link("/animals", words.import.see)}</p>
        <div class="acts start">
          ${change !== undefined && undoButton(visit, change)} ${another}
        </div>
      </section>`;
      return { title: `${words.history.actions.import}: ${name}`, body };
    }
  }
}

function failureText({ words }: Visit, failed: Failure): string {
  if ("code" in failed) return words.failures[failed.code];
  const { line, problem } = failed;
  const text = messageText(problem, words.messages);
  return line === 0 ? text : `${words.import.lines(String(line), 1)}: ${text}`;
}

export async function uploadFile(visit: Visit): Promise<Response> {
  const { imports, person, words } = visit;
  const now = imports.job(person.id);
  if (now?.state.is === "working") return importPage(visit, { "": words.import.busy });
  const job = await imports.take(person.id, () => readFile(visit));
  if (job === undefined) return importPage(visit, { "": words.import.noFile });
  await job.settled(waitMs);
  return seeOther("/import");
}

/** `POST /import/run`: imports the list as it is shown, or shows it as it was answered. */
export async function runImport(visit: Visit): Promise<Response> {
  const { imports, person, words, form } = visit;
  const job = imports.job(person.id);
  if (job === undefined) return importPage(visit, { "": words.failures.importGone });
  // Nobody imports without a look at it what another tab chose meanwhile.
  if (job.state.is === "working" || form.text("reading") !== job.reading) {
    return seeOther("/import");
  }
  if (form.has("columns")) return lookAgain(visit, job, { ...job.answers, asksColumns: true });
  if (job.state.is !== "examined") return seeOther("/import");
  if (form.has("forget")) {
    await forget(visit, job.state.look);
    const { sheet, records } = job.answers;
    return lookAgain(visit, job, { ...noAnswers, sheet, records });
  }
  const { look } = job.state;
  const { summary } = look;
  const answers = sentAnswers(form, job.answers, look);
  const errors = errorsOf(visit, look, form, answers);
  if (ui.isWrong(errors)) return importPage(visit, errors);
  const isLook = ["look", "sameAll", "sameNone"].some((name) => form.has(name));
  if (isLook || summary === undefined) return lookAgain(visit, job, answers);
  if (!Bun.deepEquals(answers, job.answers)) {
    return lookAgain(visit, job, answers, words.import.lookFirst);
  }
  const agreed = { skipBad: form.has("skipBad"), mostMissing: form.has("mostMissing") };
  const refused = refusalOf(visit, summary, agreed);
  if (refused !== undefined) return importPage(visit, refused);
  job.run(person.name, agreed);
  await job.settled(waitMs);
  return seeOther("/import");
}

async function forget({ services }: Visit, { columns, source }: Look): Promise<void> {
  await services.store.db.transaction(async (tx) => {
    const found = await recallReading(tx, columns, source === "" ? undefined : source);
    if (found !== undefined) await forgetReading(tx, found);
  });
}

async function lookAgain(
  visit: Visit,
  job: ImportJob,
  answers: Answers,
  said?: string,
): Promise<Response> {
  job.examine(answers);
  await job.settled(waitMs);
  return said === undefined
    ? seeOther("/import")
    : importPage({ ...visit, typed: undefined }, { "": said });
}

/** The answers about a list with those of a form. What the form has no field for stays. */
function sentAnswers(form: Form, answers: Answers, look: Look): Answers {
  const columns = mapTargets.map((each) => [each, form.exact(`column-${each}`)] as const);
  const isMapped = form.has("column-name");
  const takers = (answer: string) =>
    form.under("taker-").flatMap(([column, value]) => (value === answer ? [column] : []));
  const parts = look.open.flatMap((each) => (each.is === "part" ? each.parts : []));
  const same = form.getAll("same");
  const isAllOther = answers.others === "all" && same.length === 0;
  // What the page had already is no answer: the next list is read by what is remembered.
  const isNewSource = form.text("source") !== look.source;
  const isNewComplete = form.has("complete") !== look.isComplete;
  return {
    ...answers,
    ...(isMapped && {
      columns: Object.fromEntries(columns.filter(([, column]) => column !== "")),
      asksColumns: false,
    }),
    ...(form.has("kind") && { category: form.text("kind") || undefined }),
    statuses: new Map([...(answers.statuses ?? []), ...wordsIn(form)]),
    kinds: new Map([...answers.kinds, ...form.under("kind-")]),
    defaultStatus: ui.statusChoice(form.text("every")) ?? answers.defaultStatus,
    believed: [...new Set([...(answers.believed ?? []), ...takers("yes")])],
    ignored: [...new Set([...(answers.ignored ?? []), ...takers("no")])],
    ...(form.has("day") && { dayFirst: form.text("day") === "day" }),
    ...parts.find((each) => partName(each) === form.exact("part")),
    ...(form.has("source") && {
      ...(isNewSource && { source: form.text("source") || undefined }),
      ...(isNewComplete && { isComplete: form.has("complete") }),
      listWins: form.has("listWins"),
      others:
        form.has("sameNone") || isAllOther
          ? "all"
          : form
              .getAll("lookalike")
              .filter((line) => !same.includes(line))
              .map(Number),
    }),
    ...(form.has("sameAll") && { others: [] }),
  };
}

function errorsOf(
  { words }: Visit,
  look: Look,
  form: Form,
  { columns, category, defaultStatus, isComplete, kinds }: Answers,
): ui.FieldErrors {
  const open = look.open.map(({ is }) => is);
  const { kindMissing, sourceMissing } = words.import;
  if (form.has("column-name") && !columns?.categoryId && !category) {
    return { "column-categoryId": kindMissing };
  }
  if (open.includes("status") && defaultStatus === undefined && !form.has("column-name")) {
    return { every: words.errors.status };
  }
  if (open.includes("category") && !category) return { kind: kindMissing };
  const unsaid = look.open.find((each) => each.is === "kind" && !kinds.has(each.name));
  if (unsaid?.is === "kind") return { [`kind-${unsaid.name}`]: words.animals.categoryFirst };
  const isNobodys = isComplete === true && form.has("complete") && form.text("source") === "";
  return isNobodys ? { source: sourceMissing } : {};
}

/** Why Import is not carried out by now: nobody agreed to what it would do. */
function refusalOf(
  { words }: Visit,
  { refused, rejected }: ListSummary,
  agreed: Agreed,
): ui.FieldErrors | undefined {
  if (refused === "mostMissing" && !agreed.mostMissing) {
    return { mostMissing: words.errors.sure };
  }
  if (refused === "otherList") return { source: words.import.sourceMissing };
  if (refused !== undefined && refused !== "mostMissing") return { "": words.import.completeBad };
  return rejected > 0 && !agreed.skipBad ? { skipBad: words.import.badStop } : undefined;
}

export async function dropFile(visit: Visit): Promise<Response> {
  await visit.imports.drop(visit.person.id);
  return seeOther("/import");
}
