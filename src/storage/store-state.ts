/** Facts about a store itself, in its table `store_state`. They are never moved to another one. */
import { eq, type SQL, sql } from "drizzle-orm";
import type { Tx } from "./database.ts";

/** The number of transactions that changed animals, other than by adding some at the end. */
export const editsFact = "animal_edits";

/** That number, as an expression: null before the first edit. */
export function editCount({ storeState }: Pick<Tx["t"], "storeState">): SQL {
  return sql`(SELECT CAST(${storeState.value} AS bigint) FROM ${storeState}
    WHERE ${storeState.name} = ${editsFact})`;
}

/** The store's own id, which names of backups and ids of the public feed have. */
export const storeIdFact = "store_id";

/** The name of the fact that says which backup of the store is the last one. */
export const backupFact = "backup";

/** The name of the mark that a store carries once everything in it was moved elsewhere. */
export const movedMark = "moved_to";

/** The name of the fact that says where the console is. */
export const addressFact = "console";

/** Where the store moved to, as messages show it; undefined for one that is in its place. */
export const movedTo = (tx: Tx): Promise<string | undefined> => factOf(tx, movedMark);

export async function factOf(tx: Tx, name: string): Promise<string | undefined> {
  const { storeState } = tx.t;
  const [found] = await tx.select().from(storeState).where(eq(storeState.name, name));
  return found?.value;
}

export async function putFact(tx: Tx, name: string, value: string): Promise<void> {
  const { storeState } = tx.t;
  await tx
    .insert(storeState)
    .values({ name, value })
    .onConflictDoUpdate({ target: storeState.name, set: { value } });
}

/** How the lists of one layout are read: a fact for each layout that a person imported. */
export const layoutFact = "layout ";

/** Who ended in a catalogue before this one, which lacks them: a fact for each. */
export const endedFact = "ended ";

/** True for what another store gets too. */
export const goesAlong = ({ name }: { readonly name: string }) =>
  ["last_", layoutFact, endedFact].some((kind) => name.startsWith(kind));
