import type { SQL } from "bun";
import { and, asc, eq, gt, sql } from "drizzle-orm";
import { int64Min } from "../../domain/int64.ts";
import type { PageQuery } from "../../domain/page.ts";
import type { Pet, PetStatus } from "../../domain/pet.ts";
import type { AddedPet, CommitReport, PetStore } from "../../storage/contract.ts";
import { createBatchMax, GroupCommit } from "../../storage/group-commit.ts";
import { repeatable, type Query, type Runner } from "./connections.ts";
import { isHarmless } from "./failures.ts";
import { inTransaction, lockTimeout } from "./transaction.ts";
import { catalogue, pets } from "./schema.ts";

/** Creates that may wait for their commit; above it they are refused at once. */
const waitingMax = 16_384;

const petColumns = {
  id: pets.id,
  name: pets.name,
  categoryId: pets.categoryId,
  status: pets.status,
};

interface PetRow {
  readonly id: bigint;
  readonly name: string;
  readonly categoryId: bigint;
  readonly status: PetStatus | null;
}

function petOf({ id, name, categoryId, status }: PetRow): Pet {
  return status === null ? { id, name, categoryId } : { id, name, categoryId, status };
}

/** The statements that read animals, prepared once for each set of connections. */
export function petReads(query: Query) {
  const placeholders = { after: sql.placeholder("after"), limit: sql.placeholder("limit") };
  return {
    page: query
      .select(petColumns)
      .from(pets)
      .where(gt(pets.id, placeholders.after))
      .orderBy(asc(pets.id))
      .limit(placeholders.limit)
      .prepare("pets_page"),
    pageOfStatus: query
      .select(petColumns)
      .from(pets)
      .where(and(eq(pets.status, sql.placeholder("status")), gt(pets.id, placeholders.after)))
      .orderBy(asc(pets.id))
      .limit(placeholders.limit)
      .prepare("pets_page_of_status"),
    byId: query
      .select(petColumns)
      .from(pets)
      .where(eq(pets.id, sql.placeholder("id")))
      .prepare("pets_by_id"),
    count: query.select({ animals: catalogue.animals }).from(catalogue).prepare("pets_count"),
  };
}

/**
 * Adds animals in one statement, which is its own transaction. The version's row comes first and stays locked until the
 * commit, so ids are given in the order of the commits, whichever process asks. Each id comes back with its animal's
 * position, because nothing promises an order of returned rows. Who waits too long for that row gives up at the server
 * too: an insert that nobody waits for any more would add what its callers were refused.
 */
function insertPets(
  client: SQL,
  batch: readonly AddedPet[],
  timeoutMs: number,
): Promise<InsertedPet[]> {
  return client`
    WITH patience AS MATERIALIZED (
      SELECT set_config('lock_timeout', ${lockTimeout(timeoutMs)}, true)
    ), raised AS (
      UPDATE rehome.catalogue SET version = version + 1, animals = animals + ${batch.length}
      FROM patience
      RETURNING version
    ), batch AS MATERIALIZED (
      SELECT nextval('rehome.pets_id_seq') AS id, given.*
      FROM raised, unnest(
        ${batch.map(({ name }) => name)}::text[],
        ${batch.map(({ categoryId }) => categoryId)}::bigint[],
        ${batch.map(({ status }) => status ?? null)}::text[],
        ${batch.map(({ createdAtMs }) => createdAtMs ?? null)}::bigint[],
        ${batch.map(({ createdBy }) => createdBy ?? null)}::text[]
      ) WITH ORDINALITY AS given (name, category_id, status, created_at_ms, created_by, position)
    ), added AS (
      INSERT INTO rehome.pets (id, name, category_id, status, created_at_ms, created_by)
        OVERRIDING SYSTEM VALUE
      SELECT id, name, category_id, status, created_at_ms, created_by FROM batch
    )
    SELECT id, position FROM batch` as Promise<InsertedPet[]>;
}

interface InsertedPet {
  readonly id: bigint;
  readonly position: bigint;
}

