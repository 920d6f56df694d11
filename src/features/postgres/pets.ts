import type { SQL } from "bun";
import { int64Min } from "../../domain/int64.ts";
import type { PageQuery, Pet } from "../../domain/pet.ts";
import { createdFields, hotStatements, petOfRow } from "../../storage/pet-row.ts";
import { catalogue, postgresTables } from "../../storage/schema.postgres.ts";
import type {
  AddedPet,
  CommitReport,
  StoredCreate,
  IdempotentCreate,
  PetStore,
} from "../../storage/contract.ts";
import type { Database } from "../../storage/database.ts";
import { addOnce } from "../../storage/idempotent-create.ts";
import { GroupCommit, refusedValue } from "../../storage/group-commit.ts";
import { repeatable, type Query, type Runner } from "./connections.ts";
import { isHarmless, isOfValue } from "./failures.ts";
import { lockTimeout } from "./transaction.ts";

const { pets } = postgresTables;

/** Creates that may wait for their commit; above it they are refused at once. */
const waitingMax = 16_384;

/** The statements of requests, prepared once for each set of connections. */
export function hotReads(query: Query) {
  const { page, pageOfStatus, byId, secret } = hotStatements(query, postgresTables);
  return {
    page: page.prepare("pets_page"),
    pageOfStatus: pageOfStatus.prepare("pets_page_of_status"),
    byId: byId.prepare("pets_by_id"),
    count: query.select({ animals: catalogue.animals }).from(catalogue).prepare("pets_count"),
    secret: secret.prepare("secret_by_hash"),
  };
}

/**
 * Adds animals in one statement, which locks the version's row first: ids follow the order of
 * commits. Ids return with positions, because rows have no order. A statement that waits too long
 * ends on the server too, because its callers were refused.
 */
const insertAll = (() => {
  const names = createdFields.map((name) => pets[name].name).join(", ");
  const arrays = createdFields.map((name, at) => `$${at + 3}::${pets[name].getSQLType()}[]`);
  return `
    WITH patience AS MATERIALIZED (
      SELECT set_config('lock_timeout', $1, true)
    ), raised AS (
      UPDATE rehome.catalogue SET version = version + 1, animals = animals + $2::bigint
      FROM patience
      RETURNING version
    ), batch AS MATERIALIZED (
      SELECT nextval('rehome.pets_id_seq') AS id, given.*
      FROM raised, unnest(${arrays.join(", ")}) WITH ORDINALITY AS given (${names}, position)
    ), added AS (
      INSERT INTO rehome.pets (id, ${names}) OVERRIDING SYSTEM VALUE
      SELECT id, ${names} FROM batch
    )
    SELECT id, position FROM batch`;
})();

interface PetStoreOptions {
  readonly reads: Runner<{ readonly hot: ReturnType<typeof hotReads> }>;
  readonly creates: Runner<{ readonly sql: SQL }>;
  readonly timeoutMs: number;
  /** Called for each commit that changed animals, before those who wait for it are answered. */
  readonly onChange: () => void;
  readonly onCommit: (report: CommitReport) => void;
  readonly db: Database;
}

export class PostgresPets implements PetStore {
  readonly #options: PetStoreOptions;
  readonly #commits: GroupCommit<AddedPet, bigint>;

  constructor(options: PetStoreOptions) {
    this.#options = options;
    this.#commits = new GroupCommit((batch, sinceMs) => this.#insert(batch, sinceMs), {
      waitingMax,
    });
  }

  async page({ limit, status, after = int64Min }: PageQuery): Promise<Pet[]> {
    const rows = await this.#options.reads.run(
      ({ hot: { page, pageOfStatus } }) =>
        status === undefined
          ? page.execute({ limit, after })
          : pageOfStatus.execute({ limit, after, status }),
      repeatable,
    );
    return rows.map(petOfRow);
  }

  async byId(id: bigint): Promise<Pet | undefined> {
    const [row] = await this.#options.reads.run(({ hot }) => hot.byId.execute({ id }), repeatable);
    return row === undefined ? undefined : petOfRow(row);
  }

  async count(): Promise<number> {
    const [row] = await this.#options.reads.run(({ hot }) => hot.count.execute(), repeatable);
    return row?.animals ?? 0;
  }

  create(pet: AddedPet, signal?: AbortSignal): Promise<bigint> {
    return this.#commits.add(pet, signal);
  }

  /** A transaction for each: who sends a create again gives up the shared commit. */
  async createOnce(create: IdempotentCreate): Promise<StoredCreate> {
    const startMs = performance.now();
    const stored = await this.#options.db
      .transaction((tx) => addOnce(tx, create))
      .catch((error: unknown) => {
        throw isOfValue(error) ? refusedValue(error.cause as Error) : error;
      });
    if (stored.outcome === "added") {
      this.#options.onCommit({ batchSize: 1, commitMs: performance.now() - startMs });
    }
    return stored;
  }

  /** Resolves when every create is stored or refused. */
  settled(): Promise<void> {
    return this.#commits.settled();
  }

  async #insert(batch: readonly AddedPet[], sinceMs: number): Promise<(bigint | Error)[]> {
    const startMs = performance.now();
    const { onChange, onCommit } = this.#options;
    const ids = await this.#insertAny(batch, sinceMs);
    onChange();
    onCommit({ batchSize: batch.length, commitMs: performance.now() - startMs });
    return ids;
  }

  /** Where the values of an animal are refused, each is tried alone. */
  async #insertAny(batch: readonly AddedPet[], sinceMs: number): Promise<(bigint | Error)[]> {
    try {
      return await this.#insertAll(batch, sinceMs);
    } catch (error) {
      if (!isOfValue(error)) throw error;
      if (batch.length === 1) return [refusedValue(error.cause as Error)];
      const results: (bigint | Error)[] = [];
      // What is stored stays so, whatever happens to the others.
      for (const pet of batch) {
        results.push(
          ...(await this.#insertAny([pet], sinceMs).catch((failure: Error) => [failure])),
        );
      }
      return results;
    }
  }

  async #insertAll(batch: readonly AddedPet[], sinceMs: number): Promise<bigint[]> {
    const { timeoutMs, creates } = this.#options;
    const values = createdFields.map((name) => batch.map((pet) => pet[name] ?? null));
    const rows = await creates.run(
      ({ sql: client }): Promise<{ readonly id: bigint; readonly position: bigint }[]> =>
        client.unsafe(insertAll, [lockTimeout(timeoutMs), batch.length, ...values]),
      {
        deadlineMs: sinceMs + timeoutMs,
        // Never where the commit may have happened: an animal must not be there twice.
        mayRepeat: isHarmless,
      },
    );
    const ids: bigint[] = [];
    for (const { id, position } of rows) ids[Number(position) - 1] = id;
    return ids;
  }
}
