/**
 * Group commit: what arrives while a commit is under way shares the next one. Under load a durable write then costs
 * little more than its own bytes, because one fsync serves all that waited for it.
 */
export class GroupCommit<Item, Result> {
  readonly #commit: (items: Item[]) => Promise<readonly Result[]>;
  readonly #batchMax: number;
  #waiting: Waiting<Item, Result>[] = [];
  #running: Promise<void> | undefined;

  /** `commit` keeps all items or none, and resolves with their results in order. It never runs twice at a time. */
  constructor(commit: (items: Item[]) => Promise<readonly Result[]>, batchMax: number) {
    this.#commit = commit;
    this.#batchMax = batchMax;
  }

  /** Resolves with the item's result once the commit that holds it is done, or rejects with that commit's error. */
  add(item: Item): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    this.#waiting.push({ item, resolve, reject });
    this.#running ??= this.#run();
    return promise;
  }

  /** Resolves when all that was added is kept or refused. */
  async settled(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  async #run(): Promise<void> {
    // Let the rest of this event-loop turn join the first batch.
    await new Promise(setImmediate);
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, this.#batchMax);
      try {
        const results = await this.#commit(batch.map(({ item }) => item));
        batch.forEach(({ resolve }, position) => resolve(results[position] as Result));
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#running = undefined;
  }
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}
