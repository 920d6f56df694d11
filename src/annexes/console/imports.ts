import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { PetStatus } from "../../domain/pet.ts";
import { AppError } from "../../domain/errors.ts";
import type { Message } from "../import/messages.ts";
import type { Note } from "../import/notes.ts";

/** What a column of an unknown file may hold. */
export const meanings = ["name", "category", "status", "id", "updatedAt"] as const;
export type Meaning = (typeof meanings)[number];

/** What a word for the status stands for: one of ours, none, or that the animal is gone. */
export type StatusMeaning = PetStatus | "none" | "gone";

/** What a person decides about a file. */
export interface ImportChoices {
  /** The column of each meaning, for a file whose kind is not known. */
  readonly columns: Readonly<Partial<Record<Meaning, string>>> | undefined;
  readonly statuses: Readonly<Record<string, StatusMeaning>>;
  /** Whose list it is, and so whose ids; "" as the format has it. */
  readonly source: string;
  /** The file is the whole list of its source: what it lacks is withdrawn. */
  readonly isComplete: boolean;
  /** Takes the good rows when others are bad. */
  readonly skipBad: boolean;
}

export interface BadRows {
  /** The column at fault; empty for the row as a whole. */
  readonly field: string;
  readonly problem: Message;
  readonly count: number;
  readonly firstLines: readonly number[];
}

export interface SampleAnimal {
  readonly name: string;
  readonly category: string;
  readonly status: PetStatus | undefined;
  readonly externalId: string | undefined;
}

/** What an import did, or would do. The records that were read are those that follow, added up. */
export interface ImportCount {
  readonly read: number;
  readonly added: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly withdrawn: number;
  readonly superseded: number;
  readonly rejected: number;
  readonly skipped: number;
}

/** What there is to see before anything happens. */
export interface Preview {
  readonly kind: "preview";
  readonly format: string;
  readonly counts: ImportCount;
  readonly newCategories: readonly string[];
  readonly sample: readonly SampleAnimal[];
  readonly bad: readonly BadRows[];
  readonly notes: readonly Note[];
  /** Words for the status that nobody knows, most frequent first. */
  readonly unknownWords: readonly string[];
}

/** A file of a kind that is not known: its columns and first rows, to say what they mean. */
export interface UnknownFile {
  readonly kind: "unknown";
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** What the names and values of the columns look like. */
  readonly guess: Readonly<Partial<Record<Meaning, string>>>;
}

export interface Imported {
  readonly counts: ImportCount;
  readonly changeId: bigint | undefined;
}

export interface ImportStep {
  readonly phase: "reading" | "storing";
  readonly done: number;
  readonly total: number | undefined;
}

/** What reads and imports files; the import annex behind a narrow door. */
export interface ImportEngine {
  /** Reads the file and changes nothing. Bad rows go to the file `rejects`. */
  examine(
    file: string,
    choices: ImportChoices,
    work: { readonly rejects: string; readonly onStep: (step: ImportStep) => void },
  ): Promise<Preview | UnknownFile>;
  run(
    file: string,
    choices: ImportChoices,
    work: {
      readonly rejects: string;
      readonly actor: string;
      readonly onStep: (step: ImportStep) => void;
      readonly stop: AbortSignal;
    },
  ): Promise<Imported>;
}

export type ImportState =
  | { readonly is: "working"; readonly step: ImportStep }
  | { readonly is: "unknown"; readonly file: UnknownFile }
  | { readonly is: "examined"; readonly preview: Preview }
  | { readonly is: "done"; readonly imported: Imported }
  | { readonly is: "failed"; readonly message: string };

const firstChoices: ImportChoices = {
  columns: undefined,
  statuses: {},
  source: "",
  isComplete: false,
  skipBad: false,
};
const beginning: ImportStep = { phase: "reading", done: 0, total: undefined };

/** One file of one person, from its arrival to its end. */
export class ImportJob {
  readonly name: string;
  readonly file: string;
  readonly rejects: string;
  choices = firstChoices;
  state: ImportState = { is: "working", step: beginning };
  readonly #engine: ImportEngine;
  readonly #stop = new AbortController();
  #work: Promise<void> = Promise.resolve();

  constructor(engine: ImportEngine, name: string, file: string) {
    this.#engine = engine;
    this.name = name;
    this.file = file;
    this.rejects = `${file}.rejects`;
  }

  /** Finds out what the file would change, in the background. */
  examine(choices: ImportChoices): void {
    this.choices = choices;
    this.#begin(async () => {
      const found = await this.#engine.examine(this.file, choices, {
        rejects: this.rejects,
        onStep: (step) => (this.state = { is: "working", step }),
      });
      return found.kind === "unknown"
        ? { is: "unknown", file: found }
        : { is: "examined", preview: found };
    });
  }

  /** Imports the file, in the background. */
  run(choices: ImportChoices, actor: string): void {
    this.choices = choices;
    this.#begin(async () => ({
      is: "done",
      imported: await this.#engine.run(this.file, choices, {
        rejects: this.rejects,
        actor,
        onStep: (step) => (this.state = { is: "working", step }),
        stop: this.#stop.signal,
      }),
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
        const message = error instanceof Error ? error.message : String(error);
        this.state = { is: "failed", message };
      },
    );
  }
}

/** The files that people are importing: one a person, in a folder that nobody else can read. */
export class ImportDesk {
  readonly #folder: string;
  readonly #engine: ImportEngine;
  readonly #jobs = new Map<string, ImportJob>();
  readonly #arriving = new Set<string>();
  #lastFile = 0;

  /** Begins with an empty folder: what a console left there that was killed is nobody's. */
  constructor(folder: string, engine: ImportEngine) {
    this.#folder = folder;
    this.#engine = engine;
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  }

  job(personId: string): ImportJob | undefined {
    return this.#jobs.get(personId);
  }

  /**
   * Takes a file in with `receive`, in place of the person's last one, and begins to read it.
   * Throws `unavailable` while another file of theirs arrives or is being imported. Undefined when
   * no file was chosen.
   */
  async take(
    personId: string,
    receive: (path: string) => Promise<{ readonly name: string; readonly bytes: number }>,
  ): Promise<ImportJob | undefined> {
    if (this.#arriving.has(personId)) {
      throw new AppError("unavailable", "You are still uploading another file.");
    }
    this.#arriving.add(personId);
    const file = join(this.#folder, `${(this.#lastFile += 1)}`);
    try {
      const { name, bytes } = await receive(file);
      if (bytes === 0) {
        rmSync(file, { force: true });
        return undefined;
      }
      await this.drop(personId);
      const job = new ImportJob(this.#engine, name, file);
      this.#jobs.set(personId, job);
      job.examine(firstChoices);
      return job;
    } catch (error) {
      rmSync(file, { force: true });
      throw error;
    } finally {
      this.#arriving.delete(personId);
    }
  }

  async drop(personId: string): Promise<void> {
    const job = this.#jobs.get(personId);
    this.#jobs.delete(personId);
    await job?.close();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#jobs.keys()].map((id) => this.drop(id)));
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
