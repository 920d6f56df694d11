/** A person's list, from the choice of its file to what became of it. */
import { existsSync } from "node:fs";
import { html } from "../../../web/html.ts";
import { forgetReading, recallReading } from "../../import/do/remembered.ts";
import { messageText } from "../../import/messages.ts";
import { type Form, readFile, readForm } from "../body.ts";
import { type Agreed, type Failure, type Look, noAnswers } from "../import-work.ts";
import type { ImportJob, Phase } from "../imports.ts";
import type { Visit } from "../visit.ts";
import { changeNotice, undoButton } from "./changes.ts";
import { sentAnswers } from "./import-answers.ts";
import { countsText, lookForm } from "./import-look.ts";
import { download, orNotFound, page, seeOther } from "./page.ts";
import { hidden, isWrong, notice, oneButton, type FieldErrors } from "./parts.ts";
import { sourcesPart } from "./sources.ts";

/** How long a response waits for its work: a small file is read before the page is shown. */
const waitMs = 400;
const pollMs = 700;
const refreshSeconds = 2;

/** `GET /import`: what became of the person's file, or a form for one. */
export async function importPage(visit: Visit, errors: FieldErrors = {}): Promise<Response> {
  await dropOver(visit);
  const job = visit.imports.job(visit.person.id);
  const { title, body } = job === undefined ? await chooseForm(visit) : stateOf(visit, job, errors);
  return page(visit, {
    title,
    section: "import",
    done: await changeNotice(visit),
    errors,
    refreshSeconds: job?.state.is === "working" ? refreshSeconds : undefined,
    at: "/import",
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
      <button data-upload>${words.buttons.import}</button>
    </form>
    ${await sourcesPart(visit)}`;
  return { title: words.import.title, body };
}

function stateOf(visit: Visit, job: ImportJob, errors: FieldErrors) {
  const { words } = visit;
  const { state, name } = job;
  switch (state.is) {
    case "working":
      return working(visit, job, state.phase);
    case "examined": {
      const title = words.import.previewTitle(name);
      return { title, body: lookForm(visit, job, state.look, errors) };
    }
    case "failed": {
      const body = html`${notice("bad", `${name}: ${failureText(visit, state.failure)}`)}
        <div class="acts start">
          ${oneButton("/import/run", words.import.columnsOwn, {
            fields: html`${hidden("reading", job.reading)} ${hidden("columns", "yes")}`,
          })}
          ${oneButton("/import/drop", words.import.cancel)}
        </div>`;
      return { title: words.failures.title, body };
    }
    case "done":
      return done(visit, job, state.summary);
  }
}

function done(visit: Visit, { name }: ImportJob, summary: Parameters<typeof countsText>[1]) {
  const { words } = visit;
  const isRefused = !summary.applied;
  const said = isRefused ? words.import.notDone : countsText(visit, summary, true);
  const body = html`<section class="card">
    <p><strong>${said}.</strong> <a href="/animals">${words.import.see}</a></p>
    ${
      summary.rejected > 0 &&
      html`<p><a href="/import/rejects" download>${words.import.rejects}</a></p>`
    }
    <div class="acts start">
      ${summary.change !== undefined && undoButton(visit, summary.change, words.buttons.undo)}
      ${oneButton("/import/drop", words.import.cancel)}
    </div>
  </section>`;
  return { title: `${words.history.actions.import}: ${name}`, body };
}

function failureText({ words }: Visit, failed: Failure): string {
  if ("code" in failed) return words.failures[failed.code];
  const { line, problem } = failed;
  const text = messageText(problem, words.messages);
  return line === 0 ? text : `${words.import.lines(String(line), 1)}: ${text}`;
}

function working({ words }: Visit, { name }: ImportJob, phase: Phase) {
  const body = html`<div data-poll="${pollMs}">
    <progress aria-label="${words.import[phase]}"></progress>
    <p role="status">${words.import[phase]}</p>
  </div>`;
  return { title: `${words.import[phase]}: ${name}`, body };
}

/** `POST /import`: takes the file in and reads it; nothing is changed. */
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
  const { imports, person, words } = visit;
  const typed = await readForm(visit);
  const job = imports.job(person.id);
  if (job === undefined) return importPage(visit, { "": words.failures.importGone });
  // Nobody imports without a look at it what another tab chose meanwhile.
  if (job.state.is === "working" || typed.text("reading") !== job.reading) {
    return seeOther("/import");
  }
  const asking = { ...visit, typed };
  if (typed.has("columns")) return lookAgain(asking, job, { ...job.answers, asksColumns: true });
  if (job.state.is !== "examined") return seeOther("/import");
  if (typed.has("forget")) {
    await forget(visit, job.state.look);
    return lookAgain(visit, job, { ...noAnswers, part: job.answers.part });
  }
  const answers = sentAnswers(typed, job);
  const errors = errorsOf(asking, job, typed, answers);
  if (isWrong(errors)) return importPage(asking, errors);
  const { summary } = job.state.look;
  const isLook = ["look", "sameAll", "sameNone"].some((name) => typed.has(name));
  if (isLook || summary === undefined) return lookAgain(visit, job, answers);
  if (!Bun.deepEquals(answers, job.answers)) {
    return lookAgain(visit, job, answers, words.import.lookFirst);
  }
  const agreed = { skipBad: typed.has("skipBad"), mostMissing: typed.has("mostMissing") };
  const refused = refusalOf(asking, summary, agreed);
  if (refused !== undefined) return importPage(asking, refused);
  job.run(person.name, agreed);
  await job.settled(waitMs);
  return seeOther("/import");
}

/** Forgets how such a list was read: this one and the next are guessed again. */
async function forget({ services }: Visit, { columns, source }: Look): Promise<void> {
  await services.store.db.transaction(async (tx) => {
    const found = await recallReading(tx, columns, source === "" ? undefined : source);
    if (found !== undefined) await forgetReading(tx, found);
  });
}

async function lookAgain(
  visit: Visit,
  job: ImportJob,
  answers: ImportJob["answers"],
  said?: string,
): Promise<Response> {
  job.examine(answers);
  await job.settled(waitMs);
  return said === undefined ? seeOther("/import") : importPage(visit, { "": said });
}

/** What is missing in the form; its page asks for it again. */
function errorsOf(
  { words }: Visit,
  { state }: ImportJob,
  form: Form,
  { columns, category, everyStatus, source, isComplete }: ImportJob["answers"],
): FieldErrors {
  const open = state.is === "examined" ? state.look.open.map(({ is }) => is) : [];
  if (form.has("column-name") && columns?.category === undefined && category === "") {
    return { "column-category": words.import.kindMissing };
  }
  if (open.includes("status") && everyStatus === undefined && !form.has("column-name")) {
    return { every: words.errors.status };
  }
  if (open.includes("category") && category === "") return { kind: words.import.kindMissing };
  const isNobodys = isComplete === true && form.has("complete") && form.text("source") === "";
  return isNobodys && !source ? { source: words.import.sourceMissing } : {};
}

/** Why Import is not carried out by now: nobody agreed to what it would do. */
function refusalOf(
  { words }: Visit,
  { refused, rejected }: Parameters<typeof countsText>[1],
  agreed: Agreed,
): FieldErrors | undefined {
  if (refused === "mostMissing" && !agreed.mostMissing) {
    return { mostMissing: words.errors.sure };
  }
  if (refused === "otherList") return { source: words.import.sourceMissing };
  if (refused !== undefined && refused !== "mostMissing") return { "": words.import.completeBad };
  return rejected > 0 && !agreed.skipBad ? { skipBad: words.import.badStop } : undefined;
}

/** `POST /import/drop`: the file goes, and there is room for another. */
export async function dropFile(visit: Visit): Promise<Response> {
  await readForm(visit);
  await visit.imports.drop(visit.person.id);
  return seeOther("/import");
}

export function downloadRejects(visit: Visit): Response {
  const { state, rejects } = orNotFound(visit.imports.job(visit.person.id));
  const file = orNotFound(state.is !== "working" && existsSync(rejects) ? rejects : undefined);
  return download(Bun.file(file), "rejects.ndjson", "application/x-ndjson");
}
