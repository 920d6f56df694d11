/**
 * Changes of animals. A change is planned as events, a row an animal with its fields before and
 * after, and then carried out by what the events say: so a history cannot differ from what
 * happened, and an undo is a change like any other.
 *
 *     yield* changeAnimals();
 *     const change = yield* newChange("update", by, {});
 *     yield* planUpdate(change, sql`animal.id IN ${list(ids)}`, { status: "sold" });
 *     const counts = yield* carryOut(change, by);
 */
import type { Pet } from "../../../domain/pet.ts";
import { columnName } from "../../../storage/declare.ts";
import {
  columnsOf,
  countAnimals,
  inDialect,
  joined,
  json,
  raw,
  row,
  run,
  sql,
  type Statement,
  type Steps,
  type Value,
} from "../../../storage/statement.ts";
import { changes, petEvents, pets, removedPets } from "../../../storage/tables.ts";

/** Histories, and what an undo needs, are kept for so long. */
export const changesKeptDays = 90;

/** Who changes something, and when. */
export interface By {
  readonly actor: string;
  readonly nowMs: number;
}

/** A category that a change made (no `before`), renamed, or took away (no `after`). */
export interface CategoryEvent {
  readonly id: bigint;
  readonly before?: string;
  readonly after?: string;
  /**
   * True where animals carried it before it had a name, so that it may lose the name while they do.
   */
  readonly wasCarried?: true;
}

/** What a kept change did to categories. */
export function categoryEventsOf(
  kept: readonly Readonly<Record<string, unknown>>[] | null,
): CategoryEvent[] {
  return (kept ?? []).map(({ id, ...names }) => ({ ...names, id: BigInt(id as number | bigint) }));
}

/** What a change did to animals. */
export interface ChangeCounts {
  readonly updated: number;
  readonly removed: number;
  /** Brought back under their ids. */
  readonly restored: number;
}

/** The fields of an animal that an event shows: all but its id and how it came to be. */
export const eventFields = Object.keys(pets.columns).filter(
  (property) => property !== "id" && !property.startsWith("created"),
) as readonly Exclude<keyof typeof pets.columns, "id">[];

const jsonObject = inDialect((dialect) => dialect.jsonObject);

/**
 * The fields of the animal in the row `alias` as JSON, with those of `instead` in place of its own.
 */
function snapshot(alias: string, instead: Readonly<Record<string, Statement>> = {}): Statement {
  const cells = eventFields.map(
    (field) => sql`${raw(`'${field}', `)}${instead[field] ?? raw(`${alias}.${columnName(field)}`)}`,
  );
  return sql`${jsonObject}(${joined(cells)})`;
}

/** Begins a change: returns its id. Forgets what is older than histories are kept. */
export function* newChange(
  action: string,
  { actor, nowMs }: By,
  summary: Readonly<Record<string, unknown>>,
  undoes?: bigint,
): Steps<bigint> {
  yield* forget(nowMs);
  const made = yield* row<{ id: bigint }>(
    sql`INSERT INTO ${changes} (at_ms, actor, action, summary, undoes)
      VALUES (${nowMs}, ${actor}, ${action}, ${json(summary)}, ${undoes}) RETURNING id`,
  );
  if (made === undefined) throw new Error("a change got no id");
  return made.id;
}

function* forget(nowMs: number): Steps<void> {
  const oldestMs = nowMs - changesKeptDays * 24 * 60 * 60 * 1_000;
  const old = sql`SELECT id FROM ${changes} WHERE at_ms < ${oldestMs}`;
  if ((yield* row(sql`${old} LIMIT 1`)) === undefined) return;
  yield* run(sql`DELETE FROM ${petEvents} WHERE change_id IN (${old})`);
  yield* run(sql`DELETE FROM ${changes} WHERE at_ms < ${oldestMs}`);
}

