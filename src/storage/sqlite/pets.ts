import type { Database } from "bun:sqlite";
import { and, asc, eq, gt, sql } from "drizzle-orm";
import { int64Min } from "../../domain/int64.ts";
import type { PageQuery } from "../../domain/page.ts";
import type { Pet, PetStatus } from "../../domain/pet.ts";
import { answerFields, petOfRow, type PetRow } from "../pet-row.ts";
import { written } from "./builder.ts";
import { translating } from "./database.ts";
import { countPets } from "./pet-writer.ts";
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

/** Reads animals through statements prepared once. */
export function petReader(db: Database) {
  const page = db.prepare<PetRow, [after: bigint, limit: number]>(pageText);
  const pageOfStatus = db.prepare<PetRow, [status: PetStatus, after: bigint, limit: number]>(
    pageOfStatusText,
  );
  const byId = db.prepare<PetRow, [id: bigint]>(byIdText);

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
    count: () => translating(() => countPets(db)),
  };
}
