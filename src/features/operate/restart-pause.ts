/** A process that served for so long starts with a clean record. */
const soundMs = 60_000;

/**
 * How long a process that ended waits to be started again, after a run of `ranMs`: twice as long
 * after each short run. To listen is no success: what ran may die soon after.
 */
export function restartPause(firstMs: number, longestMs: number): (ranMs: number) => number {
  let nextMs = firstMs;
  return (ranMs) => {
    const pauseMs = ranMs >= soundMs ? firstMs : nextMs;
    nextMs = Math.min(pauseMs * 2, longestMs);
    return pauseMs;
  };
}
