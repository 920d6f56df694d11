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
  /** Animals that are found by their id in a list, whatever their names. */
  readonly orExternalId?: string | undefined;
  readonly categoryId?: bigint | undefined;
  /** Null: only those without one. */
  readonly status?: PetStatus | null | undefined;
}

export interface PageOfPets {
  readonly limit: number;
  readonly after?: bigint | undefined;
  /** By descending ids; else by ascending ones. */
  readonly newestFirst?: boolean;
  /** By name in place of the id, from the one on that has this many before it. */
  readonly byNameFrom?: number | undefined;
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
 * A page of the animals that the filter means. To find a part of a name, or to order by it, it reads
 * all names, which takes 50 ms among 100,000 animals: no index that both databases have would help.
 */
export async function findPets(
  tx: Tx,
  filter: PetFilter,
  { limit, after, newestFirst = false, byNameFrom, countMax = Infinity }: PageOfPets,
): Promise<FoundPets> {
  const { pets } = tx.t;
  const where = conditionOf(tx, filter);
  const order = newestFirst ? desc(pets.id) : asc(pets.id);
  const behind = (id: bigint | undefined) =>
    id === undefined ? undefined : (newestFirst ? lt : gt)(pets.id, id);
  const pageOf = (condition: SQL | undefined) =>
    tx.select().from(pets).where(condition).orderBy(order).limit(limit);
  if (byNameFrom !== undefined) {
    const all: NamedPet[] = [];
    for await (const batch of matches(tx, filter, {})) all.push(...batch);
    const byName = (a: NamedPet, b: NamedPet) =>
      a.folded === b.folded ? Number(a.id - b.id) : a.folded < b.folded ? -1 : 1;
    all.sort(byName);
    const ids = all.slice(byNameFrom, byNameFrom + limit).map(({ id }) => id);
    const rows = ids.length === 0 ? [] : await pageOf(inArray(pets.id, ids));
    const byId = new Map(rows.map((row) => [row.id, row]));
    return { pets: ids.flatMap((id) => byId.get(id) ?? []), total: all.length };
  }
  if ((filter.name ?? "") === "") {
    const rows = await pageOf(and(where, behind(after)));
    if (countMax === 0) return { pets: rows, total: 0 };
    const [counted] = await tx.select({ total: count() }).from(pets).where(where);
    return { pets: rows, total: counted?.total ?? 0 };
  }
  const ids: bigint[] = [];
  let total = 0;
  const reading =
    countMax === 0
      ? { newestFirst, after, batchSize: limit }
      : { newestFirst, batchSize: batchRows };
  for await (const batch of matches(tx, filter, reading)) {
    for (const { id } of batch) {
      total += 1;
      const isBehind = after === undefined || (newestFirst ? id < after : id > after);
      if (isBehind && ids.length < limit) ids.push(id);
    }
    if (total > countMax && ids.length === limit) break;
  }
  return { pets: ids.length === 0 ? [] : await pageOf(inArray(pets.id, ids)), total };
}

/** How many animals of each status the filter means, up to `countMax` of those with a name. */
export async function countStatuses(
  tx: Tx,
  { status: _status, ...filter }: PetFilter,
  countMax: number,
): Promise<ReadonlyMap<PetStatus | null, number>> {
  const { pets } = tx.t;
  if ((filter.name ?? "") === "") {
    const counted = await tx
      .select({ status: pets.status, animals: count() })
      .from(pets)
      .where(conditionOf(tx, filter))
      .groupBy(pets.status);
    return new Map(counted.map(({ status, animals }) => [status, animals]));
  }
  const counts = new Map<PetStatus | null, number>();
  let total = 0;
  for await (const batch of matches(tx, filter, {})) {
    for (const { status } of batch) counts.set(status, (counts.get(status) ?? 0) + 1);
    total += batch.length;
    if (total > countMax) break;
  }
  return counts;
}

interface NamedPet extends Pick<PetRow, "id" | "status"> {
  readonly folded: string;
}

/** The animals that the filter means, in batches by their ids. */
async function* matches(
  tx: Tx,
  filter: PetFilter,
  {
    newestFirst = false,
    after,
    batchSize = batchRows,
  }: { newestFirst?: boolean; after?: bigint | undefined; batchSize?: number },
): AsyncGenerator<NamedPet[]> {
  const { pets } = tx.t;
  const { name = "", orId, orExternalId } = filter;
  const { id, name: called, externalId, source, status } = pets;
  const wanted = orExternalId?.toLowerCase();
  for (let last = after; ;) {
    const behind = last === undefined ? undefined : (newestFirst ? lt : gt)(id, last);
    const batch = await tx
      .select({ id, name: called, externalId, source, status })
      .from(pets)
      .where(and(conditionOf(tx, filter), behind))
      .orderBy(newestFirst ? desc(id) : asc(id))
      .limit(batchSize);
    // Folded in one go: a text of its own for each name takes four times as long.
    const names = fold(batch.map((pet) => pet.name).join("\0")).split("\0");
    yield batch.flatMap((pet, at) => {
      const folded = names[at] ?? "";
      const isNamed = folded.includes(fold(name));
      // Stored behind the name of its list, as ids of two lists may be equal.
      const listed = wanted === undefined ? undefined : pet.externalId?.toLowerCase();
      const ids = [wanted, `${(pet.source ?? "").toLowerCase()}:${wanted}`];
      const isIt = pet.id === orId || (listed !== undefined && ids.includes(listed));
      return isNamed || isIt ? [{ id: pet.id, status: pet.status, folded }] : [];
    });
    last = batch.at(-1)?.id;
    if (batch.length < batchSize) return;
  }
}

/** What the database can tell. It leaves names with letters beyond ASCII to `fold`. */
function conditionOf(
  tx: Tx,
  { name = "", orId, orExternalId, categoryId, status }: PetFilter,
): SQL | undefined {
  const { pets } = tx.t;
  const mayHave =
    tx.dialect === "sqlite"
      ? sql`(instr(lower(name), ${fold(name)}) > 0 OR length(name) < length(CAST(name AS blob)))`
      : sql`(strpos(lower(name COLLATE "C"), ${fold(name)}) > 0 OR length(name) < octet_length(name))`;
  return and(
    name === ""
      ? undefined
      : or(
          mayHave,
          orId === undefined ? undefined : eq(pets.id, orId),
          orExternalId === undefined
            ? undefined
            : sql`lower(${pets.externalId}) IN (lower(${orExternalId}),
                lower(coalesce(${pets.source}, '') || ':' || ${orExternalId}))`,
        ),
    categoryId === undefined ? undefined : eq(pets.categoryId, categoryId),
    status === null ? isNull(pets.status) : status && eq(pets.status, status),
  );
}
