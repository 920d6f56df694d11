/** The lists that people bring: their files, and the processes that read and import them. */
import { lstatSync, mkdtempSync, readdirSync, readlinkSync, rmSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { basename, join } from "node:path";
import { dataFolderOf, type Config } from "../../config.ts";
import { dayMs, minuteMs, type Clock } from "../../domain/clock.ts";
import {
  isRunning,
  listMemoryMaxBytes,
  program,
  smallMemory,
  watchMemory,
} from "../schedule/child.ts";
import {
  noAnswers,
  type Agreed,
  type Answers,
  type ListOutcome,
  type ListWork,
  type WorkMessage,
} from "./import-work.ts";
import { failure } from "./words/index.ts";

/** Files of all people at a time, and how long each is kept: their space on disk is bounded. */
const filesMax = 4;
const keptMs = 60 * minuteMs;
/** What the process that reads a list may take. */
const readMaxMs = 60_000;

export interface Running {
  readonly outcome: Promise<ListOutcome>;
  /** Ends it, unless it has begun to change something: then it resolves when that is done. */
  stop(): Promise<void>;
}
/** Starts work, which calls `begins` before it changes something. */
export type StartWork = (work: ListWork, begins: () => void) => Running;

export type Phase = "reading" | "storing";
type ImportState = { readonly is: "working"; readonly phase: Phase } | ListOutcome;

const beginning: ImportState = { is: "working", phase: "reading" };

export class ImportJob {
  readonly name: string;
  readonly file: string;
  readonly rejects: string;
  readonly endsMs: number;
  answers = noAnswers;
  state: ImportState = beginning;
  readonly #start: StartWork;
  #running: Running | undefined;
  #work: Promise<void> = Promise.resolve();
  #readings = 0;

  constructor(start: StartWork, name: string, file: string, endsMs: number) {
    this.#start = start;
    this.name = name;
    this.file = file;
    this.rejects = `${file}.rejects`;
    this.endsMs = endsMs;
  }

  /** Tells what is shown now from what another tab of the person shows. */
  get reading(): string {
    return `${basename(this.file)}.${this.#readings}`;
  }

  /** Finds out what the file would change, in the background. */
  examine(answers: Answers): void {
    this.#readings += 1;
    this.#begin(answers, {});
  }

  /** Imports the file, in the background. */
  run(actor: string, agreed?: Agreed): void {
    this.#begin(this.answers, { actor, agreed });
  }

  #begin(answers: Answers, more: Pick<ListWork, "actor" | "agreed">): void {
    const { name, file, rejects } = this;
    this.answers = answers;
    this.state = beginning;
    try {
      this.#running = this.#start({ name, file, rejects, answers, ...more }, () => {
        if (this.state.is === "working") this.state = { is: "working", phase: "storing" };
      });
    } catch {
      // The system has no room for another process.
      this.state = { is: "failed", failure: { code: "importEnded" } };
      return;
    }
    this.#work = this.#finish(this.#running.outcome);
  }

  async #finish(coming: Promise<ListOutcome>): Promise<void> {
    this.state = await coming;
  }

  /** Stops what is under way, and removes the file. */
  async close(): Promise<void> {
    await this.#running?.stop();
    await this.#work;
    for (const file of [this.file, this.rejects]) rmSync(file, { force: true });
  }

  /** Resolves when the work under way is done, or after a moment: most files need no more. */
  async settled(maxMs: number): Promise<void> {
    await Promise.race([this.#work, Bun.sleep(maxMs)]);
  }
}

/** Throws AppError for a file that was dropped while it arrived. */
function requireWanted(stop: AbortSignal): void {
  if (stop.aborted) throw failure("invalid_request", "interrupted");
}

/** The lists that people are importing: one each, in a folder of this process alone. */
export class Imports {
  readonly #folder: string;
  readonly #start: StartWork;
  readonly #clock: Clock;
  readonly #jobs = new Map<string, ImportJob>();
  readonly #arriving = new Map<string, AbortController>();
  #lastFile = 0;

  constructor(folder: string, start: StartWork, clock: Clock) {
    this.#folder = folder;
    this.#start = start;
    this.#clock = clock;
  }

  job(personId: string): ImportJob | undefined {
    return this.#jobs.get(personId);
  }

  /** Those whose file is here, or on its way. */
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
    const file = join(this.#folder, `${(this.#lastFile += 1)}`);
    try {
      await this.#makeRoom();
      const { name, bytes } = await receive();
      requireWanted(arriving.signal);
      if (bytes.length === 0 && name === "") return undefined;
      await Bun.write(file, bytes, { mode: 0o600 });
      requireWanted(arriving.signal);
      await this.#close(personId);
      const job = new ImportJob(this.#start, name, file, this.#clock() + keptMs);
      this.#jobs.set(personId, job);
      job.examine(noAnswers);
      return job;
    } catch (error) {
      rmSync(file, { force: true });
      throw error;
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
      if (!known.has(id) || endsMs <= this.#clock()) await this.drop(id);
    }
  }

  async #close(personId: string): Promise<void> {
    const job = this.#jobs.get(personId);
    this.#jobs.delete(personId);
    await job?.close();
  }

  async close(): Promise<void> {
    await Promise.all([...this.people].map((id) => this.drop(id)));
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/**
 * Makes a folder for the files of this process, which nobody else can read or foresee, and removes
 * those of consoles that are gone: in the data folder, or with a database in the temporary one.
 */
export function uploadsFolder(config: Config, nowMs: number): string {
  const parent = dataFolderOf(config) ?? tmpdir();
  const prefix = "rehome-console-uploads-";
  // Two containers may have one folder, and the same numbers for their processes.
  const here = new Bun.CryptoHasher("sha256").update(`${hostname()} ${processes()}`).digest("hex");
  const own = `${prefix}${here.slice(0, 8)}-`;
  for (const name of readdirSync(parent).filter((each) => each.startsWith(prefix))) {
    const path = join(parent, name);
    try {
      // Another user's is for their console: root would follow what they put into it meanwhile.
      if (lstatSync(path).uid !== process.geteuid?.()) continue;
      const pid = name.startsWith(own) ? Number.parseInt(name.slice(own.length)) : undefined;
      const isOver = pid === undefined ? lstatSync(path).mtimeMs < nowMs - dayMs : !isRunning(pid);
      if (isOver) rmSync(path, { recursive: true, force: true });
    } catch {
      // It is gone by now.
    }
  }
  return mkdtempSync(join(parent, `${own}${process.pid}-`));
}

/** What tells the processes of this system from those of a container beside it. */
function processes(): string {
  try {
    return readlinkSync("/proc/self/ns/pid");
  } catch {
    return "";
  }
}

/** Starts the work on a list in a process of its own, within bounds of time and memory. */
export function inProcess(env: Record<string, string | undefined>): StartWork {
  return (work, begins) => {
    let hasBegun = false;
    let ended: "importTooLong" | "importTooLarge" | "importEnded" = "importEnded";
    const outcome = Promise.withResolvers<ListOutcome>();
    const child = Bun.spawn([...program(), "__import"], {
      env: { ...env, ...smallMemory },
      stdio: ["ignore", "ignore", "inherit"],
      serialization: "advanced",
      ipc(said: WorkMessage) {
        if ("outcome" in said) return outcome.resolve(said.outcome);
        hasBegun = true;
        begins();
      },
    });
    child.send(work);
    const end = (why: typeof ended) => {
      if (hasBegun) return;
      ended = why;
      child.kill("SIGKILL");
    };
    const late = setTimeout(() => end("importTooLong"), readMaxMs);
    watchMemory(child, listMemoryMaxBytes, () => end("importTooLarge"));
    const ending = async () => {
      await child.exited;
      clearTimeout(late);
      outcome.resolve({ is: "failed", failure: { code: ended } });
    };
    void ending();
    const stop = async () => {
      end("importEnded");
      await child.exited;
    };
    return { outcome: outcome.promise, stop };
  };
}
