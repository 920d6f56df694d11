import { and, asc, count, desc, eq, gt, inArray, isNull, lt, or, sql, type SQL } from "drizzle-orm";
import { fold } from "../visible.ts";
import type { PetStatus } from "../../domain/pet.ts";
import type { Tx } from "../../storage/database.ts";
import type { PetRow } from "./changes.ts";

export interface PetFilter {
  /** Anywhere in the name, whatever its case and accents. */
  readonly name?: string | undefined;
  /** An animal that is found by its id, whatever its name. */
  readonly orId?: bigint | undefined;
  readonly categoryId?: bigint | undefined;
  /** Null: only those without one. */
  readonly status?: PetStatus | null | undefined;
}

export interface PageOfPets {
  readonly limit: number;
  readonly after?: bigint | undefined;
  /** By descending ids; else by ascending ones. */
  readonly newestFirst?: boolean;
  /** Those with the name are counted up to here, and not at all at 0. */
  readonly countMax?: number;
}

export interface FoundPets {
  readonly pets: readonly PetRow[];
  /** How many the filter means in all, whatever page is shown; above `countMax`, some of them. */
  readonly total: number;
}

/** Names that are read at a time. */
const batchRows = 10_000;

/**
 * A page of the animals that the filter means. To find a part of a name it reads all names, which
 * takes 50 ms among 100,000 animals: no index that both databases have would help.
 */
export async function findPets(
  tx: Tx,
  filter: PetFilter,
  { limit, after, newestFirst = false, countMax = Infinity }: PageOfPets,
): Promise<FoundPets> {
  const { pets } = tx.t;
  const where = conditionOf(tx, filter);
  const order = newestFirst ? desc(pets.id) : asc(pets.id);
  const behind = (id: bigint | undefined) =>
    id === undefined ? undefined : (newestFirst ? lt : gt)(pets.id, id);
  const pageOf = (condition: SQL | undefined) =>
    tx.select().from(pets).where(condition).orderBy(order).limit(limit);
  const { name = "", orId } = filter;
  if (name === "") {
    const rows = await pageOf(and(where, behind(after)));
    if (countMax === 0) return { pets: rows, total: 0 };
    const [counted] = await tx.select({ total: count() }).from(pets).where(where);
    return { pets: rows, total: counted?.total ?? 0 };
  }
  const ids: bigint[] = [];
  let total = 0;
  const batchSize = countMax === 0 ? limit : batchRows;
  for (let last = countMax === 0 ? after : undefined; ;) {
    const batch = await tx
      .select({ id: pets.id, name: pets.name })
      .from(pets)
      .where(and(where, behind(last)))
      .orderBy(order)
      .limit(batchSize);
    // Folded in one go: a text of its own for each name takes four times as long.
    const names = fold(batch.map((pet) => pet.name).join("\0")).split("\0");
    for (const [at, { id }] of batch.entries()) {
      if (id !== orId && !names[at]?.includes(fold(name))) continue;
      total += 1;
      const isBehind = after === undefined || (newestFirst ? id < after : id > after);
      if (isBehind && ids.length < limit) ids.push(id);
    }
    last = batch.at(-1)?.id;
    if (batch.length < batchSize || (total > countMax && ids.length === limit)) break;
  }
  return { pets: ids.length === 0 ? [] : await pageOf(inArray(pets.id, ids)), total };
}

/** What the database can tell. It leaves names with letters beyond ASCII to `fold`. */
function conditionOf(tx: Tx, { name = "", orId, categoryId, status }: PetFilter): SQL | undefined {
  const { pets } = tx.t;
  const mayHave =
    tx.dialect === "sqlite"
      ? sql`(instr(lower(name), ${fold(name)}) > 0 OR length(name) < length(CAST(name AS blob)))`
      : sql`(strpos(lower(name COLLATE "C"), ${fold(name)}) > 0 OR length(name) < octet_length(name))`;
  return and(
    name === "" ? undefined : or(mayHave, orId === undefined ? undefined : eq(pets.id, orId)),
    categoryId === undefined ? undefined : eq(pets.categoryId, categoryId),
    status === null ? isNull(pets.status) : status && eq(pets.status, status),
  );
}
