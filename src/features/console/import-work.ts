/**
 * What the console asks of the import feature: to look at a person's list, and to import it. It
 * runs in a process of its own (`rehome __import`), which imports.ts starts, so that a large or
 * damaged list costs the console nothing but time, and its end ends everything of it.
 *
 * `workOnList` reads `work.file`, which is complete, and returns what became of it. With
 * `work.actor` it imports, else it changes nothing. It calls `begins` before it changes anything:
 * from then on its process is not ended any more. What it returns crosses to the console as a
 * structured clone: plain data with bigint and Map, without functions, classes and errors.
 */
import { Command } from "commander";
import { count, like } from "drizzle-orm";
import { beginOnStore } from "../command.ts";
import type { Io } from "../../cli/io.ts";
import { withServices } from "../with-services.ts";
import type { Services } from "../../service/services.ts";
import type { Database, Tx } from "../../storage/database.ts";
import { getMeta } from "../../storage/store-state.ts";
import { layoutMeta, setMeta } from "../meta.ts";
import { namedCategories } from "../animals/categories.ts";
import { Rejects } from "../import/commands/rejects.ts";
import { previewImport, runImport } from "../import/do/import.ts";
import type { ImportSummary } from "../import/do/summary.ts";
import { message, type Message } from "../import/messages.ts";
import { UnreadableInput } from "../import/read/input.ts";
import type { Part } from "../import/read/read.ts";
import type { MapTarget } from "../import/understand/map.ts";
import { type Given, type Proposal, propose } from "../import/understand/propose.ts";
import { statusKey } from "../import/understand/statuses.ts";
import type { Meaning as StatusMeaning } from "../import/understand/words.ts";
import { refuseRemoved } from "./people.ts";
import type { FailureCode } from "./words/index.ts";

/** What a column of an unknown file may hold. */
export const meanings = ["name", "category", "status", "id", "updatedAt"] as const;
export type Meaning = (typeof meanings)[number];

export type { StatusMeaning };

export interface ImportChoices {
  /** The column of each meaning, for a file whose kind is not known. */
  readonly columns: Readonly<Partial<Record<Meaning, string>>> | undefined;
  /** True to ask what the columns mean, of a file whose kind is known too. */
  readonly asksColumns: boolean;
  /** The category of all animals, for a file without a column of it; else "". */
  readonly category: string;
  readonly statuses: Readonly<Record<string, StatusMeaning>>;
  /** Whose list it is, and so whose ids; "" as the format has it. */
  readonly source: string;
  /** The file is the whole list of its source: what it lacks is withdrawn. */
  readonly isComplete: boolean;
  /** Takes the good rows when others are bad. */
  readonly skipBad: boolean;
  /** The status of all animals, for a file that has none. */
  readonly everyStatus: Exclude<StatusMeaning, "gone"> | undefined;
  /** The sheet or list, where a file has several. */
  readonly part: Part;
  /** Lines of animals that are not the one here of their name and category. */
  readonly others: readonly number[] | "all";
}

/** True if the animal on a line is not the one here of its name and category. */
export const isOther = ({ others }: ImportChoices, line: number): boolean =>
  others === "all" || others.includes(line);

/** What is remembered of the choices for the next list with the same columns. */
const remembered = ["columns", "category", "statuses", "everyStatus", "source"] as const;
/** Layouts that a store remembers: more than anybody has. */
const layoutsMax = 200;

export interface ListWork {
  readonly file: string;
  /** What a person calls it; it may tell the kind of all animals. */
  readonly name: string;
  /** The file for the records that are not taken. */
  readonly rejects: string;
  readonly choices: ImportChoices;
  /** True to read it as the last list of its layout, where the choices say nothing. */
  readonly recalls?: boolean | undefined;
  /** Who imports it; undefined to find out what would change, and to change nothing. */
  readonly actor?: string;
}

/** What an import is, or would be, without what its process keeps: plain data. */
export interface ListSummary extends Omit<ImportSummary, "refusal" | "rejections"> {
  /** True if it is not the whole list that it should be. */
  readonly isRefused: boolean;
}

