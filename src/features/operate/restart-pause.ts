/** A process that served for so long starts with a clean record. */
const soundMs = 60_000;

/** How long a process that ended waits to be started again: twice as long after each short run. */
export class RestartPause {
  readonly #firstMs: number;
  readonly #longestMs: number;
  #nextMs: number;

  constructor(firstMs: number, longestMs: number) {
    this.#firstMs = firstMs;
    this.#longestMs = longestMs;
    this.#nextMs = firstMs;
  }

  /** The pause after a run of `ranMs`. To listen is no success: what ran may die soon after. */
  after(ranMs: number): number {
    const pauseMs = ranMs >= soundMs ? this.#firstMs : this.#nextMs;
    this.#nextMs = Math.min(pauseMs * 2, this.#longestMs);
    return pauseMs;
  }
}
