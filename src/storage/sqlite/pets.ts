import type { Database } from "bun:sqlite";
import { and, asc, count, eq, gt, sql } from "drizzle-orm";
import { int64Min } from "../../domain/int64.ts";
import type { PageQuery } from "../../domain/page.ts";
import type { NewPet, Pet, PetStatus } from "../../domain/pet.ts";
import { query } from "./database.ts";
import { pets } from "./schema.ts";

const petColumns = {
  id: pets.id,
  name: pets.name,
  categoryId: pets.categoryId,
  status: pets.status,
};

interface PetRow {
  readonly id: bigint;
  readonly name: string;
  readonly categoryId: bigint;
  readonly status: PetStatus | null;
}

function petOf({ id, name, categoryId, status }: PetRow): Pet {
  return status === null ? { id, name, categoryId } : { id, name, categoryId, status };
}

/** Reads animals through statements prepared once. */
export function petReader(db: Database) {
  const orm = query(db, { pets });
  const placeholders = { after: sql.placeholder("after"), limit: sql.placeholder("limit") };
  const page = orm
    .select(petColumns)
    .from(pets)
    .where(gt(pets.id, placeholders.after))
    .orderBy(asc(pets.id))
    .limit(placeholders.limit)
    .prepare();
  const pageOfStatus = orm
    .select(petColumns)
    .from(pets)
    .where(and(eq(pets.status, sql.placeholder("status")), gt(pets.id, placeholders.after)))
    .orderBy(asc(pets.id))
    .limit(placeholders.limit)
    .prepare();
  const byId = orm
    .select(petColumns)
    .from(pets)
    .where(eq(pets.id, sql.placeholder("id")))
    .prepare();
  const all = orm.select({ count: count() }).from(pets).prepare();

  return {
    page({ limit, status, after = int64Min }: PageQuery): Pet[] {
      const rows =
        status === undefined
          ? page.all({ limit, after })
          : pageOfStatus.all({ limit, after, status });
      return rows.map(petOf);
    },
    byId(id: bigint): Pet | undefined {
      const row = byId.get({ id });
      return row === undefined ? undefined : petOf(row);
    },
    count: (): number => all.get()?.count ?? 0,
  };
}

/** Changes animals, each call in one transaction. */
export function petWriter(db: Database) {
  const orm = query(db, { pets });
  const insert = orm
    .insert(pets)
    .values({
      name: sql.placeholder("name"),
      categoryId: sql.placeholder("categoryId"),
      status: sql.placeholder("status"),
    })
    .returning({ id: pets.id })
    .prepare();
  const insertAll = db.transaction((batch: readonly NewPet[]): bigint[] =>
    batch.map(({ name, categoryId, status = null }) => {
      const row = insert.get({ name, categoryId, status });
      return row.id;
    }),
  );

  return {
    /** Adds all of `batch` or none of it. Returns the ids in its order; they are durable when it returns. */
    create: (batch: readonly NewPet[]): bigint[] => insertAll.immediate(batch),
    setStatus(id: bigint, status: PetStatus | undefined): Pet | undefined {
      const row = orm
        .update(pets)
        .set({ status: status ?? null })
        .where(eq(pets.id, id))
        .returning(petColumns)
        .get();
      return row === undefined ? undefined : petOf(row);
    },
    remove(id: bigint): Pet | undefined {
      const row = orm.delete(pets).where(eq(pets.id, id)).returning(petColumns).get();
      return row === undefined ? undefined : petOf(row);
    },
  };
}
