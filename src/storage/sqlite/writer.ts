import { AppError } from "../../domain/errors.ts";
import type { AddedPet, CommitReport, StoredCreate, IdempotentCreate } from "../contract.ts";
import { GroupCommit } from "../group-commit.ts";
import { createdRow } from "../pet-row.ts";
import type { WriterOpen, WriterReply, WriterRequest } from "./writer.worker.ts";

/** In the executable the worker is an entry point of its own, below the root that all share. */
const defaultWorkerUrl = Bun.isStandaloneExecutable
  ? "./storage/sqlite/writer.worker.ts"
  : new URL("./writer.worker.ts", import.meta.url).href;

interface WriterOptions {
  readonly open: WriterOpen;
  /** Called for each commit. What it throws is the failure of the creates in it. */
  readonly onCommit: (report: CommitReport) => void;
  readonly onProblem: (error: unknown) => void;
  /** The thread's program; tests have others. */
  readonly workerUrl?: string | undefined;
}

const openId = 0;

interface Question {
  resolve(reply: WriterReply): void;
  reject(error: unknown): void;
}

/**
 * The serving thread's end of the writer thread. If the writer dies, only its current work fails,
 * and the next request starts another one.
 */
export class Writer {
  /** Adds animals. The ids come once they are on the disk. See `PetStore.create`. */
  readonly creates: GroupCommit<AddedPet, bigint>;
  /** The same for animals that are added once, however often they are sent. */
  readonly onceCreates: GroupCommit<IdempotentCreate, StoredCreate>;
  #worker: Worker | undefined;
  readonly #questions = new Map<number, Question>();
  #lastId = 0;
  hasFailed = false;

  constructor(private readonly options: WriterOptions) {
    const waitedMs = (sinceMs: number) => performance.now() - sinceMs;
    this.creates = new GroupCommit((pets, sinceMs) => {
      const rows = pets.map(createdRow);
      return this.#commit({ type: "create", rows, waitedMs: waitedMs(sinceMs) });
    });
    this.onceCreates = new GroupCommit((creates, sinceMs) =>
      this.#commit({ type: "createOnce", creates, waitedMs: waitedMs(sinceMs) }),
    );
  }

  /** Starts the thread. Resolves once it opened its files or failed to, as `onProblem` is told. */
  async start(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.#questions.set(openId, { resolve, reject });
    this.#worker = this.#start();
    await promise.catch(this.options.onProblem);
  }

  tell(request: WriterRequest): void {
    this.#ask(request).catch(this.options.onProblem);
  }

  async close(): Promise<void> {
    await Promise.all([this.creates.settled(), this.onceCreates.settled()]);
    if (this.#worker === undefined) return;
    await this.#ask({ type: "close" });
    const worker = this.#worker;
    this.#worker = undefined;
    worker.terminate();
  }

  #start(): Worker {
    const worker = new Worker(this.options.workerUrl ?? defaultWorkerUrl, { smol: true });
    worker.onmessage = ({ data }: MessageEvent<WriterReply>) => this.#receive(data);
    worker.onerror = ({ message }) => this.#lost(worker, message);
    worker.addEventListener("close", () => this.#lost(worker, "it ended"));
    worker.postMessage({ ...this.options.open, type: "open", id: openId });
    return worker;
  }

  #lost(worker: Worker, why: string): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    const error = new Error(`The writer thread was lost: ${why}`);
    this.options.onProblem(error);
    for (const { reject } of this.#questions.values()) reject(error);
    this.#questions.clear();
  }

  #receive(reply: WriterReply): void {
    const question = this.#questions.get(reply.id);
    this.#questions.delete(reply.id);
    if (reply.type !== "failed") question?.resolve(reply);
    else question?.reject(Object.assign(new Error(reply.message), { code: reply.code }));
  }

  #ask(request: WriterRequest): Promise<WriterReply> {
    const { promise, resolve, reject } = Promise.withResolvers<WriterReply>();
    try {
      this.#questions.set(this.#send(request), { resolve, reject });
    } catch (error) {
      reject(error);
    }
    return promise;
  }

  /** Returns the request's number. Starts a thread in place of a lost one; throws if it cannot. */
  #send(request: WriterRequest): number {
    this.#worker ??= this.#start();
    this.#lastId += 1;
    this.#worker.postMessage({ ...request, id: this.#lastId });
    return this.#lastId;
  }

  /** The results of the creates in `request`, in order. Throws `unavailable` without a commit. */
  async #commit<Result extends bigint | StoredCreate>(
    request: WriterRequest,
  ): Promise<readonly (Result | Error)[]> {
    let reply: WriterReply;
    try {
      reply = await this.#ask(request);
      if (reply.type !== "committed") throw new Error(`the writer replied ${reply.type}`);
    } catch (cause) {
      this.hasFailed = true;
      throw new AppError("unavailable", "The animal could not be stored.", { cause });
    }
    this.hasFailed = false;
    const { results, commitMs } = reply;
    this.options.onCommit({ batchSize: results.length, commitMs });
    return results as readonly (Result | Error)[];
  }
}
