/** What lists said last of their animals, as it is stored. */
import { and, desc, eq, inArray, max, sql, type SQL } from "drizzle-orm";
import type { PgColumn } from "drizzle-orm/pg-core";
import type { PetStatus } from "../../../domain/pet.ts";
import { columnsOf, type Tables, type Tx } from "../../../storage/database.ts";
import { type Change, type PetRow, type StoredState, storedMs } from "../../animals/changes.ts";
import type { Said } from "./desk.ts";

/** What the list of a source said of one animal. */
export type Entry = Omit<Tables["listEntries"]["$inferSelect"], "source" | "changeId">;

/** True for a column that has one of many values, which are one parameter. */
export function isAmong(tx: Tx, column: PgColumn, values: readonly (string | bigint)[]): SQL {
  const list = typeof values[0] === "bigint" ? `[${values.join()}]` : JSON.stringify(values);
  if (tx.dialect === "sqlite") return sql`${column} IN (SELECT value FROM json_each(${list}))`;
  const type = sql.raw(typeof values[0] === "bigint" ? "bigint" : "text");
  return sql`${column} = ANY (ARRAY(SELECT CAST(one AS ${type})
    FROM json_array_elements_text(CAST(CAST(${list} AS text) AS json)) AS one))`;
}

async function entriesWhere(tx: Tx, source: string, where: SQL): Promise<Map<string, Entry>> {
  const { listEntries } = tx.t;
  // Drizzle's rows would take longer than SQLite does.
  const rows = await tx.rows<Entry>(sql`SELECT entry, pet_id AS "petId", presence, name, category,
    status FROM ${listEntries}
    WHERE ${listEntries.source} = ${source} AND ${where} ORDER BY entry, change_id`);
  return new Map(rows.map((row) => [row.entry, row]));
}

