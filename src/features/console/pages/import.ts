import { html, type Html } from "../../docs/html.ts";
import type { ImportProgress } from "../../import/import.ts";
import { messageText } from "../../import/messages.ts";
import type { Failure, ImportChoices, ImportJob, Preview } from "../imports.ts";
import { download, redirect } from "../web/answer.ts";
import { receiveFile } from "../web/upload.ts";
import type { Visit } from "../web/visit.ts";
import { changeNotice, undoButton } from "./change-notice.ts";
import { notFoundPage } from "./failures.ts";
import { figures, lookButton, previewParts } from "./import-preview.ts";
import { columnsAgain, mapForm, otherFile, sentChoices, statusForm } from "./import-questions.ts";
import { consolePage } from "./layout.ts";
import {
  checkField,
  formError,
  hidden,
  notice,
  number,
  oneButton,
  textField,
  type FieldErrors,
} from "./parts.ts";

/** How long an answer waits for its work: a small file is read before the page is shown. */
const patienceMs = 400;
const pollMs = 700;
const refreshSeconds = 2;

/** `GET /import`: what became of the person's file, or a form for one. */
export async function importPage(visit: Visit): Promise<Response> {
  return shown(visit);
}

async function shown(visit: Visit, errors: FieldErrors = {}): Promise<Response> {
  await dropUndone(visit);
  const job = visit.desk.imports.job(visit.person.id);
  const isWorking = job?.state.is === "working";
  const { words } = visit;
  return consolePage(visit, {
    title: words.import.title,
    section: "import",
    errors,
    refreshSeconds: isWorking ? refreshSeconds : undefined,
    body: html`${formError(errors)}
      <div id="notices">${await changeNotice(visit)}</div>
      ${job === undefined ? chooseForm(visit) : stateOf(visit, job, errors)}`,
  });
}

/** What was undone is over: there is room for another file. */
async function dropUndone({ desk, person }: Visit): Promise<void> {
  const state = desk.imports.job(person.id)?.state;
  const changeId = state?.is === "done" ? state.changeId : undefined;
  const change = changeId === undefined ? undefined : await desk.animals.changeById(changeId);
  if (change?.isUndone === true) await desk.imports.drop(person.id);
}

function chooseForm({ words }: Visit): Html {
  return html`<h1>${words.import.title}</h1>
    <p>${words.import.what}</p>
    <form class="drop" method="post" action="/import" enctype="multipart/form-data">
      <div class="field">
        <label for="file">${words.import.file}</label>
        <input id="file" name="file" type="file" aria-describedby="file-hint" />
        <p class="hint only-script" id="file-hint">${words.import.drop}</p>
      </div>
      <progress max="1" value="0" hidden aria-label="${words.import.sending}"></progress>
      <button>${words.buttons.import}</button>
    </form>
    <p class="apart"><a href="/export">${words.export.title}</a></p>`;
}

function stateOf(visit: Visit, job: ImportJob, errors: FieldErrors): Html {
  const { words } = visit;
  const { state } = job;
  switch (state.is) {
    case "working":
      return working(visit, job, state.step);
    case "unknown":
      return mapForm(visit, job, state.file);
    case "examined":
      return examined(visit, job, state.preview, errors);
    case "statusless":
      return statusForm(visit, job, errors);
    case "failed":
      return html`<h1>${words.import.failed}</h1>
        ${notice("bad", html`<p>${job.name}: ${failureText(visit, state.failure)}</p>`)}
        <div class="acts start">${columnsAgain(visit, job)} ${otherFile(visit)}</div>`;
    case "done":
      return html`<h1>${words.import.doneTitle}: ${job.name}</h1>
        ${figures(visit, state.summary)}
        ${
          state.summary.rejected > 0 &&
          html`<p><a href="/import/rejects" download>${words.import.rejects}</a></p>`
        }
        <div class="acts start">
          ${state.changeId !== undefined && undoButton(visit, state.changeId, words.import.undo)}
          ${oneButton("/import/drop", words.import.again)}
        </div>`;
  }
}

function failureText({ words }: Visit, { line, problem }: Failure): string {
  const text = messageText(problem, words.messages);
  return line === 0 ? text : `${words.import.lines(String(line), 1)}: ${text}`;
}

function working(visit: Visit, { name }: ImportJob, { phase, done, total }: ImportProgress): Html {
  const { words } = visit;
  const text =
    total === undefined
      ? words.import.progress(number(visit, done))
      : words.import.progressOf(number(visit, done), number(visit, total));
  const share = total === undefined || total === 0 ? undefined : (done / total).toFixed(3);
  return html`<div data-poll="${pollMs}">
    <h1>${words.import[phase]}: ${name}</h1>
    <progress
      max="1"
      ${share !== undefined && html`value="${share}"`}
      aria-label="${words.import[phase]}"
    ></progress>
    <p role="status">${text}</p>
  </div>`;
}

