/**
 * What lists say of their animals, what they said last, and who is right of an animal: the list
 * that it comes from, or the people at the desk. Both change it, so the list counts only where it
 * says something else than it said last.
 */
import { and, desc, eq, gt, inArray, sql, type SQL } from "drizzle-orm";
import type { PgColumn } from "drizzle-orm/pg-core";
import { int64Min } from "../../../domain/int64.ts";
import type { PetStatus } from "../../../domain/pet.ts";
import { columnsOf, type Tables, type Tx } from "../../../storage/database.ts";
import { categoryKey } from "../../animals/categories.ts";
import {
  batches,
  type Change,
  eventFields,
  type PetRow,
  type PetState,
  type StoredState,
  storedMs,
} from "../../animals/changes.ts";
import { type Message, message, type Notes } from "../messages.ts";
import { distance } from "../understand/evidence.ts";
import {
  type Candidate,
  type FromLine,
  idPrefix,
  type Rejection,
  type SoundRecord,
} from "../understand/record.ts";
import { wordFor } from "./categories.ts";

export interface StoreAnimal extends PetState, Pick<PetRow, "id" | "createdIn"> {
  readonly isRemoved: boolean;
}

/** An animal that is here, or was, and the record of it, which a whole list may lack. */
export interface Match {
  readonly animal: StoreAnimal;
  readonly record?: SoundRecord;
  /** What the list calls it in its entries; undefined without an id in a list that is not whole. */
  readonly entry: string | undefined;
}

/** What a list says of an animal, as it is stored: `category` is its word. */
export type Entry = Omit<Tables["listEntries"]["$inferSelect"], "source" | "changeId">;

/** An animal by what words mean here today. What is not known is null. */
export interface Said extends Pick<Entry, "presence" | "name" | "status"> {
  /** Its id here, or a word that means none. */
  readonly category: bigint | string | null;
}

/** What an animal is here. One without a name was called "Unnamed" once, and is blank now. */
export function hereOf({ isRemoved, name: own, categoryId: category, status }: StoreAnimal): Said {
  const name = own === "Unnamed" ? "" : own;
  return { presence: isRemoved ? "gone" : "there", name, category, status };
}

export const listFields = ["name", "category", "status"] as const;
type ListField = (typeof listFields)[number];

export interface Decision {
  /** What becomes as the list says it. */
  readonly takes: readonly (ListField | "presence")[];
  /** What stays as people have it, though the list says otherwise. */
  readonly kept: Decision["takes"];
}

/** Statuses by how far they are from adoption. One without a status is shown to nobody. */
const distances = { available: 0, pending: 1, none: 2, sold: 3 } as const;
export const isFurther = (status: PetStatus | null, than: PetStatus | null): boolean =>
  distances[status ?? "none"] > distances[than ?? "none"];

/**
 * What becomes of an animal: `last` is what the list said before, undefined where nobody knows.
 * With `listWins` the list is right whatever people did.
 */
export function decide(last: Said | undefined, now: Said, here: Said, listWins: boolean): Decision {
  const isThere = now.presence === "there";
  const presence = isThere === (here.presence === "there") ? [] : (["presence"] as const);
  // Who was removed or brought back by people stays so until the list says it anew.
  const isNew = last === undefined || isThere !== (last.presence === "there");
  if (presence.length > 0 && !isNew && !listWins) return { takes: [], kept: presence };
  if (!isThere) return { takes: presence, kept: [] };
  const differing = listFields.filter((field) => now[field] !== here[field]);
  const taken = differing.filter((field) => listWins || isTaken(field, last, now, here));
  const kept = differing.filter((field) => !taken.includes(field));
  return { takes: [...presence, ...taken], kept };
}

function isTaken(field: ListField, last: Said | undefined, now: Said, here: Said): boolean {
  const before = last?.[field] ?? null;
  // A stay that begins anew has the status that its list says.
  if (here.presence !== "there" && (field === "status" || before === null)) return true;
  if (last !== undefined && before === now[field]) return false;
  if (last !== undefined && before === here[field]) return true;
  return field === "status" && isFurther(now.status, here.status);
}

/** What a list says of an animal that it has, which has this id here. */
export function entryOf(record: Candidate, entry: string, id: bigint | null): Entry {
  const { name, category, status = null, externalId } = record;
  const petId = externalId === undefined ? id : null;
  return { entry, petId, presence: "there", name, category: wordFor(category), status };
}

/** What stays known of an animal that is gone from its list: what that called it last. */
export function goneEntry(
  { id, externalId }: StoreAnimal,
  entry: string,
  presence: Entry["presence"],
  { name = null, category = null }: Partial<Entry> = {},
): Entry {
  return { entry, petId: externalId === null ? id : null, presence, name, category, status: null };
}

