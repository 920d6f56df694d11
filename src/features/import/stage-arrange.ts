/** How the records of an import become animals. */
import { petFieldNames } from "../../domain/pet.ts";
import { columnName } from "../../storage/declare.ts";
import {
  columnsOf,
  insert,
  joined,
  raw,
  row,
  rows,
  run,
  sql,
  type Statement,
  type Steps,
  editCount,
} from "../../storage/statement.ts";
import { pets } from "../../storage/tables.ts";
import { removedPets } from "../animals/tables.ts";
import { idPrefix } from "./formats/ids.ts";
import type { Arranged, Arrangement, UnknownRecord } from "./stage.ts";
import { categoryIds, ready, staged } from "./stage-tables.ts";

/**
 * Up to so many animals are imported in the order of the input. More go in the order of their
 * external ids, whose index would not stay in memory: in any other order nearly each animal
 * rewrites a page of it (docs/decisions/0003-import-through-a-stage.md).
 */
const inputOrderMax = 100_000;

/** Where an animal has to be looked for. */
export interface Looks {
  /** True when the catalogue has animals that the records may be. */
  readonly hasKnown: boolean;
  /** True for external ids of an unknown source: version 1.0.0 did not keep it. */
  readonly hasUnowned: boolean;
  readonly hasRemoved: boolean;
  /** The number of edits of the catalogue until then. */
  readonly edits: bigint;
}

interface ArrangedStage extends Arranged {
  readonly size: number;
  readonly looks: Looks;
}

/** Fills `ready` from `staged`. */
export function* arrange(arrangement: Arrangement, dialect: string): Steps<ArrangedStage> {
  const known = [...arrangement.categoryIds.entries()].flatMap(([key, id]) =>
    id === undefined ? [] : [[key, id] as const],
  );
  yield* insert({ into: categoryIds, columns: ["key", "id"], rows: known });
  const records = yield* countOf(sql`SELECT count(*) AS n FROM ${staged}`);
  if (arrangement.newIds !== true) yield* nameAlike();
  const hasOlder = (yield* row(olderRecord)) !== undefined;
  yield* run(readyRows(records > inputOrderMax, arrangement.keepGone === true, hasOlder));
  const kept = yield* countOf(sql`SELECT count(*) AS n FROM ${ready}`);
  const different = kept < records ? yield* namedDifferently() : noNames;
  const looks = yield* looksOf();
  const unknown = yield* unknownIds(arrangement.newIds === true);
  const absent = yield* addAbsent(arrangement);
  yield* run(sql`DELETE FROM ${staged}`);
  // Nothing else tells PostgreSQL's planner how large the table is.
  if (dialect === "postgres") yield* run(sql`ANALYZE ${ready}`);
  const size = yield* countOf(sql`SELECT coalesce(max(position), 0) AS n FROM ${ready}`);
  const gone = yield* countOf(sql`SELECT count(*) AS n FROM ${ready} WHERE is_gone = 1`);
  const all = yield* countOf(sql`SELECT count(*) AS n FROM ${ready}`);
  return {
    size,
    looks,
    animals: all - gone,
    gone: gone - absent.missing,
    ...different,
    ...unknown,
    ...absent,
  };
}

/** The categories of the animals in `ready` that are not gone. */
export function* readyCategoryIds(): Steps<readonly bigint[]> {
  const found = yield* rows<{ id: bigint }>(
    sql`SELECT DISTINCT category_id AS id FROM ${ready} WHERE is_gone = 0`,
  );
  return found.map(({ id }) => id);
}

function* countOf(statement: Statement): Steps<number> {
  const found = yield* row(statement as Statement<{ n: bigint | number }>);
  return Number(found?.n ?? 0);
}

/** Where some records name animals by the ids of a source, gives all records these ids. */
function* nameAlike(): Steps<void> {
  for (const table of [pets, removedPets]) {
    yield* run(sql`UPDATE ${staged} AS record SET external_id = p.external_id, source = p.source
      FROM ${table} AS p WHERE p.id = record.pet_id AND record.external_id IS NULL
        AND p.external_id IS NOT NULL
        AND EXISTS (SELECT 1 FROM ${staged} WHERE external_id IS NOT NULL)`);
  }
}

