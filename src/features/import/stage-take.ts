/** How a range of an import's animals is imported into the catalogue, and into its history. */
import { AppError } from "../../domain/errors.ts";
import { petFieldNames } from "../../domain/pet.ts";
import { columnName } from "../../storage/declare.ts";
import {
  changeAnimals,
  columnsOf,
  countAnimals,
  joined,
  raw,
  row,
  run,
  sql,
  type Statement,
  type Steps,
} from "../../storage/statement.ts";
import { pets } from "../../storage/tables.ts";
import { petEvents, removedPets } from "../animals/tables.ts";
import { categoryById, categoryByName, nameNumbers } from "./old-categories.ts";
import {
  describeChange,
  moveOut,
  newChange,
  planRemoval,
  returned,
  snapshot,
  withOldIds,
} from "./old-changes.ts";
import type { Category } from "../animals/categories.ts";
import type { ImportCounts } from "./stage.ts";
import { type Looks, nextLooks } from "./stage-arrange.ts";
import { ready } from "./stage-tables.ts";

/** The change that an import is in the catalogue's history. */
export interface Change {
  /** Undefined until something was changed. */
  readonly id: bigint | undefined;
  readonly actor: string;
  readonly nowMs: number;
}

const within = (first: number, last: number): Statement =>
  sql`position BETWEEN ${first} AND ${last}`;

/** Finds the animals that those of a range are: by their id here, or by the one of their source. */
export function* resolveRange(first: number, last: number, looks: Looks): Steps<void> {
  if (!looks.hasKnown && !looks.hasRemoved) return;
  const bySource = sql`(SELECT p.id FROM ${pets} AS p
    WHERE p.source = ready.source AND p.external_id = ready.external_id)`;
  const unowned = sql`(SELECT p.id FROM ${pets} AS p
    WHERE p.source = '' AND p.external_id = ready.external_id)`;
  const byId = sql`(SELECT p.id FROM ${pets} AS p WHERE p.id = ready.pet_id)`;
  const found = looks.hasUnowned
    ? sql`coalesce(${byId}, ${bySource}, ${unowned})`
    : sql`coalesce(${byId}, ${bySource})`;
  yield* run(sql`UPDATE ${ready} SET target = ${found} WHERE ${within(first, last)}`);
  if (!looks.hasRemoved) return;
  yield* run(sql`
    UPDATE ${ready} SET removed = coalesce(
      (SELECT p.id FROM ${removedPets} AS p WHERE p.id = ready.pet_id),
      (SELECT max(p.id) FROM ${removedPets} AS p
        WHERE p.source IN (ready.source, '') AND p.external_id = ready.external_id))
    WHERE target IS NULL AND is_gone = 0 AND ${within(first, last)}`);
}

/** Whose id an animal (`p`) has afterwards: a file that does not say so leaves what is known. */
const sourceAfter = sql`CASE WHEN ready.external_id IS NULL OR ready.source = '' THEN p.source ELSE ready.source END`;

/** True for an animal in the catalogue (`p`) that is not as the import has it. */
const differs = sql`(${columnsOf(pets, petFieldNames, "p.")}, p.external_id, p.source)
  IS DISTINCT FROM (${columnsOf(pets, petFieldNames, "ready.")}, coalesce(ready.external_id, p.external_id), ${sourceAfter})`;

interface RangeRow {
  readonly fresh: bigint;
  readonly withdrawn: bigint;
  readonly known: bigint;
  readonly changed: bigint;
}

/** What the import of a range changes, once its animals are found. */
export function* countRange(first: number, last: number): Steps<ImportCounts> {
  const one = (condition: Statement) =>
    sql`CAST(coalesce(sum(CASE WHEN ${condition} THEN 1 ELSE 0 END), 0) AS bigint)`;
  const found = yield* row(sql<RangeRow>`
    SELECT ${one(sql`is_gone = 0 AND target IS NULL`)} AS fresh,
      ${one(sql`is_gone = 1 AND target IS NOT NULL`)} AS withdrawn,
      ${one(sql`is_gone = 0 AND target IS NOT NULL`)} AS known,
      ${one(sql`is_gone = 0 AND target IS NOT NULL AND ${differs}`)} AS changed
    FROM ${ready} AS ready LEFT JOIN ${pets} AS p ON p.id = target
    WHERE ${within(first, last)}`);
  const updated = Number(found?.changed ?? 0);
  return {
    added: Number(found?.fresh ?? 0),
    updated,
    unchanged: Number(found?.known ?? 0) - updated,
    withdrawn: Number(found?.withdrawn ?? 0),
  };
}