/** True for a column that has one of many values, which are one parameter. */
export function isAmong(tx: Tx, column: PgColumn, values: readonly (string | bigint)[]): SQL {
  const isText = column.getSQLType() === "text";
  const list = isText ? JSON.stringify(values) : `[${values.join()}]`;
  if (tx.dialect === "sqlite") return sql`${column} IN (SELECT value FROM json_each(${list}))`;
  return sql`${column} = ANY (ARRAY(SELECT CAST(one AS ${sql.raw(isText ? "text" : "bigint")})
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

/** The entries of animals without ids, by name and category. */
export async function namelessEntries(tx: Tx, source: string) {
  const found = await entriesWhere(tx, source, sql`${tx.t.listEntries.petId} IS NOT NULL`);
  return new Map([...found.values()].map(({ petId, entry }) => [petId ?? 0n, entry]));
}

/** The entries of a list of whom nobody is here: people removed those animals. */
export async function entriesOfRemoved(tx: Tx, source: string): Promise<readonly Entry[]> {
  const { listEntries, pets } = tx.t;
  const isNobody = sql`NOT EXISTS (SELECT 1 FROM ${pets} WHERE ${pets.id} = ${listEntries.petId})
    AND NOT EXISTS (SELECT 1 FROM ${pets}
      WHERE ${pets.source} = ${source} AND ${pets.externalId} = ${listEntries.entry})`;
  const entries = await entriesWhere(tx, source, isNobody);
  return [...entries.values()].filter(({ presence }) => presence === "there");
}

/** Stores what a list says now, and forgets what no undo needs any more. */
export async function storeEntries(
  { t: { listEntries, changes }, insertAll, run }: Tx,
  source: string,
  changeId: bigint,
  entries: readonly Entry[],
): Promise<void> {
  for (const part of batches(entries)) {
    const rows = part.map((entry) => ({ source, changeId, ...entry }));
    await insertAll(listEntries, rows);
  }
  const first = sql`(SELECT min(${changes.id}) FROM ${changes})`;
  await run(sql`DELETE FROM ${listEntries} WHERE ${listEntries.source} = ${source}
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
  animals: readonly PetRow[],
): Promise<void> {
  const nameless = await namelessEntries(tx, source);
  const called = animals.flatMap((row) => {
    const entry = row.externalId ?? nameless.get(row.id);
    return entry === undefined ? [] : { animal: { ...row, isRemoved: true }, entry };
  });
  const last = await lastSaid(tx, { source, isDesk: false }, called);
  const entries = called.map(({ animal, entry }) =>
    goneEntry(animal, entry, "left out", last.get(animal.id)),
  );
  await storeEntries(tx, source, changeId, entries);
}

/** Formats whose import is a person's change of animals by their ids here. */
export const isDesk = (format: unknown): boolean => format === "rehome" || format === "petstore";

/** What changed animals, the newest first. */
function eventsOf(tx: Tx, ids: readonly bigint[]) {
  const { petEvents, changes } = tx.t;
  const { petId, before, after } = columnsOf(petEvents);
  const { action, actor, undoneIn, summary } = columnsOf(changes);
  return tx
    .select({ petId, before, after, action, actor, undoneIn, summary })
    .from(petEvents)
    .innerJoin(changes, eq(changes.id, petEvents.changeId))
    .where(isAmong(tx, petEvents.petId, ids))
    .orderBy(desc(petEvents.changeId));
}

type Told = Pick<Tables["changes"]["$inferSelect"], "action" | "undoneIn" | "summary">;
const isByList = ({ action, summary }: Told): boolean =>
  action === "import" && !isDesk(summary["format"]);
/** True of a change in force by a list that may be that of `source`. */
const isOf = (source: string, each: Told): boolean =>
  isByList(each) &&
  each.undoneIn === null &&
  [undefined, "", source].includes(each.summary["source"] as string | undefined);

/**
 * What the list of a source said last of animals, by its entries. Of those that it imported before
 * entries were stored it is what events tell, with ids for categories and no entry. One that a
 * person removed was in its list by then: the next import brought back who was.
 */
