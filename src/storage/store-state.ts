/** What a store says of itself, by name: its table `store_state`. It is not copied elsewhere. */
import { eq } from "drizzle-orm";
import { AppError } from "../domain/errors.ts";
import type { Tx } from "./database.ts";

/** The number of transactions that changed animals, other than by adding some at the end. */
export const editsMeta = "animal_edits";

/** The mark of a store from which everything was moved elsewhere: where to. */
export const movedMark = "moved_to";

/** The mark of a store that a copy fills: where from. It goes when the copy is whole. */
export const copyMark = "copied_from";

/** Where the store moved to, as messages show it; undefined for one that is in its place. */
export const movedTo = (tx: Tx): Promise<string | undefined> => getMeta(tx, movedMark);

/** The error of work on a store that holds a part of a copy: nobody may take it for the whole. */
export function unfinishedCopy(place: string, from: string): AppError {
  return new AppError("unavailable", `${place} holds a part of a copy of ${from}.`, {
    code: "unfinishedCopy",
    hint: `The copy was interrupted or still runs. Make it again with rehome store copy, or work on ${from}.`,
  });
}

export async function getMeta(tx: Tx, name: string): Promise<string | undefined> {
  const { storeState } = tx.t;
  const [found] = await tx.select().from(storeState).where(eq(storeState.name, name));
  return found?.value;
}