/** Ends a change: what a person is shown of it, and what it did to categories. */
export function* describeChange(
  change: bigint,
  summary: Readonly<Record<string, unknown>>,
  categories: readonly CategoryEvent[] = [],
): Steps<void> {
  const named = categories.length === 0 ? sql`NULL` : json(categories);
  yield* run(
    sql`UPDATE ${changes} SET summary = ${json(summary)}, categories = ${named} WHERE id = ${change}`,
  );
}

/** Forgets a change that did nothing. */
export function* dropChange(change: bigint): Steps<void> {
  yield* run(sql`DELETE FROM ${changes} WHERE id = ${change}`);
}

/** What an update sets: a status of null takes it away. */
export type PetPatch = {
  readonly [F in keyof Omit<Pet, "id">]?:
    Exclude<Pet[F], undefined> | (F extends "status" ? null : never);
};

/**
 * Plans to set the fields of `patch` in the animals that `where` means, by the name `animal`.
 * Leaves out those that have them.
 */
export function* planUpdate(change: bigint, where: Statement, patch: PetPatch): Steps<number> {
  const set = Object.entries(patch).filter(([, value]) => value !== undefined);
  if (set.length === 0) return 0;
  const instead = Object.fromEntries(set.map(([field, value]) => [field, typed(field, value)]));
  const differs = set.map(
    ([field]) =>
      sql`animal.${raw(columnName(field))} IS DISTINCT FROM ${instead[field] as Statement}`,
  );
  return yield* run(
    sql`INSERT INTO ${petEvents} (pet_id, change_id, before, after)
      SELECT animal.id, ${typedId(change)}, ${snapshot("animal")}, ${snapshot("animal", instead)}
      FROM ${pets} AS animal WHERE (${where}) AND (${joined(differs, " OR ")})`,
  );
}

/** Plans to remove the animals that `where` means, by the name `animal`. */
export function* planRemoval(change: bigint, where: Statement): Steps<number> {
  return yield* run(
    sql`INSERT INTO ${petEvents} (pet_id, change_id, before, after)
      SELECT animal.id, ${typedId(change)}, ${snapshot("animal")}, NULL
      FROM ${pets} AS animal WHERE ${where}`,
  );
}

/**
 * Plans to bring the removed animals back that `where` means, by the name `animal`. Leaves out one
 * whose id elsewhere another animal has by now.
 */
export function* planReturn(change: bigint, where: Statement): Steps<number> {
  return yield* run(
    sql`INSERT INTO ${petEvents} (pet_id, change_id, before, after)
      SELECT animal.id, ${typedId(change)}, NULL, ${snapshot("animal")}
      FROM ${removedPets} AS animal WHERE (${where}) AND NOT EXISTS (
        SELECT 1 FROM ${pets} AS other
        WHERE other.source = animal.source AND other.external_id = animal.external_id
      )`,
  );
}

/** A value in the type of its column: PostgreSQL cannot tell it within JSON. */
function typed(field: string, value: unknown): Statement {
  const isText = pets.columns[field as keyof typeof pets.columns].kind === "text";
  return sql`CAST(${value as Value} AS ${raw(isText ? "text" : "bigint")})`;
}

const typedId = (id: bigint) => sql`CAST(${id} AS bigint)`;

/** What carrying out the events of `change` would do. */
export function* countPlanned(change: bigint): Steps<ChangeCounts> {
  const found = yield* row<{ removed: bigint; restored: bigint; events: bigint }>(
    sql`SELECT count(*) AS events, count(*) - count(CAST(after AS text)) AS removed,
        count(*) - count(CAST(before AS text)) AS restored
      FROM ${petEvents} WHERE change_id = ${change}`,
  );
  const [removed, restored] = [Number(found?.removed ?? 0), Number(found?.restored ?? 0)];
  return { updated: Number(found?.events ?? 0) - removed - restored, removed, restored };
}

