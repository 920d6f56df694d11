import { rmSync } from "node:fs";
import { basename } from "node:path";
import type { PetStatus } from "../../domain/pet.ts";
import { message, type Message } from "../import/messages.ts";
import type { ImportProgress, ImportSummary } from "../import/import.ts";
import { UnreadableInput } from "../import/read/input.ts";
import type { ImportEngine } from "./import-engine.ts";

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

/** What there is to see before anything happens. */
export interface Preview extends ImportSummary {
  readonly found: FoundReading;
  /** The names of the categories by their ids. */
  readonly categories: ReadonlyMap<bigint, string>;
}

/** Unknown words for the status, most frequent first. */
export function unknownWords({ causes }: Preview): readonly string[] {
  return causes.flatMap(({ unknownStatus }) => unknownStatus ?? []);
}

/** A file of a kind that is not known: its columns and first rows, to say what they mean. */
export interface UnknownFile {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** What the names and values of the columns look like. */
  readonly guess: Readonly<Partial<Record<Meaning, string>>>;
}

type ImportState =
  | { readonly is: "working"; readonly step: ImportProgress }
  | { readonly is: "unknown"; readonly file: UnknownFile }
  /** Nothing in the file says whether its animals are for adoption. */
  | { readonly is: "statusless" }
  | { readonly is: "examined"; readonly preview: Preview }
  | { readonly is: "done"; readonly summary: ImportSummary; readonly changeId: bigint | undefined }
  | { readonly is: "failed"; readonly failure: Failure };

/** Why a file cannot be imported: in a message, or in the words of an error. */
export interface Failure {
  /** The line of the file; 0 for the file as a whole. */
  readonly line: number;
  readonly problem: Message;
}

export const firstChoices: ImportChoices = {
  columns: undefined,
  asksColumns: false,
  statuses: {},
  source: "",
  isComplete: false,
  skipBad: false,
  everyStatus: undefined,
  found: {},
};
const beginning: ImportProgress = { phase: "reading", done: 0, total: undefined };

/** One file of one person, from its arrival to its end. */
export class ImportJob {
  readonly name: string;
  readonly file: string;
  readonly rejects: string;
  choices = firstChoices;
  state: ImportState = { is: "working", step: beginning };
  readonly #engine: ImportEngine;
  readonly #stop = new AbortController();
  #readings = 0;
  #unknown: UnknownFile | undefined;
  #work: Promise<void> = Promise.resolve();

  constructor(engine: ImportEngine, name: string, file: string) {
    this.#engine = engine;
    this.name = name;
    this.file = file;
    this.rejects = `${file}.rejects`;
  }

  /** Tells what is shown now from what another tab of the person shows. */
  get reading(): string {
    return `${basename(this.file)}.${this.#readings}`;
  }

  /** Finds out what the file would change, in the background. */
  examine(choices: ImportChoices): void {
    this.choices = choices;
    this.#readings += 1;
    this.#begin(async () => {
      const { found, ...state } = await this.#engine.examine(this.file, choices, {
        rejects: this.rejects,
        onStep: (step) => (this.state = { is: "working", step }),
        stop: this.#stop.signal,
      });
      this.choices = { ...choices, found };
      if (state.is === "unknown") this.#unknown = state.file;
      return state;
    });
  }

  /** Asks what the columns mean, again or of a file whose kind was found. */
  askColumns(): void {
    if (this.#unknown !== undefined) this.state = { is: "unknown", file: this.#unknown };
    else this.examine({ ...this.choices, asksColumns: true });
  }

  /** Imports the file, in the background. */
  run(choices: ImportChoices, actor: string): void {
    this.choices = choices;
    this.#begin(async () => ({
      is: "done",
      ...(await this.#engine.run(this.file, choices, {
        rejects: this.rejects,
        actor,
        onStep: (step) => (this.state = { is: "working", step }),
        stop: this.#stop.signal,
      })),
    }));
  }

  /** Stops what is under way, and removes the file. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#work;
    for (const file of [this.file, this.rejects]) rmSync(file, { force: true });
  }

  /** Resolves when the work under way is done, or after a moment: most files need no more. */
  async settled(maxMs: number): Promise<void> {
    await Promise.race([this.#work, Bun.sleep(maxMs)]);
  }

  #begin(work: () => Promise<ImportState>): void {
    this.state = { is: "working", step: beginning };
    this.#work = work().then(
      (state) => void (this.state = state),
      (error: unknown) => {
        this.state = { is: "failed", failure: failureOf(error) };
      },
    );
  }
}

function failureOf(error: unknown): Failure {
  if (error instanceof UnreadableInput) return error;
  const text = error instanceof Error ? error.message : String(error);
  return { line: 0, problem: message("other", text) };
}