/** What tells the animals apart: their id elsewhere, or else the one here. */
const identity = raw("source, external_id, CASE WHEN external_id IS NULL THEN pet_id END");

/** Finds a row if an animal has several records. Looking is quick beside the sorting by age. */
const olderRecord = sql`SELECT 1 FROM ${staged} WHERE external_id IS NOT NULL OR pet_id IS NOT NULL
  GROUP BY ${identity} HAVING count(*) > 1 LIMIT 1`;

/** The newest record of each animal; those without any id are animals of their own. */
const newest = sql`(
  SELECT * FROM (
    SELECT staged.*, row_number() OVER (
      PARTITION BY ${identity} ORDER BY version DESC, seq DESC) AS age
    FROM ${staged} AS staged WHERE external_id IS NOT NULL OR pet_id IS NOT NULL
    UNION ALL
    SELECT staged.*, 1 FROM ${staged} AS staged WHERE external_id IS NULL AND pet_id IS NULL
  ) AS aged WHERE age = 1)`;

/** One record for each animal, with its category. */
function readyRows(byExternalId: boolean, keepGone: boolean, hasOlder: boolean): Statement {
  const order = raw(byExternalId ? "external_id, seq" : "seq");
  const known = petFieldNames.map((name) =>
    name === "categoryId" ? "known_id" : columnName(name),
  );
  return sql`
    INSERT INTO ${ready} (line, pet_id, external_id, source, is_gone, ${columnsOf(ready, petFieldNames)})
    SELECT line, pet_id, external_id, source, is_gone, ${raw(known.join(", "))}
    FROM (
      SELECT record.*, coalesce(category_id, ids.id) AS known_id
      FROM ${hasOlder ? newest : staged} AS record
        LEFT JOIN ${categoryIds} AS ids ON ids.key = category_key
    ) AS named
    WHERE ${raw(keepGone ? "is_gone = 0 AND known_id IS NOT NULL" : "(is_gone = 1 OR known_id IS NOT NULL)")}
    ORDER BY ${order}`;
}

const noNames = { differentNames: 0, differentName: undefined };

/** The animals whose records have different names, without those that were gone in all of them. */
function* namedDifferently(): Steps<Pick<Arranged, "differentNames" | "differentName">> {
  const different = sql`SELECT external_id, min(name) AS one, max(name) AS other, min(line) AS line
    FROM ${staged} WHERE external_id IS NOT NULL
    GROUP BY source, external_id HAVING min(name) <> max(name) AND min(is_gone) = 0`;
  const differentNames = yield* countOf(sql`SELECT count(*) AS n FROM (${different}) AS different`);
  if (differentNames === 0) return noNames;
  const first = yield* row(
    sql<{ external_id: string; one: string; other: string; line: bigint }>`
      ${different} ORDER BY min(line) LIMIT 1`,
  );
  if (first === undefined) return noNames;
  const { external_id: id, one, other, line } = first;
  return { differentNames, differentName: { id, names: [one, other], line: Number(line) } };
}

/** The looks of an import that has made its next edit: looked up where somebody else made one. */
export function* nextLooks(before: Looks): Steps<Looks> {
  const edits = yield* editsOf();
  return edits === before.edits + 1n ? { ...before, edits } : yield* looksOf();
}

function* editsOf(): Steps<bigint> {
  const found = yield* row(sql<{ n: bigint }>`SELECT coalesce(${editCount}, 0) AS n`);
  return BigInt(found?.n ?? 0);
}

