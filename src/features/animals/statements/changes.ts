/**
 * Changes of animals. A change is planned as events, one row per animal with its fields before and
 * after, and then carried out from them. So a history is always true, and an undo is a change like
 * any other.
 *
 *   yield* changeAnimals();
 *   const change = yield* newChange("update", by);
 *   yield* planUpdate(change, sql`animal.id IN ${list(ids)}`, { status: "sold" });
 *   const counts = yield* carryOut(change, by);
 */
import { int64Max, int64Min } from "../../../domain/int64.ts";
import type { OptionalName, PetFieldName, PetValue } from "../../../domain/pet.ts";
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
import { pets } from "../../../storage/tables.ts";
import { changes, petEvents, removedPets } from "../tables.ts";

/** Histories, and what an undo needs, are kept for so long. */
const changesKeptDays = 90;

/** Events forgotten by one change, whose transaction must not hold up a server for long. */
const forgottenMax = 10_000;

export interface By {
  readonly actor: string;
  readonly nowMs: number;
}

/** A category that a change made (no `before`), renamed, or took away (no `after`). */
export interface CategoryEvent {
  readonly id: bigint;
  readonly before?: string;
  readonly after?: string;
  /** True if animals carried it before it had a name: it may lose the name while they do. */
  readonly wasCarried?: true;
}

/** What a kept change did to categories. */
export function categoryEventsOf(
  kept: readonly Readonly<Record<string, unknown>>[] | null,
): CategoryEvent[] {
  return (kept ?? []).map(({ id, ...names }) => ({ ...names, id: BigInt(id as number | bigint) }));
}

/** The animals with ids above `above`, up to `upTo`. */
export interface IdRange {
  readonly above: bigint;
  readonly upTo: bigint;
}

export const everyId: IdRange = { above: int64Min, upTo: int64Max };

/** True if `id`, as SQL, is in the range. */
export function within({ above, upTo }: IdRange, id: string): Statement {
  return sql`${raw(id)} > ${above} AND ${raw(id)} <= ${upTo}`;
}

/** What a change did to animals. */
export interface ChangeCounts {
  readonly updated: number;
  readonly removed: number;
  /** Brought back under their ids. */
  readonly restored: number;
}

/** The fields of an animal that an event shows: all but its id and how it came to be. */
const eventFields = Object.keys(pets.columns).filter(
  (property) => property !== "id" && !property.startsWith("created"),
) as readonly Exclude<keyof typeof pets.columns, "id">[];

const jsonObject = inDialect({ sqlite: "json_object", postgres: "json_build_object" });

type Instead = Readonly<Record<string, Statement>>;

/** The fields of the animal in the row `alias` as JSON; those of `instead` replace its own. */
export function snapshot(alias: string, instead: Instead = {}): Statement {
  return sql`${jsonObject}(${joined(cellsOf(alias, instead))})`;
}

function cellsOf(alias: string, instead: Instead): Statement[] {
  return eventFields.map(
    (field) => sql`${raw(`'${field}', `)}${instead[field] ?? raw(`${alias}.${columnName(field)}`)}`,
  );
}

/**
 * What an event keeps of an animal that comes back with the fields of `instead`: those too, under
 * `former`, that the removed animal in the row `alias` has. An undo needs them.
 */
export function returned(alias: string, instead: Instead): Statement {
  const former = sql`'former', ${snapshot(alias)}`;
  return sql`${jsonObject}(${joined([...cellsOf(alias, instead), former])})`;
}

/** Begins a change: returns its id. Forgets what is older than histories are kept. */
export function* newChange(action: string, { actor, nowMs }: By, undoes?: bigint): Steps<bigint> {
  yield* forget(nowMs);
  const made = yield* row<{ id: bigint }>(
    sql`INSERT INTO ${changes} (at_ms, actor, action, summary, undoes)
      VALUES (${nowMs}, ${actor}, ${action}, ${json({})}, ${undoes}) RETURNING id`,
  );
  if (made === undefined) throw new Error("a change got no id");
  return made.id;
}

function* forget(nowMs: number): Steps<void> {
  const oldestMs = nowMs - changesKeptDays * 24 * 60 * 60 * 1_000;
  const old = sql`SELECT id FROM ${changes} WHERE at_ms < ${oldestMs}`;
  if ((yield* row(sql`${old} LIMIT 1`)) === undefined) return;
  const events = sql`SELECT pet_id, change_id FROM ${petEvents} WHERE change_id IN (${old})`;
  yield* run(sql`DELETE FROM ${petEvents}
    WHERE (pet_id, change_id) IN (${events} LIMIT ${forgottenMax})`);
  yield* run(sql`DELETE FROM ${changes} WHERE at_ms < ${oldestMs}
    AND NOT EXISTS (SELECT 1 FROM ${petEvents} WHERE change_id = ${raw("changes.id")})`);
}

/** Ends a change: what a person is shown of it, and what it did to categories. */
export function* describeChange(
  change: bigint,
  summary: Readonly<Record<string, unknown>>,
  categories: readonly CategoryEvent[] = [],
): Steps<void> {
  const named = categories.length === 0 ? sql`` : sql`, categories = ${json(categories)}`;
  yield* run(sql`UPDATE ${changes} SET summary = ${json(summary)}${named} WHERE id = ${change}`);
}

