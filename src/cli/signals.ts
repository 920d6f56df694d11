import { fstatSync, writeSync } from "node:fs";

/**
 * One press of Ctrl-C can arrive twice: from the terminal, and from a runner such as `bun run` that
 * passes it on. Two SIGINTs within this time count as one.
 */
const sameKeyMs = 500;

/** What the signals ask of this process. */
export interface Signals {
  readonly stop: AbortSignal;
  onReload(listener: () => void): void;
}

/**
 * Hears the signals. The first SIGINT or SIGTERM aborts `stop`, and the second calls `force`. The
 * SIGHUP of a terminal that is closed aborts `stop` too; any other is a reload.
 */
export function hearSignals(force: () => void): Signals {
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
  const onReload = (listener: () => void) =>
    void process.on("SIGHUP", () => (terminalIsGone() ? stop.abort() : listener()));
  return { stop: stop.signal, onReload };
}

/** True when one of the three standard streams is a terminal that has been closed. */
function terminalIsGone(): boolean {
  return [0, 1, 2].some((descriptor) => {
    try {
      if (fstatSync(descriptor).isCharacterDevice()) writeSync(descriptor, "");
      return false;
    } catch (error) {
      // Only such a terminal fails when nothing is written. node:tty would take 15 ms to load.
      return (error as NodeJS.ErrnoException).code === "EIO";
    }
  });
}
