/** A person's list, from the choice of its file to what became of it. */
import { existsSync } from "node:fs";
import { html, type Html } from "../../../web/html.ts";
import { messageText } from "../../import/messages.ts";
import { Form, readFile, readForm } from "../body.ts";
import type { Failure, ImportChoices, Preview } from "../import-work.ts";
import { type ImportJob, type Phase } from "../imports.ts";
import type { Visit } from "../visit.ts";
import { changeNotice, undoButton } from "./changes.ts";
import {
  figures,
  lookButton,
  mapForm,
  partForm,
  otherWays,
  previewParts,
  sentChoices,
  statusForm,
} from "./import-preview.ts";
import { download, orNotFound, page, seeOther } from "./page.ts";
import { Fields, hidden, isWrong, notice, oneButton, type FieldErrors } from "./parts.ts";
import { sourcesPart } from "./sources.ts";

/** How long a response waits for its work: a small file is read before the page is shown. */
const waitMs = 400;
const pollMs = 700;
const refreshSeconds = 2;

/** `GET /import`: what became of the person's file, or a form for one. */
export async function importPage(
  visit: Visit,
  errors: FieldErrors = {},
  form = new Form(),
): Promise<Response> {
  await dropOver(visit);
  const job = visit.imports.job(visit.person.id);
  const { title, body } =
    job === undefined ? await chooseForm(visit) : stateOf(visit, job, errors, form);
  return page(visit, {
    title,
    section: "import",
    done: await changeNotice(visit),
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

interface Shown {
  readonly title: string;
  readonly body: Html;
}

async function chooseForm(visit: Visit): Promise<Shown> {
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

function stateOf(visit: Visit, job: ImportJob, errors: FieldErrors, form: Form): Shown {
  const { words } = visit;
  const { state, name } = job;
  switch (state.is) {
    case "working":
      return working(visit, job, state.phase);
    case "unknown":
      return { title: words.import.mapTitle, body: mapForm(visit, job, state.file, errors) };
    case "examined":
      return {
        title: words.import.previewTitle(name),
        body: examined(visit, job, state.preview, errors, form),
      };
    case "several":
      return { title: words.import.partTitle, body: partForm(visit, state.parts) };
    case "statusless":
      return { title: words.import.statuslessTitle, body: statusForm(visit, job, errors) };
    case "failed": {
      const why = failureText(visit, state.failure);
      const body = html`${notice("bad", `${name}: ${why}`)} ${otherWays(visit)}`;
      return { title: words.failures.title, body };
    }
    case "done": {
      const { summary } = state;
      const body = html`${figures(visit, summary)}
        ${
          summary.rejected > 0 &&
          html`<p><a href="/import/rejects" download>${words.import.rejects}</a></p>`
        }
        <div class="acts start">
          ${summary.change !== undefined && undoButton(visit, summary.change, words.buttons.undo)}
          ${oneButton("/import/drop", words.import.cancel)}
        </div>`;
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

function working({ words }: Visit, { name }: ImportJob, phase: Phase): Shown {
  const body = html`<div data-poll="${pollMs}">
    <progress aria-label="${words.import[phase]}"></progress>
    <p role="status">${words.import[phase]}</p>
  </div>`;
  return { title: `${words.import[phase]}: ${name}`, body };
}

/** One form, so that Import knows of choices that the preview does not show yet. */
function examined(
  visit: Visit,
  job: ImportJob,
  preview: Preview,
  errors: FieldErrors,
  form: Form,
): Html {
  const { words } = visit;
  const { choices } = job;
  const { isRefused } = preview;
  const complete = choices.isComplete || form.has("complete");
  const values = { source: choices.source, complete, skipBad: choices.skipBad };
  const fields = new Fields(visit, values, errors);
  return html`<form method="post" action="${isRefused ? "/import/examine" : "/import/run"}">
      ${previewParts(visit, preview, job)}
      <section class="card">
        ${fields.text("source", { hint: words.import.sourceHint })} ${fields.check("complete")}
        ${lookButton(visit)}
      </section>
      ${
        isRefused
          ? notice("bad", words.import.completeBad)
          : html`<section class="card">
              ${hidden("reading", job.reading)} ${preview.rejected > 0 && fields.check("skipBad")}
              <button>${words.buttons.import}</button>
            </section>`
      }
    </form>
    ${otherWays(visit)}`;
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

/** `POST /import/examine`: shows what the file would change, read as the form says. */
export async function examineFile(visit: Visit): Promise<Response> {
  return examine(visit, await readForm(visit));
}

async function examine(visit: Visit, form: Form, said?: string): Promise<Response> {
  const job = visit.imports.job(visit.person.id);
  if (job === undefined) return importPage(visit, { "": visit.words.failures.importGone });
  if (job.state.is === "working") return seeOther("/import");
  if (form.has("columns")) {
    job.askColumns();
    await job.settled(waitMs);
    return seeOther("/import");
  }
  const choices = sentChoices(form, job);
  const errors = choiceErrors(visit, job, choices);
  if (isWrong(errors)) return importPage(visit, errors, form);
  job.examine(choices);
  await job.settled(waitMs);
  return said === undefined ? seeOther("/import") : importPage(visit, { "": said }, form);
}

/** What is missing in the form; its page asks for it again. */
function choiceErrors(
  { words }: Visit,
  { state }: ImportJob,
  { columns, category, everyStatus, isComplete, source }: ImportChoices,
): FieldErrors {
  if (state.is === "unknown" && columns?.category === undefined && category === "") {
    return { "column-category": words.import.kindMissing };
  }
  if (state.is === "statusless" && everyStatus === undefined) {
    return { every: words.errors.status };
  }
  const isNobodys = state.is === "examined" && state.preview.source === "" && source === "";
  return isComplete && isNobodys ? { source: words.import.sourceMissing } : {};
}

export async function runImport(visit: Visit): Promise<Response> {
  const { imports, person, words } = visit;
  const form = await readForm(visit);
  const job = imports.job(person.id);
  if (["look", "sameAll", "sameNone"].some((name) => form.has(name))) return examine(visit, form);
  if (job === undefined) return importPage(visit, { "": words.failures.importGone });
  if (job.state.is !== "examined") return seeOther("/import");
  // Nobody imports without a look at it what another tab chose meanwhile, or this form.
  if (form.text("reading") !== job.reading) return seeOther("/import");
  if (!Bun.deepEquals(sentChoices(form, job), job.choices)) {
    return examine(visit, form, words.import.lookFirst);
  }
  const skipBad = form.has("skipBad");
  const { preview } = job.state;
  if (preview.isRefused) return seeOther("/import");
  if (preview.rejected > 0 && !skipBad) {
    return importPage(visit, { skipBad: words.import.badStop }, form);
  }
  // Another tab may have begun it meanwhile.
  if (job.state.is !== "examined") return seeOther("/import");
  job.run({ ...job.choices, skipBad }, person.name);
  await job.settled(waitMs);
  return seeOther("/import");
}

/** `POST /import/drop`: the file goes, and there is room for another. */
export async function dropFile({ imports, person }: Visit): Promise<Response> {
  await imports.drop(person.id);
  return seeOther("/import");
}

export function downloadRejects(visit: Visit): Response {
  const { state, rejects } = orNotFound(visit.imports.job(visit.person.id));
  const file = orNotFound(state.is !== "working" && existsSync(rejects) ? rejects : undefined);
  return download(Bun.file(file), "rejects.ndjson", "application/x-ndjson");
}