export async function lastSaid(
  tx: Tx,
  { source, isDesk }: { readonly source: string; readonly isDesk: boolean },
  matches: readonly Omit<Match, "record">[],
): Promise<ReadonlyMap<bigint, Entry>> {
  const last = new Map<bigint, Entry>();
  if (isDesk) return last;
  const { listEntries, changes } = tx.t;
  const names = matches.flatMap(({ entry }) => entry ?? []);
  const entries = await entriesWhere(tx, source, isAmong(tx, listEntries.entry, names));
  for (const { animal, entry = "" } of matches) {
    const stored = entries.get(entry);
    if (stored !== undefined) last.set(animal.id, stored);
  }
  const unknown = matches.map(({ animal }) => animal).filter(({ id }) => !last.has(id));
  if (unknown.length === 0) return last;
  const ids = unknown.map(({ id }) => id);
  const events = Map.groupBy(await eventsOf(tx, ids), ({ petId }) => petId);
  // Events of older changes are forgotten bit by bit.
  const isStored = sql`${changes.atMs} >= (SELECT max(at_ms) FROM ${changes}) - ${storedMs}`;
  const origins = unknown.flatMap(({ createdIn }) => createdIn ?? []);
  const made = await tx
    .select(columnsOf(changes))
    .from(changes)
    .where(and(isAmong(tx, changes.id, origins), isStored));
  const own = new Set(made.filter((each) => isOf(source, each)).map(({ id }) => id));
  for (const { id, createdIn, isRemoved: _, ...state } of unknown) {
    const all = events.get(id) ?? [];
    const [newest] = all;
    const told = all.find((each) => isOf(source, each));
    const first = all.length === 0 ? state : all.at(-1)?.before;
    const wasRemoved = newest?.action === "remove" || newest?.action === "merge";
    if (told !== undefined) last.set(id, saidOf(told.after ?? told.before, told.after !== null));
    else if (createdIn !== null && own.has(createdIn) && first) last.set(id, saidOf(first, true));
    else if (wasRemoved) last.set(id, saidOf(newest.before, true));
  }
  return last;
}

function saidOf(state: StoredState | null, isThere: boolean): Entry {
  const { name = null, status = null, categoryId } = (state ?? {}) as Partial<PetState>;
  const category = categoryId === undefined ? null : String(categoryId);
  const presence = isThere ? "there" : "left out";
  return { entry: "", petId: null, presence, name, category, status };
}

/** Who changed animals last so that they are not as their lists say, by the animal. */
export async function lastPeople(tx: Tx, ids: readonly bigint[]) {
  const events = (await eventsOf(tx, ids)).filter((each) => !isByList(each));
  return new Map(events.toReversed().map(({ petId, actor }) => [petId, actor]));
}

/** An id elsewhere with its source, which most of them begin with. */
const originKey = (source: string, id: string): string =>
  id.startsWith(idPrefix(source)) ? id : `${source}\0${id}`;

/** Finds the animal that the ids of each of these records mean. */
export async function animalsOf(tx: Tx, records: readonly FromLine[]) {
  const ids = records.flatMap(({ id }) => id ?? []);
  const externalIds = records.flatMap(({ externalId }) => externalId ?? []);
  const sources = [...new Set(records.map(({ source }) => source))];
  const named = await animalsWhere(tx, ({ id }) => isAmong(tx, id, ids));
  const listed = await animalsWhere(tx, ({ source, externalId }) =>
    and(inArray(source, sources), isAmong(tx, externalId, externalIds)),
  );
  const found = new Map([
    ...named.map((each) => [String(each.id), each] as const),
    ...listed.map((each) => [originKey(each.source, each.externalId ?? ""), each] as const),
  ]);
  return ({ id, externalId, source }: FromLine): StoreAnimal | undefined => {
    const named = found.get(String(id));
    if (externalId === undefined) return named;
    const isSame = (named?.externalId ?? externalId) === externalId;
    return named !== undefined && isSame ? named : found.get(originKey(source, externalId));
  };
}

const pageSize = 10_000;

type PetTable = Tx["t"]["pets"] | Tx["t"]["removedPets"];

/** Animals, those that are here behind those that were removed. */
export async function animalsWhere(tx: Tx, where: (table: PetTable) => SQL | undefined) {
  const { removedPets, pets } = tx.t;
  const removed = await rowsOf(tx, removedPets, where(removedPets));
  return [...removed, ...(await rowsOf(tx, pets, where(pets)))];
}

/** Drizzle's rows would take longer than SQLite does. */
async function rowsOf(tx: Tx, table: PetTable, where: SQL | undefined): Promise<StoreAnimal[]> {
  const isRemoved = table === tx.t.removedPets;
  const fields = ["id", "createdIn", ...eventFields] as const;
  const columns = fields.map((field) => sql`${table[field]} AS ${sql.identifier(field)}`);
  const rows = await tx.rows<Omit<StoreAnimal, "isRemoved">>(
    sql`SELECT ${sql.join(columns, sql`, `)} FROM ${table} WHERE ${where}`,
  );
  return rows.map((row) => Object.assign(row, { isRemoved }));
}

