/** The lists that people bring: their files, and the processes that read and import them. */
import { deserialize, serialize } from "bun:jsc";
import {
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { dataFolderOf, type Config, type EnvironmentVariables } from "../../config.ts";
import { minuteMs, type Clock } from "../../domain/clock.ts";
import { reasonOf } from "../../domain/system-error.ts";
import { runJob, tooMuchMemory } from "../schedule/child.ts";
import {
  beside,
  noAnswers,
  type Agreed,
  type Answers,
  type ListOutcome,
  type ListWork,
} from "./import-work.ts";
import { failure } from "./words/index.ts";

/** Files of all people at a time, and how long each is kept: their space on disk is bounded. */
const filesMax = 4;
const keptMs = 60 * minuteMs;
/** Each file has a folder of its own, which nobody else can read or foresee. */
const folderPrefix = "rehome-console-upload-";

/** Where they are: in the data folder, or with a database in the temporary one. */
export const uploadsPlace = (config: Config): string => dataFolderOf(config) ?? tmpdir();
const readMaxMs = 60_000;

export interface Running {
  readonly outcome: Promise<ListOutcome>;
  /** True once it may have changed something. */
  hasBegun(): boolean;
  /** Ends it, unless it has begun: then it resolves when that is done. */
  stop(): Promise<void>;
}
export type StartWork = (work: ListWork) => Running;

type ImportState = { readonly is: "working" } | ListOutcome;

export class ImportJob {
  answers = noAnswers;
  state: ImportState = { is: "working" };
  #running: Running | undefined;
  #work: Promise<void> = Promise.resolve();
  #readings = 0;

  constructor(
    private readonly start: StartWork,
    readonly name: string,
    readonly file: string,
    readonly endsMs: number,
  ) {}

  get phase(): "reading" | "storing" {
    return this.#running?.hasBegun() === true ? "storing" : "reading";
  }

  /** Tells what is shown now from what another tab of the person shows. */
  get reading(): string {
    return `${basename(dirname(this.file))} ${this.#readings}`;
  }

  examine(answers: Answers): void {
    this.#readings += 1;
    this.#begin(answers, {});
  }

  run(actor: string, agreed?: Agreed): void {
    this.#begin(this.answers, { actor, agreed });
  }

  #begin(answers: Answers, more: Pick<ListWork, "actor" | "agreed">): void {
    const { name, file } = this;
    this.answers = answers;
    this.state = { is: "working" };
    this.#running = this.start({ name, file, answers, ...more });
    this.#work = this.#running.outcome.then((outcome) => void (this.state = outcome));
  }

  async close(): Promise<void> {
    await this.#running?.stop();
    await this.#work;
    rmSync(dirname(this.file), { recursive: true, force: true });
  }

  /** Resolves when the work under way is done, or after a moment: most files need no more. */
  async settled(maxMs: number): Promise<void> {
    await Promise.race([this.#work, Bun.sleep(maxMs)]);
  }
}

export class Imports {
  readonly #jobs = new Map<string, ImportJob>();
  readonly #arriving = new Map<string, AbortController>();

  constructor(
    private readonly place: string,
    private readonly start: StartWork,
    private readonly clock: Clock,
  ) {}

  job(personId: string): ImportJob | undefined {
    return this.#jobs.get(personId);
  }

  get people(): ReadonlySet<string> {
    return new Set([...this.#jobs.keys(), ...this.#arriving.keys()]);
  }

  /**
   * Takes in the file that `receive` reads, in place of the person's last one, and begins to read
   * it. Throws `unavailable` while another file of theirs arrives, or too many of others are here.
   * Undefined when no file was chosen.
   */
  async take(
    personId: string,
    receive: () => Promise<{ readonly name: string; readonly bytes: Uint8Array }>,
  ): Promise<ImportJob | undefined> {
    if (this.#arriving.has(personId)) throw failure("unavailable", "uploading");
    const arriving = new AbortController();
    this.#arriving.set(personId, arriving);
    try {
      await this.#makeRoom();
      const { name, bytes } = await receive();
      if (bytes.length === 0 && name === "") return undefined;
      await this.#close(personId);
      if (arriving.signal.aborted) throw failure("invalid_request", "interrupted");
      const file = storedIn(this.place, bytes);
      const job = new ImportJob(this.start, name, file, this.clock() + keptMs);
      this.#jobs.set(personId, job);
      job.examine(noAnswers);
      return job;
    } finally {
      this.#arriving.delete(personId);
    }
  }

  /** Files that nobody works on make room for the one that arrives: the oldest, if none is over. */
  async #makeRoom(): Promise<void> {
    const isOver = ({ state }: ImportJob) => state.is === "done" || state.is === "failed";
    const idle = [...this.#jobs].filter(([, { state }]) => state.is !== "working");
    const order = idle.toSorted(([, a], [, b]) => Number(isOver(b)) - Number(isOver(a)));
    for (const [id] of order) {
      if (this.people.size <= filesMax) return;
      await this.#close(id);
    }
    if (this.people.size > filesMax) throw failure("unavailable", "uploadsFull");
  }

  /** Ends what a person has here: a file on its way, its reading, and an import that waits. */
  async drop(personId: string): Promise<void> {
    this.#arriving.get(personId)?.abort();
    await this.#close(personId);
  }

  /** Drops the files that are too old, and those of people who are not `known` any more. */
  async tidy(known: ReadonlySet<string>): Promise<void> {
    for (const id of this.people) {
      const endsMs = this.#jobs.get(id)?.endsMs ?? Number.POSITIVE_INFINITY;
      if (!known.has(id) || endsMs <= this.clock()) await this.drop(id);
    }
  }

  async #close(personId: string): Promise<void> {
    const job = this.#jobs.get(personId);
    this.#jobs.delete(personId);
    await job?.close();
  }

  async close(): Promise<void> {
    await Promise.all([...this.people].map((id) => this.drop(id)));
  }
}

function storedIn(place: string, bytes: Uint8Array): string {
  const folder = mkdtempSync(join(place, folderPrefix));
  const file = join(folder, "list");
  try {
    writeFileSync(file, bytes, { mode: 0o600 });
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
  return file;
}

/** Removes the files of consoles that were killed: one that lives keeps none for over an hour. */
export function removeLeft(place: string, nowMs: number): void {
  for (const name of readdirSync(place).filter((each) => each.startsWith(folderPrefix))) {
    const path = join(place, name);
    try {
      const { uid, mtimeMs } = lstatSync(path);
      // Another user's is for their console: root would follow what they put into it meanwhile.
      const isLeft = uid === process.geteuid?.() && mtimeMs < nowMs - 2 * keptMs;
      if (isLeft) rmSync(path, { recursive: true, force: true });
    } catch {
      // It is gone by now.
    }
  }
}

/** Starts the work on a list in a process of its own, within bounds of time and memory. */
export function inProcess(
  env: EnvironmentVariables,
  report: (problem: string) => void,
  maxMs = readMaxMs,
): StartWork {
  return (work) => {
    const { file } = work;
    const hasBegun = () => existsSync(beside(file, "begun"));
    const ending = new AbortController();
    const end = (code: "importTooLong" | "importEnded") => {
      if (!hasBegun()) ending.abort(code);
    };
    const late = setTimeout(() => end("importTooLong"), maxMs);
    const ended = async (): Promise<ListOutcome> => {
      for (const what of ["begun", "outcome"] as const) rmSync(beside(file, what), { force: true });
      writeFileSync(beside(file, "work"), new Uint8Array(serialize(work)), { mode: 0o600 });
      const problem = await runJob(["__import", file], env, ending.signal, () => !hasBegun());
      clearTimeout(late);
      const outcome = beside(file, "outcome");
      if (existsSync(outcome)) return deserialize(readFileSync(outcome)) as ListOutcome;
      const reason = ending.signal.reason as "importTooLong" | "importEnded" | undefined;
      if (reason === undefined) report(`A list was not read: ${String(problem)}`);
      const code = reason ?? (problem === tooMuchMemory ? "importTooLarge" : "importEnded");
      return { is: "failed", failure: { code } };
    };
    const outcome = ended().catch((error: unknown): ListOutcome => {
      // The disk is full.
      report(reasonOf(error));
      return { is: "failed", failure: { code: "importEnded" } };
    });
    const stop = async () => {
      end("importEnded");
      await outcome;
    };
    return { outcome, hasBegun, stop };
  };
}
