import { AppError } from "../../domain/errors.ts";
import type { NewPet } from "../../domain/pet.ts";
import type { CommitReport } from "../contract.ts";
import { createBatchMax, GroupCommit } from "../group-commit.ts";
import type { WriterOpen, WriterReply, WriterRequest } from "./writer.worker.ts";

export interface WriterOptions extends WriterOpen {
  readonly onCommit: (report: CommitReport) => void;
  /** Told of each ban that a noisy minute led to. */
  readonly onBan?: () => void;
  /** Told of a failure that nobody waits for. */
  readonly onProblem: (error: unknown) => void;
  /** The thread's program; tests have others. */
  readonly workerUrl?: string;
}

interface Question {
  resolve(reply: WriterReply): void;
  reject(error: unknown): void;
}

/**
 * The thread that serves holds this end of the writer thread. A writer that dies takes only what it was doing with it:
 * those who wait are told, and the next request starts another one.
 */
export class Writer {
  readonly #options: WriterOptions;
  readonly #creates: GroupCommit<NewPet, bigint>;
  /** Started by the first request: a server that only reads has 4 MiB less to hold. */
  #worker: Worker | undefined;
  readonly #questions = new Map<number, Question>();
  #lastId = 0;
  /** True while the last commit failed: only then is a probe worth a write. */
  #hasFailed = false;

  constructor(options: WriterOptions) {
    this.#options = options;
    this.#creates = new GroupCommit((pets) => this.#commit(pets), { batchMax: createBatchMax });
  }

  /** Resolves with the new animal's id once it is on the disk. */
  create(pet: NewPet): Promise<bigint> {
    return this.#creates.add(pet);
  }

  reportNoisyMinute(keyId: string, minuteLabel: number, nowMs: number): void {
    this.#tell({ type: "noisy", keyId, minuteLabel, nowMs });
  }

  /** Moves the counters' log into their file, some time soon. */
  checkpoint(): void {
    this.#tell({ type: "checkpoint" });
  }

  /** Finds out whether the catalogue can be written, with a write of its own if the last one failed. */
  async probe(): Promise<void> {
    await this.#ask({ type: "probe", write: this.#hasFailed });
    this.#hasFailed = false;
  }

  /** Finishes what was begun, moves both logs into their files and ends the thread. */
  async close(): Promise<void> {
    await this.#creates.settled();
    if (this.#worker === undefined) return;
    await this.#ask({ type: "close" });
    const worker = this.#worker;
    this.#worker = undefined;
    worker.terminate();
  }

  #start(): Worker {
    const { catalogue, limits, busyTimeoutMs } = this.#options;
    const worker = new Worker(this.#options.workerUrl ?? defaultWorkerUrl, { smol: true });
    worker.onmessage = ({ data }: MessageEvent<WriterReply>) => this.#receive(data);
    worker.onerror = (event) => {
      event.preventDefault();
      this.#lost(worker, event.message);
    };
    worker.addEventListener("close", () => this.#lost(worker, "it ended"));
    worker.postMessage({ type: "open", id: 0, catalogue, limits, busyTimeoutMs });
    return worker;
  }

  #lost(worker: Worker, why: string): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    const error = new Error(`The writer thread was lost: ${why}`);
    this.#options.onProblem(error);
    for (const { reject } of this.#questions.values()) reject(error);
    this.#questions.clear();
  }

  #receive(reply: WriterReply): void {
    const question = this.#questions.get(reply.id);
    this.#questions.delete(reply.id);
    if (reply.type === "banned") this.#options.onBan?.();
    if (reply.type !== "failed") return question?.resolve(reply);
    const error = Object.assign(new Error(reply.message), { code: reply.code });
    if (question === undefined) this.#options.onProblem(error);
    else question.reject(error);
    return undefined;
  }

  /** Sends a request whose answer matters to nobody, unless it is a failure. */
  #tell(request: WriterRequest): void {
    this.#worker ??= this.#start();
    this.#worker.postMessage({ ...request, id: (this.#lastId += 1) });
  }

  #ask(request: WriterRequest): Promise<WriterReply> {
    const { promise, resolve, reject } = Promise.withResolvers<WriterReply>();
    this.#questions.set(this.#lastId + 1, { resolve, reject });
    this.#tell(request);
    return promise;
  }

  async #commit(pets: NewPet[]): Promise<readonly bigint[]> {
    let reply: WriterReply;
    try {
      reply = await this.#ask({ type: "create", pets });
      if (reply.type !== "created") throw new Error(`the writer answered ${reply.type}`);
    } catch (cause) {
      this.#hasFailed = true;
      throw new AppError("unavailable", "The animal could not be stored.", {
        cause,
        retryAfterSeconds: 1,
      });
    }
    this.#hasFailed = false;
    this.#options.onCommit({ batchSize: pets.length, commitMs: reply.commitMs });
    return reply.ids;
  }
}

/** In the executable the worker is an entry point of its own, below the root that both share. */
const defaultWorkerUrl = Bun.isStandaloneExecutable
  ? "./storage/sqlite/writer.worker.ts"
  : new URL("./writer.worker.ts", import.meta.url).href;
