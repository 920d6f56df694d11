import type { StoreVersions } from "../contract.ts";
import type { PolledVersions } from "./poll.ts";

/** How often another process's changes are asked for. */
const pollMs = 250;
/** What was seen longer ago than this is not relied on: a change of a key binds within it everywhere. */
export const freshMs = 1_000;
/**
 * The version of keys is the database's epoch, moved up by this for each time that the epoch fell: then the database was
 * restored or failed over to a standby that lagged, and every key may be another than the one in memory.
 */
const generationStep = 2 ** 40;

/**
 * What the processes on one database know of each other's changes. Reading it never waits: a poll in the background asks
 * for the numbers, and what this process changes itself is noted at once.
 */
export class VersionWatch {
  readonly #poll: () => Promise<PolledVersions>;
  #keys: number;
  #pets = 0;
  #polls = 0;
  #seen: PolledVersions;
  #generation = 0;
  /** When the last poll that was answered began. */
  #freshAtMs: number;
  #polling: Promise<void> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  /** `first` is what a poll that began at `startMs` (performance.now()) has found. */
  constructor(poll: () => Promise<PolledVersions>, first: PolledVersions, startMs: number) {
    this.#poll = poll;
    this.#seen = first;
    this.#keys = first.epoch;
    this.#freshAtMs = startMs;
    this.#schedule();
  }

  versions(): StoreVersions {
    return { keys: this.#keys, pets: this.#pets };
  }

  /** Undefined while `versions()` can be relied on; else resolves once it can be again, or rejects with the poll. */
  current(): Promise<void> | undefined {
    return performance.now() - this.#freshAtMs <= freshMs ? undefined : this.#pollNow();
  }

  /** How often the database was asked and answered. */
  polls(): number {
    return this.#polls;
  }

  /** This process changed keys: the commit began `epoch`. */
  noteKeys(epoch: number): void {
    this.#keys = Math.max(this.#keys, this.#versionOf(epoch));
  }

  /** This process changed animals. */
  notePets(): void {
    this.#pets += 1;
  }

  /** The epoch since which changes are to be read by somebody who knows `version`. All of them, across generations. */
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
    }, pollMs);
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
    const startMs = performance.now();
    const known = this.#keys;
    const found = await this.#poll();
    // Only a number that fell below what was known before the question is a step back; a later one may be newer.
    if (this.#versionOf(found.epoch) < known) this.#generation += 1;
    this.#keys = Math.max(this.#keys, this.#versionOf(found.epoch));
    if (found.pets !== this.#seen.pets) this.#pets += 1;
    this.#seen = found;
    this.#polls += 1;
    this.#freshAtMs = startMs;
  }
}
