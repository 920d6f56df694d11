import { and, eq, gt, inArray, isNull, sql, type SQL } from "drizzle-orm";
import { int64Min } from "../../../domain/int64.ts";
import type { Tx } from "../../../storage/database.ts";
import { categoryKey } from "../../animals/categories.ts";
import { eventFields, type PetState } from "../../animals/changes.ts";
import type { FromLine, SoundRecord } from "../understand/record.ts";
import { isAmong } from "./entries.ts";
import { ByOrigin, type Newest, ownSource } from "./newest.ts";

export interface StoreAnimal extends PetState {
  readonly id: bigint;
  readonly isRemoved: boolean;
}

/** The animals of the store that some records may be; one that is here before a removed one. */
export interface StoreAnimals {
  /** By the ids that records name. */
  readonly byId: ReadonlyMap<bigint, StoreAnimal>;
  readonly byOrigin: ByOrigin<StoreAnimal>;
}

const batchSize = 1_000;
const pageSize = 10_000;

type PetTable = Tx["t"]["pets"] | Tx["t"]["removedPets"];

export async function animalsOf(
  tx: Tx,
  records: readonly FromLine[],
  newIds: boolean,
): Promise<StoreAnimals> {
  const ids = newIds ? [] : records.flatMap(({ id }) => id ?? []);
  const externalIds = records.flatMap(({ externalId }) => externalId ?? []);
  const sources = [...new Set(records.map(({ source }) => source))];
  const byId = new Map<bigint, StoreAnimal>();
  const byOrigin = new ByOrigin<StoreAnimal>();
  // Those that are here go before those that were removed, and of these the last one.
  for (const table of [tx.t.removedPets, tx.t.pets]) {
    if ((await tx.select({ id: table.id }).from(table).limit(1)).length === 0) continue;
    if (ids.length > 0) {
      for (const each of await animalsWhere(tx, table, isAmong(tx, table.id, ids))) {
        byId.set(each.id, each);
      }
    }
    if (externalIds.length === 0) continue;
    const isOne = isAmong(tx, table.externalId, externalIds);
    for (const each of await animalsWhere(tx, table, and(inArray(table.source, sources), isOne))) {
      byOrigin.set(each.source, each.externalId ?? "", each);
    }
  }
  return { byId, byOrigin };
}

/** Animals in the order of their ids. Drizzle's rows would take longer than SQLite does. */
async function animalsWhere(
  tx: Tx,
  table: PetTable,
  where: SQL | undefined,
  limit?: number,
): Promise<StoreAnimal[]> {
  const isRemoved = table === tx.t.removedPets;
  const fields = ["id", ...eventFields] as const;
  const columns = fields.map((field) => sql`${table[field]} AS ${sql.identifier(field)}`);
  const bound = limit === undefined ? sql`` : sql` LIMIT ${limit}`;
  const rows = await tx.rows<Omit<StoreAnimal, "isRemoved">>(
    sql`SELECT ${sql.join(columns, sql`, `)} FROM ${table} WHERE ${where} ORDER BY ${table.id}${bound}`,
  );
  return rows.map((row) => Object.assign(row, { isRemoved }));
}

async function* pagesOf(tx: Tx, where: SQL | undefined): AsyncGenerator<readonly StoreAnimal[]> {
  const { pets } = tx.t;
  for (let last = int64Min; ;) {
    const page = await animalsWhere(tx, pets, and(where, gt(pets.id, last)), pageSize);
    yield page;
    if (page.length < pageSize) return;
    last = page.at(-1)?.id ?? last;
  }
}

/** Animals by their ids, those that are here before removed ones. */
export async function animalsById(
  tx: Tx,
  ids: readonly bigint[],
): Promise<ReadonlyMap<bigint, StoreAnimal>> {
  const found = new Map<bigint, StoreAnimal>();
  for (const part of batches(ids)) {
    for (const table of [tx.t.removedPets, tx.t.pets]) {
      for (const each of await animalsWhere(tx, table, isAmong(tx, table.id, part))) {
        found.set(each.id, each);
      }
    }
  }
  return found;
}

/** Animals without an id elsewhere that records without any id are called like. */
export async function namelessLike(
  tx: Tx,
  anonymous: readonly SoundRecord[],
  complete: string | undefined,
): Promise<readonly StoreAnimal[]> {
  const { pets } = tx.t;
  const isNobodys = inArray(pets.source, complete === undefined ? [""] : ["", complete]);
  return namedLike(tx, anonymous, and(isNobodys, isNull(pets.externalId)));
}

/** Animals that new ones are called like, but those that an id in the list names. */
export async function likeNew(
  tx: Tx,
  added: readonly SoundRecord[],
  newest: Newest,
): Promise<readonly StoreAnimal[]> {
  return namedLike(tx, added, sql`true`, (animal) => !isIdentified(newest, animal, animal.source));
}

/** True for an animal that a record in the list names by an id, here or in `source`. */
function isIdentified(
  { identified }: Newest,
  { id, externalId }: StoreAnimal,
  source: string,
): boolean {
  const named = externalId === null ? undefined : identified.get(source, externalId);
  return (named ?? identified.get(ownSource, String(id))) !== undefined;
}

const namesOf = (records: readonly SoundRecord[]): ReadonlySet<string> =>
  new Set(records.map(({ name }) => categoryKey(name ?? "")));

async function namedLike(
  tx: Tx,
  records: readonly SoundRecord[],
  where: SQL | undefined,
  isOpen: (animal: StoreAnimal) => boolean = () => true,
): Promise<readonly StoreAnimal[]> {
  if (records.length === 0) return [];
  let names: ReadonlySet<string> | undefined;
  const found: StoreAnimal[] = [];
  for await (const page of pagesOf(tx, where)) {
    // A store without animals needs no names of a large list.
    names ??= page.length > 0 ? namesOf(records) : undefined;
    found.push(...page.filter((each) => isOpen(each) && names?.has(categoryKey(each.name))));
  }
  return found;
}

/** How many animals a source has, and those that its whole list does not name by an id. */
export async function unlistedOf(
  tx: Tx,
  source: string,
  newest: Newest,
): Promise<{ readonly total: number; readonly unlisted: readonly StoreAnimal[] }> {
  const { pets } = tx.t;
  let total = 0;
  const unlisted: StoreAnimal[] = [];
  for await (const page of pagesOf(tx, eq(pets.source, source))) {
    total += page.length;
    unlisted.push(...page.filter((animal) => !isIdentified(newest, animal, source)));
  }
  return { total, unlisted };
}

/**
 * The records, those that name their animal by its id here with its id elsewhere too: where a list
 * has both, two records of one animal are told.
 */
export async function withOtherIds(
  tx: Tx,
  records: readonly SoundRecord[],
): Promise<readonly SoundRecord[]> {
  const own = records.filter(({ id, externalId }) => externalId === undefined && id !== undefined);
  if (own.length === 0 || own.length === records.length) return records;
  const known = new Map<bigint, StoreAnimal>();
  for (const batch of batches(own)) {
    const { byId } = await animalsOf(tx, batch, false);
    for (const [id, animal] of byId) if (animal.externalId !== null) known.set(id, animal);
  }
  return records.map((record) => {
    const animal = record.externalId === undefined ? known.get(record.id ?? 0n) : undefined;
    if (animal?.externalId === undefined || animal.externalId === null) return record;
    const { externalId, source } = animal;
    return { ...record, externalId, source };
  });
}

/** So many at a time. */
export function* batches<T>(all: Iterable<T>, size = batchSize): Generator<readonly T[]> {
  let batch: T[] = [];
  for (const each of all) {
    if (batch.push(each) < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
