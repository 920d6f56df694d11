/** A list before it is imported: one box for each thing that is open, then what would change. */
import { html, type Html } from "../../../web/html.ts";
import { type Message, messageText } from "../../import/messages.ts";
import { partName } from "../../import/read/read.ts";
import type { AnimalReport } from "../../import/report.ts";
import { type MapTarget, mapTargets } from "../../import/understand/columns.ts";
import { idPrefix } from "../../import/understand/record.ts";
import type { Meaning } from "../../import/understand/words.ts";
import { type Answers, isOther, type ListSummary, type Look } from "../import-work.ts";
import type { ImportJob } from "../imports.ts";
import type { Visit } from "../visit.ts";
import { type CountName, countWord, type Words } from "../words/index.ts";
import * as ui from "./ui.ts";

const changesShown = 50;

export function lookForm(visit: Visit, job: ImportJob, look: Look, errors: ui.FieldErrors): Html {
  const { summary } = look;
  const { answers } = job;
  const columns = mapTargets.map(
    (each) => [`column-${each}`, (answers.columns ?? look.guess)[each] ?? ""] as const,
  );
  const values = {
    ...Object.fromEntries(columns),
    source: look.source,
    complete: look.isComplete,
    listWins: answers.listWins,
    every: answers.defaultStatus,
    ...Object.fromEntries([...answers.kinds].map(([name, kind]) => [`kind-${name}`, kind])),
    kind: answers.category,
  };
  const fields = new ui.Fields(visit, values, errors);
  return ui.mainForm(
    visit,
    "/import/run",
    html`${ui.hidden("reading", job.reading)}
    ${look.open.map((question) => questionBox(visit, question, look, fields))}
    ${
      summary !== undefined &&
      html`${decisions(visit, summary, look, answers, fields)} ${changesPart(visit, summary)}
        ${aboutPart(visit, summary, look)}
        <section class="card">
          ${fields.text("source", { hint: visit.words.import.sourceHint })}
          ${fields.check("complete")}
        </section>`
    }
    ${actions(visit, look)}`,
  );
}

function actions({ words }: Visit, { summary, open }: Look): Html {
  const isReady = summary !== undefined;
  const look = { class: isReady ? "quiet small" : "", name: "look", value: "yes" };
  const columns = { class: "quiet", name: "columns", value: "yes" };
  return html`<div class="bar acts">
      ${isReady && ui.button(words.buttons.import)} ${ui.button(words.import.look, look)}
    </div>
    <div class="acts">
      ${!open.some(({ is }) => is === "columns") && ui.button(words.import.columnsOwn, columns)}
      ${ui.button(words.import.cancel, { class: "quiet", formaction: "/import/drop" })}
    </div>`;
}

type Question = Look["open"][number];

function questionBox(visit: Visit, question: Question, look: Look, fields: ui.Fields): Html {
  const { import: said } = visit.words;
  const choose = { value: "", text: said.choose };
  const choice = (title: string, name: string, label: string, answers: Record<string, string>) => {
    const options = Object.entries(answers).map(([value, text]) => ({ value, text }));
    return ui.card(title, fields.select(name, [choose, ...options], { label }));
  };
  const kind = () => fields.text("kind", { label: said.kind, hint: said.kindHint });
  switch (question.is) {
    case "part": {
      const parts = question.parts.map(partName).map((name) => ({ value: name, text: name }));
      return ui.card(
        said.partTitle,
        html`<p>${said.partHint}</p>
          ${fields.select("part", parts, { label: said.part })}`,
      );
    }
    case "columns":
      return columnsBox(visit, look, fields, kind());
    case "category":
      return ui.card(said.kindTitle, kind());
    case "status":
      return ui.card(
        said.statuslessTitle,
        html`<p>${said.statuslessHint}</p>
          ${fields.select("every", [choose, ...ui.statusOptions(visit)])}`,
      );
    case "kind": {
      const { name, alike } = question;
      const answers = { same: said.sameKind(ui.categoryName(visit, alike)), new: said.newKind };
      return choice(said.kindTold(name), `kind-${name}`, visit.words.fields.category, answers);
    }
    case "words": {
      const asked = question.words.map(({ word, records }) =>
        fields.select(`word-${word}`, wordOptions(visit), {
          label: `${word} (${ui.number(visit, records)})`,
        }),
      );
      return ui.card(said.statusWords(question.column), html`${asked}`);
    }
    case "column": {
      // It says of most available animals that they are not.
      const { column, meaning, records, available } = question;
      const [some, all] = [records, available].map((each) => ui.number(visit, each));
      const label = said.columnTakes(some ?? "", all ?? "", meaningText(visit.words, meaning));
      const answers = { yes: said.columnRight, no: said.columnWrong };
      return choice(said.columnTitle(column), `taker-${column}`, label, answers);
    }
  }
}

export const wordOptions = (visit: Visit): ui.Option[] => [
  { value: "", text: visit.words.import.choose },
  ...ui.statusOptions(visit),
  { value: "gone", text: visit.words.import.gone_ },
];

