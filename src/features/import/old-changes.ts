/** What the import needs of the former language, until its rewrite. */
import { columnName } from "../../storage/declare.ts";
import {
  columnsOf,
  inDialect,
  joined,
  json,
  raw,
  row,
  run,
  sql,
  type Statement,
  type Steps,
} from "../../storage/statement.ts";
import { pets } from "../../storage/tables.ts";
import { changes, petEvents, removedPets } from "../animals/tables.ts";

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

/** Plans to remove the animals that `where` means, by the name `animal`. */
export function* planRemoval(change: bigint, where: Statement): Steps<number> {
  return yield* run(
    sql`INSERT INTO ${petEvents} (pet_id, change_id, before, after)
      SELECT animal.id, ${typedId(change)}, ${snapshot("animal")}, NULL
      FROM ${pets} AS animal WHERE ${where}`,
  );
}

const typedId = (id: bigint) => sql`CAST(${id} AS bigint)`;

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
