import type { Config } from "../config.ts";
import { AppError } from "../domain/errors.ts";
import type { Store } from "../storage/contract.ts";
import { movedTo } from "../storage/moved.ts";

/**
 * Throws for a store that was moved elsewhere, with the place, unless the settings say that it is
 * meant.
 */
export async function refuseMoved(
  store: Store,
  { movedStore }: Pick<Config, "movedStore">,
): Promise<void> {
  if (movedStore) return;
  const place = await store.read(movedTo);
  if (place !== undefined) throw moved(store.place, place);
}

/** The error of work on a store that was moved. */
export function moved(from: string, to: string): AppError {
  return new AppError("unavailable", `The store in ${from} was moved to ${to}.`, {
    hint: "Work there. Nobody is served from the old copy; --moved-store opens it anyway.",
  });
}
