/**
 * What the console asks of the import feature, in a process of its own (`rehome __import`): a large
 * or damaged list costs the console nothing but time. What crosses is plain data.
 */
import { deserialize, serialize } from "bun:jsc";
import { Command } from "commander";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import type { Io } from "../../cli/io.ts";
import type { Services } from "../../service/services.ts";
import type { Database, Tx } from "../../storage/database.ts";
import { type Category, categoryKey, namedCategories } from "../animals/categories.ts";
import { beginOnStore } from "../command.ts";
import { ImportRefused, previewImport, recallReading, runImport } from "../import/import.ts";
import type { ImportSummary } from "../import/report.ts";
import { message, type Message } from "../import/messages.ts";
import type { ImportOptions } from "../import/plan/plan.ts";
import { UnreadableInput } from "../import/read/input.ts";
import type { FieldMap } from "../import/understand/columns.ts";
import {
  columnsIn,
  type Given,
  type Prepared,
  propose,
  type Question,
  readList,
} from "../import/understand/propose.ts";
import { withServices } from "../with-services.ts";
import { alikeCategory } from "./animals.ts";
import { refuseRemoved } from "./people.ts";
import type { FailureCode } from "./words/index.ts";

export interface Answers extends Given {
  /** The file is the whole list of its source; undefined as it was last. */
  readonly isComplete?: boolean | undefined;
  /** The list is right of every animal, whatever people changed. */
  readonly listWins?: boolean;
  /** What new categories are that are called nearly like one here: `same` or `new`, by name. */
  readonly kinds: ReadonlyMap<string, string>;
  /** Lines of animals that are not the one here of their name and category. */
  readonly others?: readonly number[] | "all";
}

export const noAnswers: Answers = {
  kinds: new Map(),
  statuses: new Map(),
  believed: [],
  ignored: [],
  listWins: false,
  others: [],
};

/** True if the animal on a line is not the one here of its name and category. */
export const isOther = ({ others = [] }: Answers, line: number): boolean =>
  others === "all" || others.includes(line);

/** Takes the good rows when others are bad, and withdraws more than half of a whole list. */
export interface Agreed {
  readonly skipBad: boolean;
  readonly mostMissing: boolean;
}

export interface ListWork {
  readonly file: string;
  /** What a person calls it; it may tell the kind of all animals. */
  readonly name: string;
  readonly answers: Answers;
  readonly agreed?: Agreed | undefined;
  /** Who imports it; undefined to find out what would change, and to change nothing. */
  readonly actor?: string;
}

export const beside = (file: string, what: "work" | "begun" | "outcome"): string =>
  `${file}.${what}`;

/** What an import is, or would be, without what its process keeps: plain data. */
export interface ListSummary extends Omit<ImportSummary, "refusal" | "rejections"> {
  /** Why it would be refused as a whole: a code, or "" for a list that is not the whole one. */
  readonly refused: string | undefined;
}

/** Whether a new category is the one here that is called nearly like it: `kinds`. */
type KindQuestion = { readonly is: "kind"; readonly name: string; readonly alike: Category };

const kindsIn = (names: readonly string[], here: readonly Category[]): KindQuestion[] =>
  names.flatMap((name) => {
    const alike = alikeCategory(name, here);
    return alike === undefined ? [] : [{ is: "kind", name, alike }];
  });

export interface Look {
  readonly open: readonly (Question | KindQuestion)[];
  /** The columns and first rows, to say what they mean, and what they are thought to hold. */
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly guess: FieldMap;
  /** Undefined until what is open is answered. */
  readonly summary: ListSummary | undefined;
  readonly isRecalled: boolean;
  readonly isComplete: boolean;
  readonly source: string;
}

/** Why a file cannot be imported: in a message, with the line or 0, or by the code of a failure. */
export type Failure =
  { readonly line: number; readonly problem: Message } | { readonly code: FailureCode };

export type ListOutcome =
  | { readonly is: "examined"; readonly look: Look }
  | { readonly is: "done"; readonly summary: ListSummary }
  | { readonly is: "failed"; readonly failure: Failure };

/** Imports with `work.actor`, else changes nothing. After `begins` its process is not ended. */
export async function workOnList(
  services: Services,
  work: ListWork,
  begins: () => void,
): Promise<ListOutcome> {
  try {
    return await outcomeOf(services, work, begins);
  } catch (error) {
    if (error instanceof UnreadableInput) {
      const { line, problem } = error;
      return { is: "failed", failure: { line, problem } };
    }
    const text = error instanceof Error ? error.message : String(error);
    return { is: "failed", failure: { line: 0, problem: message("other", text) } };
  }
}

