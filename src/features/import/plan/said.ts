/**
 * What lists said last of their animals, and who is right of an animal: the list that it comes
 * from, or the people at the desk. Both change it, so the list counts only where it says something
 * else than it said last.
 */
import { and, desc, eq, sql, type SQL } from "drizzle-orm";
import type { PgColumn } from "drizzle-orm/pg-core";
import type { PetStatus } from "../../../domain/pet.ts";
import { columnsOf, type Tables, type Tx } from "../../../storage/database.ts";
import type { listPresences } from "../../../storage/schema.ts";
import {
  type Change,
  type PetRow,
  type PetState,
  type StoredState,
  storedMs,
} from "../../animals/changes.ts";
import type { Candidate } from "../understand/record.ts";
import { wordFor } from "./categories.ts";

export interface StoreAnimal extends PetState {
  readonly id: bigint;
  readonly isRemoved: boolean;
}

export type Presence = (typeof listPresences)[number];

/** An animal by what words mean here today. */
export interface Said {
  readonly presence: Presence;
  /** Null where it is not known. */
  readonly name: string | null;
  /** Its id here, or a word that means none; null where it is not known. */
  readonly category: bigint | string | null;
  readonly status: PetStatus | null;
}

export interface Here extends Pick<PetState, "name" | "status"> {
  readonly isRemoved: boolean;
  readonly category: bigint;
}

export const listFields = ["name", "category", "status"] as const;
export type ListField = (typeof listFields)[number];

export interface Decision {
  readonly does: "nothing" | "changes" | "withdraws" | "returns";
  /** What becomes as the list says it. */
  readonly takes: readonly ListField[];
  /** What stays as people have it, though the list says otherwise. */
  readonly kept: readonly (ListField | "presence")[];
}

const nothing: Decision = { does: "nothing", takes: [], kept: [] };
const keepsPresence: Decision = { does: "nothing", takes: [], kept: ["presence"] };

/** Statuses by how far they are from adoption. One without a status is shown to nobody. */
const distances = { available: 0, pending: 1, none: 2, sold: 3 } as const;
export const isFurther = (status: PetStatus | null, than: PetStatus | null): boolean =>
  distances[status ?? "none"] > distances[than ?? "none"];

/**
 * What becomes of an animal: `last` is what the list said before, undefined where nobody knows.
 * With `listWins` the list is right whatever people did.
 */
export function decide(last: Said | undefined, now: Said, here: Here, listWins: boolean): Decision {
  const wasThere = last === undefined || last.presence === "there";
  if (now.presence !== "there") {
    if (here.isRemoved) return nothing;
    return wasThere || listWins ? { ...nothing, does: "withdraws" } : keepsPresence;
  }
  // Who was removed by a person stays so until the list has the animal anew.
  if (here.isRemoved && last?.presence === "there" && !listWins) return keepsPresence;
  const differing = listFields.filter((field) => now[field] !== here[field]);
  const takes = differing.filter((field) => listWins || isTaken(field, last, now, here));
  const kept = differing.filter((field) => !takes.includes(field));
  const does = here.isRemoved ? "returns" : takes.length > 0 ? "changes" : "nothing";
  return { does, takes, kept };
}

function isTaken(field: ListField, last: Said | undefined, now: Said, here: Here): boolean {
  // A stay that begins anew has the status that its list says.
  const isKnown = last !== undefined && last[field] !== null;
  if (here.isRemoved && (field === "status" || !isKnown)) return true;
  const isByList = last === undefined || last[field] !== now[field];
  const isByDesk = last === undefined || last[field] !== here[field];
  if (!isByList) return false;
  if (!isByDesk) return true;
  return field === "status" && isFurther(now.status, here.status);
}

export type Entry = Omit<Tables["listEntries"]["$inferSelect"], "source" | "changeId">;

/** What a list says of an animal that it has. */
export function entryOf(
  { name, category, status }: Candidate,
  entry: string,
  petId: bigint | null,
): Entry {
  const word = wordFor(category);
  return { entry, petId, presence: "there", name, category: word, status: status ?? null };
}

/** True for a column that has one of many values, which are one parameter. */
export function isAmong(tx: Tx, column: PgColumn, values: readonly (string | bigint)[]): SQL {
  const list = typeof values[0] === "bigint" ? `[${values.join()}]` : JSON.stringify(values);
  if (tx.dialect === "sqlite") return sql`${column} IN (SELECT value FROM json_each(${list}))`;
  const type = sql.raw(typeof values[0] === "bigint" ? "bigint" : "text");
  return sql`${column} = ANY (ARRAY(SELECT CAST(one AS ${type})
    FROM json_array_elements_text(CAST(CAST(${list} AS text) AS json)) AS one))`;
}