/** Names categories as the first part of a change, whose id it returns. */
export function* nameCategories(named: readonly Category[], change: Change): Steps<bigint> {
  yield* changeAnimals();
  for (const { id, name } of named) {
    if (((yield* categoryById(id)) ?? (yield* categoryByName(name))) === undefined) continue;
    throw new AppError(
      "unavailable",
      `The category ${JSON.stringify(name)} was made meanwhile. Nothing was changed.`,
      { hint: "Run the import again." },
    );
  }
  const id = yield* newChange("import", change);
  yield* describeChange(id, {}, yield* nameNumbers(named));
  return id;
}

interface TakenRange {
  readonly counts: ImportCounts;
  /** The change that the range is part of, if it is any. */
  readonly changeId: bigint | undefined;
  readonly looks: Looks;
}

/** Takes a range over. Returns what that came to, and what the next one has to look for. */
export function* changeRange(
  first: number,
  last: number,
  before: Looks,
  change: Change,
): Steps<TakenRange> {
  yield* changeAnimals();
  const looks = yield* nextLooks(before);
  yield* resolveRange(first, last, looks);
  const counts = yield* countRange(first, last);
  const { added, updated, withdrawn } = counts;
  if (added + updated + withdrawn === 0) return { counts, changeId: change.id, looks };
  const changeId = change.id ?? (yield* newChange("import", change));
  const range = { within: within(first, last), changeId, ...change };
  if (updated > 0) yield* update(range);
  if (withdrawn > 0) yield* withdraw(range);
  if (looks.hasRemoved && added > 0) yield* restore(range);
  if (added > 0) yield* add(range);
  yield* countAnimals(added - withdrawn);
  return { counts, changeId, looks };
}

interface Range {
  readonly within: Statement;
  readonly changeId: bigint;
  readonly nowMs: number;
}

/** The columns of an animal (`p`) that the import sets. */
const imported: Readonly<Record<string, Statement>> = {
  ...Object.fromEntries(petFieldNames.map((name) => [name, raw(`ready.${columnName(name)}`)])),
  externalId: sql`coalesce(ready.external_id, p.external_id)`,
  source: sourceAfter,
};

function* update({ within, changeId }: Range): Steps<void> {
  const changed = sql`FROM ${ready} AS ready JOIN ${pets} AS p ON p.id = target
    WHERE is_gone = 0 AND ${within} AND ${differs}`;
  yield* run(sql`INSERT INTO ${petEvents} (pet_id, change_id, before, after)
    SELECT p.id, CAST(${changeId} AS bigint), ${snapshot("p")}, ${snapshot("p", imported)} ${changed}`);
  const columns = Object.entries(imported).map(
    ([property, value]) => sql`${raw(columnName(property))} = ${value}`,
  );
  yield* run(sql`UPDATE ${pets} AS p SET ${joined(columns)} FROM ${ready} AS ready
    WHERE p.id = ready.target AND is_gone = 0 AND ${within} AND ${differs}`);
}

function* withdraw({ within, changeId, nowMs }: Range): Steps<void> {
  const gone = sql`(SELECT target FROM ${ready} WHERE is_gone = 1 AND target IS NOT NULL AND ${within})`;
  yield* planRemoval(changeId, sql`animal.id IN ${gone}`);
  yield* moveOut(changeId, gone, nowMs);
}

/** Brings removed animals back under the ids that they had. */
function* restore({ within, changeId }: Range): Steps<void> {
  const back = sql`FROM ${ready} AS ready JOIN ${removedPets} AS p ON p.id = ready.removed
    WHERE is_gone = 0 AND target IS NULL AND ${within}`;
  yield* run(sql`INSERT INTO ${petEvents} (pet_id, change_id, before, after)
    SELECT p.id, CAST(${changeId} AS bigint), NULL, ${returned("p", imported)} ${back}`);
  const restored = Object.keys(pets.columns).map(
    (property) => imported[property] ?? raw(`p.${columnName(property)}`),
  );
  yield* run(sql`
    INSERT INTO ${pets} (${columnsOf(pets)}) ${withOldIds}
    SELECT ${joined(restored)} ${back}`);
  yield* run(sql`DELETE FROM ${removedPets} WHERE id IN (
    SELECT removed FROM ${ready} WHERE is_gone = 0 AND target IS NULL AND removed IS NOT NULL AND ${within})`);
}

/** An upsert would do, but it uses up an id for each animal that it only updates. */
function* add({ within, changeId, nowMs }: Range): Steps<void> {
  const fields = columnsOf(pets, petFieldNames);
  yield* run(sql`
    INSERT INTO ${pets} (${fields}, external_id, source, created_at_ms, created_in)
    SELECT ${fields}, external_id,
      CASE WHEN external_id IS NULL THEN '' ELSE source END,
      CAST(${nowMs} AS bigint), CAST(${changeId} AS bigint) FROM ${ready}
    WHERE is_gone = 0 AND target IS NULL AND removed IS NULL AND ${within} ORDER BY position`);
}
