/** What a store says of itself, by name: its table `store_state`. It is not copied elsewhere. */
import { eq, type SQL, sql } from "drizzle-orm";
import { AppError } from "../domain/errors.ts";
import type { Tx } from "./database.ts";

/** The number of transactions that changed animals, other than by adding some at the end. */
export const editsMeta = "animal_edits";

/** That number, as an expression: null before the first edit. */
export function editCount({ storeState }: Pick<Tx["t"], "storeState">): SQL {
  return sql`(SELECT CAST(${storeState.value} AS bigint) FROM ${storeState}
    WHERE ${storeState.name} = ${editsMeta})`;
}

/** The store's own id, which names of backups and ids of the public feed have. */
export const storeIdMeta = "store_id";

/** Which backup of the store is the last one. */
export const backupMeta = "backup";

/** The mark of a store from which everything was moved elsewhere: where to. */
export const movedMark = "moved_to";

/** The mark of a store that a copy fills: where from. It goes when the copy is whole. */
export const copyMark = "copied_from";

/** The greatest timeline of PostgreSQL on which the store was served, where it has several hosts. */
export const timelineMark = "timeline";

/** Where the console is. */
export const addressMeta = "console";

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

export async function setMeta(tx: Tx, name: string, value: string): Promise<void> {
  const { storeState } = tx.t;
  await tx
    .insert(storeState)
    .values({ name, value })
    .onConflictDoUpdate({ target: storeState.name, set: { value } });
}

export async function deleteMeta(tx: Tx, name: string): Promise<void> {
  const { storeState } = tx.t;
  await tx.delete(storeState).where(eq(storeState.name, name));
}

/** How the lists of one layout are read: one for each layout that a person imported. */
export const layoutMeta = "layout ";

/** Who ended in a catalogue before this one, which lacks them: one for each. */
export const endedMeta = "ended ";

/** True for what another store gets too. */
export const goesAlong = ({ name }: { readonly name: string }) =>
  ["last_", layoutMeta, endedMeta].some((kind) => name.startsWith(kind));
