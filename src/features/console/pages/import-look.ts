/** A list before it is imported: one box for each thing that is open, then what would change. */
import { html, type Html } from "../../../web/html.ts";
import { type Message, messageText } from "../../import/messages.ts";
import { type Part, partName } from "../../import/read/read.ts";
import type { AnimalReport, FieldReport } from "../../import/plan/reports.ts";
import type { CandidateCategory } from "../../import/understand/record.ts";
import { idPrefix } from "../../import/understand/values.ts";
import {
  isOther,
  meanings,
  targets,
  type Answers,
  type ListSummary,
  type Look,
  type Meaning,
  type Question,
  type StatusMeaning,
} from "../import-work.ts";
import type { ImportJob } from "../imports.ts";
import type { Visit } from "../visit.ts";
import type { Words } from "../words/index.ts";
import {
  actorText,
  card,
  entry,
  Fields,
  hidden,
  lines,
  mainForm,
  noStatus,
  notice,
  number,
  shownName,
  statusChoice,
  statusOptions,
  table,
  when,
  type FieldErrors,
  type Option,
  type StatusChoice,
} from "./parts.ts";

/** Changes that are shown one by one. */
const changesShown = 50;

/** The page of a list: its questions, and what it would change as it is read now. */
export function lookForm(visit: Visit, job: ImportJob, look: Look, errors: FieldErrors): Html {
  const { words } = visit;
  const { summary } = look;
  const { answers } = job;
  const values = { source: look.source, complete: look.isComplete, listWins: answers.listWins };
  const fields = new Fields(visit, values, errors);
  const boxes = [
    ...look.open.map((question) => questionBox(visit, question, look, answers, errors)),
    ...(summary === undefined ? [] : decisions(visit, summary, look, answers, fields)),
  ];
  return mainForm(
    visit,
    "/import/run",
    html`${hidden("reading", job.reading)} ${boxes}
    ${
      summary !== undefined &&
      html`${changesPart(visit, summary)} ${aboutPart(visit, summary, look)}
        <section class="card">
          ${fields.text("source", { hint: words.import.sourceHint })} ${fields.check("complete")}
        </section>`
    }
    ${actions(visit, look)}`,
  );
}

/** In sight wherever on the page somebody is. */
function actions({ words }: Visit, { summary, open }: Look): Html {
  const isReady = summary !== undefined;
  const look = html`<button class="${isReady ? "quiet small" : ""}" name="look" value="yes">
    ${words.import.look}
  </button>`;
  const columns =
    !open.some(({ is }) => is === "columns") &&
    html`<button class="quiet" name="columns" value="yes">${words.import.columnsOwn}</button>`;
  return html`<div class="bar acts">
      ${isReady && html`<button>${words.buttons.import}</button>`} ${look}
    </div>
    <div class="acts">
      ${columns}
      <button class="quiet" formaction="/import/drop">${words.import.cancel}</button>
    </div>`;
}

function questionBox(
  visit: Visit,
  question: Question,
  look: Look,
  answers: Answers,
  errors: FieldErrors,
): Html {
  const { words } = visit;
  const fields = new Fields(visit, { every: answers.everyStatus, kind: answers.category }, errors);
  switch (question.is) {
    case "part":
      return card(
        words.import.partTitle,
        html`<p>${words.import.partHint}</p>
          ${fields.select("part", partOptions(question.parts), { label: words.import.part })}`,
      );
    case "columns":
      return columnsBox(visit, look, answers, errors);
    case "category":
      return card(
        words.import.kindTitle,
        fields.text("kind", { label: words.import.kind, hint: words.import.kindHint }),
      );
    case "status":
      return card(
        words.import.statuslessTitle,
        html`<p>${words.import.statuslessHint}</p>
          ${fields.select("every", [choose(words), ...statusOptions(visit)])}`,
      );
    case "words":
      return card(
        words.import.statusWords(question.column),
        html`${question.words.map(({ word, records }) =>
          fields.select(`word-${word}`, wordOptions(visit), {
            label: `${word} (${number(visit, records)})`,
          }),
        )}`,
      );
    case "column":
      return columnBox(visit, question, fields);
  }
}

const choose = ({ import: { choose: text } }: Words): Option => ({ value: "", text });