async function outcomeOf(
  services: Services,
  work: ListWork,
  begins: () => void,
): Promise<ListOutcome> {
  const { db } = services.store;
  const { answers, actor } = work;
  const { prepared, ...look } = await lookAt(db, work);
  if (prepared === undefined) return { is: "examined", look: { ...look, summary: undefined } };
  const here = await db.read(namedCategories);
  const options = optionsOf(work, look.isComplete, here);
  if (actor !== undefined) {
    begins();
    return { is: "done", summary: plain(await imported(services, actor, prepared, options)) };
  }
  const summary = plain(await previewImport(db, prepared, options));
  // Whose list it is has to be said.
  const source = summary.refused === "otherList" ? "" : look.source;
  const added = summary.categoriesAdded.map(({ name }) => name);
  const asked = kindsIn([...new Set([...answers.kinds.keys(), ...added])], here);
  const open = [...look.open, ...asked];
  return { is: "examined", look: { ...look, open, source, summary } };
}

function plain(summary: ImportSummary): ListSummary {
  const { refusal, rejections: _, ...rest } = summary;
  return { ...rest, refused: refusal && (refusal.code ?? "") };
}

/** How the list is read, and what is open about it, whatever is in the store. */
async function lookAt(db: Database, { file, name, answers }: ListWork) {
  const { columns: chosen, asksColumns } = answers;
  const given = { ...answers, called: name };
  // Its size was bounded when it came. A stream of it would take twice as much memory.
  const bytes = await Bun.file(file).bytes();
  const list = readList(bytes, given);
  const recall = (tx: Tx) => recallReading(tx, columnsIn(list), given.source);
  const known = "parts" in list ? undefined : await db.read(recall);
  const proposal = propose(list, given, chosen ? undefined : known?.reading);
  const { columns, rows, reading } = proposal;
  // A person who left the status open is asked for it: nothing is guessed in its place.
  const isStatusOpen = chosen !== undefined && !chosen.status && !answers.defaultStatus;
  const prepared = isStatusOpen ? undefined : proposal.prepared;
  const source = prepared?.reading.source ?? answers.source ?? reading?.source ?? "";
  return {
    prepared,
    open: isStatusOpen ? [{ is: "status" } as const] : proposal.open,
    columns,
    rows,
    guess: (asksColumns ? known?.reading.columns : undefined) ?? reading?.columns ?? {},
    isRecalled: known !== undefined && chosen === undefined && !asksColumns,
    isComplete: (answers.isComplete ?? known?.isWhole ?? false) && source !== "",
    source,
  };
}

async function imported(
  { store: { db }, clock }: Services,
  actor: string,
  prepared: Prepared,
  options: ImportOptions,
): Promise<ImportSummary> {
  const allows = (tx: Tx) => refuseRemoved(tx, actor);
  const editing = { db, clock, actor, allows, remembers: true };
  return runImport(editing, prepared, options).catch((error: unknown) => {
    // What changed since the preview is shown as one.
    if (error instanceof ImportRefused) return error.summary;
    throw error;
  });
}

function optionsOf(
  { answers, agreed }: ListWork,
  complete: boolean,
  here: readonly Category[],
): ImportOptions {
  const same = [...answers.kinds.keys()].filter((name) => answers.kinds.get(name) === "same");
  return {
    createCategories: true,
    complete,
    confirmed: agreed?.mostMissing ?? false,
    skipBad: agreed?.skipBad ?? false,
    listWins: answers.listWins ?? false,
    isSame: (line) => !isOther(answers, line),
    meant: new Map(kindsIn(same, here).map(({ name, alike }) => [categoryKey(name), alike.id])),
  };
}

/** `rehome __import FILE`: does the work that lies beside the file of a list. */
export function importCommand(io: Io): Command {
  const command = new Command("__import").argument("<file>");
  return command.description("a list in the console; it starts this").action(async (file) => {
    const loaded = beginOnStore(command, io);
    await withServices(loaded.config, io, async (services) => {
      const work = deserialize(readFileSync(beside(file, "work"))) as ListWork;
      const begins = () => writeFileSync(beside(file, "begun"), "");
      const outcome = await workOnList(services, work, begins);
      // Under its name it is whole: this process may be ended while it writes.
      const whole = beside(file, "outcome");
      writeFileSync(`${whole}.part`, new Uint8Array(serialize(outcome)));
      renameSync(`${whole}.part`, whole);
    });
  });
}
