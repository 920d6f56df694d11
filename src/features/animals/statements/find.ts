/** Finds animals and their history. The statements are the same for both databases. */
import { int64Min } from "../../../domain/int64.ts";
import { fold } from "../../../domain/names.ts";
import type { Pet, PetStatus } from "../../../domain/pet.ts";
import type { Engine } from "../../../storage/contract.ts";
import { petOfRow } from "../../../storage/pet-row.ts";
import { record, recordOf, type RecordOf, records, selected } from "../../../storage/records.ts";
import {
  inDialect,
  joined,
  list,
  row,
  rows,
  sql,
  type Statement,
  type Steps,
  type Value,
} from "../../../storage/statement.ts";
import { pets } from "../../../storage/tables.ts";
import { changes, petEvents, removedPets } from "../tables.ts";

interface PetFilter {
  /** Anywhere in the name, whatever its case and accents. */
  readonly name?: string | undefined;
  readonly categoryId?: bigint | undefined;
  /** Null: only those without one. */
  readonly status?: PetStatus | null | undefined;
}

export interface FoundPets {
  readonly pets: readonly Pet[];
  /** How many animals there are in all that the filter means, whatever page is shown. */
  readonly total: number;
}

/** Names read at a time, so that a long search lets others go on. */
const searchRows = 20_000;

/** A page of the animals that the filter means, by id above `after`, and their number in all. */
export async function findPets(
  engine: Engine,
  filter: PetFilter,
  { limit, after }: { readonly limit: number; readonly after: bigint },
): Promise<FoundPets> {
  const { name = "" } = filter;
  const where = conditionsOf(filter);
  if (name === "") return engine.read(() => plainPage(where, limit, after), { patient: true });
  const wanted = fold(name);
  const plain = sql`${where} AND ${isAsciiName} AND ${plainMatch(wanted)}`;
  // A name of other letters than A to Z has to be folded, which no database does alike.
  const folded = await foldedMatches(engine, sql`${where} AND NOT ${isAsciiName}`, wanted);
  const ids = folded.filter((id) => id > after).slice(0, limit);
  const either = ids.length === 0 ? plain : sql`(${plain} OR id IN ${list(ids)})`;
  return engine.read(
    function* () {
      const page = yield* petRows(
        sql`WHERE ${either} AND id > ${after} ORDER BY id LIMIT ${limit}`,
      );
      // All of them are on the page of a rare name, which so is looked for once.
      const isAll = after === int64Min && page.length < limit;
      const total = isAll ? page.length : (yield* countWhere(plain)) + folded.length;
      return { pets: page, total };
    },
    { patient: true },
  );
}

function* plainPage(where: Statement, limit: number, after: bigint): Steps<FoundPets> {
  const page = yield* petRows(sql`WHERE ${where} AND id > ${after} ORDER BY id LIMIT ${limit}`);
  return { pets: page, total: yield* countWhere(where) };
}

function conditionsOf(filter: PetFilter): Statement {
  return joined([sql`1 = 1`, ...fieldConditions(filter)], " AND ");
}

/** What a filter asks of fields other than the name. */
export function fieldConditions({ categoryId, status }: PetFilter): Statement[] {
  const conditions: Statement[] = [];
  if (categoryId !== undefined) conditions.push(sql`category_id = ${categoryId}`);
  if (status === null) conditions.push(sql`status IS NULL`);
  else if (status !== undefined) conditions.push(sql`status = ${status}`);
  return conditions;
}

/** True of a name that a database can compare: the databases do not agree on accents. */
export const isAsciiName = inDialect({
  sqlite: "(length(name) = length(CAST(name AS blob)))",
  postgres: "(length(name) = octet_length(name))",
});

/** True of an ASCII name that has the text `wanted`, which is folded. */
export function plainMatch(wanted: string): Statement {
  // In lower case are the letters A to Z, and no others.
  const place = inDialect({
    sqlite: "instr(lower(name)",
    postgres: 'strpos(lower(name COLLATE "C")',
  });
  return sql`${place}, ${wanted}) > 0`;
}