export const wordOptions = (visit: Visit): Option[] => [
  choose(visit.words),
  ...statusOptions(visit),
  { value: "gone", text: visit.words.import.gone_ },
];

const partOptions = (parts: readonly Part[]): Option[] =>
  parts.map(partName).map((name) => ({ value: name, text: name }));

/** A column that says of most available animals that they are not. */
function columnBox(
  visit: Visit,
  { column, meaning, records, available }: Extract<Question, { is: "column" }>,
  fields: Fields,
): Html {
  const { words } = visit;
  const said = words.import.columnTakes(
    number(visit, records),
    number(visit, available),
    meaningText(words, meaning),
  );
  const options = [
    choose(words),
    { value: "yes", text: words.import.columnRight },
    { value: "no", text: words.import.columnWrong },
  ];
  return card(
    words.import.columnTitle(column),
    fields.select(`taker-${column}`, options, { label: said }),
  );
}

const columnLabel = ({ fields, import: { columnFor } }: Words, each: Meaning) =>
  ({ ...fields, ...columnFor })[each];

/** The columns of a list, beside its first rows. */
function columnsBox(visit: Visit, look: Look, answers: Answers, errors: FieldErrors): Html {
  const { words } = visit;
  const columns = look.columns.map((column) => ({ value: column, text: column }));
  const optional = [{ value: "", text: words.import.noColumn }, ...columns];
  const chosen = meanings.map((each) => {
    const column =
      answers.columns === undefined ? look.guess[targets[each]] : answers.columns[each];
    return [`column-${each}`, column ?? ""] as const;
  });
  const fields = new Fields(
    visit,
    { ...Object.fromEntries(chosen), kind: answers.category },
    errors,
  );
  const kind = fields.text("kind", { label: words.import.kind, hint: words.import.kindHint });
  return card(
    words.import.mapTitle,
    html`<p>${words.import.mapHint}</p>
      ${table(look.columns, look.rows)}
      ${meanings.map((each) => {
        const label = columnLabel(words, each);
        const column = fields.select(`column-${each}`, optional, { label });
        return each === "category" ? html`${column} ${kind}` : column;
      })}`,
  );
}

/** What is open about the animals, once their records are understood. */
function decisions(
  visit: Visit,
  summary: ListSummary,
  look: Look,
  answers: Answers,
  fields: Fields,
): readonly Html[] {
  const { words } = visit;
  const { refused, missing, rejected, kept, notes } = summary;
  const isDayOpen = notes.some(({ said }) => said.code === "dayOrderOpen");
  const days = [
    { value: "", text: words.import.monthFirst },
    { value: "day", text: words.import.dayFirst },
  ];
  return [
    ...(refused === "mostMissing"
      ? [
          card(
            words.import.mostMissing(number(visit, missing), look.source),
            fields.check("mostMissing"),
          ),
        ]
      : []),
    ...(refused === "otherList" ? [notice("bad", words.import.otherList)] : []),
    ...(refused === "" ? [notice("bad", words.import.completeBad)] : []),
    ...(isDayOpen
      ? [card(words.import.dayTitle, fields.select("day", days, { label: words.import.dayLabel }))]
      : []),
    ...(rejected > 0 ? [badBox(visit, summary, fields)] : []),
    ...(summary.lookalikes.length > 0 ? [sameBox(visit, summary, answers)] : []),
    ...(kept > 0 || answers.listWins
      ? [
          card(
            words.import.keptTitle(number(visit, kept)),
            html`${keptPart(visit, summary)} ${fields.check("listWins")}`,
          ),
        ]
      : []),
  ];
}

function badBox(visit: Visit, { causes }: ListSummary, fields: Fields): Html {
  const { words } = visit;
  const others = causes.filter(({ unknownStatus }) => unknownStatus === undefined);
  const listed = others.map(({ field, problem, records, lines: at }) => {
    const where = words.import.lines(at.join(", ") + (records > at.length ? " …" : ""), records);
    return entry(
      field === "" ? textOf(visit, problem) : `${field}: ${messageText(problem, words.messages)}`,
      `${words.import.bad(number(visit, records), records)} (${where})`,
    );
  });
  return card(
    words.import.badTitle,
    html`${lines(listed)}
      <p><a href="/import/rejects" download>${words.import.rejects}</a></p>
      ${fields.check("skipBad")}`,
  );
}

