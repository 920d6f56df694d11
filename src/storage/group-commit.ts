import { AppError } from "../domain/errors.ts";

const defaultBatchMax = 4_096;

interface GroupCommitBounds {
  /** Items in one commit at the most: bounds how long the ones behind it wait. */
  readonly batchMax?: number;
  /** Items that may wait; above it they are refused at once. By default without bound. */
  readonly waitingMax?: number;
}

/**
 * Stores items in one commit, and resolves with their results in order. An item whose values the
 * database refused has its error there, and the others are stored. Rejects when none is. It never
 * runs twice at a time. `sinceMs` is the time (performance.now()) since which the first item waits.
 */
type Commit<Item, Result> = (
  items: Item[],
  sinceMs: number,
) => Promise<readonly (Result | Error)[]>;

/**
 * Group commit: items that arrive during a commit share the next one. Under load a durable write
 * then costs little more than its own bytes, because one fsync serves all of them.
 */
export class GroupCommit<Item, Result> {
  #waiting: Waiting<Item, Result>[] = [];
  #running: Promise<void> | undefined;

  constructor(
    private readonly commit: Commit<Item, Result>,
    private readonly bounds: GroupCommitBounds = {},
  ) {}

  /**
   * Resolves with the item's result once the commit that holds it is done, or rejects with that
   * commit's error, or with `invalid_request` for the item's own. An item whose `signal` is aborted
   * before its commit begins is left out, and rejects with `invalid_request`.
   */
  add(item: Item, signal?: AbortSignal): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    if (this.#waiting.length >= (this.bounds.waitingMax ?? Infinity)) {
      reject(new AppError("unavailable", "The store is overloaded at the moment."));
      return promise;
    }
    this.#waiting.push({ item, signal, sinceMs: performance.now(), resolve, reject });
    this.#running ??= this.#run();
    return promise;
  }

  async settled(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      // The rest of this event-loop turn joins the batch, or is aborted in it.
      await new Promise(setImmediate);
      const batch = this.#takeBatch();
      if (batch.length === 0) continue;
      try {
        const items = batch.map(({ item }) => item);
        const results = await this.commit(items, batch[0]?.sinceMs ?? 0);
        batch.forEach(({ resolve, reject }, position) => {
          const result = results[position] as Result | Error;
          if (result instanceof Error) reject(refusedValue(result));
          else resolve(result);
        });
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#running = undefined;
  }

  #takeBatch(): Waiting<Item, Result>[] {
    const batch = this.#waiting.splice(0, this.bounds.batchMax ?? defaultBatchMax);
    return batch.filter(({ signal, reject }) => {
      if (signal?.aborted) reject(aborted());
      return !signal?.aborted;
    });
  }
}

const aborted = () =>
  new AppError("invalid_request", "The request ended before it was carried out.");

/** The error of a create whose values the database refused with `cause`. */
export function refusedValue(cause: Error): AppError {
  if (cause instanceof AppError) return cause;
  return new AppError("invalid_request", "The store cannot hold these values.", { cause });
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly signal: AbortSignal | undefined;
  readonly sinceMs: number;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}