export interface PetConnections {
  readonly reads: Runner<{ readonly pets: ReturnType<typeof petReads> }>;
  readonly creates: Runner<{ readonly sql: SQL }>;
  readonly changes: Runner<{ readonly query: Query }>;
}

export interface PetStoreOptions {
  readonly timeoutMs: number;
  /** Told of each commit that changed animals, before those who wait for it are answered. */
  readonly onChange: () => void;
  readonly onCommit: (report: CommitReport) => void;
}

/** Animals in PostgreSQL. */
export class PostgresPets implements PetStore {
  readonly #connections: PetConnections;
  readonly #options: PetStoreOptions;
  readonly #commits: GroupCommit<AddedPet, bigint>;

  constructor(connections: PetConnections, options: PetStoreOptions) {
    this.#connections = connections;
    this.#options = options;
    this.#commits = new GroupCommit((batch, sinceMs) => this.#insert(batch, sinceMs), {
      batchMax: createBatchMax,
      waitingMax,
    });
  }

  async page({ limit, status, after = int64Min }: PageQuery): Promise<Pet[]> {
    const rows = await this.#connections.reads.run(
      ({ pets: { page, pageOfStatus } }) =>
        status === undefined
          ? page.execute({ limit, after })
          : pageOfStatus.execute({ limit, after, status }),
      repeatable,
    );
    return rows.map(petOf);
  }

  async byId(id: bigint): Promise<Pet | undefined> {
    const [row] = await this.#connections.reads.run(
      (statements) => statements.pets.byId.execute({ id }),
      repeatable,
    );
    return row === undefined ? undefined : petOf(row);
  }

  async count(): Promise<number> {
    const [row] = await this.#connections.reads.run(
      (statements) => statements.pets.count.execute(),
      repeatable,
    );
    return row?.animals ?? 0;
  }

  create(pet: AddedPet): Promise<bigint> {
    return this.#commits.add(pet);
  }

  setStatus(id: bigint, status: PetStatus | undefined): Promise<Pet | undefined> {
    return this.#change(0, (tx) =>
      tx
        .update(pets)
        .set({ status: status ?? null })
        .where(eq(pets.id, id))
        .returning(petColumns),
    );
  }

  remove(id: bigint): Promise<Pet | undefined> {
    return this.#change(-1, (tx) => tx.delete(pets).where(eq(pets.id, id)).returning(petColumns));
  }

  /** Resolves when every create is kept or refused. */
  settled(): Promise<void> {
    return this.#commits.settled();
  }

  async #insert(batch: readonly AddedPet[], sinceMs: number): Promise<bigint[]> {
    const startMs = performance.now();
    const { timeoutMs, onChange, onCommit } = this.#options;
    const rows = await this.#connections.creates.run(
      ({ sql: client }) => insertPets(client, batch, timeoutMs),
      {
        deadlineMs: sinceMs + timeoutMs,
        // Never where the commit may have happened: an animal must not be there twice.
        mayRepeat: isHarmless,
      },
    );
    onChange();
    onCommit({ batchSize: batch.length, commitMs: performance.now() - startMs });
    const ids: bigint[] = [];
    for (const { id, position } of rows) ids[Number(position) - 1] = id;
    return ids;
  }

  /** Changes one animal; `count` is by how many there are more afterwards. */
  async #change(count: number, work: (tx: Query) => Promise<PetRow[]>): Promise<Pet | undefined> {
    const [row] = await this.#connections.changes.run(
      ({ query }) =>
        inTransaction(query, this.#options.timeoutMs, async (tx) => {
          await tx.select().from(catalogue).for("update");
          const rows = await work(tx);
          if (rows.length > 0) await raiseVersion(tx, count);
          return rows;
        }),
      { mayRepeat: isHarmless },
    );
    if (row === undefined) return undefined;
    this.#options.onChange();
    return petOf(row);
  }
}

async function raiseVersion(tx: Query, count: number): Promise<void> {
  const { version, animals } = catalogue;
  await tx
    .update(catalogue)
    .set({ version: sql`${version} + 1`, animals: sql`${animals} + ${count}` });
}