/** The animals that are here, in the order of their ids. */
export async function* pagesOf(tx: Tx, where: SQL | undefined) {
  const { pets } = tx.t;
  for (let last: bigint | undefined = int64Min; last !== undefined;) {
    const next = sql`${and(where, gt(pets.id, last))} ORDER BY id LIMIT ${pageSize}`;
    const page: readonly StoreAnimal[] = await rowsOf(tx, pets, next);
    yield page;
    last = page.at(-1)?.id;
  }
}

export const nameKey = (name: string, category: string): string =>
  `${categoryKey(name)}\0${category}`;
export const animalKey = ({ name, categoryId }: StoreAnimal) => nameKey(name, String(categoryId));

/** What an animal without an id is called in the entries of its list. */
export const namelessKey = (name: string, category: string): string =>
  JSON.stringify([categoryKey(name), categoryKey(category)]);

export const namelessEntryOf = ({ name = "", category }: SoundRecord): string =>
  namelessKey(name, category === undefined ? "" : wordFor(category));

/** False where ids or sources say that they are two: equal ids are one animal's in one source. */
export function mayBeSame({ externalId, source }: SoundRecord, animal: StoreAnimal): boolean {
  if (source !== "" && animal.source !== "" && source !== animal.source) return false;
  if (externalId === undefined || animal.externalId === null) return true;
  const plain = (id: string, of: string) => (of === "" ? id : id.slice(idPrefix(of).length));
  return (
    source !== animal.source &&
    plain(externalId, source) === plain(animal.externalId, animal.source)
  );
}

/** True if it makes no difference which of the records is which of the animals. */
export function isSameState(
  records: readonly SoundRecord[],
  animals: readonly StoreAnimal[],
): boolean {
  const said = records.map((each) => (each.kind === "pet" ? (each.status ?? "") : "gone"));
  const known = animals.map(({ status }) => status ?? "");
  return said.toSorted().join() === known.toSorted().join();
}

/** A sound record that the store does not take, with all that an import would store of it. */
export function rejectionOf(sound: SoundRecord, field: string, problem: Message): Rejection {
  const { line, id, name, category, externalId, source } = sound;
  const said = sound.kind === "pet" ? sound.status : undefined;
  const status = sound.kind === "gone" ? "gone" : (said ?? null);
  const record = { id, name, category: category?.name ?? category?.id, status, externalId };
  return { kind: "reject", line, source, externalId, field, problem, record, status: said };
}

/**
 * Ranks of the records of one animal from the same moment. Who is there in a list of stays came
 * again; who was found, lost or fostered is told of by any other record; else what is furthest
 * from adoption holds.
 */
function rankOf(record: SoundRecord): number {
  if (record.kind === "pet" && record.isStay === true) return stayRank;
  if (record.kind === "gone") return record.isPassing === true ? -1 : distance("gone");
  return distance(record.status);
}

const stayRank = 10;

/** True if a record replaces another one of its animal: the last one does if both say the same. */
function isNewer(a: SoundRecord, b: SoundRecord): boolean {
  const byTime = (a.version ?? 0) - (b.version ?? 0);
  return byTime === 0 ? rankOf(a) >= rankOf(b) : byTime > 0;
}

/** The newest record of each animal, as far as ids tell the animals, and all without any id. */
export function newestOf(records: readonly SoundRecord[], notes: Notes) {
  const animals = Map.groupBy(records, keyOf);
  const anonymous = animals.get(undefined) ?? [];
  animals.delete(undefined);
  const identified: SoundRecord[] = [];
  /** Older records of animals that are for adoption. */
  let superseded = 0;
  for (const all of animals.values()) {
    const newest = all.reduce((known, each) => (isNewer(each, known) ? each : known));
    identified.push(newest);
    if (all.length === 1) continue;
    const others = all.filter((each) => each !== newest);
    superseded += others.filter(({ kind }) => kind === "pet").length;
    const { id, externalId, version = 0 } = newest;
    const line = all[0]?.line ?? newest.line;
    const rank = rankOf(newest);
    const rivals = others.filter((each) => (each.version ?? 0) === version);
    // Nothing but caution decides between them.
    if (rank !== stayRank && rivals.some((each) => ![-1, rank].includes(rankOf(each)))) {
      notes.add(message("recordsDisagree"), line, externalId ?? String(id));
    }
    const isThere = all.some(({ kind }) => kind === "pet");
    const names = [...new Set(all.flatMap(({ name }) => name ?? []))].toSorted();
    if (names.length < 2 || !isThere || externalId === undefined) continue;
    const shown = names.map((name) => JSON.stringify(name)).join(" and ");
    notes.add(message("namesDiffer"), line, `${externalId} is ${shown}`);
  }
  return { identified, anonymous, superseded };
}

const keyOf = ({ id, externalId, source }: SoundRecord): string | undefined =>
  externalId === undefined ? id?.toString() : originKey(source, externalId);
