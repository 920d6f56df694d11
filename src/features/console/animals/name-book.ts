import { dayMs, type Clock } from "../../../domain/clock.ts";
import { int64Min } from "../../../domain/int64.ts";
import type { Engine } from "../../../storage/contract.ts";
import { row, rows, sql, type Steps } from "../../../storage/statement.ts";
import { pets } from "../../../storage/tables.ts";
import { changes, petEvents } from "../../animals/tables.ts";
import { blockAnimals, type CurrentName, type NamedAnimal, NameIndex } from "./name-index.ts";

/** Rows that are read in one go, between two of which everybody else gets a turn. */
const batchRows = 4 * blockAnimals;
/** Names that are changed in the index one by one. Beyond it, all are read again. */
const changedMax = 20_000;
/** An import is one change in many transactions. It may grow for so long. */
const growsMs = dayMs;
/** An index of this age is made again. */
const agesMs = dayMs;

interface Book {
  readonly index: NameIndex;
  readonly madeMs: number;
  /** The highest id that was read. */
  lastPet: bigint;
  /** The highest change whose events were read. */
  lastChange: bigint;
  /** How many events were read of each change that may have more by now. */
  events: ReadonlyMap<bigint, bigint>;
}

/**
 * An index of all names that follows the store. Ids of animals and of changes are given in the
 * order of their commits, in both databases: what is above the last one that was read is new, and
 * what else changed has an event.
 */
export class NameBook {
  readonly #engine: Engine;
  readonly #clock: Clock;
  #book: Book | undefined;
  #making: Promise<void> | undefined;
  #following: Promise<unknown> = Promise.resolve();

  constructor(engine: Engine, clock: Clock) {
    this.#engine = engine;
    this.#clock = clock;
  }

  /** Begins to read all names in the background, unless they are there. Resolves when they are. */
  prepare(): Promise<void> {
    if (this.#book !== undefined && this.#clock() - this.#book.madeMs < agesMs) {
      return Promise.resolve();
    }
    this.#making ??= this.#make()
      .then((book) => void (this.#book = book))
      .finally(() => (this.#making = undefined));
    return this.#making;
  }

  /**
   * The ids of the animals whose name holds `wanted`, which is folded, the newest first. Undefined
   * when they are more than `max`, and where the names are not read and not being read.
   */
  async find(wanted: string, max: number): Promise<bigint[] | undefined> {
    // One after the other: names that were read earlier must not replace later ones.
    const found = this.#following.then(async () =>
      (await this.#current())?.index.find(wanted, max),
    );
    this.#following = found.catch(() => undefined);
    return found;
  }

  /** The names as they are now. Waiting for them takes less than a search in the database. */
  async #current(): Promise<Book | undefined> {
    const book = this.#book;
    if (book !== undefined && (await this.#follow(book))) return book;
    if (this.#book === book) this.#book = undefined;
    try {
      await (book === undefined ? this.#making : this.prepare());
    } catch {
      // Who asked for the names hears of it; the search goes to the database.
    }
    return this.#book;
  }

  async #make(): Promise<Book> {
    const madeMs = this.#clock();
    const lastChange = await this.#engine.read(newestChange);
    // What changes from now on is found by `#follow`.
    const events = await this.#eventsSince(lastChange, madeMs);
    const book = { index: new NameIndex(), madeMs, lastPet: int64Min, lastChange, events };
    await this.#readNew(book);
    // What the reading left behind is several times the index.
    Bun.gc(true);
    return book;
  }

  /** Reads what changed since. False when it is too much, or when the store went back in time. */
  async #follow(book: Book): Promise<boolean> {
    const newest = await this.#engine.read(newestChange);
    if (newest < book.lastChange) return false;
    const events = await this.#eventsSince(book.lastChange, this.#clock());
    const grown = [...events].filter(([change, count]) => count !== book.events.get(change));
    if (grown.reduce((sum, [, count]) => sum + Number(count), 0) > changedMax) return false;
    const names = new Map<bigint, CurrentName>();
    for (const [change] of grown) {
      for (const { id, name } of await this.#engine.read(() => changedNames(change))) {
        // Those above are read below, as they are by then.
        if (id <= book.lastPet) names.set(id, name ?? undefined);
      }
    }
    book.index.change(names);
    book.events = events;
    book.lastChange = newest;
    await this.#readNew(book);
    return true;
  }

  /** How many events each change above `last` has, and each import that may still go on. */
  async #eventsSince(last: bigint, nowMs: number): Promise<Map<bigint, bigint>> {
    const counted = await this.#engine.read(() => eventCounts(last, nowMs - growsMs));
    return new Map(counted.map(({ change, events }) => [change, events]));
  }

  async #readNew(book: Book): Promise<void> {
    const read = (after: bigint) => this.#engine.read(() => namesAfter(after), { patient: true });
    const add = async (batch: readonly NamedAnimal[]) => {
      await new Promise((resolve) => void setImmediate(resolve));
      book.index.append(batch);
      book.lastPet = batch.at(-1)?.id ?? book.lastPet;
    };
    let batch = await read(book.lastPet);
    for (let last = batch.at(-1); batch.length === batchRows && last; last = batch.at(-1)) {
      // A database of its own reads on while these are added.
      const [next] = await Promise.all([read(last.id), add(batch)]);
      batch = next;
    }
    await add(batch);
  }
}

function* newestChange(): Steps<bigint> {
  const found = yield* row(sql<{ id: bigint | null }>`SELECT max(id) AS id FROM ${changes}`);
  return found?.id ?? 0n;
}

function* eventCounts(
  last: bigint,
  sinceMs: number,
): Steps<{ readonly change: bigint; readonly events: bigint }[]> {
  return yield* rows(
    sql<{ change: bigint; events: bigint }>`
      SELECT change_id AS change, CAST(count(*) AS bigint) AS events
      FROM ${petEvents} WHERE change_id > ${last} OR change_id IN (
        SELECT id FROM ${changes} WHERE action = 'import' AND at_ms > ${sinceMs})
      GROUP BY change_id`,
  );
}

/** The animals of a change with their names of today; null for one that is gone. */
function* changedNames(
  change: bigint,
): Steps<{ readonly id: bigint; readonly name: string | null }[]> {
  return yield* rows(
    sql<{ id: bigint; name: string | null }>`SELECT pet_id AS id, name FROM ${petEvents}
      LEFT JOIN ${pets} ON id = pet_id WHERE change_id = ${change}`,
  );
}

function* namesAfter(after: bigint): Steps<NamedAnimal[]> {
  return yield* rows(
    sql<{ id: bigint; name: string }>`SELECT id, name FROM ${pets} WHERE id > ${after}
      ORDER BY id LIMIT ${batchRows}`,
  );
}