function examined(visit: Visit, job: ImportJob, preview: Preview, errors: FieldErrors): Html {
  const { words } = visit;
  const isBad = preview.rejected > 0;
  // One form, so that Import knows of choices that the preview does not show yet.
  return html`<h1>${words.import.previewTitle(job.name)}</h1>
    <form method="post" action="${isRefused(preview) ? "/import/examine" : "/import/run"}">
      ${previewParts(visit, preview)} ${completeFields(visit, job, errors)}
      ${
        isRefused(preview)
          ? notice("bad", html`<p>${words.import.completeBad}</p>`)
          : html`<section class="card">
              ${hidden("reading", job.reading)}
              ${
                isBad &&
                checkField({
                  name: "skipBad",
                  label: words.import.skipBad,
                  isOn: job.choices.skipBad,
                  error: errors["skipBad"],
                })
              }
              <button>${words.buttons.import}</button>
            </section>`
      }
    </form>
    <div class="acts start">${columnsAgain(visit, job)} ${otherFile(visit)}</div>`;
}

/** True for a whole list with records that may be animals it seems to lack. */
function isRefused({ notes }: Preview): boolean {
  return notes.some(({ said }) => said.code === "wholeRefused");
}

/** A whole list withdraws what it lacks, which is shown first. */
function completeFields({ words, form }: Visit, { choices }: ImportJob, errors: FieldErrors): Html {
  return html`<section class="card">
    ${textField({
      name: "source",
      label: words.import.source,
      value: choices.source,
      hint: words.import.sourceHint,
      error: errors["source"],
    })}
    ${checkField({
      name: "complete",
      label: words.import.complete,
      isOn: choices.isComplete || form.has("complete"),
    })}
    ${lookButton(words)}
  </section>`;
}

/** `POST /import`: takes the file in and reads it; nothing is changed. */
export async function uploadFile(visit: Visit): Promise<Response> {
  const { desk, person, request, words } = visit;
  const now = desk.imports.job(person.id);
  if (now?.state.is === "working") return shown(visit, { "": words.import.busy });
  const job = await desk.imports.take(person.id, (path) => receiveFile(request, path));
  if (job === undefined) return shown(visit, { "": words.import.noFile });
  await job.settled(patienceMs);
  return redirect("/import");
}

/** `POST /import/examine`: shows what the file would change, read as the form says, and `said`. */
export async function examineFile(visit: Visit, said?: string): Promise<Response> {
  const { desk, person } = visit;
  const job = desk.imports.job(person.id);
  if (job === undefined || job.state.is === "working") return redirect("/import");
  if (visit.form.has("columns")) {
    job.askColumns();
    await job.settled(patienceMs);
    return redirect("/import");
  }
  const choices = sentChoices(visit, job);
  const errors = choiceErrors(visit, job, choices);
  if (Object.keys(errors).length > 0) return shown(visit, errors);
  job.examine(choices);
  await job.settled(patienceMs);
  return said === undefined ? redirect("/import") : shown(visit, { "": said });
}

/** What is missing in the form; its page asks for it again. */
function choiceErrors(
  { words }: Visit,
  { state }: ImportJob,
  { everyStatus, isComplete, source }: ImportChoices,
): FieldErrors {
  if (state.is === "statusless" && everyStatus === undefined) {
    return { every: words.errors.status };
  }
  const isNobodys = state.is === "examined" && state.preview.source === "" && source === "";
  return isComplete && isNobodys ? { source: words.import.sourceMissing } : {};
}

/** `POST /import/run`. */
export async function runImport(visit: Visit): Promise<Response> {
  const { desk, person, form, words } = visit;
  const job = desk.imports.job(person.id);
  if (form.has("look")) return examineFile(visit);
  if (job?.state.is !== "examined") return redirect("/import");
  // Nobody imports without a look at it what another tab chose meanwhile, or this form.
  if (form.text("reading") !== job.reading) return redirect("/import");
  if (!Bun.deepEquals(sentChoices(visit, job), job.choices)) {
    return examineFile(visit, words.import.lookFirst);
  }
  const skipBad = form.has("skipBad");
  const { preview } = job.state;
  if (isRefused(preview)) return redirect("/import");
  if (preview.rejected > 0 && !skipBad) return shown(visit, { skipBad: words.import.badStop });
  job.run({ ...job.choices, skipBad }, person.name);
  await job.settled(patienceMs);
  return redirect("/import");
}

/** `POST /import/drop`: the file goes, and there is room for another. */
export async function dropFile(visit: Visit): Promise<Response> {
  await visit.desk.imports.drop(visit.person.id);
  return redirect("/import");
}

/** `GET /import/rejects`. */
export function downloadRejects(visit: Visit): Response {
  const job = visit.desk.imports.job(visit.person.id);
  if (job === undefined || job.state.is === "working") return notFoundPage(visit);
  return download(Bun.file(job.rejects), "rejects.ndjson", "application/x-ndjson");
}