/** A message as a sentence begins. */
function textOf({ words }: Visit, said: Message): string {
  const text = messageText(said, words.messages);
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** New animals that may be here already. A box that is not ticked makes a new one of its animal. */
function sameBox(visit: Visit, { lookalikes }: ListSummary, answers: Answers): Html {
  const { words, typed } = visit;
  const isSame = (line: number) =>
    typed === undefined ? !isOther(answers, line) : typed.getAll("same").includes(String(line));
  return card(
    words.import.sameTitle,
    html`<p class="hint">${words.import.sameHint}</p>
      ${lookalikes.map(
        ({ line, id, name, status }) =>
          html`<label class="check"
              ><input
                type="checkbox"
                name="same"
                value="${line}"
                ${when(isSame(line), "checked")}
              />
              ${shownName(visit, name)} · ${words.status[status ?? noStatus]} · ${String(id)}</label
            >${hidden("lookalike", String(line))}`,
      )}
      <div class="acts start">
        <button class="quiet" name="sameAll" value="yes">${words.import.sameAll}</button>
        <button class="quiet" name="sameNone" value="yes">${words.import.sameNone}</button>
      </div>`,
  );
}

/** What changes, from what to what, and the first of those that are new. */
function changesPart(visit: Visit, summary: ListSummary): Html {
  const { words } = visit;
  const { animals, updated, withdrawn, sample, added, isGuessed } = summary;
  const changed = animals.slice(0, changesShown);
  const more = updated + withdrawn - changed.length;
  const rows = changed.map((each) => [shownName(visit, each.name), reportText(visit, each)]);
  const isNothing = added + updated + withdrawn + animals.length === 0;
  const { fields, import: said } = words;
  return html`<section class="card" id="changes">
    <h2>${countsText(visit, summary)}</h2>
    ${isNothing && html`<p>${said.nothing}</p>`}
    ${rows.length > 0 && table([fields.name, said.change], rows)}
    ${more > 0 && rows.length > 0 && html`<p class="soft">${said.andMore(number(visit, more))}</p>`}
    ${
      sample.length > 0 &&
      (added > 0 || isGuessed) &&
      html`<h2>${said.sample}</h2>
        ${table(
          [fields.name, fields.category, fields.status, said.columnFor.id],
          sample.map(({ name, category, status, externalId }) => [
            shownName(visit, name),
            categoryName(category, visit, summary),
            words.status[status ?? noStatus],
            externalId?.replace(idPrefix(summary.source), "") ?? "",
          ]),
        )}`
    }
  </section>`;
}

/** A category as the catalogue will show it. */
function categoryName(
  { id, name = "" }: CandidateCategory,
  _: Visit,
  summary: ListSummary,
): string {
  if (id === undefined || name !== "") return name;
  return summary.categoriesAdded.find((each) => each.id === id)?.name ?? String(id);
}

function reportText(visit: Visit, { did, fields }: AnimalReport): Html {
  const { import: said } = visit.words;
  if (did === "withdrawn") return html`${said.didWithdraw}`;
  const parts = fields.map((field) => fromTo(visit, field));
  const all = did === "restored" ? [html`${said.didRestore}`, ...parts] : parts;
  return html`${all.map((each, at) => html`${at > 0 && "; "}${each}`)}`;
}

function valueText({ words }: Visit, field: FieldReport["field"], value: string | null): string {
  if (field === "status") return words.status[statusChoice(value ?? "") ?? noStatus];
  if (field === "presence") return value === "gone" ? words.import.isGone : words.import.isThere;
  return value ?? "";
}

function fromTo(visit: Visit, { field, before, after }: FieldReport): Html {
  const [from, to] = [before, after].map((each) => valueText(visit, field, each));
  const label = field === "name" || field === "category" ? `${visit.words.fields[field]}: ` : "";
  return html`${label}<bdi>${from}</bdi> → <bdi>${to}</bdi>`;
}

/** Who stays as people changed them: what they are, by whom, and what the list says. */
function keptPart(visit: Visit, { keptAnimals }: ListSummary): Html {
  const { words } = visit;
  return html`${lines(
    keptAnimals.slice(0, changesShown).map(({ name, fields, by }) => {
      const said = fields.map(({ field, before, after }) => {
        const [own, listed] = [before, after].map((each) => valueText(visit, field, each));
        return words.import.keptAs(own ?? "", listed ?? "");
      });
      const who = by === undefined ? "" : words.import.keptBy(actorText(visit, by));
      return entry(shownName(visit, name), `${said.join("; ")}${who}`);
    }),
  )}`;
}

/** "6 new, 2 adopted, 1 kept": the numbers that are not zero. */
export function countsText(visit: Visit, summary: ListSummary, isDone = false): string {
  const { words } = visit;
  const { added, updated, withdrawn, kept, waiting, unchanged, animals } = summary;
  const skipped = summary.skipped.reduce((sum, { records }) => sum + records, 0);
  const byStatus = new Map<StatusChoice, number>();
  let others = updated;
  for (const { did, fields } of animals) {
    const status = fields.find(({ field }) => field === "status")?.after;
    if (did !== "updated" || status === undefined || updated > animals.length) continue;
    const choice = statusChoice(status ?? "") ?? noStatus;
    byStatus.set(choice, (byStatus.get(choice) ?? 0) + 1);
    others -= 1;
  }
  const counts: (readonly [keyof Words["import"]["counts"], number])[] = [
    [isDone ? "added" : "new", added],
    ...byStatus,
    ["changed", others],
    ["withdrawn", withdrawn],
    ["waiting", waiting],
    ["kept", kept],
    ["leftOut", skipped],
    ["rejected", summary.rejected],
    ["unchanged", unchanged],
  ];
  const shown = counts.filter(([, count]) => count > 0);
  if (shown.length === 0) return words.import.nobody;
  return shown
    .map(
      ([what, count]) =>
        `${number(visit, count)} ${words.import.counts[what][count === 1 ? 0 : 1]}`,
    )
    .join(", ");
}

/** What kind of list it is, how it is read, and what there is to know of it. */
function aboutPart(visit: Visit, summary: ListSummary, look: Look): Html {
  const { words } = visit;
  const { format, isGuessed, reading, stems, skipped, categoriesAdded } = summary;
  const found = meanings.flatMap((each) => {
    const column = reading.columns?.[targets[each]];
    return column === undefined ? [] : [`${column} → ${columnLabel(words, each)}`];
  });
  const wordsRead = [
    ...stems.map(({ word, meaning }) => [word, meaning] as const),
    ...Object.entries(reading.statuses),
  ];
  const read = [...new Map(wordsRead)].map(([word, meaning]) => wordText(words, word, meaning));
  const notes = summary.notes
    .filter(({ said }) => said.code !== "dayOrderOpen")
    .map(({ said, records, firstLine, example }) => {
      const text = textOf(visit, said);
      return records === 0
        ? text.replace(/[.?]?$/, (end) => end || ".")
        : words.import.note(text, number(visit, records), firstLine, example);
    });
  const kind = format === "map" ? (isGuessed ? words.import.guessed : words.import.mapped) : format;
  const reasons = skipped.map(({ reason, records }) => `${reason} (${number(visit, records)})`);
  return html`<section class="card">
    <p class="soft">
      ${look.isRecalled && html`${words.import.remembered} · `}${words.import.format}:
      ${kind}${found.length > 0 && `: ${found.join(", ")}`} · ${words.import.read}:
      ${number(visit, summary.read)}
    </p>
    ${read.length > 0 && html`<p>${words.import.wordsRead}: ${read.join(", ")}</p>`}
    ${reasons.length > 0 && html`<p>${words.import.leftOut(reasons.join(", "))}</p>`}
    ${
      categoriesAdded.length > 0 &&
      html`<p>
        ${words.import.newCategories}: ${categoriesAdded.map(({ name }) => name).join(", ")}
      </p>`
    }
    ${notes.map((note) => html`<p>${note}</p>`)}
    ${
      look.isRecalled &&
      html`<button class="quiet small" name="forget" value="yes">${words.import.forget}</button>`
    }
  </section>`;
}

/** What a word for the status is taken to mean. */
const wordText = (words: Words, word: string, meaning: StatusMeaning): string =>
  `${word} → ${meaningText(words, meaning)}`;

const meaningText = (words: Words, meaning: StatusMeaning): string =>
  meaning === "gone" ? words.import.gone_ : words.status[meaning];
