import { and, asc, count, desc, eq, gt, isNull, lt, sql, type SQL } from "drizzle-orm";
import { fold } from "../visible.ts";
import type { PetStatus } from "../../domain/pet.ts";
import type { Tx } from "../../storage/database.ts";
import { rowsWith } from "./animals.ts";
import type { PetRow } from "./changes.ts";

export interface PetFilter {
  /** Anywhere in the name, whatever its case and accents. */
  readonly name?: string | undefined;
  /** Finds an animal too whose id that is, ours or the one in its list, whatever its name. */
  readonly orId?: boolean;
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
  /** False where nobody asks how many there are. */
  readonly isCounted?: boolean;
}

const batchRows = 10_000;

/**
 * A page of the animals that the filter means, how many it means in all, and how many of each
 * status, whatever status it means.
 */
export async function findPets(tx: Tx, filter: PetFilter, page: PageOfPets) {
  const isByName = (filter.name ?? "") !== "" || page.byNameFrom !== undefined;
  const { pets, counts } = await (isByName ? findByName : findById)(tx, filter, page);
  const { status } = filter;
  const all = counts.values().reduce((sum, animals) => sum + animals, 0);
  return { pets, total: status === undefined ? all : (counts.get(status) ?? 0), counts };
}

async function findById(tx: Tx, filter: PetFilter, page: PageOfPets) {
  const { pets } = tx.t;
  const isAmong = conditionOf(tx, { ...filter, status: undefined });
  const all = tx.select({ its: pets.status, animals: count() }).from(pets).where(isAmong);
  const counted = page.isCounted === false ? [] : await all.groupBy(pets.status);
  const counts = new Map(counted.map(({ its, animals }) => [its, animals]));
  const isOnPage = conditionOf(tx, filter, page);
  const rows = tx.select().from(pets).where(isOnPage);
  const order = (page.newestFirst ? desc : asc)(pets.id);
  return { pets: await rows.orderBy(order).limit(page.limit), counts };
}

function conditionOf(
  { t: { pets } }: Tx,
  { categoryId, status }: PetFilter,
  { after, newestFirst }: Pick<PageOfPets, "after" | "newestFirst"> = {},
): SQL | undefined {
  return and(
    categoryId === undefined ? undefined : eq(pets.categoryId, categoryId),
    status === null ? isNull(pets.status) : status && eq(pets.status, status),
    after === undefined ? undefined : (newestFirst ? lt : gt)(pets.id, after),
  );
}

type NamedPet = Pick<PetRow, "id" | "name" | "status" | "source" | "externalId">;

/**
 * Reads every name, as no index that both databases have finds a part of one or its order: 100 ms
 * among 100,000 animals.
 */
async function findByName(
  tx: Tx,
  { name = "", orId = false, categoryId, status }: PetFilter,
  { limit, after, newestFirst = false, byNameFrom, isCounted = true }: PageOfPets,
) {
  const { pets } = tx.t;
  const wanted = fold(name);
  const counts = new Map<PetStatus | null, number>();
  const found: { readonly folded: string; readonly id: bigint }[] = [];
  const order = sql`ORDER BY id ${sql.raw(newestFirst ? "DESC" : "ASC")} LIMIT ${batchRows}`;
  const enough = isCounted ? Infinity : limit;
  let batch: NamedPet[];
  let last = isCounted ? undefined : after;
  do {
    const where = conditionOf(tx, { categoryId }, { after: last, newestFirst }) ?? sql`true`;
    batch = await tx.rows(sql`SELECT id, name, status, source, external_id AS "externalId"
      FROM ${pets} WHERE ${where} ${order}`);
    // Folded in one go: a text of its own for each name takes four times as long.
    const names = fold(batch.map((pet) => pet.name).join("\0")).split("\0");
    for (const [at, pet] of batch.entries()) {
      const folded = names[at] ?? "";
      if (!folded.includes(wanted) && !(orId && isCalled(pet, name))) continue;
      counts.set(pet.status, (counts.get(pet.status) ?? 0) + 1);
      const isAfter = after === undefined || (newestFirst ? pet.id < after : pet.id > after);
      if (!isAfter || (status !== undefined && status !== pet.status)) continue;
      found.push({ folded, id: pet.id });
    }
    last = batch.at(-1)?.id;
  } while (batch.length === batchRows && found.length < enough);
  if (byNameFrom !== undefined) {
    found.sort((a, b) => Number(a.folded > b.folded) - Number(a.folded < b.folded));
  }
  const ids = found.slice(byNameFrom ?? 0, (byNameFrom ?? 0) + limit).map(({ id }) => id);
  return { pets: await rowsWith(tx, ids), counts };
}

/** True for the id of an animal, ours or the one in its list, which has its source in front. */
const isCalled = ({ id, externalId, source }: NamedPet, name: string): boolean =>
  name === `${id}` ||
  [name, `${source}:${name}`].some((each) => each.toLowerCase() === externalId?.toLowerCase());
