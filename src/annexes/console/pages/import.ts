import { petStatuses } from "../../../domain/pet.ts";
import { html, type Html } from "../../page/html.ts";
import {
  meanings,
  type ImportChoices,
  type ImportJob,
  type Meaning,
  type Preview,
  type StatusMeaning,
  type UnknownFile,
} from "../imports.ts";
import { download, redirect } from "../web/answer.ts";
import { receiveFile } from "../web/upload.ts";
import type { Visit } from "../web/visit.ts";
import { changeNotice, undoButton } from "./change-notice.ts";
import { table } from "./chart.ts";
import { notFoundPage } from "./failures.ts";
import { figures, previewParts } from "./import-preview.ts";
import { consolePage } from "./layout.ts";
import { checkField, notice, number, oneButton, selectField, textField } from "./parts.ts";

/**
 * How long an answer waits for the work that it begins: a small file is then read before the page
 * is shown.
 */
const patienceMs = 400;
const pollMs = 700;
const refreshSeconds = 2;

/** `GET /import`: what became of the person's file, or a form for one. */
export async function importPage(visit: Visit): Promise<Response> {
  return shown(visit);
}

async function shown(visit: Visit, error?: string): Promise<Response> {
  await dropUndone(visit);
  const job = visit.desk.imports.job(visit.person.id);
  const isWorking = job?.state.is === "working";
  const { words } = visit;
  return consolePage(visit, {
    title: words.import.title,
    section: "import",
    status: error === undefined ? "ok" : "invalid",
    refreshSeconds: isWorking ? refreshSeconds : undefined,
    body: html`${error !== undefined && notice("bad", html`<p>${error}</p>`)}
      <div id="notices">${await changeNotice(visit)}</div>
      ${job === undefined ? chooseForm(visit) : stateOf(visit, job)}`,
  });
}

