/** What an import asks on a terminal. */
import { counted } from "../../../cli/terminal/text.ts";
import { isYes } from "../../confirm.ts";
import type { UnreadableInput } from "../read/input.ts";
import { partName } from "../read/read.ts";
import type { ImportSummary } from "../report.ts";
import {
  type Given,
  type List,
  type Prepared,
  preparedOf,
  proposed,
  type Question,
  readList,
  type Reading,
} from "../understand/propose.ts";
import { statusKey } from "../understand/words.ts";
import { type Meaning, meanings } from "../understand/words.ts";

/** Asks a person, and resolves with the line that was typed; "" where nobody answers. */
type Ask = (question: string) => Promise<string>;
export const nobody: Ask = async () => "";

/** A list that was read, as somebody said if there is somebody. */
export interface Answered {
  readonly prepared: Prepared;
  /** Why it could not be read until all of its animals were taken for available. */
  readonly unsure?: UnreadableInput | undefined;
}

/** Asks what a list leaves open. Throws the first question where nobody answers. */
export async function preparedAsking(
  ask: Ask,
  list: List,
  given: Given,
  bytes: Uint8Array,
  recall: (list: List, given: Given) => Promise<Reading | undefined>,
): Promise<Answered> {
  const remembered = await recall(list, given);
  const { prepared, open, refusal } = proposed(list, { ...given, remembered });
  if (prepared !== undefined) {
    const statuses = await askWords(ask, open, given);
    const isTold = statuses.size > (given.statuses?.size ?? 0);
    const again = { ...given, statuses, remembered };
    return { prepared: isTold ? preparedOf(proposed(list, again)) : prepared };
  }
  const [question] = open;
  const said = question && (await answerTo(ask, question, given));
  if (said === undefined) throw refusal ?? new Error("Nothing was changed.");
  const next = question?.is === "part" ? readList(bytes, said) : list;
  const found = await preparedAsking(ask, next, said, bytes, recall);
  return said.defaultStatus === given.defaultStatus ? found : { ...found, unsure: refusal };
}

/** What was said with an answer to the first question of a list; undefined without one. */
async function answerTo(ask: Ask, question: Question, given: Given): Promise<Given | undefined> {
  switch (question.is) {
    case "part": {
      const names = question.parts.map((part, at) => `${at + 1} ${partName(part)}`);
      const answer = await ask(`The file has several lists: ${names.join(", ")}. Which one? `);
      const part = question.parts[Number(answer) - 1];
      return part && { ...given, ...part };
    }
    case "category": {
      const category = await ask("What kind of animal are all of these, such as Dog? ");
      // A yes is no kind of animal.
      const isKind = /\p{L}{2}/u.test(category) && !/^\s*(?:yes|no)\s*$/i.test(category);
      return isKind ? { ...given, category: category.trim() } : undefined;
    }
    case "words": {
      const statuses = await askWords(ask, [question], given);
      const columns = { ...given.columns, status: question.column };
      const isWhole = question.words.every(({ word }) => statuses.has(statusKey(word)));
      return isWhole ? { ...given, columns, statuses } : undefined;
    }
    case "column": {
      const { column, records, available } = question;
      const answer = await ask(
        `By the column ${column}, ${records} of the ${available} available animals are not. Is that so? [y/N] `,
      );
      if (isYes(answer)) return { ...given, believed: [...(given.believed ?? []), column] };
      const ignores = isYes(await ask(`Leave the column ${column} out? [y/N] `));
      return ignores ? { ...given, ignored: [...(given.ignored ?? []), column] } : undefined;
    }
    case "status":
      // It is asked at the end, with what that comes to.
      return ask === nobody ? undefined : { ...given, defaultStatus: "available" };
    default:
      return undefined;
  }
}

/** What words of a status mean, as far as somebody says: nothing, or nobody, ends it. */
async function askWords(
  ask: Ask,
  open: readonly Question[],
  { statuses }: Given,
): Promise<ReadonlyMap<string, Meaning>> {
  const told = new Map(statuses);
  for (const { column, words } of open.filter((each) => each.is === "words")) {
    for (const { word, records } of words) {
      if (told.has(statusKey(word))) continue;
      const where = `${column} mean (${counted(records, "record")})`;
      const meaning = await askMeaning(ask, `What does ${JSON.stringify(word)} in ${where}`);
      if (meaning === undefined) return told;
      told.set(statusKey(word), meaning);
    }
  }
  return told;
}

/** A typing error is asked again. */
async function askMeaning(ask: Ask, question: string): Promise<Meaning | undefined> {
  const answer = (await ask(`${question}: ${meanings.join(", ")}? `)).trim().toLowerCase();
  if (answer === "") return undefined;
  const meaning = answer === "adopted" ? "sold" : meanings.find((each) => each === answer);
  return meaning ?? askMeaning(ask, question);
}

/** True if somebody says that the new categories are to be made. */
export async function askCategories(ask: Ask, { rejections }: ImportSummary): Promise<boolean> {
  const unknown = rejections.filter(({ unknownCategory }) => unknownCategory === true);
  const names = new Set(unknown.flatMap(({ problem }) => problem.values[0] ?? []));
  if (names.size === 0) return false;
  return isYes(await ask(`New categories: ${[...names].join(", ")}. Make them? [y/N] `));
}
