/** What a file would change, and what a person is asked about it. */
import { html, type Html } from "../../../web/html.ts";
import { messageText } from "../../import/messages.ts";
import { type Part, partName } from "../../import/read/read.ts";
import type { CandidateCategory } from "../../import/understand/record.ts";
import { meanings as statusMeanings } from "../../import/understand/words.ts";
import type { Form } from "../body.ts";
import {
  isOther,
  meanings,
  targets,
  type ImportChoices,
  type ListSummary,
  type Meaning,
  type Preview,
  type StatusMeaning,
  type UnknownFile,
} from "../import-work.ts";
import { type ImportJob, unknownWords } from "../imports.ts";
import type { Visit } from "../visit.ts";
import type { Words } from "../words/index.ts";
import {
  card,
  desk,
  entry,
  facts,
  Fields,
  hidden,
  lines,
  noStatus,
  notice,
  number,
  oneButton,
  postForm,
  shownName,
  statusChoice,
  statusOptions,
  table,
  when,
  type FieldErrors,
} from "./parts.ts";

/** The numbers of an import, those that are not zero. */
export function figures(visit: Visit, summary: ListSummary): Html {
  const skipped = summary.skipped.reduce((sum, { records }) => sum + records, 0);
  const counts = { ...summary, skipped };
  const shown = (
    ["added", "updated", "withdrawn", "unchanged", "skipped", "superseded", "rejected"] as const
  ).filter((each) => counts[each] > 0 || each === "added" || each === "updated");
  return html`<section class="card narrow">
      ${facts(shown.map((each) => [visit.words.import[each], number(visit, counts[each])]))}
    </section>
    ${namesOf(visit, summary)}`;
}

/** Who is changed, withdrawn or left out, as far as a line has room. */
function namesOf(visit: Visit, { named, updated, withdrawn, skipped }: ListSummary): Html {
  const { words } = visit;
  const listed = (label: string, names: readonly string[], count: number) => {
    const shown = names.map((each) => shownName(visit, each)).join(", ");
    const more = count - names.length;
    const text = more > 0 ? words.changes.several(shown, number(visit, more)) : shown;
    return (
      names.length > 0 && html`<p><strong>${label} ${number(visit, count)}:</strong> ${text}</p>`
    );
  };
  const left = skipped.reduce((sum, { records }) => sum + records, 0);
  const reasons = skipped.map(({ reason, records }) => `${reason} (${number(visit, records)})`);
  return html`${listed(words.import.updated, named.updated, updated)}
  ${listed(words.import.withdrawn, named.withdrawn, withdrawn)}
  ${
    left > named.skipped.length
      ? html`<p>${words.import.leftOut(reasons.join(", "))}</p>`
      : listed(
          words.import.skipped,
          named.skipped.map(({ name, reason }) => `${shownName(visit, name)} (${reason})`),
          left,
        )
  }`;
}

/** What a file is, what it would change, what is wrong with it, and its first animals. */
export function previewParts(
  visit: Visit,
  preview: Preview,
  { choices, isRecalled }: ImportJob,
): Html {
  const { words } = visit;
  const { added, updated, withdrawn, stems } = preview;
  const newCategories = preview.categoriesAdded.map(({ name }) => name);
  const notes = [
    ...(isRecalled ? [rememberedText(visit, choices)] : []),
    ...(added + updated + withdrawn === 0 ? [words.import.nothing] : []),
    ...(stems.length === 0
      ? []
      : [
          words.import.stems(
            stems.map(({ word, meaning }) => wordText(words, word, meaning)).join(", "),
          ),
        ]),
    ...preview.notes.map(({ said, records, firstLine, example }) => {
      const text = messageText(said, words.messages);
      if (records === 0) return `${text}.`;
      return words.import.note(text, number(visit, records), firstLine, example);
    }),
  ];
  return html`<p class="soft">
      ${words.import.format}: ${formatText(visit, preview)} · ${words.import.read}:
      ${number(visit, preview.read)}
    </p>
    ${figures(visit, preview)} ${notes.map((note) => notice("plain", note))}
    ${
      newCategories.length > 0 &&
      html`<p>${words.import.newCategories}: ${newCategories.join(", ")}</p>`
    }
    ${sameFields(visit, preview, choices)} ${badRows(visit, preview)} ${wordFields(visit, preview)}
    ${firstRows(visit, preview)}`;
}