/** Forgets a change that did nothing. */
export function* dropChange(change: bigint): Steps<void> {
  yield* run(sql`DELETE FROM ${changes} WHERE id = ${change}`);
}

/** What is set in an animal that is kept. Null takes an optional field away. */
export type PetPatch = {
  readonly [N in PetFieldName]?: PetValue<N> | (N extends OptionalName ? null : never) | undefined;
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
      FROM ${removedPets} AS animal WHERE (${where}) AND ${canReturn}`,
  );
}

/** True for a removed animal, by the name `animal`, whose id elsewhere no other one has by now. */
export const canReturn = sql`NOT EXISTS (SELECT 1 FROM ${pets} AS other
  WHERE other.source = animal.source AND other.external_id = animal.external_id)`;

/**
 * Plans to give animals the fields that they had before. `events` is FROM and WHERE, with the
 * animals by the name `animal` and their events by the name `event`. Removed ones come back.
 */
export function* planFormer(change: bigint, events: Statement, areRemoved: boolean): Steps<number> {
  const now = areRemoved ? sql`NULL` : snapshot("animal");
  return yield* run(
    sql`INSERT INTO ${petEvents} (pet_id, change_id, before, after)
      SELECT animal.id, ${typedId(change)}, ${now}, event.before ${events}`,
  );
}

/** A value in the type of its column: PostgreSQL cannot tell it within JSON. */
function typed(field: string, value: unknown): Statement {
  const isText = pets.columns[field as keyof typeof pets.columns].kind === "text";
  return sql`CAST(${value as Value} AS ${raw(isText ? "text" : "bigint")})`;
}

const typedId = (id: bigint) => sql`CAST(${id} AS bigint)`;

/** Does what the events of `change` say, about the animals in `range`. */
export function* carryOut(
  change: bigint,
  { nowMs }: By,
  range: IdRange = everyId,
): Steps<ChangeCounts> {
  const gone = eventsOf(change, range, "after");
  const removed = yield* moveOut(change, gone, nowMs);
  const restored = yield* moveBack(change, range);
  const set = yield* run(
    sql`UPDATE ${pets} SET ${fieldsOf("event.after")} FROM ${petEvents} AS event
      WHERE event.change_id = ${change} AND ${within(range, "event.pet_id")}
        AND event.pet_id = pets.id`,
  );
  yield* countAnimals(restored - removed);
  return { updated: set - restored, removed, restored };
}

/** Sets the columns of an animal to the fields in `json`. */
function fieldsOf(json: string): Statement {
  const set = eventFields.map((field) => {
    const text = raw(`${json} ->> '${field}'`);
    const isText = pets.columns[field].kind === "text";
    return sql`${raw(columnName(field))} = ${isText ? text : sql`CAST(${text} AS bigint)`}`;
  });
  return joined(set);
}

/**
 * Gives the animals that the change `undo` removed the fields that they had when `undone` brought
 * them back. An event of version 1.0.0 does not tell these.
 */
export function* carryOutFormer(undo: bigint, undone: bigint, range: IdRange): Steps<void> {
  yield* run(
    sql`UPDATE ${removedPets} SET ${fieldsOf("event.after -> 'former'")} FROM ${petEvents} AS event
      WHERE event.change_id = ${undone} AND ${within(range, "event.pet_id")}
        AND event.pet_id = removed_pets.id AND event.after ->> 'former' IS NOT NULL
        AND removed_in = ${undo}`,
  );
}

/** The animals that the events of `change` say something about. */
const eventsOf = (change: bigint, range: IdRange, which: string) =>
  sql`(SELECT pet_id FROM ${petEvents}
    WHERE change_id = ${change} AND ${within(range, "pet_id")} AND ${raw(which)} IS NULL)`;

/** Moves the animals whose ids `gone` lists to the removed ones. Returns how many there are. */
export function* moveOut(change: bigint, gone: Statement, nowMs: number): Steps<number> {
  const all = columnsOf(pets);
  yield* run(
    sql`INSERT INTO ${removedPets} (${all}, removed_at_ms, removed_in)
      SELECT ${all}, CAST(${nowMs} AS bigint), ${typedId(change)} FROM ${pets} WHERE id IN ${gone}`,
  );
  return yield* run(sql`DELETE FROM ${pets} WHERE id IN ${gone}`);
}

/** Behind the columns of an INSERT: the ids are those that the animals had. */
export const withOldIds = inDialect({ sqlite: "", postgres: "OVERRIDING SYSTEM VALUE" });

function* moveBack(change: bigint, range: IdRange): Steps<number> {
  const all = columnsOf(pets);
  const back = eventsOf(change, range, "before");
  yield* run(
    sql`INSERT INTO ${pets} (${all}) ${withOldIds}
      SELECT ${all} FROM ${removedPets} WHERE id IN ${back}`,
  );
  return yield* run(sql`DELETE FROM ${removedPets} WHERE id IN ${back}`);
}
