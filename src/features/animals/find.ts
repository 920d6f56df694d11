import { and, asc, count, desc, eq, gt, inArray, isNull, lt, or, sql, type SQL } from "drizzle-orm";
import { fold } from "../visible.ts";
import type { PetStatus } from "../../domain/pet.ts";
import type { Tx } from "../../storage/database.ts";
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

/** How many there are of each status. */
type Counts = ReadonlyMap<PetStatus | null, number>;

const batchRows = 10_000;

/**
 * A page of the animals that the filter means, how many it means in all, and how many of each
 * status, whatever status it means. To find a part of a name, or to order by it, it reads
 * all names, which takes 50 ms among 100,000 animals: no index that both databases have would help.
 */
export async function findPets(
  tx: Tx,
  filter: PetFilter,
  { limit, after, newestFirst = false, byNameFrom, isCounted = true }: PageOfPets,
) {
  const { pets } = tx.t;
  const order = newestFirst ? desc(pets.id) : asc(pets.id);
  const pageOf = (condition: SQL | undefined) =>
    tx.select().from(pets).where(condition).orderBy(order).limit(limit);
  const { status, ...ofAnyStatus } = filter;
  if ((filter.name ?? "") === "" && byNameFrom === undefined) {
    const rows = await pageOf(and(conditionOf(tx, filter), isBehind(tx, after, newestFirst)));
    if (!isCounted) return { pets: rows, total: 0, counts: new Map() as Counts };
    const counted = await tx
      .select({ status: pets.status, animals: count() })
      .from(pets)
      .where(conditionOf(tx, ofAnyStatus))
      .groupBy(pets.status);
    const counts: Counts = new Map(counted.map(({ status, animals }) => [status, animals]));
    return { pets: rows, total: totalOf(counts, status), counts };
  }
  const counts = new Map<PetStatus | null, number>();
  const found: NamedPet[] = [];
  for await (const batch of matches(tx, ofAnyStatus, newestFirst, isCounted ? undefined : after)) {
    for (const pet of batch) {
      counts.set(pet.status, (counts.get(pet.status) ?? 0) + 1);
      const isAfter = after === undefined || (newestFirst ? pet.id < after : pet.id > after);
      const isShown = isAfter && (status === undefined || status === pet.status);
      if (isShown && (byNameFrom !== undefined || found.length < limit)) found.push(pet);
    }
    if (!isCounted && found.length === limit) break;
  }
  if (byNameFrom !== undefined) found.sort(byName);
  const page = found.slice(byNameFrom ?? 0, (byNameFrom ?? 0) + limit);
  const ids = page.map(({ id }) => id);
  const rows = ids.length === 0 ? [] : await pageOf(inArray(pets.id, ids));
  const byId = new Map(rows.map((row) => [row.id, row]));
  return { pets: ids.flatMap((id) => byId.get(id) ?? []), total: totalOf(counts, status), counts };
}

const totalOf = (counts: Counts, status: PetFilter["status"]): number =>
  status === undefined
    ? counts.values().reduce((sum, animals) => sum + animals, 0)
    : (counts.get(status) ?? 0);

interface NamedPet extends Pick<PetRow, "id" | "status"> {
  readonly folded: string;
}

const byName = (a: NamedPet, b: NamedPet) =>
  a.folded === b.folded ? Number(a.id - b.id) : a.folded < b.folded ? -1 : 1;

const isBehind = ({ t: { pets } }: Tx, id: bigint | undefined, newestFirst: boolean) =>
  id === undefined ? undefined : (newestFirst ? lt : gt)(pets.id, id);

/** The animals that the filter means, in batches by their ids, behind `after`. */
async function* matches(
  tx: Tx,
  filter: PetFilter,
  newestFirst: boolean,
  after: bigint | undefined,
): AsyncGenerator<NamedPet[]> {
  const { id, name, status } = tx.t.pets;
  const wanted = fold(filter.name ?? "");
  const isIt = sql`CASE WHEN ${idIs(tx, filter)} THEN 1 ELSE 0 END`.mapWith(Number);
  for (let last = after; ;) {
    const batch = await tx
      .select({ id, name, status, isIt })
      .from(tx.t.pets)
      .where(and(conditionOf(tx, filter), isBehind(tx, last, newestFirst)))
      .orderBy(newestFirst ? desc(id) : asc(id))
      .limit(batchRows);
    // Folded in one go: a text of its own for each name takes four times as long.
    const names = fold(batch.map((pet) => pet.name).join("\0")).split("\0");
    yield batch.flatMap(({ id, status, isIt }, at) => {
      const folded = names[at] ?? "";
      return folded.includes(wanted) || isIt === 1 ? [{ id, status, folded }] : [];
    });
    last = batch.at(-1)?.id;
    if (batch.length < batchRows) return;
  }
}

/** Stored behind the name of its list, as ids of two lists may be equal. */
function idIs({ t: { pets } }: Tx, { name = "", orId = false }: PetFilter): SQL {
  if (!orId) return sql`false`;
  const own = /^\d{1,18}$/.test(name) ? eq(pets.id, BigInt(name)) : sql`false`;
  return sql`(${own} OR lower(${pets.externalId}) IN (lower(${name}), lower(${pets.source} || ':' || ${name})))`;
}

/** What the database can tell. It leaves names with letters beyond ASCII to `fold`. */
function conditionOf(tx: Tx, filter: PetFilter): SQL | undefined {
  const { name = "", categoryId, status } = filter;
  const { pets } = tx.t;
  const mayHave =
    tx.dialect === "sqlite"
      ? sql`(instr(lower(name), ${fold(name)}) > 0 OR length(name) < length(CAST(name AS blob)))`
      : sql`(strpos(lower(name COLLATE "C"), ${fold(name)}) > 0 OR length(name) < octet_length(name))`;
  return and(
    name === "" ? undefined : or(mayHave, idIs(tx, filter)),
    categoryId === undefined ? undefined : eq(pets.categoryId, categoryId),
    status === null ? isNull(pets.status) : status && eq(pets.status, status),
  );
}
