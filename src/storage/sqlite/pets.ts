import type { Database } from "bun:sqlite";
import { and, asc, count, eq, gt, sql } from "drizzle-orm";
import { int64Min } from "../../domain/int64.ts";
import type { PageQuery } from "../../domain/page.ts";
import type { Pet, PetStatus } from "../../domain/pet.ts";
import type { AddedPet } from "../contract.ts";
import { query, statement, translating } from "./database.ts";
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
  readonly category_id: bigint;
  readonly status: PetStatus | null;
}

/** The animal in a row as SQLite names its columns. */
function petOf({ id, name, category_id: categoryId, status }: PetRow): Pet {
  return withoutNull({ id, name, categoryId, status });
}

/** The animal in a row as Drizzle names its columns: an absent status is absent, not null. */
function withoutNull({
  id,
  name,
  categoryId,
  status,
}: {
  id: bigint;
  name: string;
  categoryId: bigint;
  status: PetStatus | null;
}): Pet {
  return status === null ? { id, name, categoryId } : { id, name, categoryId, status };
}

/** Reads animals through statements prepared once. */
export function petReader(db: Database) {
  const orm = query(db);
  const rows = orm
    .select(petColumns)
    .from(pets)
    .orderBy(asc(pets.id))
    .limit(sql.placeholder("limit"))
    .$dynamic();
  const page = statement<PetRow, [after: bigint, limit: number]>(
    db,
    rows.where(gt(pets.id, sql.placeholder("after"))),
  );
  const pageOfStatus = statement<PetRow, [status: PetStatus, after: bigint, limit: number]>(
    db,
    rows.where(
      and(eq(pets.status, sql.placeholder("status")), gt(pets.id, sql.placeholder("after"))),
    ),
  );
  const byId = statement<PetRow, [id: bigint]>(
    db,
    orm
      .select(petColumns)
      .from(pets)
      .where(eq(pets.id, sql.placeholder("id"))),
  );
  const all = orm.select({ count: count() }).from(pets).prepare();

  return {
    page({ limit, status, after = int64Min }: PageQuery): Pet[] {
      const found = translating(() =>
        status === undefined ? page.all(after, limit) : pageOfStatus.all(status, after, limit),
      );
      return found.map(petOf);
    },
    byId(id: bigint): Pet | undefined {
      const row = translating(() => byId.get(id));
      return row === null ? undefined : petOf(row);
    },
    count: (): number => all.get()?.count ?? 0,
  };
}

type InsertedValues = [
  name: string,
  categoryId: bigint,
  status: PetStatus | null,
  createdAtMs: number | null,
  createdBy: string | null,
];

/** Changes animals, each call in one transaction. */
export function petWriter(db: Database) {
  const orm = query(db);
  const prepareInsert = () =>
    statement<never, InsertedValues>(
      db,
      orm.insert(pets).values({
        name: sql.placeholder("name"),
        categoryId: sql.placeholder("categoryId"),
        status: sql.placeholder("status"),
        source: sql`''`,
        createdAtMs: sql.placeholder("createdAtMs"),
        createdBy: sql.placeholder("createdBy"),
      }),
    );
  // Prepared by the first create, which a server leaves to the writer thread.
  let insert: ReturnType<typeof prepareInsert> | undefined;
  const insertAll = db.transaction((batch: readonly AddedPet[]): bigint[] => {
    const prepared = (insert ??= prepareInsert());
    return batch.map(
      ({ name, categoryId, status = null, createdAtMs = null, createdBy = null }) =>
        // A bigint, because the connection has safeIntegers; the library's type does not know.
        prepared.run(name, categoryId, status, createdAtMs, createdBy).lastInsertRowid as bigint,
    );
  });

  return {
    /** Adds all of `batch` or none of it. Returns the ids in its order; they are durable when it returns. */
    create: (batch: readonly AddedPet[]): bigint[] => insertAll.immediate(batch),
    setStatus(id: bigint, status: PetStatus | undefined): Pet | undefined {
      const row = orm
        .update(pets)
        .set({ status: status ?? null })
        .where(eq(pets.id, id))
        .returning(petColumns)
        .get();
      return row === undefined ? undefined : withoutNull(row);
    },
    remove(id: bigint): Pet | undefined {
      const row = orm.delete(pets).where(eq(pets.id, id)).returning(petColumns).get();
      return row === undefined ? undefined : withoutNull(row);
    },
  };
}
