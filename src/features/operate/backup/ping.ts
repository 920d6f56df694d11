import { AppError } from "../../../domain/errors.ts";

const attempts = 3;
const attemptMaxMs = 10_000;
const pauseMs = 1_000;

/**
 * Asks the address of a monitor after a backup, with `/fail` behind it after a failure, as
 * healthchecks.io has it. Throws AppError if it does not answer, and never shows the address.
 */
export async function ping(url: string, isGood: boolean, stop: AbortSignal): Promise<void> {
  const address = new URL(url);
  if (!isGood) address.pathname = address.pathname.replace(/\/?$/, "/fail");
  let why = "";
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    if (stop.aborted && attempt > 1) break;
    if (attempt > 1) await Bun.sleep(pauseMs);
    try {
      const signal = AbortSignal.any([stop, AbortSignal.timeout(attemptMaxMs)]);
      const { ok, status, body } = await fetch(address, { signal });
      await body?.cancel();
      if (ok) return;
      why = `status ${status}`;
    } catch (error) {
      why = (error as { code?: string }).code ?? (error as Error).name;
    }
  }
  throw new AppError(
    "unavailable",
    `${address.origin} did not take the news of the backup: ${why}.`,
  );
}