/** The ids of the animals whose folded name holds `wanted`, in ascending order. */
async function foldedMatches(engine: Engine, where: Statement, wanted: string): Promise<bigint[]> {
  const matches: bigint[] = [];
  for (let after: bigint | undefined; ;) {
    const above = after === undefined ? sql`` : sql`AND id > ${after}`;
    const batch = await engine.read(() =>
      rows<{ id: bigint; name: string }>(
        sql`SELECT id, name FROM ${pets} WHERE ${where} ${above} ORDER BY id LIMIT ${searchRows}`,
      ),
    );
    for (const { id, name } of batch) if (fold(name).includes(wanted)) matches.push(id);
    if (batch.length < searchRows) return matches;
    after = batch.at(-1)?.id;
    await new Promise((resolve) => void setImmediate(resolve));
  }
}

function* countWhere(where: Statement): Steps<number> {
  const counted = yield* row<{ animals: bigint }>(
    sql`SELECT count(*) AS animals FROM ${pets} WHERE ${where}`,
  );
  return Number(counted?.animals ?? 0);
}

/** An animal as its own table keeps it. */
type PetRecord = RecordOf<typeof pets>;

/** The animals of `rest`: `WHERE ... ORDER BY ...`. */
export function* petRows(rest: Statement): Steps<Pet[]> {
  return (yield* records(pets, rest)).map(petOfRow);
}

/** One animal, removed ones included, and whether it is. */
export function* petOrRemoved(
  id: bigint,
): Steps<{ readonly pet: PetRecord; readonly isRemoved: boolean } | undefined> {
  const there = yield* record(pets, sql`WHERE id = ${id}`);
  if (there !== undefined) return { pet: there, isRemoved: false };
  const gone = yield* record(removedPets, sql`WHERE id = ${id}`);
  return gone && { pet: gone, isRemoved: true };
}

/** What happened to an animal: one change of it. */
export interface PetEvent {
  readonly atMs: number;
  readonly actor: string;
  readonly action: string;
  readonly change: bigint;
  readonly before: Readonly<Record<string, unknown>> | undefined;
  readonly after: Readonly<Record<string, unknown>> | undefined;
  /** In an import's event: the fields of a removed animal that it brought back. */
  readonly former?: Readonly<Record<string, unknown>> | undefined;
  /** The change that this one took back. */
  readonly undoes?: bigint | undefined;
}

/** The events of an animal that are kept, oldest first; its creation is in its own row. */
export function* eventsOfPet(id: bigint): Steps<PetEvent[]> {
  const found = yield* rows<
    Record<string, Value> & {
      at_ms: bigint;
      actor: string;
      action: string;
      undoes: bigint | null;
    }
  >(
    sql`SELECT at_ms, actor, action, undoes, ${selected(petEvents)}
      FROM ${petEvents} JOIN ${changes} ON id = change_id
      WHERE pet_id = ${id} ORDER BY change_id`,
  );
  return found.map((cells) => {
    const { changeId, before, after: kept } = recordOf(petEvents, cells);
    const { former, ...after } = kept ?? {};
    return {
      atMs: Number(cells.at_ms),
      actor: cells.actor,
      action: cells.action,
      change: changeId,
      before: before ?? undefined,
      after: kept === null ? undefined : after,
      former: former as PetEvent["former"],
      undoes: cells.undoes ?? undefined,
    };
  });
}

export type ChangeRecord = RecordOf<typeof changes>;

/** The newest change that is still in force and is no undo itself, or the one with this id. */
export function* lastChange(id?: bigint): Steps<ChangeRecord | undefined> {
  if (id !== undefined) return yield* record(changes, sql`WHERE id = ${id}`);
  return yield* record(
    changes,
    sql`WHERE undone_in IS NULL AND undoes IS NULL ORDER BY id DESC LIMIT 1`,
  );
}

/** The ids among `ids` that no animal has. */
export function* missingPets(ids: readonly bigint[]): Steps<bigint[]> {
  const found = yield* rows<{ id: bigint }>(sql`SELECT id FROM ${pets} WHERE id IN ${list(ids)}`);
  const there = new Set(found.map(({ id }) => id));
  return ids.filter((id) => !there.has(id));
}
