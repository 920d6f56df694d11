/**
 * A change of animals and categories: one transaction, which is undone as a whole by its number.
 * What happens to an animal that was there is an event with its fields before and after. Once the
 * work has ended, the animals are changed as their events say, so a history is always true.
 */
import { eq, getTableColumns, lt, sql, type SQL } from "drizzle-orm";
import { type Clock, dayMs } from "../../domain/clock.ts";
import { type NewPet, petFieldNames } from "../../domain/pet.ts";
import {
  changePets,
  type Database,
  type Tables,
  type Tx,
  type WorkOptions,
  prunedBefore,
} from "../../storage/database.ts";
import type { Services } from "../../service/services.ts";

/** Histories, and what an undo needs, are stored for so long. */
export const storedMs = 90 * dayMs;
/** Events forgotten by one change, whose transaction must not hold up a server for long. */
const forgottenMax = 10_000;

/** The values in parts, as many as one statement may have: their number costs no memory. */
export function* batches<T>(all: readonly T[], size = 5_000): Generator<readonly T[]> {
  for (let at = 0; at < all.length; at += size) yield all.slice(at, at + size);
}

export interface Editing {
  readonly db: Database;
  readonly clock: Clock;
  /** Is stored as the author of the changes. */
  readonly actor: string;
  /** Is told the number of each change that was made. What changed nothing is none. */
  readonly onChange?: ((change: bigint) => void) | undefined;
  /** Throws in the transaction of a change whose author may not make it any more. */
  readonly allows?: ((tx: Tx) => Promise<void>) | undefined;
}

export type PetRow = Tables["pets"]["$inferSelect"];
export type ChangeRow = Tables["changes"]["$inferSelect"];

/** What an event holds of an animal: all but its id and its origin. */
export const eventFields = [...petFieldNames, "externalId", "source"] as const;
type StateField = (typeof eventFields)[number];
export type PetState = Pick<PetRow, StateField>;
/** What is set in an animal. Null takes the status away. */
export type PetPatch = { readonly [Field in StateField]?: PetState[Field] | undefined };

export function stateOf(row: PetState): PetState {
  return Object.fromEntries(eventFields.map((field) => [field, row[field]])) as PetState;
}

/** A state as an event has it: an int64 that is a double is a number there. */
export type StoredState = Readonly<Record<string, unknown>>;

/** What a change does to an animal that was there once. */
export interface PetEvent {
  readonly petId: bigint;
  /** Null for an animal that was removed, and comes back under its id. */
  readonly before: StoredState | null;
  /** Null for one that goes. */
  readonly after: StoredState | null;
  /** The state of the removed animal where it comes back as another: an undo needs it. */
  readonly former?: StoredState | undefined;
}

/** A category that a change made (no `before`), renamed, or took away (no `after`). */
export interface CategoryEvent {
  readonly id: bigint;
  readonly before?: string | undefined;
  readonly after?: string | undefined;
  /** True if animals carried it before it had a name: it may lose the name while they do. */
  readonly wasCarried?: true;
}

export type AddedPet = NewPet & Pick<PetPatch, "externalId" | "source">;

/** In the name of the one who runs this process. */
export const editingOf = (services: Services): Editing => ({ ...services, db: services.store.db });

/** Runs `work` as one change in one transaction. */
export async function makeChange<T>(
  { db, clock, actor, onChange, allows }: Editing,
  action: string,
  work: (change: Change) => Promise<T>,
  options: WorkOptions = {},
): Promise<T> {
  const atMs = clock();
  const { result, made } = await db.transaction(
    (tx) =>
      changePets(tx, "any", async () => {
        await allows?.(tx);
        await forget(tx, atMs);
        const { changes } = tx.t;
        const stored = tx.insert(changes).values({ atMs, actor, action, summary: {} });
        const [{ id }] = (await stored.returning({ id: changes.id })) as [{ id: bigint }];
        const change = new Change(tx, id, atMs);
        const result = await work(change);
        const made = await change.end();
        const { added, removed, restored } = change.counts;
        return { result: { result, made }, more: added + restored - removed };
      }),
    options,
  );
  if (made !== undefined) onChange?.(made);
  return result;
}