/** What the list of a source said last of the animals that `where` means, by their entries. */
async function entriesWhere(tx: Tx, source: string, where: SQL): Promise<Map<string, Entry>> {
  const { listEntries } = tx.t;
  // Drizzle's rows would take longer than SQLite does.
  const rows = await tx.rows<Entry>(sql`SELECT entry, pet_id AS "petId", presence, name, category,
    status FROM ${listEntries}
    WHERE ${listEntries.source} = ${source} AND ${where} ORDER BY entry, change_id`);
  return new Map(rows.map((row) => [row.entry, row]));
}

export async function entriesOf(
  tx: Tx,
  source: string,
  entries: readonly string[],
): Promise<ReadonlyMap<string, Entry>> {
  if (entries.length === 0) return new Map();
  return entriesWhere(tx, source, isAmong(tx, tx.t.listEntries.entry, entries));
}

/** The entries of animals without ids, by name and category. */
export const namelessEntries = (tx: Tx, source: string): Promise<ReadonlyMap<string, Entry>> =>
  entriesWhere(tx, source, sql`${tx.t.listEntries.petId} IS NOT NULL`);

/** The entries of a list under whose ids nobody is here: people removed those animals. */
export async function entriesOfRemoved(tx: Tx, source: string): Promise<readonly Entry[]> {
  const { listEntries, pets } = tx.t;
  const isNobody = sql`${listEntries.petId} IS NULL AND NOT EXISTS (SELECT 1 FROM ${pets}
    WHERE ${pets.source} = ${source} AND ${pets.externalId} = ${listEntries.entry})`;
  const entries = await entriesWhere(tx, source, isNobody);
  return [...entries.values()].filter(({ presence }) => presence === "there");
}

/** Stores what a list says now, and forgets what no undo needs any more. */
export async function storeEntries(
  tx: Tx,
  source: string,
  changeId: bigint,
  entries: readonly Entry[],
): Promise<void> {
  const { listEntries, changes } = tx.t;
  const rows = entries.map((entry) => ({ source, changeId, ...entry }));
  await tx.insertAll(listEntries, rows);
  const first = sql`(SELECT min(${changes.id}) FROM ${changes})`;
  await tx.run(sql`DELETE FROM ${listEntries} WHERE ${listEntries.source} = ${source}
    AND ${listEntries.changeId} < ${first} AND EXISTS (SELECT 1 FROM ${listEntries} AS newer
      WHERE newer.source = ${source} AND newer.entry = ${listEntries.entry}
        AND newer.change_id > ${listEntries.changeId} AND newer.change_id < ${first})`);
}

/**
 * Stores what a list says of animals with ids that a change added, which `isNew` means, with its
 * words for their categories. Rows of this process would take longer.
 */
export async function storeAdded(
  { run, t: { pets, listEntries } }: Tx,
  changeId: bigint,
  isNew: SQL | undefined,
  words: ReadonlyMap<bigint, string>,
): Promise<void> {
  if (words.size === 0) return;
  const cases = [...words].map(
    ([id, word]) => sql`WHEN CAST(${id} AS bigint) THEN CAST(${word} AS text)`,
  );
  await run(sql`INSERT INTO ${listEntries}
      (source, entry, change_id, pet_id, presence, name, category, status)
    SELECT source, external_id, CAST(${changeId} AS bigint), NULL, 'there', name,
      CASE category_id ${sql.join(cases, sql` `)} END, status
    FROM ${pets} WHERE ${isNew} AND external_id IS NOT NULL ORDER BY external_id`);
}

/** Lists left animals out that a person withdrew only now. */
export async function leaveOut(
  { tx, id: changeId }: Pick<Change, "tx" | "id">,
  source: string,
  animals: readonly Pick<PetRow, "id" | "name" | "externalId">[],
): Promise<void> {
  const listed = animals.flatMap(({ externalId }) => externalId ?? []);
  const ids = new Set<bigint | null>(animals.map(({ id }) => id));
  const known = await entriesOf(tx, source, listed);
  const nameless = [...(await namelessEntries(tx, source)).values()];
  const unknown = animals.flatMap(({ name, externalId: entry }) =>
    entry === null || known.has(entry) ? [] : { entry, petId: null, name, category: null },
  );
  const all = [...known.values(), ...nameless.filter(({ petId }) => ids.has(petId)), ...unknown];
  const entries = all.map((each) => ({ ...each, presence: "left out" as const, status: null }));
  await storeEntries(tx, source, changeId, entries);
}

