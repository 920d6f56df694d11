/** What an import asks on a terminal. */
import type { Io } from "../../../cli/io.ts";
import { isYes } from "../../confirm.ts";
import { counted } from "../../../cli/terminal/text.ts";
import type { ImportSummary } from "../do/summary.ts";
import { UnreadableInput } from "../read/input.ts";
import { partName, partsIn } from "../read/read.ts";
import { type Given, prepare, type Prepared, UnknownFormat } from "../understand/reading.ts";
import { statusKey } from "../understand/statuses.ts";
import { type Meaning, meanings } from "../understand/words.ts";

export const allQuestion =
  "No column says whether an animal is for adoption. Are all of these? [y/N] ";

/** A list that was read, as somebody said if there is somebody. */
export interface Answered {
  readonly prepared: Prepared;
  /** Reads it with the meanings of more words; absent where nobody can be asked. */
  readonly readAgain?: (words: ReadonlyMap<string, Meaning>) => Promise<Prepared>;
  /** Why it could not be read until all of its animals were taken for available. */
  readonly unsure?: UnreadableInput;
}

/** Reads a list, and asks what it leaves open. Throws what `prepare` throws where nobody says. */
export async function preparedAsking(io: Io, bytes: Uint8Array, given: Given): Promise<Answered> {
  try {
    const prepared = await prepare(bytes, given);
    const readAgain = (words: ReadonlyMap<string, Meaning>) =>
      prepare(bytes, { ...given, statuses: new Map([...(given.statuses ?? []), ...words]) });
    return { prepared, readAgain };
  } catch (error) {
    if (!(error instanceof UnreadableInput)) throw error;
    const said = await answerTo(io, error, given);
    if (said === undefined) throw error;
    const found = await preparedAsking(io, bytes, said);
    return said.defaultStatus === given.defaultStatus ? found : { ...found, unsure: error };
  }
}

/** What was said with an answer to the first question of a list; undefined without one. */
async function answerTo(io: Io, fault: UnreadableInput, given: Given): Promise<Given | undefined> {
  const parts = partsIn(fault.problem);
  if (parts.length > 0) {
    const names = parts.map((part, at) => `${at + 1} ${partName(part)}`);
    const answer = await io.ask(`The file has several lists: ${names.join(", ")}. Which one? `);
    const part = parts[Number(answer) - 1];
    return part && { ...given, ...part };
  }
  const isStatusless = fault.problem.code === "statusMissing";
  const open = fault instanceof UnknownFormat ? fault.open : undefined;
  if (open?.is === "category") {
    const category = await io.ask("What kind of animal are all of these, such as Dog? ");
    // A yes is no kind of animal.
    const isKind = /\p{L}{2}/u.test(category) && !/^\s*(?:yes|no)\s*$/i.test(category);
    return isKind ? { ...given, category: category.trim() } : undefined;
  }
  if (open?.is === "words") {
    const { column, words } = open;
    const told = await askWords(
      io,
      words.map((word) => ({ word, field: column })),
    );
    const statuses = new Map([...(given.statuses ?? []), ...told]);
    const columns = { ...given.columns, status: column };
    return told.size === words.length ? { ...given, columns, statuses } : undefined;
  }
  return open?.is === "status" || isStatusless
    ? { ...given, defaultStatus: "available" }
    : undefined;
}

interface Word {
  readonly word: string;
  readonly field: string;
  readonly records?: number;
}

/** What words of a status mean, as far as somebody says. */
async function askWords(io: Io, words: readonly Word[]): Promise<ReadonlyMap<string, Meaning>> {
  const told = new Map<string, Meaning>();
  for (const { word, field, records } of words) {
    const count = records === undefined ? "" : ` (${counted(records, "record")})`;
    const question = `What does ${JSON.stringify(word)} in ${field} mean${count}: ${meanings.join(", ")}? `;
    const answer = (await io.ask(question)).trim().toLowerCase();
    const meaning = meanings.find((each) => each === answer);
    if (meaning === undefined) return told;
    told.set(statusKey(word), meaning);
  }
  return told;
}

/** What the words mean that a preview does not know, as far as somebody says. */
export function askUnknownWords(
  io: Io,
  { causes }: ImportSummary,
): Promise<ReadonlyMap<string, Meaning>> {
  const words = causes.flatMap(({ unknownStatus: word, field, records }) =>
    word === undefined ? [] : { word, field, records },
  );
  return askWords(io, words);
}

/** True if somebody says that the new categories are to be made. */
export async function askCategories(
  io: Io,
  { causes, rejections }: ImportSummary,
): Promise<boolean> {
  if (!causes.some(({ unknownCategory }) => unknownCategory)) return false;
  const unknown = rejections.filter(({ unknownCategory }) => unknownCategory === true);
  const names = new Set(unknown.flatMap(({ problem }) => problem.values[0] ?? []));
  return isYes(await io.ask(`New categories: ${[...names].join(", ")}. Make them? [y/N] `));
}
