import { AppError } from "../../domain/errors.ts";
import type { NewPet } from "../../domain/pet.ts";
import { GroupCommit } from "../group-commit.ts";
import type { WriterReply, WriterRequest } from "./writer.worker.ts";

/** Creates in one commit at the most: bounds how long the ones behind it wait. */
const batchMax = 4_096;

/** What the store measures of its writer. */
export interface CommitReport {
  readonly batchSize: number;
  readonly commitMs: number;
}

/** The thread that serves holds this end of the writer thread. */
export class Writer {
  readonly #worker: Worker;
  readonly #creates: GroupCommit<NewPet, bigint>;
  readonly #onCommit: (report: CommitReport) => void;
  #answer: { resolve(reply: WriterReply): void; reject(error: unknown): void } | undefined;

  constructor(catalogue: string, limits: string, onCommit: (report: CommitReport) => void) {
    this.#onCommit = onCommit;
    this.#worker = new Worker(workerUrl, { smol: true });
    this.#worker.onmessage = ({ data }: MessageEvent<WriterReply>) => this.#answer?.resolve(data);
    this.#worker.onerror = (event) => this.#answer?.reject(new Error(event.message));
    this.#creates = new GroupCommit((pets) => this.#commit(pets), batchMax);
    this.#post({ type: "open", catalogue, limits });
  }

  /** Resolves with the new animal's id once it is on the disk. */
  create(pet: NewPet): Promise<bigint> {
    return this.#creates.add(pet);
  }

  reportNoisyMinute(keyId: string, minuteLabel: number, nowMs: number): void {
    this.#post({ type: "noisy", keyId, minuteLabel, nowMs });
  }

  /** Moves the counters' log into their file, some time soon. */
  checkpoint(): void {
    this.#post({ type: "checkpoint" });
  }

  /** Finishes what was begun, moves both logs into their files and ends the thread. */
  async close(): Promise<void> {
    await this.#creates.settled();
    await this.#ask({ type: "close" });
    this.#worker.terminate();
  }

  #post(request: WriterRequest): void {
    this.#worker.postMessage(request);
  }

  /** One question at a time: GroupCommit sees to that for creates, and close comes after the last of them. */
  #ask(request: WriterRequest): Promise<WriterReply> {
    const { promise, resolve, reject } = Promise.withResolvers<WriterReply>();
    this.#answer = { resolve, reject };
    this.#post(request);
    return promise;
  }

  async #commit(pets: NewPet[]): Promise<readonly bigint[]> {
    const reply = await this.#ask({ type: "create", pets });
    if (reply.type !== "created") {
      const cause = reply.type === "failed" ? new Error(`${reply.code} ${reply.message}`) : reply;
      throw new AppError("unavailable", "The animal could not be stored.", {
        cause,
        retryAfterSeconds: 1,
      });
    }
    this.#onCommit({ batchSize: pets.length, commitMs: reply.commitMs });
    return reply.ids;
  }
}

/** In the executable the worker is an entry point of its own, below the root that both share. */
const workerUrl = Bun.isStandaloneExecutable
  ? "./storage/sqlite/writer.worker.ts"
  : new URL("./writer.worker.ts", import.meta.url).href;
