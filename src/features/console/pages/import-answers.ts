/** What a form says of a list that is looked at. */
import { partName } from "../../import/read/read.ts";
import { meanings as statusMeanings } from "../../import/understand/words.ts";
import type { Form } from "../body.ts";
import { type Answers, meanings, type StatusMeaning } from "../import-work.ts";
import type { ImportJob } from "../imports.ts";
import { statusChoice } from "./parts.ts";

/** The answers about a list with those of a form. What the form has no field for stays. */
export function sentAnswers(form: Form, { answers, state }: ImportJob): Answers {
  const look = state.is === "examined" ? state.look : undefined;
  const columns = Object.fromEntries(
    meanings.flatMap((each) => {
      const column = form.exact(`column-${each}`);
      return column === "" ? [] : [[each, column] as const];
    }),
  );
  const isMapped = form.has("column-name");
  const statuses: Record<string, StatusMeaning> = { ...answers.statuses };
  const believed = new Set(answers.believed);
  const ignored = new Set(answers.ignored);
  for (const [name, value] of form) {
    const meaning = statusMeanings.find((each) => each === value);
    if (name.startsWith("word-") && meaning !== undefined) statuses[name.slice(5)] = meaning;
    if (name.startsWith("taker-") && value === "yes") believed.add(name.slice(6));
    if (name.startsWith("taker-") && value === "no") ignored.add(name.slice(6));
  }
  const parts = look?.open.flatMap((each) => (each.is === "part" ? each.parts : [])) ?? [];
  const every = statusChoice(form.text("every"));
  // What the page had already is no answer: the next list is read by what is remembered.
  const isNamed = form.has("source");
  const source = form.text("source");
  return {
    ...answers,
    columns: isMapped ? columns : answers.columns,
    asksColumns: !isMapped && answers.asksColumns,
    category: form.has("kind") ? form.text("kind") : answers.category,
    statuses,
    everyStatus: every ?? answers.everyStatus,
    believed: [...believed],
    ignored: [...ignored],
    dayFirst: form.has("day") ? form.text("day") === "day" : answers.dayFirst,
    part: parts.find((each) => partName(each) === form.exact("part")) ?? answers.part,
    source: isNamed && source !== look?.source ? source : answers.source,
    isComplete:
      isNamed && form.has("complete") !== look?.isComplete
        ? form.has("complete")
        : answers.isComplete,
    listWins: isNamed ? form.has("listWins") : answers.listWins,
    others: isNamed ? othersIn(form, answers) : answers.others,
  };
}

function othersIn(form: Form, { others }: Answers): Answers["others"] {
  const same = form.getAll("same");
  if (form.has("sameNone") || (others === "all" && same.length === 0)) return "all";
  if (form.has("sameAll")) return [];
  return form.getAll("lookalike").flatMap((line) => (same.includes(line) ? [] : [Number(line)]));
}
