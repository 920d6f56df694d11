import type { Config } from "../config.ts";
import { AppError } from "../domain/errors.ts";
import type { Store } from "../storage/contract.ts";
import { folderMovedTo, movedTo } from "../storage/moved.ts";

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

/**
 * The same for a data folder whose store is not opened. One that cannot be read is for others to
 * speak of.
 */
export function refuseMovedFolder(
  folder: string,
  { movedStore }: Pick<Config, "movedStore">,
): void {
  if (movedStore) return;
  const place = whereTo(folder);
  if (place !== undefined) throw moved(folder, place);
}

function whereTo(folder: string): string | undefined {
  try {
    return folderMovedTo(folder);
  } catch {
    return undefined;
  }
}

function moved(from: string, to: string): AppError {
  return new AppError("unavailable", `The store in ${from} was moved to ${to}.`, {
    hint: "Work there. Nobody is served from the old copy; --moved-store opens it anyway.",
  });
}
