import { count, type SQL } from "drizzle-orm";
import { changePets, type Database, type Tx } from "../../src/storage/database.ts";

/** Runs a statement that changes animals, as another process or an import may. */
export function editPets(db: Database, statement: (tx: Tx) => SQL): Promise<void> {
  return db.transaction((tx) =>
    changePets(tx, "any", async () => {
      const animals = async () => (await tx.select({ n: count() }).from(tx.t.pets))[0]?.n ?? 0;
      const before = await animals();
      await tx.run(statement(tx));
      return { result: undefined, more: (await animals()) - before };
    }),
  );
}
