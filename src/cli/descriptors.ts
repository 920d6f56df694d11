import { AppError } from "../domain/errors.ts";
import type { Logger } from "../service/log/logger.ts";
import { descriptorsAreFree, descriptorsMax } from "../storage/system.ts";

/** With fewer, too few are left for connections. Bun raises the soft limit to the hard one. */
const descriptorsMin = 256;
/** When fewer are free, it is time to say so. */
const reserve = 8;
const watchIntervalMs = 1_000;

/** Throws `unavailable` when the system gives this process too few file descriptors. */
export function requireDescriptors(): void {
  const max = descriptorsMax();
  if (max >= descriptorsMin) return;
  throw new AppError(
    "unavailable",
    `This process may open ${max} files and connections, and the service needs ${descriptorsMin}.`,
    {
      hint: `Raise the hard limit: ulimit -Hn ${descriptorsMin} as root, or LimitNOFILE= in its systemd unit.`,
    },
  );
}

/** Tells the log when file descriptors run out, and when there are some again, until `stop`. */
export function watchDescriptors(log: Logger, stop: AbortSignal): void {
  // Read now: without a descriptor nothing can be.
  const max = descriptorsMax();
  let wereFree = true;
  const timer = setInterval(() => {
    const areFree = descriptorsAreFree(reserve);
    if (areFree !== wereFree) {
      if (areFree) log.info("File descriptors are free again: new connections are accepted.");
      else log.error(exhausted(max));
    }
    wereFree = areFree;
  }, watchIntervalMs);
  timer.unref();
  stop.addEventListener("abort", () => clearInterval(timer), { once: true });
}

function exhausted(max: number): string {
  return (
    `All ${max} file descriptors are in use: new connections wait until others end. ` +
    "Raise the limit (LimitNOFILE, ulimit -n), or bound the connections of an address in a proxy."
  );
}