const columnLabel = ({ fields, animals, import: said }: Words, target: MapTarget): string =>
  ({
    name: fields.name,
    categoryId: fields.category,
    status: fields.status,
    externalId: animals.externalId,
    updatedAt: said.updatedAt,
  })[target];

function columnsBox({ words }: Visit, look: Look, fields: ui.Fields, kind: Html): Html {
  const columns = look.columns.map((column) => ({ value: column, text: column }));
  const optional = [{ value: "", text: words.import.noColumn }, ...columns];
  return ui.card(
    words.import.mapTitle,
    html`<p>${words.import.mapHint}</p>
      ${ui.table(look.columns, look.rows)}
      ${mapTargets.map((each) => {
        const column = { label: columnLabel(words, each) };
        return html`${fields.select(`column-${each}`, optional, column)}
        ${each === "categoryId" && kind}`;
      })}`,
  );
}

function decisions(
  visit: Visit,
  summary: ListSummary,
  look: Look,
  answers: Answers,
  fields: ui.Fields,
): Html {
  const { import: said } = visit.words;
  const { refused, missing, rejected, kept, notes, lookalikes } = summary;
  const isDayOpen = notes.some((note) => note.said.code === "dayOrderOpen");
  const days = [
    { value: "", text: said.monthFirst },
    { value: "day", text: said.dayFirst },
  ];
  const mostMissing = said.mostMissing(ui.number(visit, missing), look.source);
  return html`${refused === "mostMissing" && ui.card(mostMissing, fields.check("mostMissing"))}
  ${refused === "otherList" && ui.notice("bad", said.otherList)}
  ${refused === "" && ui.notice("bad", said.completeBad)}
  ${isDayOpen && ui.card(said.dayTitle, fields.select("day", days, { label: said.dayLabel }))}
  ${rejected > 0 && badBox(visit, summary, fields)}
  ${lookalikes.length > 0 && sameBox(visit, summary, answers)}
  ${
    (kept > 0 || answers.listWins) &&
    ui.card(
      said.keptTitle(ui.number(visit, kept)),
      html`${keptPart(visit, summary)} ${fields.check("listWins")}`,
    )
  }`;
}

function badBox(visit: Visit, { causes }: ListSummary, fields: ui.Fields): Html {
  const { import: said, messages } = visit.words;
  const others = causes.filter(({ unknownStatus }) => unknownStatus === undefined);
  const listed = others.map(({ field, problem, records, lines }) => {
    const where = said.lines(lines.join(", ") + (records > lines.length ? " …" : ""), records);
    return ui.entry(
      field === "" ? textOf(visit, problem) : `${field}: ${messageText(problem, messages)}`,
      `${said.bad(ui.number(visit, records), records)} (${where})`,
    );
  });
  return ui.card(said.badTitle, html`${ui.lines(listed)} ${fields.check("skipBad")}`);
}

