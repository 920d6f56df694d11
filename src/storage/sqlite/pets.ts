import type { Database } from "bun:sqlite";
import { and, asc, count, eq, gt, sql } from "drizzle-orm";
import { int64Min } from "../../domain/int64.ts";
import type { PageQuery } from "../../domain/page.ts";
import type { Pet, PetStatus } from "../../domain/pet.ts";
import { answerFields, petOfRow, type PetRow } from "../pet-row.ts";
import { statement, written } from "./builder.ts";
import { translating } from "./database.ts";
import { pets } from "./schema.ts";

/** By the names of the fields, so that a row is an animal except for nulls. */
const petColumns = Object.fromEntries(
  answerFields.map((name) => [name, sql`${pets[name]}`.as(name)]),
);

const rows = written
  .select(petColumns)
  .from(pets)
  .orderBy(asc(pets.id))
  .limit(sql.placeholder("limit"))
  .$dynamic();
const isAfter = gt(pets.id, sql.placeholder("after"));
const pageText = rows.where(isAfter).toSQL().sql;
const pageOfStatusText = rows
  .where(and(eq(pets.status, sql.placeholder("status")), isAfter))
  .toSQL().sql;
const byIdText = written
  .select(petColumns)
  .from(pets)
  .where(eq(pets.id, sql.placeholder("id")))
  .toSQL().sql;
const countText = written.select({ count: count() }).from(pets).toSQL().sql;

/** Reads animals through statements prepared once. */
export function petReader(db: Database) {
  const page = statement<PetRow, [after: bigint, limit: number]>(db, pageText);
  const pageOfStatus = statement<PetRow, [status: PetStatus, after: bigint, limit: number]>(
    db,
    pageOfStatusText,
  );
  const byId = statement<PetRow, [id: bigint]>(db, byIdText);
  const all = statement<Record<string, bigint>, []>(db, countText);

  return {
    page({ limit, status, after = int64Min }: PageQuery): Pet[] {
      const found = translating(() =>
        status === undefined ? page.all(after, limit) : pageOfStatus.all(status, after, limit),
      );
      return found.map(petOfRow);
    },
    byId(id: bigint): Pet | undefined {
      const row = translating(() => byId.get(id));
      return row === null ? undefined : petOfRow(row);
    },
    count: () => translating(() => Number(Object.values(all.get() ?? {})[0])),
  };
}
