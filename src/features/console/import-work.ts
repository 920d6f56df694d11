/**
 * What the console asks of the import feature: to look at a person's list, and to import it. It
 * runs in a process of its own (`rehome __import`), which imports.ts starts, so that a large or
 * damaged list costs the console nothing but time, and its end ends everything of it.
 *
 * A change of the import feature keeps `workOnList`: it reads `work.file`, which is complete, and
 * returns what became of it. With `work.actor` it imports, else it changes nothing. It calls
 * `onStep` as it goes on, and `begins` before it changes anything: from then on its process is not
 * ended any more. What it returns crosses to the console as a structured clone: plain data with
 * bigint and Map, without functions, classes and errors.
 */
import { Command } from "commander";
import { beginOnStore } from "../../cli/command.ts";
import type { Io } from "../../cli/io.ts";
import { withServices } from "../../cli/open.ts";
import type { PetStatus } from "../../domain/pet.ts";
import type { Services } from "../../service/services.ts";
import { record } from "../../storage/records.ts";
import { sql, type Steps } from "../../storage/statement.ts";
import { changes } from "../animals/tables.ts";
import { catalogueOf } from "../import/catalogue.ts";
import { Rejects } from "../import/commands/import-report.ts";
import { mappedFormat, type MapTarget } from "../import/formats/field-map.ts";
import type { Format } from "../import/formats/format.ts";
import { Statuses, wordKey } from "../import/formats/statuses.ts";
import { importAnimals, type ImportProgress, type ImportSummary } from "../import/import.ts";
import { message, type Message } from "../import/messages.ts";
import { UnreadableInput } from "../import/read/input.ts";
import type { ReadOptions } from "../import/reading.ts";
import { UnknownFormat, unknownFormat } from "../import/unknown-format.ts";
import type { FailureCode } from "./words/index.ts";

/** What a column of an unknown file may hold. */
export const meanings = ["name", "category", "status", "id", "updatedAt"] as const;
export type Meaning = (typeof meanings)[number];

/** What a word for the status stands for: one of ours, none, or that the animal is gone. */
export type StatusMeaning = PetStatus | "none" | "gone";

/** What a person decides about a file. */
export interface ImportChoices {
  /** The column of each meaning, for a file whose kind is not known. */
  readonly columns: Readonly<Partial<Record<Meaning, string>>> | undefined;
  /** True to ask what the columns mean, of a file whose kind is known too. */
  readonly asksColumns: boolean;
  readonly statuses: Readonly<Record<string, StatusMeaning>>;
  /** Whose list it is, and so whose ids; "" as the format has it. */
  readonly source: string;
  /** The file is the whole list of its source: what it lacks is withdrawn. */
  readonly isComplete: boolean;
  /** Takes the good rows when others are bad. */
  readonly skipBad: boolean;
  /** The status of all animals, for a file that has none. */
  readonly everyStatus: Exclude<StatusMeaning, "gone"> | undefined;
  /** How the file turned out to be read, where that is not the usual way. */
  readonly found: FoundReading;
}

/** How a file is read that is not read in the usual way. */
export interface FoundReading {
  /** What its letters are, where they are not UTF-8. */
  readonly encoding?: string;
  /** The fields that lead to the list within its JSON. */
  readonly records?: readonly string[];
}

/** What is to be done with a list. */
export interface ListWork {
  readonly file: string;
  /** The file for the records that are not taken. */
  readonly rejects: string;
  readonly choices: ImportChoices;
  /** Who imports it; undefined to find out what would change, and to change nothing. */
  readonly actor?: string;
}

