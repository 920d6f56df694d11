import type { SQL } from "bun";
import { sql } from "drizzle-orm";
import type { Clock } from "../../domain/clock.ts";
import type { StoreVersions } from "../../storage/contract.ts";
import { catalogue, postgresTables } from "../../storage/schema.postgres.ts";
import { editsMeta } from "../../storage/database.ts";
import { send } from "./transaction.ts";

/** The database's own numbers: they rise with each change of a key, and of an animal. */
interface PolledVersions {
  readonly epoch: number;
  readonly pets: number;
  /** Changes of animals that were more than additions. */
  readonly edits: number;
  /** By the database's clock. */
  readonly nowMs: number;
}

/** Reads the numbers in one snapshot. */
export async function readVersions(client: SQL): Promise<PolledVersions> {
  const [found] = await send<PolledVersions>(client, numbers);
  if (found === undefined) throw new Error("the database's numbers have no row");
  return found;
}

const { keyEpoch, storeState } = postgresTables;
const numbers = sql`
  SELECT (SELECT epoch FROM ${keyEpoch})::float8 AS epoch,
    (SELECT version FROM ${catalogue})::float8 AS pets,
    coalesce((SELECT value FROM ${storeState} WHERE name = ${editsMeta}), '0')::float8 AS edits,
    ceil(extract(epoch FROM clock_timestamp()) * 1000)::float8 AS "nowMs"`;

/** How often another process's changes are asked for, unless a test wants it otherwise. */
const defaultPollMs = 250;
/** Polls by which the clocks are compared: two seconds, so that a clock that was set is noticed. */
const skewPolls = 8;
/** Nothing older is relied on: a change of a key binds everywhere within this time. */
export const freshMs = 1_000;
/**
 * The version of keys is the database's epoch plus this for each fall of the epoch. A fall means a
 * restored database or a lagging standby, so every cached key is invalid.
 */
const generationStep = 2 ** 40;

/** An answered poll, and when it was sent: by performance.now(), and by this machine's clock. */
export interface Poll {
  readonly found: PolledVersions;
  readonly startMs: number;
  readonly askedMs: number;
}

export async function polled(poll: () => Promise<PolledVersions>, clock: Clock): Promise<Poll> {
  const startMs = performance.now();
  const askedMs = clock();
  return { found: await poll(), startMs, askedMs };
}

/**
 * What this process knows of the others' changes. Reading it never waits: a poll in the background
 * asks the database, and this process's own changes count at once.
 */
export class VersionWatch {
  readonly #poll: () => Promise<PolledVersions>;
  readonly #clock: Clock;
  readonly #pollMs: number;
  #keys = 0;
  #pets = 0;
  #edits = 0;
  /** How often the database was asked and answered. */
  polls = 0;
  /** Upper bounds of the clocks' difference, from the last polls. */
  #skewsMs: number[] = [];
  #seen: PolledVersions | undefined;
  #generation = 0;
  /** When the last poll that was answered began. */
  #freshAtMs = 0;
  #polling: Promise<void> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  /** `clock` is this machine's; `first` is what a first poll has found. */
  constructor(
    poll: () => Promise<PolledVersions>,
    clock: Clock,
    first: Poll,
    pollMs = defaultPollMs,
  ) {
    this.#poll = poll;
    this.#clock = clock;
    this.#pollMs = pollMs;
    this.#note(first);
    this.#schedule();
  }

  versions(): StoreVersions {
    return { keys: this.#keys, pets: this.#pets, edits: this.#edits };
  }

  /** Undefined while `versions()` is reliable; else resolves once it is, or rejects. */
  current(): Promise<void> | undefined {
    return performance.now() - this.#freshAtMs <= freshMs ? undefined : this.#pollNow();
  }

  /** How far the database's clock is ahead of this machine's at most, by the last polls. */
  skewMs(): number {
    return Math.min(...this.#skewsMs);
  }

  /** This process changed keys: the commit began `epoch`. */
  noteKeys(epoch: number): void {
    this.#keys = Math.max(this.#keys, this.#versionOf(epoch));
  }

  /** This process changed animals. */
  notePets(change: "any" | "additions"): void {
    this.#pets += 1;
    if (change === "any") this.#edits += 1;
  }

  /** The epoch after which changes are new to somebody who knows `version`; 0 for all. */
  epochOf(version: number): number {
    const generation = Math.floor(version / generationStep);
    return generation < this.#generation ? 0 : version % generationStep;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#polling?.catch(() => {});
  }

  #versionOf(epoch: number): number {
    return this.#generation * generationStep + epoch;
  }

  #schedule(): void {
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => {
      // A database that is gone is reported by what lost it, and asked again at the next turn.
      this.#pollNow().catch(() => {});
    }, this.#pollMs);
    this.#timer.unref();
  }

  #pollNow(): Promise<void> {
    this.#polling ??= this.#ask().finally(() => {
      this.#polling = undefined;
      clearTimeout(this.#timer);
      this.#schedule();
    });
    return this.#polling;
  }

  async #ask(): Promise<void> {
    const known = this.#keys;
    const poll = await polled(this.#poll, this.#clock);
    // Only a number that fell below what was known before the question is a step back; a later one
    // may be newer.
    if (this.#versionOf(poll.found.epoch) < known) this.#generation += 1;
    this.#note(poll);
  }

  #note({ found, startMs, askedMs }: Poll): void {
    this.#keys = Math.max(this.#keys, this.#versionOf(found.epoch));
    const pets = this.#seen?.pets ?? 0;
    if (found.pets !== pets) this.#pets += 1;
    // After a silence it may be another server that answers, which lacks what this one had.
    const isTrusted = found.pets >= pets && startMs - this.#freshAtMs <= freshMs;
    if (found.edits !== this.#seen?.edits || !isTrusted) this.#edits += 1;
    this.#seen = found;
    this.polls += 1;
    this.#freshAtMs = startMs;
    // The database read its clock after the question was sent, so that this is never too little.
    this.#skewsMs = [found.nowMs - askedMs, ...this.#skewsMs].slice(0, skewPolls);
  }
}