export class Change {
  readonly categories: CategoryEvent[] = [];
  summary: Readonly<Record<string, unknown>> = {};
  /** True for one that is stored though no animal changed. */
  isStored = false;
  /** What was carried out. */
  readonly counts = { added: 0, updated: 0, removed: 0, restored: 0 };
  #isCarriedOut = false;

  constructor(
    readonly tx: Tx,
    readonly id: bigint,
    readonly atMs: number,
  ) {}

  /** Adds animals under new ids, in this order. */
  async add(pets: readonly AddedPet[]): Promise<void> {
    const made = { createdAtMs: this.atMs, createdIn: this.id };
    const rows = pets.map(({ status = null, externalId = null, source = "", ...pet }) => {
      return { ...pet, status, externalId, source, ...made };
    });
    this.counts.added += await this.tx.insertAll(this.tx.t.pets, rows);
  }

  async plan(events: readonly PetEvent[]): Promise<void> {
    for (const part of batches(events)) {
      const rows = part.map(({ after, former, ...event }) => ({
        ...event,
        changeId: this.id,
        after: after && { ...after, ...(former && { former }) },
      }));
      await this.tx.insertAll(this.tx.t.petEvents, rows);
    }
  }

  /** Plans what a query has: ids of animals, and states before and after. Returns how many. */
  planAll(query: SQL): Promise<number> {
    return this.tx.run(sql`INSERT INTO ${this.tx.t.petEvents} (pet_id, before, after, change_id)
      SELECT its.*, CAST(${this.id} AS bigint) FROM (${query}) AS its`);
  }

  /**
   * Leaves out animals whose id elsewhere another one has by now, which this change does not touch.
   * Returns how many there are.
   */
  async dropTaken(): Promise<number> {
    const { pets, petEvents } = this.tx.t;
    const dropped = await this.tx.run(sql`DELETE FROM ${petEvents}
      WHERE ${petEvents.changeId} = ${this.id} AND ${movesId} AND EXISTS (SELECT 1 FROM ${pets} AS other
        WHERE other.source = after ->> 'source' AND other.external_id = after ->> 'externalId'
          AND other.id <> ${petEvents.petId} AND NOT EXISTS (SELECT 1 FROM ${petEvents} AS mine
            WHERE mine.pet_id = other.id AND mine.change_id = ${this.id}))`);
    // What is left out gives up nothing that others would get.
    return dropped === 0 ? 0 : dropped + (await this.dropTaken());
  }

  /** Plans to set what `patch` has in those animals that `where` means and that lack it. */
  async planUpdate(where: SQL, patch: PetPatch): Promise<void> {
    const { pets } = this.tx.t;
    const lacks = eventFields.flatMap((field) => {
      const value = patch[field];
      return value === undefined ? [] : sql`${pets[field]} IS DISTINCT FROM ${typed(field, value)}`;
    });
    if (lacks.length === 0) return;
    await this.planAll(sql`SELECT ${pets.id}, ${stateJson(this.tx)}, ${stateJson(this.tx, patch)}
      FROM ${pets} WHERE ${where} AND (${sql.join(lacks, sql` OR `)})`);
  }

  async planRemoval(where: SQL | undefined): Promise<void> {
    const { pets } = this.tx.t;
    await this.planAll(sql`SELECT ${pets.id}, ${stateJson(this.tx)}, CAST(NULL AS json)
      FROM ${pets} WHERE ${where}`);
  }