/** What there is to see before anything happens. */
export interface Preview extends ListSummary {
  /** The names of the categories by their ids. */
  readonly categories: ReadonlyMap<bigint, string>;
}

/** A file of a kind that is not known: its columns and first rows, to say what they mean. */
export interface UnknownFile {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** What the names and values of the columns look like. */
  readonly guess: Readonly<Partial<Record<Meaning, string>>>;
}

/** Why a file cannot be imported: in a message, with the line or 0, or by the code of a failure. */
export type Failure =
  { readonly line: number; readonly problem: Message } | { readonly code: FailureCode };

export type ListOutcome =
  | { readonly is: "unknown"; readonly file: UnknownFile }
  /** Nothing in the file says whether its animals are for adoption. */
  | { readonly is: "statusless" }
  | { readonly is: "several"; readonly parts: readonly Part[] }
  /** With the choices that were made for the last list of its layout. */
  | { readonly is: "examined"; readonly preview: Preview; readonly recalled?: ImportChoices }
  | { readonly is: "done"; readonly summary: ListSummary }
  | { readonly is: "failed"; readonly failure: Failure };

/** Looks at a list or imports it, as the import feature does by now. */
export async function workOnList(
  services: Services,
  work: ListWork,
  begins: () => void,
): Promise<ListOutcome> {
  const { columns, everyStatus } = work.choices;
  // A person who left the status open is asked for it: nothing is guessed in its place.
  if (columns !== undefined && columns.status === undefined && everyStatus === undefined) {
    return { is: "statusless" };
  }
  try {
    return await outcomeOf(services, work, begins);
  } catch (error) {
    if (!(error instanceof UnreadableInput)) {
      const text = error instanceof Error ? error.message : String(error);
      return { is: "failed", failure: { line: 0, problem: message("other", text) } };
    }
    const { line, problem } = error;
    return { is: "failed", failure: { line, problem } };
  }
}

/** What a person is asked of a list before it can be read. */
function askedOf(proposal: Proposal): ListOutcome {
  const [question] = proposal.open;
  if (question?.is === "part") return { is: "several", parts: question.parts };
  if (question?.is === "status" && proposal.columns.length === 0) return { is: "statusless" };
  return { is: "unknown", file: unknownOf(proposal) };
}

async function outcomeOf(
  { store: { db }, clock }: Services,
  work: ListWork,
  begins: () => void,
): Promise<ListOutcome> {
  const { name, rejects: rejectsFile, actor } = work;
  let { choices } = work;
  let layout = "";
  let recalled: ImportChoices | undefined;
  // Its size was bounded when it came. A stream of it would take twice as much memory.
  const bytes = await Bun.file(work.file).bytes();
  const proposal = await propose(bytes, givenBy(choices, name), async (columns) => {
    layout = layoutOf(columns);
    if (work.recalls === true) recalled = await recall(db, layout, choices);
    choices = recalled ?? choices;
    return givenBy(choices, name);
  });
  const { prepared } = proposal;
  if (prepared === undefined) return askedOf(proposal);
  const options = optionsOf(choices);
  using rejects = Rejects.open(rejectsFile, true);
  if (actor === undefined) {
    const found = await previewImport(db, prepared, options);
    rejects.write(found.rejections, bytes.length);
    const named = await db.read(namedCategories);
    const categories = new Map(named.map((each) => [each.id, each.name]));
    const preview = { ...plainSummary(found), categories };
    return { is: "examined", preview, ...(recalled !== undefined && { recalled }) };
  }
  begins();
  const allows = (tx: Tx) => refuseRemoved(tx, actor);
  const done = await runImport({ db, clock, actor, allows }, prepared, options);
  rejects.write(done.rejections, bytes.length);
  await remember(db, layout, choices);
  return { is: "done", summary: plainSummary(done) };
}

