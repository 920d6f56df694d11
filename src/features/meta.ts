/** What features keep of a store itself, by name: see getMeta in storage/database.ts. */
import { eq } from "drizzle-orm";
import type { Tx } from "../storage/database.ts";

/** The store's own id, which names of backups and ids of the public feed have. */
export const storeIdMeta = "store_id";

/** Which backup of the store is the last one. */
export const backupMeta = "backup";

/** The greatest timeline of PostgreSQL on which the store was served, where it has several hosts. */
export const timelineMark = "timeline";

/** Where the console is. */
export const addressMeta = "console";

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

/** How lists are read, by source and header: one for each that was imported. */
export const readingMeta = "reading ";

/** Who ended in a catalogue before this one, which lacks them: one for each. */
export const endedMeta = "ended ";

/** True for what another store gets too. */
export const goesAlong = ({ name }: { readonly name: string }) =>
  ["last_", readingMeta, endedMeta].some((kind) => name.startsWith(kind));