function* looksOf(): Steps<Looks> {
  const has = (what: Statement) => countOf(sql`SELECT count(*) AS n FROM (${what} LIMIT 1) AS one`);
  const unowned = yield* has(
    sql`SELECT 1 FROM ${pets} WHERE source = '' AND external_id IS NOT NULL`,
  );
  const known = yield* has(sql`SELECT 1 FROM ${pets}`);
  const removed = yield* has(sql`SELECT 1 FROM ${removedPets}`);
  const edits = yield* editsOf();
  return { hasKnown: known > 0, hasUnowned: unowned > 0, hasRemoved: removed > 0, edits };
}

/** More are counted, and not held in memory: they are those of a whole other catalogue. */
const unknownMax = 10_000;

/**
 * The records whose id is not that of their animal here, nor their external id: left out. With
 * `newIds` all ids are those of another catalogue, and say nothing.
 */
function* unknownIds(newIds: boolean): Steps<Pick<Arranged, "unknownIds" | "unknown">> {
  if (newIds) {
    yield* run(sql`UPDATE ${ready} SET pet_id = NULL`);
    return { unknownIds: 0, unknown: [] };
  }
  const both = [pets, removedPets];
  const isHere = both.map(
    (table) => sql`EXISTS (SELECT 1 FROM ${table} AS p WHERE p.id = ready.pet_id
      AND coalesce(p.external_id = ready.external_id, p.id = ready.pet_id))`,
  );
  const isHereByOther = both.map(
    (table) => sql`EXISTS (SELECT 1 FROM ${table} AS p
      WHERE p.source = ready.source AND p.external_id = ready.external_id)`,
  );
  const isUnknown = sql`pet_id IS NOT NULL AND NOT (${joined(isHere, " OR ")})`;
  yield* run(sql`UPDATE ${ready} SET pet_id = NULL
    WHERE ${isUnknown} AND (${joined(isHereByOther, " OR ")})`);
  // What is gone, and not here under this id, leaves nothing to withdraw. It is no fault.
  yield* run(sql`DELETE FROM ${ready} WHERE is_gone = 1 AND ${isUnknown}`);
  const found = yield* rows(
    sql<{ line: bigint; id: bigint; name: string; category_id: bigint; status: string | null }>`
      SELECT line, pet_id AS id, name, category_id, status FROM ${ready} WHERE ${isUnknown}
      ORDER BY line LIMIT ${unknownMax}`,
  );
  const unknown = found.map(
    ({ line, id, name, category_id: categoryId, status }): UnknownRecord => {
      return { line: Number(line), id, name, categoryId, status };
    },
  );
  if (unknown.length === 0) return { unknownIds: 0, unknown };
  return { unknownIds: yield* run(sql`DELETE FROM ${ready} WHERE ${isUnknown}`), unknown };
}

/** True for an animal that no record names by its id here alone. */
const notById = sql` AND id NOT IN (
  SELECT pet_id FROM ${staged} WHERE external_id IS NULL AND pet_id IS NOT NULL)`;

/**
 * Adds the animals of a source that its whole list does not have, as gone. One with any staged
 * record is in the list, whatever becomes of that record.
 */
function* addAbsent({
  complete: source,
  newIds = false,
}: Arrangement): Steps<Pick<Arranged, "missing" | "sourceAnimals">> {
  if (source === undefined) return { missing: 0, sourceAnimals: 0 };
  const prefix = idPrefix(source);
  const owned = sql`external_id IS NOT NULL AND (source = ${source}
    OR (source = '' AND substr(external_id, 1, ${Array.from(prefix).length}) = ${prefix}))`;
  const sourceAnimals = yield* countOf(sql`SELECT count(*) AS n FROM ${pets} WHERE ${owned}`);
  // EXCEPT, because PostgreSQL searches a large NOT IN row by row.
  const missing = yield* run(sql`
    INSERT INTO ${ready} (line, pet_id, external_id, source, is_gone)
    SELECT 0, id, external_id, source, 1 FROM ${pets}
    WHERE ${owned} AND external_id IN (
      SELECT external_id FROM ${pets} WHERE ${owned} EXCEPT SELECT external_id FROM ${staged}
    )${newIds ? sql`` : notById}`);
  return { missing, sourceAnimals };
}