/** What was undone is over: there is room for another file. */
async function dropUndone({ desk, person }: Visit): Promise<void> {
  const state = desk.imports.job(person.id)?.state;
  const changeId = state?.is === "done" ? state.imported.changeId : undefined;
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

function stateOf(visit: Visit, job: ImportJob): Html {
  const { words } = visit;
  const { state } = job;
  switch (state.is) {
    case "working":
      return working(visit, job, state.step);
    case "unknown":
      return mapForm(visit, job, state.file);
    case "examined":
      return examined(visit, job, state.preview);
    case "failed":
      return html`<h1>${words.import.failed}</h1>
        ${notice("bad", html`<p>${job.name}: ${state.message}</p>`)} ${otherFile(visit)}`;
    case "done":
      return html`<h1>${words.import.doneTitle}: ${job.name}</h1>
        ${figures(visit, state.imported.counts)}
        ${
          state.imported.counts.rejected > 0 &&
          html`<p><a href="/import/rejects" download>${words.import.rejects}</a></p>`
        }
        <div class="acts start">
          ${
            state.imported.changeId !== undefined &&
            undoButton(visit, state.imported.changeId, words.import.undo)
          }
          ${oneButton("/import/drop", words.import.again)}
        </div>`;
  }
}

function working(
  visit: Visit,
  { name }: ImportJob,
  { phase, done, total }: { phase: "reading" | "storing"; done: number; total: number | undefined },
): Html {
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

function otherFile({ words }: Visit): Html {
  return oneButton("/import/drop", words.import.cancel);
}

function examined(visit: Visit, job: ImportJob, preview: Preview): Html {
  const { words } = visit;
  const { counts } = preview;
  const isBad = counts.rejected > 0;
  return html`<h1>${words.import.previewTitle(job.name)}</h1>
    ${previewParts(visit, preview)}
    <form method="post" action="/import/run" class="card">
      ${
        isBad &&
        checkField({
          name: "skipBad",
          label: words.import.skipBad,
          isOn: job.choices.skipBad,
        })
      }
      <button>${words.buttons.import}</button>
    </form>
    ${completeForm(visit, job)} ${otherFile(visit)}`;
}

/**
 * A list that is whole withdraws what it lacks: what that comes to is shown first, as everything
 * is.
 */
function completeForm({ words }: Visit, { choices }: ImportJob): Html {
  return html`<form method="post" action="/import/examine" class="card">
    ${textField({
      name: "source",
      label: words.import.source,
      value: choices.source,
      hint: words.import.sourceHint,
    })}
    ${checkField({
      name: "complete",
      label: words.import.complete,
      isOn: choices.isComplete,
    })}
    <button class="quiet">${words.import.look}</button>
  </form>`;
}

/** The columns of a file that nobody knows, beside its first rows. */
function mapForm(visit: Visit, job: ImportJob, file: UnknownFile): Html {
  const { words } = visit;
  const options = (isOptional: boolean) => [
    ...(isOptional ? [{ value: "", text: words.import.noColumn }] : []),
    ...file.columns.map((column) => ({ value: column, text: column })),
  ];
  return html`<h1>${words.import.mapTitle}</h1>
    <p>${words.import.mapHint}</p>
    <div class="desk">
      <section class="card">${table(file.columns, file.rows)}</section>
      <form method="post" action="/import/examine" class="card">
        ${meanings.map((each) =>
          selectField(
            {
              name: `column-${each}`,
              label: words.import.columnFor[each],
              value: job.choices.columns?.[each] ?? file.guess[each] ?? "",
            },
            options(each !== "name" && each !== "category"),
          ),
        )}
        <button>${words.import.look}</button>
      </form>
    </div>
    ${otherFile(visit)}`;
}

/** `POST /import`: takes the file in and reads it; nothing is changed. */
export async function uploadFile(visit: Visit): Promise<Response> {
  const { desk, person, request, words } = visit;
  const now = desk.imports.job(person.id);
  if (now?.state.is === "working") return shown(visit, words.import.busy);
  const job = await desk.imports.take(person.id, (path) => receiveFile(request, path));
  if (job === undefined) return shown(visit, words.import.noFile);
  await job.settled(patienceMs);
  return redirect("/import");
}

/** `POST /import/examine`: shows what the file would change, read as the form says. */
export async function examineFile(visit: Visit): Promise<Response> {
  const { desk, person } = visit;
  const job = desk.imports.job(person.id);
  if (job === undefined || job.state.is === "working") return redirect("/import");
  job.examine(sentChoices(visit, job));
  await job.settled(patienceMs);
  return redirect("/import");
}

/** `POST /import/run`. */
export async function runImport(visit: Visit): Promise<Response> {
  const { desk, person, form, words } = visit;
  const job = desk.imports.job(person.id);
  if (job?.state.is !== "examined") return redirect("/import");
  const skipBad = form.has("skipBad");
  if (job.state.preview.counts.rejected > 0 && !skipBad) return shown(visit, words.import.badStop);
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

function sentChoices({ form }: Visit, { choices, state }: ImportJob): ImportChoices {
  const columns: Partial<Record<Meaning, string>> = {};
  for (const each of meanings) {
    const column = form.exact(`column-${each}`);
    if (column !== "") columns[each] = column;
  }
  const words = state.is === "examined" ? state.preview.unknownWords : [];
  const statuses: Record<string, StatusMeaning> = { ...choices.statuses };
  for (const [at, word] of words.entries()) {
    const meaning = [...petStatuses, "none" as const, "gone" as const].find(
      (each) => each === form.text(`word-${at}`),
    );
    if (meaning !== undefined) statuses[word] = meaning;
  }
  const isMapped = meanings.some((each) => form.has(`column-${each}`));
  // Only one of the page's forms is sent: the others' choices stay.
  const isSource = form.has("source");
  return {
    ...choices,
    columns: isMapped ? columns : choices.columns,
    statuses,
    source: isSource ? form.text("source") : choices.source,
    isComplete: isSource ? form.has("complete") : choices.isComplete,
  };
}