/** Formats whose import is a person's change of animals by their ids here. */
export const isDesk = (format: unknown): boolean => format === "rehome" || format === "petstore";

/** What changed animals, the newest first, by the animal. */
async function eventsOf(tx: Tx, ids: readonly bigint[]) {
  if (ids.length === 0) return [];
  const { petEvents, changes } = tx.t;
  const { petId, before, after } = columnsOf(petEvents);
  const { action, actor, undoneIn, summary } = columnsOf(changes);
  const events = await tx
    .select({ petId, before, after, action, actor, undoneIn, summary })
    .from(petEvents)
    .innerJoin(changes, eq(changes.id, petEvents.changeId))
    .where(isAmong(tx, petEvents.petId, ids))
    .orderBy(desc(petEvents.changeId));
  return [...Map.groupBy(events, (event) => event.petId)];
}

type Told = Pick<Tables["changes"]["$inferSelect"], "action" | "undoneIn" | "summary">;
const isByList = ({ action, summary }: Pick<Told, "action" | "summary">): boolean =>
  action === "import" && !isDesk(summary["format"]);
/** True of a change in force by a list that may be that of `source`. */
const isOf = (source: string, each: Told): boolean =>
  isByList(each) &&
  each.undoneIn === null &&
  [undefined, "", source].includes(each.summary["source"] as string | undefined);

/** The animals that the list of a source made. Events of older changes are forgotten bit by bit. */
async function madeBy(tx: Tx, source: string, ids: readonly bigint[]): Promise<Set<bigint>> {
  const { changes, pets, removedPets } = tx.t;
  const { action, undoneIn, summary } = columnsOf(changes);
  const isStored = sql`${changes.atMs} >= (SELECT max(at_ms) FROM ${changes}) - ${storedMs}`;
  const made = new Set<bigint>();
  for (const table of [pets, removedPets]) {
    const rows = await tx
      .select({ id: table.id, action, undoneIn, summary })
      .from(table)
      .innerJoin(changes, eq(changes.id, table.createdIn))
      .where(and(isAmong(tx, table.id, ids), isStored));
    for (const each of rows) if (isOf(source, each)) made.add(each.id);
  }
  return made;
}

/**
 * What the list of a source said of animals that it imported before entries were stored, as far as
 * events tell. Categories are ids. One that a person removed was in its list by then: the next
 * import brought back who was.
 */
export async function saidBefore(
  tx: Tx,
  source: string,
  animals: readonly StoreAnimal[],
): Promise<ReadonlyMap<bigint, Said>> {
  const said = new Map<bigint, Said>();
  if (animals.length === 0) return said;
  const ids = animals.map(({ id }) => id);
  const events = new Map(await eventsOf(tx, ids));
  const made = await madeBy(tx, source, ids);
  for (const { id, ...state } of animals) {
    const own = events.get(id) ?? [];
    const [newest] = own;
    const last = own.find((each) => isOf(source, each));
    const first = own.length === 0 ? state : own.at(-1)?.before;
    const isRemoved = newest?.action === "remove" || newest?.action === "merge";
    if (last !== undefined) said.set(id, saidOf(last.after ?? last.before, last.after !== null));
    else if (made.has(id) && first) said.set(id, saidOf({ ...first }, true));
    else if (isRemoved) said.set(id, saidOf(newest.before, true));
  }
  return said;
}

function saidOf(state: StoredState | null, isThere: boolean): Said {
  const { name = null, status = null, categoryId } = state ?? {};
  const isKnown = typeof categoryId === "bigint" || typeof categoryId === "number";
  return {
    presence: isThere ? "there" : "left out",
    name: name as string | null,
    category: isKnown ? BigInt(categoryId) : null,
    status: status as PetStatus | null,
  };
}

/** Who changed animals last so that they are not as their lists say, by the animal. */
export async function lastPeople(
  tx: Tx,
  ids: readonly bigint[],
): Promise<ReadonlyMap<bigint, string>> {
  const people = (await eventsOf(tx, ids)).flatMap(([id, events]) => {
    const byPerson = events.find((each) => !isByList(each));
    return byPerson === undefined ? [] : [[id, byPerson.actor] as const];
  });
  return new Map(people);
}