/** What kind of file it is; of columns that were guessed, which is what. */
function formatText({ words }: Visit, { format, isGuessed, reading }: Preview): string {
  if (format !== "map") return format;
  if (!isGuessed) return words.import.mapped;
  const found = meanings.flatMap((each) => {
    const column = reading.columns?.[targets[each]];
    return column === undefined ? [] : [`${column} → ${columnLabel(words, each)}`];
  });
  return `${words.import.guessed}: ${found.join(", ")}`;
}

const columnLabel = ({ fields, import: { columnFor } }: Words, each: Meaning) =>
  ({ ...fields, ...columnFor })[each];

/** What is as it was for the last list with these columns. */
function rememberedText({ words }: Visit, { columns, statuses, category }: ImportChoices): string {
  const parts = [
    ...meanings.flatMap((each) =>
      columns?.[each] === undefined ? [] : `${columns[each]} → ${columnLabel(words, each)}`,
    ),
    ...(category === "" ? [] : [`${words.import.kind}: ${category}`]),
    ...Object.entries(statuses).map(([word, meaning]) => {
      return wordText(words, word, meaning);
    }),
  ];
  return `${words.import.remembered}${parts.length > 0 ? `: ${parts.join(", ")}` : ""}.`;
}

/** New animals that may be here already. A box that is not ticked makes a new one of its animal. */
function sameFields(
  visit: Visit,
  { lookalikes }: Preview,
  choices: ImportChoices,
): Html | undefined {
  const { words } = visit;
  if (lookalikes.length === 0) return undefined;
  return html`<section class="card">
    <h2>${words.import.sameTitle}</h2>
    <p class="hint">${words.import.sameHint}</p>
    ${lookalikes.map(
      ({ line, id, name, status }) =>
        html`<label class="check"
            ><input
              type="checkbox"
              name="same"
              value="${line}"
              ${when(!isOther(choices, line), "checked")}
            />
            ${shownName(visit, name)} · ${words.status[status ?? noStatus]} · ${String(id)}</label
          >${hidden("lookalike", String(line))}`,
    )}
    <div class="acts start">
      <button class="quiet" name="sameAll" value="yes">${words.import.sameAll}</button>
      <button class="quiet" name="sameNone" value="yes">${words.import.sameNone}</button>
    </div>
  </section>`;
}

/** What a word for the status is taken to mean. */
const wordText = (words: Words, word: string, meaning: StatusMeaning): string =>
  `${word} → ${meaning === "gone" ? words.import.gone_ : words.status[meaning]}`;

function firstRows(visit: Visit, preview: Preview): Html | undefined {
  const { fields, import: words, status: statuses } = visit.words;
  if (preview.sample.length === 0) return undefined;
  return card(
    words.sample,
    table(
      [fields.name, fields.category, fields.status, words.columnFor.id],
      preview.sample.map(({ name, category, status, externalId }) => [
        shownName(visit, name),
        categoryName(category, preview),
        statuses[status ?? noStatus],
        externalId ?? "",
      ]),
    ),
  );
}

/** A category as the catalogue will show it. */
function categoryName(category: CandidateCategory, { categories }: Preview): string {
  const { id, name = "" } = category;
  return id === undefined || name !== "" ? name : (categories.get(id) ?? String(id));
}

function badRows(visit: Visit, { causes }: Preview): Html | undefined {
  const { words } = visit;
  if (causes.length === 0) return undefined;
  const listed = causes.map(({ field, problem, records, lines: at }) => {
    const where = words.import.lines(at.join(", ") + (records > at.length ? " …" : ""), records);
    return entry(
      `${field === "" ? "" : `${field}: `}${messageText(problem, words.messages)}`,
      `${words.import.bad(number(visit, records), records)} (${where})`,
    );
  });
  return card(
    words.import.badTitle,
    html`${lines(listed)}
      <p><a href="/import/rejects" download>${words.import.rejects}</a></p>`,
  );
}

/** The unknown words for the status: what each of them means is the shelter's to say. */
function wordFields(visit: Visit, preview: Preview): Html | undefined {
  const { words } = visit;
  const unknown = unknownWords(preview);
  if (unknown.length === 0) return undefined;
  const options = [
    { value: "", text: words.import.choose },
    ...statusOptions(visit),
    { value: "gone", text: words.import.gone_ },
  ];
  const fields = new Fields(visit);
  return card(
    words.import.statusWords,
    html`${unknown.map((label, at) => fields.select(`word-${at}`, options, { label }))}
    ${lookButton(visit)}`,
  );
}

/** Shows what a form's choices come to. The first one of a form is what Enter presses. */
export function lookButton({ words }: Visit): Html {
  return html`<button class="quiet" name="look" value="yes">${words.import.look}</button>`;
}