/** What the list of a source said last of its animals with these ids. */
export function entriesOf(
  tx: Tx,
  source: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Entry>> {
  if (ids.length === 0) return Promise.resolve(new Map());
  return entriesWhere(tx, source, isAmong(tx, tx.t.listEntries.entry, ids));
}

/** The same of those without ids, by name and category. */
export function namelessEntries(tx: Tx, source: string): Promise<ReadonlyMap<string, Entry>> {
  return entriesWhere(tx, source, sql`${tx.t.listEntries.petId} IS NOT NULL`);
}

/** The entries that a list had when nobody is here under their ids: people removed those animals. */
export async function entriesOfRemoved(tx: Tx, source: string): Promise<readonly Entry[]> {
  const { listEntries, pets } = tx.t;
  const isNobody = sql`${listEntries.petId} IS NULL AND NOT EXISTS (SELECT 1 FROM ${pets}
    WHERE ${pets.source} = ${source} AND ${pets.externalId} = ${listEntries.entry})`;
  const entries = await entriesWhere(tx, source, isNobody);
  return [...entries.values()].filter(({ presence }) => presence === "there");
}

export async function storeEntries(
  tx: Tx,
  source: string,
  changeId: bigint,
  entries: readonly Entry[],
): Promise<void> {
  if (entries.length === 0) return;
  const rows = entries.map(({ entry, petId, presence, name, category, status }) => {
    return { source, entry, changeId, petId, presence, name, category, status };
  });
  await tx.insertAll(tx.t.listEntries, rows);
}

/** Stores what a list says of animals with ids that a change added, those that `where` means. */
export async function storeAdded(
  { run, t: { pets, listEntries } }: Tx,
  changeId: bigint,
  where: SQL,
  words: ReadonlyMap<bigint, string>,
): Promise<void> {
  const cases = [...words].map(
    ([id, word]) => sql`WHEN CAST(${id} AS bigint) THEN CAST(${word} AS text)`,
  );
  await run(sql`INSERT INTO ${listEntries}
      (source, entry, change_id, pet_id, presence, name, category, status)
    SELECT source, external_id, CAST(${changeId} AS bigint), NULL, 'there', name,
      CASE category_id ${sql.join(cases, sql` `)} END, status
    FROM ${pets} WHERE ${where} AND external_id IS NOT NULL ORDER BY external_id`);
}

/** Lists left animals out that a person withdrew only now. */
export async function leaveOut(
  { tx, id }: Pick<Change, "tx" | "id">,
  source: string,
  animals: readonly Pick<PetRow, "id" | "name" | "externalId">[],
): Promise<void> {
  const ids = animals.flatMap(({ externalId }) => externalId ?? []);
  const known = await entriesOf(tx, source, ids);
  const nameless = [...(await namelessEntries(tx, source)).values()];
  const entries = animals.flatMap(({ id: petId, name, externalId }): Entry[] => {
    const entry =
      externalId === null ? nameless.find((each) => each.petId === petId) : known.get(externalId);
    const key = externalId ?? entry?.entry;
    if (key === undefined) return [];
    const said = { name: entry?.name ?? name, category: entry?.category ?? null, status: null };
    return [{ ...said, entry: key, presence: "left out", petId: entry?.petId ?? null }];
  });
  await storeEntries(tx, source, id, entries);
}

/** Forgets what no undo needs any more: what was said before the changes that are stored. */
export async function forgetEntries(tx: Tx, source: string): Promise<void> {
  const { listEntries, changes } = tx.t;
  const first = sql`(SELECT min(${changes.id}) FROM ${changes})`;
  await tx.run(sql`DELETE FROM ${listEntries} WHERE ${listEntries.source} = ${source}
    AND ${listEntries.changeId} < ${first} AND EXISTS (SELECT 1 FROM ${listEntries} AS newer
      WHERE newer.source = ${source} AND newer.entry = ${listEntries.entry}
        AND newer.change_id > ${listEntries.changeId} AND newer.change_id < ${first})`);
}

/** Formats whose import is a person's change of animals by their ids here. */
export const isDesk = (format: unknown): boolean => format === "rehome" || format === "petstore";

/**
 * What the lists of animals said that were imported before entries were stored, as far as their
 * events tell. Categories are ids. One that a person removed was in its list by then: the next
 * import brought back who was.
 */
export async function saidBefore(
  tx: Tx,
  ids: readonly bigint[],
): Promise<ReadonlyMap<bigint, Said>> {
  if (ids.length === 0) return new Map();
  const { petEvents, changes } = tx.t;
  const { before, after, petId } = columnsOf(petEvents);
  const { action, undoneIn } = changes;
  const { summary } = columnsOf(changes);
  const found = await tx
    .select({ petId, before, after, action, undoneIn, summary })
    .from(petEvents)
    .innerJoin(changes, eq(changes.id, petEvents.changeId))
    .where(isAmong(tx, petEvents.petId, ids))
    .orderBy(petEvents.petId, desc(petEvents.changeId));
  const made = await madeByImport(tx, ids);
  const said = new Map<bigint, Said>();
  const events = Map.groupBy(found, (event) => event.petId);
  for (const id of ids) {
    const own = events.get(id) ?? [];
    const [newest] = own;
    const last = own.find(
      (event) =>
        event.action === "import" && event.undoneIn === null && !isDesk(event.summary["format"]),
    );
    const oldest = own.at(-1);
    const first = oldest === undefined ? made.get(id) : (oldest.before ?? undefined);
    const isRemovedByPerson = newest?.action === "remove" || newest?.action === "merge";
    if (last !== undefined) said.set(id, saidOf(last.after ?? last.before, last.after !== null));
    else if (made.has(id) && first !== undefined) said.set(id, saidOf(first, true));
    else if (isRemovedByPerson) said.set(id, saidOf(newest.before, true));
  }
  return said;
}

function saidOf(state: StoredState | null, isThere: boolean): Said {
  const { name = null, status = null, categoryId } = state ?? {};
  const category = typeof categoryId === "bigint" || typeof categoryId === "number";
  return {
    presence: isThere ? "there" : "left out",
    name: name as string | null,
    category: category ? BigInt(categoryId) : null,
    status: status as PetStatus | null,
  };
}

/** The animals that an import made which is in force, as they are now. */
async function madeByImport(
  tx: Tx,
  ids: readonly bigint[],
): Promise<ReadonlyMap<bigint, StoredState>> {
  const { changes, pets, removedPets } = tx.t;
  const [newest] = await tx.select({ atMs: max(changes.atMs) }).from(changes);
  const made = new Map<bigint, StoredState>();
  for (const table of [pets, removedPets]) {
    const { id, name, categoryId, status } = table;
    const rows = await tx
      .select({
        id,
        name,
        categoryId,
        status,
        atMs: changes.atMs,
        summary: columnsOf(changes).summary,
      })
      .from(table)
      .innerJoin(changes, eq(changes.id, table.createdIn))
      .where(
        and(isAmong(tx, id, ids), eq(changes.action, "import"), sql`${changes.undoneIn} IS NULL`),
      );
    for (const { id: petId, atMs, summary, ...state } of rows) {
      // Events of older changes are forgotten bit by bit.
      if (atMs >= (newest?.atMs ?? 0) - storedMs && !isDesk(summary["format"]))
        made.set(petId, state);
    }
  }
  return made;
}

/** Who changed animals last so that they are not as their lists say, by the animal. */
export async function lastPeople(
  tx: Tx,
  ids: readonly bigint[],
): Promise<ReadonlyMap<bigint, string>> {
  if (ids.length === 0) return new Map();
  const { petEvents, changes } = tx.t;
  const { summary } = columnsOf(changes);
  const rows = await tx
    .select({ petId: petEvents.petId, actor: changes.actor, action: changes.action, summary })
    .from(petEvents)
    .innerJoin(changes, eq(changes.id, petEvents.changeId))
    .where(inArray(petEvents.petId, [...ids]))
    .orderBy(petEvents.changeId);
  const byPeople = rows.filter(
    ({ action, summary: { format } }) => action !== "import" || isDesk(format),
  );
  return new Map(byPeople.map(({ petId, actor }) => [petId, actor]));
}