/** Does what the events of `change` say. */
export function* carryOut(change: bigint, { nowMs }: By): Steps<ChangeCounts> {
  const removed = yield* moveOut(change, nowMs);
  const restored = yield* moveBack(change);
  const fields = eventFields.map((field) => {
    const text = sql`event.after ->> ${raw(`'${field}'`)}`;
    const isText = pets.columns[field].kind === "text";
    return sql`${raw(columnName(field))} = ${isText ? text : sql`CAST(${text} AS bigint)`}`;
  });
  const set = yield* run(
    sql`UPDATE ${pets} SET ${joined(fields)} FROM ${petEvents} AS event
      WHERE event.change_id = ${change} AND event.pet_id = pets.id AND event.after IS NOT NULL`,
  );
  yield* countAnimals(restored - removed);
  return { updated: set - restored, removed, restored };
}

/** The animals that the events of `change` say something about. */
const eventsOf = (change: bigint, which: string) =>
  sql`(SELECT pet_id FROM ${petEvents} WHERE change_id = ${change} AND ${raw(which)} IS NULL)`;

function* moveOut(change: bigint, nowMs: number): Steps<number> {
  const all = columnsOf(pets);
  const gone = eventsOf(change, "after");
  yield* run(
    sql`INSERT INTO ${removedPets} (${all}, removed_at_ms, removed_in)
      SELECT ${all}, ${sql`CAST(${nowMs} AS bigint)`}, ${typedId(change)} FROM ${pets} WHERE id IN ${gone}`,
  );
  return yield* run(sql`DELETE FROM ${pets} WHERE id IN ${gone}`);
}

function* moveBack(change: bigint): Steps<number> {
  const all = columnsOf(pets);
  const back = eventsOf(change, "before");
  const overriding = inDialect((dialect) => dialect.overridingIdentity);
  yield* run(
    sql`INSERT INTO ${pets} (${all}) ${overriding}
      SELECT ${all} FROM ${removedPets} WHERE id IN ${back}`,
  );
  return yield* run(sql`DELETE FROM ${removedPets} WHERE id IN ${back}`);
}

/**
 * Plans to take back what `change` did, as the change `undo`, where the animals were not changed
 * since by what is still in force. Returns how many animals `change` had changed.
 */
export function* planUndo(undo: bigint, change: bigint): Steps<number> {
  const untouched = (id: string) => sql`NOT EXISTS (
    SELECT 1 FROM ${petEvents} AS later JOIN ${changes} AS cause ON cause.id = later.change_id
    WHERE later.pet_id = ${raw(id)} AND later.change_id > ${change} AND later.change_id < ${undo}
      AND cause.undone_in IS NULL AND cause.undoes IS NULL)`;
  const events = sql`SELECT pet_id FROM ${petEvents} WHERE change_id = ${change}`;
  const of = (kind: string) =>
    sql`animal.id IN (${events} AND ${raw(kind)}) AND ${untouched("animal.id")}`;
  const total = yield* row<{ animals: bigint }>(
    sql`SELECT (SELECT count(*) FROM ${petEvents} WHERE change_id = ${change})
      + (SELECT count(*) FROM ${pets} WHERE created_in = ${change})
      + (SELECT count(*) FROM ${removedPets} WHERE created_in = ${change}) AS animals`,
  );
  yield* planRemoval(undo, sql`animal.created_in = ${change} AND ${untouched("animal.id")}`);
  yield* planRemoval(undo, of("before IS NULL"));
  yield* planReturn(undo, of("after IS NULL"));
  yield* run(
    sql`INSERT INTO ${petEvents} (pet_id, change_id, before, after)
      SELECT animal.id, ${typedId(undo)}, ${snapshot("animal")}, event.before
      FROM ${petEvents} AS event JOIN ${pets} AS animal ON animal.id = event.pet_id
      WHERE event.change_id = ${change} AND event.before IS NOT NULL AND event.after IS NOT NULL
        AND ${untouched("animal.id")}`,
  );
  yield* run(sql`UPDATE ${changes} SET undone_in = ${undo} WHERE id = ${change}`);
  return Number(total?.animals ?? 0);
}