const optionsOf = (choices: ImportChoices) => ({
  createCategories: true,
  complete: choices.isComplete,
  // The preview has shown how many would be withdrawn.
  confirmed: true,
  skipBad: choices.skipBad,
  isSame: (line: number) => !isOther(choices, line),
});

const layoutOf = (columns: readonly string[]): string =>
  `${layoutMeta}${new Bun.CryptoHasher("sha256").update(JSON.stringify(columns)).digest("hex")}`;

/** The choices with those that were made for the last list of a layout; undefined without one. */
async function recall(
  db: Database,
  layout: string,
  choices: ImportChoices,
): Promise<ImportChoices | undefined> {
  const stored = await db.read((tx) => getMeta(tx, layout));
  if (stored === undefined) return undefined;
  const known = JSON.parse(stored) as Partial<ImportChoices>;
  return { ...choices, ...known, source: choices.source || (known.source ?? "") };
}

async function remember(db: Database, layout: string, choices: ImportChoices): Promise<void> {
  const value = Object.fromEntries(remembered.map((name) => [name, choices[name]]));
  await db.transaction(async (tx) => {
    const { storeState } = tx.t;
    const isLayout = like(storeState.name, `${layoutMeta}%`);
    const [known] = await tx.select({ layouts: count() }).from(storeState).where(isLayout);
    if (Number(known?.layouts) >= layoutsMax) {
      await tx.delete(storeState).where(isLayout);
    }
    await setMeta(tx, layout, JSON.stringify(value));
  });
}

function plainSummary(summary: ImportSummary): ListSummary {
  const { refusal, rejections: _rejections, ...plain } = summary;
  return { ...plain, isRefused: refusal !== undefined };
}

/** The import feature's names for what a column holds. */
export const targets: Readonly<Record<Meaning, MapTarget>> = {
  name: "name",
  category: "categoryId",
  status: "status",
  id: "externalId",
  updatedAt: "updatedAt",
};

function givenBy(choices: ImportChoices, called: string): Given {
  const { columns, asksColumns, category, statuses, source, everyStatus, part } = choices;
  const words = Object.entries(statuses).map(([word, each]) => [statusKey(word), each] as const);
  const map = Object.entries(columns ?? {}).map(
    ([meaning, column]) => [targets[meaning as Meaning], column] as const,
  );
  return {
    columns: columns && Object.fromEntries(map),
    asksColumns,
    category: category === "" ? undefined : category,
    source: source === "" ? undefined : source,
    statuses: new Map(words),
    defaultStatus: everyStatus,
    called,
    ...part,
  };
}

function unknownOf({ columns, rows, guess: map }: Proposal): UnknownFile {
  const guess = meanings.flatMap((meaning) => {
    const column = map[targets[meaning]];
    return column === undefined ? [] : [[meaning, column] as const];
  });
  return { columns, rows, guess: Object.fromEntries(guess) };
}

/** What the process says: that it changes something from now on, or its end. */
export type WorkMessage = { readonly begins: true } | { readonly outcome: ListOutcome };

/** `rehome __import`: does one piece of work that its parent sends, and ends. */
export function importCommand(io: Io): Command {
  const command = new Command("__import").description("a list in the console; it starts this");
  return command.action(async () => {
    const sent = new Promise<ListWork>((resolve) => process.on("message", resolve));
    // A console that was killed sends and hears nothing more: to wait for it would take a core.
    const gone = new Promise<undefined>((resolve) =>
      process.on("disconnect", () => resolve(undefined)),
    );
    // What is not sent by then is lost with the channel.
    const say = (said: WorkMessage) =>
      Promise.race([
        gone,
        new Promise<void>((done) => process.send?.(said, undefined, undefined, () => done())),
      ]);
    const loaded = beginOnStore(command, io);
    await withServices(loaded.config, io, async (services) => {
      const work = await Promise.race([sent, gone]);
      if (work === undefined) return;
      const begins = () => void say({ begins: true });
      await say({ outcome: await workOnList(services, work, begins) });
    });
    process.disconnect?.();
  });
}
