/**
 * One press of Ctrl-C can arrive twice: from the terminal, and from a runner such as `bun run` that
 * passes it on. Two SIGINTs within this time count as one.
 */
const sameKeyMs = 500;

/** Returns the signal that the first SIGINT or SIGTERM aborts; calls `force` at the second. */
export function stopSignals(force: () => void): AbortSignal {
  const stop = new AbortController();
  let interruptedMs = Number.NEGATIVE_INFINITY;
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      if (signal === "SIGINT") {
        const nowMs = performance.now();
        if (nowMs - interruptedMs < sameKeyMs) return;
        interruptedMs = nowMs;
      }
      if (stop.signal.aborted) force();
      else stop.abort();
    });
  }
  return stop.signal;
}
