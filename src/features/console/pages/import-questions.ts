import { petStatuses } from "../../../domain/pet.ts";
import { html, type Html } from "../../docs/html.ts";
import {
  meanings,
  unknownWords,
  type ImportChoices,
  type ImportJob,
  type Meaning,
  type StatusMeaning,
  type UnknownFile,
} from "../imports.ts";
import type { Visit } from "../web/visit.ts";
import { table } from "./chart.ts";
import {
  hidden,
  oneButton,
  selectField,
  statusChoice,
  statusChoices,
  type FieldErrors,
} from "./parts.ts";

export function otherFile({ words }: Visit): Html {
  return oneButton("/import/drop", words.import.cancel);
}

/** The columns of an unknown file, beside its first rows. */
export function mapForm(visit: Visit, job: ImportJob, file: UnknownFile): Html {
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

/** A file that does not say whether its animals are for adoption: a person says it of all. */
export function statusForm(visit: Visit, job: ImportJob, errors: FieldErrors): Html {
  const { words } = visit;
  return html`<h1>${words.import.statuslessTitle}</h1>
    <p>${words.import.statuslessHint(job.name)}</p>
    <form method="post" action="/import/examine" class="card narrow">
      ${selectField(
        {
          name: "every",
          label: words.import.every,
          value: job.choices.everyStatus ?? "",
          error: errors["every"],
        },
        [
          { value: "", text: words.import.choose },
          ...statusChoices.map((each) => ({ value: each as string, text: words.status[each] })),
        ],
      )}
      <button>${words.import.look}</button>
    </form>
    <div class="acts start">${columnsAgain(visit, job)} ${otherFile(visit)}</div>`;
}

/** Leads to the question about the columns, also when the kind of the file was found wrongly. */
export function columnsAgain({ words }: Visit, { choices }: ImportJob): Html {
  const { columnsAgain: again, columnsOwn } = words.import;
  return oneButton("/import/examine", choices.columns === undefined ? columnsOwn : again, {
    fields: hidden("columns", "again"),
  });
}

export function sentChoices({ form }: Visit, { choices, state }: ImportJob): ImportChoices {
  const columns: Partial<Record<Meaning, string>> = {};
  for (const each of meanings) {
    const column = form.exact(`column-${each}`);
    if (column !== "") columns[each] = column;
  }
  const words = state.is === "examined" ? unknownWords(state.preview) : [];
  const statuses: Record<string, StatusMeaning> = { ...choices.statuses };
  for (const [at, word] of words.entries()) {
    const meaning = [...petStatuses, "none" as const, "gone" as const].find(
      (each) => each === form.text(`word-${at}`),
    );
    if (meaning !== undefined) statuses[word] = meaning;
  }
  const every = statusChoice(form.text("every"));
  const isMapped = meanings.some((each) => form.has(`column-${each}`));
  // Only one of the page's forms is sent: the others' choices stay.
  const isSource = form.has("source");
  return {
    ...choices,
    columns: isMapped ? columns : choices.columns,
    statuses,
    everyStatus: isMapped ? undefined : (every ?? choices.everyStatus),
    source: isSource ? form.text("source") : choices.source,
    isComplete: isSource ? form.has("complete") : choices.isComplete,
  };
}