function textOf({ words }: Visit, said: Message): string {
  const text = messageText(said, words.messages);
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** New animals that may be here already. A box that is not ticked makes a new one of its animal. */
function sameBox(visit: Visit, { lookalikes }: ListSummary, answers: Answers): Html {
  const { words, typed } = visit;
  const { import: said } = words;
  return ui.card(
    said.sameTitle,
    html`<p class="hint">${said.sameHint}</p>
      ${lookalikes.map(({ line, id, name, status }) => {
        const value = String(line);
        const checked = typed?.getAll("same").includes(value) ?? !isOther(answers, line);
        const shown = ui.shownName(visit, name);
        const label = `${shown} · ${words.status[status ?? ui.noStatus]} · ${String(id)}`;
        return html`${ui.box(label, { name: "same", value, checked })}
        ${ui.hidden("lookalike", value)}`;
      })}
      <div class="acts start">
        ${ui.button(said.sameAll, { class: "quiet", name: "sameAll", value: "yes" })}
        ${ui.button(said.sameNone, { class: "quiet", name: "sameNone", value: "yes" })}
      </div>`,
  );
}

function changesPart(visit: Visit, summary: ListSummary): Html {
  const { words } = visit;
  const { fields, import: said } = words;
  const { animals, updated, withdrawn, sample, added, isGuessed } = summary;
  const changed = animals.slice(0, changesShown);
  const more = updated + withdrawn - changed.length;
  const rows = changed.map((each) => [ui.shownName(visit, each.name), reportText(visit, each)]);
  const isNothing = added + updated + withdrawn + animals.length === 0;
  const samples = sample.map(({ name, category, status, externalId }) => [
    ui.shownName(visit, name),
    category,
    words.status[status ?? ui.noStatus],
    externalId?.replace(idPrefix(summary.source), "") ?? "",
  ]);
  const heads = [fields.name, fields.category, fields.status, words.animals.externalId];
  return html`<section class="card" id="changes">
    <h2>${countsText(visit, summary)}</h2>
    ${isNothing && html`<p>${said.nothing}</p>`}
    ${rows.length > 0 && ui.table([fields.name, said.change], rows)}
    ${
      more > 0 &&
      rows.length > 0 &&
      html`<p class="soft">${said.andMore(ui.number(visit, more))}</p>`
    }
    ${
      samples.length > 0 &&
      (added > 0 || isGuessed) &&
      html`<h2>${said.sample}</h2>
        ${ui.table(heads, samples)}`
    }
  </section>`;
}

function reportText(visit: Visit, { did, fields }: AnimalReport): string {
  const said = visit.words.history.did;
  if (did === "withdrawn") return said.withdrawn;
  const parts = fields.map((field) => ui.fromTo(visit, field));
  return (did === "restored" ? [said.restored, ...parts] : parts).join("; ");
}

function keptPart(visit: Visit, { keptAnimals }: ListSummary): Html {
  const { import: said } = visit.words;
  return ui.lines(
    keptAnimals.slice(0, changesShown).map(({ name, fields, by }) => {
      const texts = fields.map(({ field, before, after }) =>
        said.keptAs(ui.shownValue(visit, field, before), ui.shownValue(visit, field, after)),
      );
      const who = by === null ? "" : said.keptBy(ui.actorText(visit, by));
      return ui.entry(ui.shownName(visit, name), `${texts.join("; ")}${who}`);
    }),
  );
}

/** "6 new, 2 adopted, 1 kept": the numbers that are not zero. */
export function countsText(visit: Visit, summary: ListSummary, isDone = false): string {
  const { words } = visit;
  const { added, updated, withdrawn, kept, waiting, unchanged, rejected, animals } = summary;
  const byStatus = new Map<ui.StatusChoice, number>();
  let changed = updated;
  for (const { did, fields } of animals) {
    const status = fields.find(({ field }) => field === "status")?.after;
    if (did !== "updated" || status === undefined || updated > animals.length) continue;
    const choice = ui.statusChoice(status ?? "") ?? ui.noStatus;
    byStatus.set(choice, (byStatus.get(choice) ?? 0) + 1);
    changed -= 1;
  }
  const counts = Object.entries({
    [isDone ? "added" : "new"]: added,
    ...Object.fromEntries(byStatus),
    changed,
    withdrawn,
    waiting,
    kept,
    leftOut: summary.skipped,
    rejected,
    unchanged,
  }) as (readonly [CountName, number])[];
  const shown = counts
    .filter(([, count]) => count > 0)
    .map(([what, count]) => {
      return `${ui.number(visit, count)} ${countWord(visit.language, what, count)}`;
    });
  return shown.length === 0 ? words.import.nobody : shown.join(", ");
}

function aboutPart(visit: Visit, summary: ListSummary, look: Look): Html {
  const { words } = visit;
  const { import: said } = words;
  const { format, isGuessed, reading, stems, skippedReasons, categoriesAdded } = summary;
  const found = mapTargets.flatMap((each) => {
    const column = reading.columns?.[each];
    return column === undefined ? [] : [`${column} → ${columnLabel(words, each)}`];
  });
  const meanings = new Map<string, Meaning>([
    ...stems.map(({ word, meaning }) => [word, meaning] as const),
    ...Object.entries(reading.statuses),
  ]);
  const read = [...meanings].map(([word, meaning]) => `${word} → ${meaningText(words, meaning)}`);
  const notes = summary.notes
    .filter((note) => note.said.code !== "dayOrderOpen")
    .map((note) => {
      const text = textOf(visit, note.said);
      return note.records === 0
        ? text.replace(/[.?]?$/, (end) => end || ".")
        : said.note(text, ui.number(visit, note.records), note.firstLine, note.example);
    });
  const mapped = isGuessed ? said.guessed : said.mapped;
  const kind = [format === "map" ? mapped : format, found.join(", ")].filter(Boolean);
  const reasons = skippedReasons.map(
    ({ reason, records }) => `${reason} (${ui.number(visit, records)})`,
  );
  const kinds = categoriesAdded.map(({ name }) => name).join(", ");
  const forget = { class: "quiet small", name: "forget", value: "yes" };
  return html`<section class="card">
    <p class="soft">
      ${look.isRecalled && `${said.remembered} · `}${said.format}: ${kind.join(": ")} ·
      ${said.read}: ${ui.number(visit, summary.read)}
    </p>
    ${read.length > 0 && html`<p>${said.wordsRead}: ${read.join(", ")}</p>`}
    ${reasons.length > 0 && html`<p>${said.leftOut(reasons.join(", "))}</p>`}
    ${kinds !== "" && html`<p>${said.newCategories}: ${kinds}</p>`}
    ${notes.map((note) => html`<p>${note}</p>`)}
    ${look.isRecalled && ui.button(said.forget, forget)}
  </section>`;
}

const meaningText = ({ import: said, status }: Words, meaning: Meaning): string =>
  meaning === "gone" ? said.gone_ : status[meaning];