  /** Does what the events say, once: at the end, or before what depends on it. */
  async carryOut(): Promise<void> {
    const { tx, id } = this;
    if (this.#isCarriedOut) return;
    this.#isCarriedOut = true;
    const { pets, petEvents, removedPets } = tx.t;
    const others = Object.values(getTableColumns(pets)).filter((each) => each !== pets.externalId);
    const columns = sql.join(others.map(nameOf), sql`, `);
    const lacking = (state: SQL) =>
      sql`(SELECT pet_id FROM ${petEvents} WHERE change_id = ${id} AND ${state} IS NULL)`;
    const own = sql`${petEvents.changeId} = ${id} AND ${petEvents.petId} = ${pets.id}`;
    const gone = lacking(sql`after`);
    const removed = await tx.run(sql`
      INSERT INTO ${removedPets} (${columns}, external_id, removed_at_ms, removed_in)
      SELECT ${columns}, external_id, CAST(${this.atMs} AS bigint), CAST(${id} AS bigint)
      FROM ${pets} WHERE id IN ${gone}`);
    await tx.run(sql`DELETE FROM ${pets} WHERE id IN ${gone}`);
    // No two animals may have one id elsewhere, not even between two rows of a statement.
    const moved = await tx.run(sql`UPDATE ${pets} SET external_id = NULL
      FROM ${petEvents} WHERE ${own} AND ${movesId}`);
    const back = lacking(sql`before`);
    const oldIds = sql.raw(tx.dialect === "postgres" ? "OVERRIDING SYSTEM VALUE" : "");
    const restored = await tx.run(sql`INSERT INTO ${pets} (${columns}) ${oldIds}
      SELECT ${columns} FROM ${removedPets} WHERE id IN ${back}`);
    await tx.run(sql`DELETE FROM ${removedPets} WHERE id IN ${back}`);
    // Ids elsewhere have an index, so that they are written only where one is another.
    const fields = moved + restored > 0 ? eventFields : petFieldNames;
    const set = stateIn(pets, sql`after`, fields);
    const changed = await tx.run(sql`UPDATE ${pets} SET ${set} FROM ${petEvents} WHERE ${own}`);
    Object.assign(this.counts, { removed, restored, updated: changed - restored });
  }

  /** Ends the change, and returns its number unless it did nothing. */
  async end(): Promise<bigint | undefined> {
    await this.carryOut();
    const { changes } = this.tx.t;
    const isOwn = eq(changes.id, this.id);
    const isNothing = Object.values(this.counts).every((count) => count === 0);
    if (isNothing && this.categories.length === 0 && !this.isStored) {
      await this.tx.delete(changes).where(isOwn);
      return undefined;
    }
    const summary = { ...this.counts, ...this.summary };
    const categories = (this.categories.length === 0 ? null : this.categories) as never;
    await this.tx.update(changes).set({ summary, categories }).where(isOwn);
    return this.id;
  }
}

const nameOf = ({ name }: { readonly name: string }) => sql.identifier(name);

/** True of an event that gives the animal another id elsewhere. */
const movesId = sql`(before ->> 'externalId' IS DISTINCT FROM after ->> 'externalId'
  OR before ->> 'source' IS DISTINCT FROM after ->> 'source')`;

/** A value of this field, for PostgreSQL, which must be told what a parameter is. */
const typed = (field: StateField, value: unknown): SQL =>
  field === "categoryId" ? sql`CAST(${value} AS bigint)` : sql`CAST(${value} AS text)`;

/** The state of an animal as an event has it, once it has what `patch` has. */
export function stateJson({ dialect, t: { pets } }: Tx, patch: PetPatch = {}): SQL {
  const make = sql.raw(dialect === "sqlite" ? "json_object" : "json_build_object");
  const fields = eventFields.map((field) => {
    const value = patch[field];
    const its = value === undefined ? pets[field] : typed(field, value);
    return sql`${sql.raw(`'${field}'`)}, ${its}`;
  });
  return sql`${make}(${sql.join(fields, sql`, `)})`;
}

/** Sets columns of an animal to the state that `json` has. */
export function stateIn(
  table: Tables["pets"] | Tables["removedPets"],
  json: SQL,
  fields: readonly StateField[] = eventFields,
): SQL {
  const set = fields.map((field) => {
    return sql`${nameOf(table[field])} = ${typed(field, sql`${json} ->> ${sql.raw(`'${field}'`)}`)}`;
  });
  return sql.join(set, sql`, `);
}

async function forget(tx: Tx, nowMs: number): Promise<void> {
  const { changes, petEvents } = tx.t;
  const endMs = await prunedBefore(tx, changes.atMs, nowMs, storedMs);
  if (endMs === undefined) return;
  const isOld = lt(changes.atMs, endMs);
  const events = sql`SELECT pet_id, change_id FROM ${petEvents}
    WHERE change_id IN (SELECT id FROM ${changes} WHERE ${isOld}) LIMIT ${forgottenMax}`;
  await tx.run(sql`DELETE FROM ${petEvents} WHERE (pet_id, change_id) IN (${events})`);
  await tx.run(sql`DELETE FROM ${changes} WHERE ${isOld}
    AND NOT EXISTS (SELECT 1 FROM ${petEvents} WHERE ${petEvents.changeId} = ${changes.id})`);
}