/** Leads to the question about the columns, also when the kind of the file was found wrongly. */
export function otherWays({ words }: Visit): Html {
  const { columnsOwn, cancel } = words.import;
  return html`<div class="acts start">
    ${oneButton("/import/examine", columnsOwn, { fields: hidden("columns", "again") })}
    ${oneButton("/import/drop", cancel)}
  </div>`;
}

/** The sheets of a workbook, or the lists in a document: one of them is imported at a time. */
export function partForm(visit: Visit, parts: readonly Part[]): Html {
  const { words } = visit;
  const options = parts.map(partName).map((name) => ({ value: name, text: name }));
  const fields = new Fields(visit);
  const part = fields.select("part", options, { label: words.import.part });
  return html`<p>${words.import.partHint}</p>
    <section class="card narrow">${postForm("/import/examine", part, words.import.look)}</section>
    ${oneButton("/import/drop", words.import.cancel)}`;
}

/** The columns of an unknown file, beside its first rows. */
export function mapForm(
  visit: Visit,
  job: ImportJob,
  file: UnknownFile,
  errors: FieldErrors,
): Html {
  const { words } = visit;
  const columns = file.columns.map((column) => ({ value: column, text: column }));
  const optional = [{ value: "", text: words.import.noColumn }, ...columns];
  const { columns: chosen = file.guess, category } = job.choices;
  const values = Object.fromEntries(meanings.map((each) => [`column-${each}`, chosen[each] ?? ""]));
  const fields = new Fields(visit, { ...values, kind: category }, errors);
  const kind = fields.text("kind", { label: words.import.kind, hint: words.import.kindHint });
  const asked = html`${meanings.map((each) => {
    const label = columnLabel(words, each);
    const column = fields.select(`column-${each}`, optional, { label });
    return each === "category" ? html`${column} ${kind}` : column;
  })}`;
  return html`<p>${words.import.mapHint}</p>
    ${desk(
      html`<section class="card">${table(file.columns, file.rows)}</section>`,
      html`<section class="card">
        ${postForm("/import/examine", asked, words.import.look)}
      </section>`,
    )}
    ${oneButton("/import/drop", words.import.cancel)}`;
}

/** A file that does not say whether its animals are for adoption: a person says it of all. */
export function statusForm(visit: Visit, job: ImportJob, errors: FieldErrors): Html {
  const { words } = visit;
  const options = [{ value: "", text: words.import.choose }, ...statusOptions(visit)];
  const fields = new Fields(visit, { every: job.choices.everyStatus }, errors);
  return html`<p>${words.import.statuslessHint(job.name)}</p>
    <section class="card narrow">
      ${postForm("/import/examine", fields.select("every", options), words.import.look)}
    </section>
    ${otherWays(visit)}`;
}

/** The choices about a file with those of a form. Only one of a page's forms is sent. */
export function sentChoices(form: Form, { choices, state }: ImportJob): ImportChoices {
  const columns: Partial<Record<Meaning, string>> = {};
  for (const each of meanings) {
    const column = form.exact(`column-${each}`);
    if (column !== "") columns[each] = column;
  }
  const words = state.is === "examined" ? unknownWords(state.preview) : [];
  const statuses: Record<string, StatusMeaning> = { ...choices.statuses };
  for (const [at, word] of words.entries()) {
    const meaning = statusMeanings.find((each) => each === form.text(`word-${at}`));
    if (meaning !== undefined) statuses[word] = meaning;
  }
  const same = form.getAll("same");
  const isNone = form.has("sameNone") || (choices.others === "all" && same.length === 0);
  const seen = form.has("sameAll") ? [] : form.getAll("lookalike");
  const others = isNone ? "all" : seen.filter((line) => !same.includes(line)).map(Number);
  const parts = state.is === "several" ? state.parts : [];
  const every = statusChoice(form.text("every"));
  const isMapped = meanings.some((each) => form.has(`column-${each}`));
  const isSource = form.has("source");
  return {
    ...choices,
    columns: isMapped ? columns : choices.columns,
    asksColumns: !isMapped && choices.asksColumns,
    category: isMapped ? form.text("kind") : choices.category,
    statuses,
    everyStatus: isMapped ? undefined : (every ?? choices.everyStatus),
    source: isSource ? form.text("source") : choices.source,
    isComplete: isSource ? form.has("complete") : choices.isComplete,
    part: parts.find((each) => partName(each) === form.exact("part")) ?? choices.part,
    others: isSource ? others : choices.others,
  };
}