/** What there is to see before anything happens. */
export interface Preview extends ImportSummary {
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

/** What became of a list. `found` is how it is read from now on. */
export type ListOutcome = { readonly found: FoundReading } & (
  | { readonly is: "unknown"; readonly file: UnknownFile }
  /** Nothing in the file says whether its animals are for adoption. */
  | { readonly is: "statusless" }
  | { readonly is: "examined"; readonly preview: Preview }
  | { readonly is: "done"; readonly summary: ImportSummary; readonly changeId: bigint | undefined }
  | { readonly is: "failed"; readonly failure: Failure }
);

export interface ListWatch {
  readonly onStep: (step: ImportProgress) => void;
  readonly begins: () => void;
}

/** Looks at a list or imports it, as the import feature does by now. */
export async function workOnList(
  services: Services,
  work: ListWork,
  watch: ListWatch,
): Promise<ListOutcome> {
  for (let { found } = work.choices; ;) {
    try {
      return await outcomeOf(services, { ...work, choices: { ...work.choices, found } }, watch);
    } catch (error) {
      if (error instanceof UnknownFormat) return { is: "unknown", file: unknownOf(error), found };
      if (!(error instanceof UnreadableInput)) {
        const text = error instanceof Error ? error.message : String(error);
        return { is: "failed", failure: { line: 0, problem: message("other", text) }, found };
      }
      const { line, problem } = error;
      if (problem.code === "statusMissing") return { is: "statusless", found };
      const other = otherReading(problem, found);
      if (other === undefined) return { is: "failed", failure: { line, problem }, found };
      found = other;
    }
  }
}

async function outcomeOf(
  { store, clock }: Services,
  { file, rejects: rejectsFile, choices, actor }: ListWork,
  { onStep, begins }: ListWatch,
): Promise<ListOutcome> {
  const { found } = choices;
  const catalogue = catalogueOf(store);
  using rejects = Rejects.open(rejectsFile, true);
  const summary = await importAnimals(catalogue, {
    input: Bun.file(file).stream(),
    read: readOptions(choices),
    categories: [],
    createCategories: true,
    complete: choices.isComplete,
    // The preview has shown how many would be withdrawn.
    confirmed: true,
    actor: actor ?? "",
    nowMs: clock,
    skipBad: choices.skipBad,
    dryRun: actor === undefined,
    onReject: (rejection) => rejects.add(rejection),
    onProgress(step) {
      if (step.phase === "storing") begins();
      onStep(step);
    },
    sleep: Bun.sleep,
    stop: new AbortController().signal,
  });
  rejects.end();
  if (actor === undefined) {
    const known = await catalogue.categories();
    const categories = new Map(known.map(({ id, name }) => [id, name]));
    return { is: "examined", preview: { ...summary, categories }, found };
  }
  const { applied, added, updated, withdrawn } = summary;
  const isChange = applied && added + updated + withdrawn > 0;
  const changeId = isChange ? await store.read(() => lastImport(actor)) : undefined;
  return { is: "done", summary, changeId, found };
}

/** The number of somebody's last import. */
function* lastImport(actor: string): Steps<bigint | undefined> {
  const last = sql`WHERE actor = ${actor} AND action = 'import' ORDER BY id DESC LIMIT 1`;
  return (yield* record(changes, last))?.id;
}

/** What spreadsheets on Windows write in Western Europe where they do not write UTF-8. */
const windowsEncoding = "windows-1252";

/** Another way to read a file that cannot be read as `found` says; undefined if there is none. */
function otherReading(
  { code, values: [value = ""] }: Message,
  found: FoundReading,
): FoundReading | undefined {
  if (code === "listWithin" && found.records === undefined) {
    return { ...found, records: value.split(".") };
  }
  if (found.encoding !== undefined) return undefined;
  if (code === "notUtf8") return { ...found, encoding: windowsEncoding };
  if (code === "utf16Unmarked") return { ...found, encoding: value };
  return undefined;
}

/** The import feature's names for what a column holds. */
const targets: Readonly<Record<Meaning, MapTarget>> = {
  name: "name",
  category: "categoryId",
  status: "status",
  id: "externalId",
  updatedAt: "updatedAt",
};

/** Makes of a file of any kind one of an unknown kind, so that a person says what it holds. */
const askedFormat: Format = {
  name: "asked",
  title: "asked",
  recognises: () => false,
  mapper(sample, context) {
    return unknownFormat(sample).mapper(sample, context);
  },
};

function readOptions(choices: ImportChoices): ReadOptions {
  const { columns, asksColumns, statuses, source, everyStatus, found } = choices;
  const words = new Map(Object.entries(statuses).map(([word, each]) => [wordKey(word), each]));
  const map = Object.entries(columns ?? {}).map(
    ([meaning, column]) => [targets[meaning as Meaning], column] as const,
  );
  return {
    ...found,
    ...(asksColumns && { format: askedFormat }),
    ...(columns !== undefined && { format: mappedFormat(new Map(map)) }),
    ...(source !== "" && { source }),
    statuses: new Statuses(words, everyStatus),
  };
}

function unknownOf({ columns, rows, map }: UnknownFormat): UnknownFile {
  const guess = meanings.flatMap((meaning) => {
    const column = map.get(targets[meaning]);
    return column === undefined ? [] : [[meaning, column] as const];
  });
  return { columns, rows: rows.map((row) => row.map(plain)), guess: Object.fromEntries(guess) };
}

/** A value without the quotes around it in which messages show a text. */
function plain(shown: string): string {
  if (!/^".*"$/s.test(shown)) return shown;
  try {
    return String(JSON.parse(shown));
  } catch {
    // It was cut off within an escape.
    return shown.slice(1, -1);
  }
}

/** What the process says: how far it is, that it changes something from now on, or its end. */
export type WorkMessage =
  { readonly step: ImportProgress } | { readonly begins: true } | { readonly outcome: ListOutcome };

/** `rehome __import`: does one piece of work that its parent sends, and ends. */
export function importCommand(io: Io): Command {
  const command = new Command("__import").description("a list in the console; it starts this");
  return command.action(async () => {
    const { promise: work, resolve } = Promise.withResolvers<ListWork>();
    process.on("message", resolve);
    const say = (said: WorkMessage) => void process.send?.(said);
    await withServices(beginOnStore(command, io).config, io, async (services) => {
      const outcome = await workOnList(services, await work, {
        onStep: (step) => say({ step }),
        begins: () => say({ begins: true }),
      });
      say({ outcome });
    });
    process.disconnect?.();
  });
}
