import type { ReservedSQL, SQL } from "bun";
import type { ImportCounts, ImportStage, StagedAnimal } from "../../storage/contract.ts";
import type { DatabaseAddress } from "./address.ts";
import { connect } from "./connections.ts";
import { asAppError } from "./failures.ts";

const schema = `
CREATE TEMP TABLE staged (
  seq bigint GENERATED ALWAYS AS IDENTITY,
  external_id text,
  version bigint NOT NULL,
  withdrawn boolean NOT NULL,
  name text NOT NULL,
  category_id bigint,
  category_key bigint,
  status text
);
CREATE TEMP TABLE category_ids (key bigint PRIMARY KEY, id bigint NOT NULL);
CREATE TEMP TABLE ready (
  position bigint PRIMARY KEY,
  name text NOT NULL,
  category_id bigint NOT NULL,
  status text,
  external_id text
)`;

/**
 * Begins an import on a connection of its own, whose temporary tables hold the animals: they take no lock on the
 * catalogue and are gone with the connection. `onChange` is called after animals were taken over.
 */
export async function beginImport(
  address: DatabaseAddress,
  timeoutMs: number,
  onChange: () => void,
): Promise<ImportStage> {
  const sql = connect(address, { max: 1, timeoutMs });
  try {
    const client = await sql.reserve();
    await client.unsafe(schema);
    return new PostgresImportStage(sql, client, onChange);
  } catch (error) {
    await sql.close({ timeout: 0 });
    throw asAppError(error);
  }
}

class PostgresImportStage implements ImportStage {
  readonly #sql: SQL;
  readonly #client: ReservedSQL;
  readonly #onChange: () => void;
  #size = 0;
  #taken = 0;

  constructor(sql: SQL, client: ReservedSQL, onChange: () => void) {
    this.#sql = sql;
    this.#client = client;
    this.#onChange = onChange;
  }

  add(animals: readonly StagedAnimal[]): Promise<void> {
    const column = <T>(read: (animal: StagedAnimal) => T | undefined) =>
      animals.map((animal) => read(animal) ?? null);
    return this.#try(async () => {
      await this.#client`
        INSERT INTO pg_temp.staged
          (external_id, version, withdrawn, name, category_id, category_key, status)
        SELECT * FROM unnest(
          ${column(({ externalId }) => externalId)}::text[],
          ${column(({ version }) => version)}::bigint[],
          ${column(({ withdrawn }) => withdrawn)}::boolean[],
          ${column(({ name }) => name)}::text[],
          ${column(({ categoryId }) => categoryId)}::bigint[],
          ${column(({ categoryKey }) => categoryKey)}::bigint[],
          ${column(({ status }) => status)}::text[]
        )`;
    });
  }

  arrange(categoryIds: readonly (bigint | undefined)[]): Promise<number> {
    const known = [...categoryIds.entries()].filter(([, id]) => id !== undefined);
    return this.#try(async () => {
      const client = this.#client;
      await client`
        INSERT INTO pg_temp.category_ids
        SELECT * FROM unnest(
          ${known.map(([key]) => key)}::bigint[], ${known.map(([, id]) => id ?? null)}::bigint[])`;
      await client`
        INSERT INTO pg_temp.ready
        SELECT row_number() OVER (ORDER BY seq), name, known_id, status, external_id
        FROM (
          SELECT newest.*, coalesce(category_id, ids.id) AS known_id
          FROM (
            SELECT *, CASE WHEN external_id IS NULL THEN 1 ELSE
              row_number() OVER (PARTITION BY external_id ORDER BY version DESC, seq DESC) END AS age
            FROM pg_temp.staged
          ) AS newest LEFT JOIN pg_temp.category_ids AS ids ON ids.key = category_key
          WHERE age = 1 AND NOT withdrawn
        ) AS named
        WHERE known_id IS NOT NULL`;
      await client`DROP TABLE pg_temp.staged`;
      // Nothing else tells the planner how large the table is.
      await client`ANALYZE pg_temp.ready`;
      const [row] = (await client`SELECT count(*)::int AS size FROM pg_temp.ready`) as [
        { size: number },
      ];
      this.#size = row.size;
      return row.size;
    });
  }

  compare(): Promise<ImportCounts> {
    return this.#try(() => this.#compare(1, this.#size));
  }

  takeOver(count: number): Promise<ImportCounts | undefined> {
    if (this.#taken === this.#size) return Promise.resolve(undefined);
    const first = this.#taken + 1;
    const last = Math.min(this.#taken + count, this.#size);
    return this.#try(async () => {
      const client = this.#client;
      await client`BEGIN`;
      try {
        // Locked first, like every change of animals: see the catalogue's table.
        await client`SELECT * FROM rehome.catalogue FOR UPDATE`;
        const counts = await this.#compare(first, last);
        if (counts.updated > 0) await this.#update(first, last);
        if (counts.added > 0) await this.#insert(first, last);
        await client`UPDATE rehome.catalogue
          SET version = version + 1, animals = animals + ${counts.added}::bigint`;
        await client`COMMIT`;
        this.#taken = last;
        this.#onChange();
        return counts;
      } catch (error) {
        await client`ROLLBACK`;
        throw error;
      }
    });
  }

  async close(): Promise<void> {
    await this.#sql.close({ timeout: 0 });
  }

  async #compare(first: number, last: number): Promise<ImportCounts> {
    const [row] = (await this.#client`
      SELECT count(*)::int AS known, (count(*) FILTER (WHERE
        (pets.name, pets.category_id, pets.status)
          IS DISTINCT FROM (ready.name, ready.category_id, ready.status)))::int AS changed
      FROM pg_temp.ready JOIN rehome.pets ON (pets.source, pets.external_id) = ('', ready.external_id)
      WHERE position BETWEEN ${first} AND ${last}`) as [{ known: number; changed: number }];
    const { known, changed } = row;
    return { added: last - first + 1 - known, updated: changed, unchanged: known - changed };
  }

  async #update(first: number, last: number): Promise<void> {
    await this.#client`
      UPDATE rehome.pets SET name = ready.name, category_id = ready.category_id, status = ready.status
      FROM pg_temp.ready
      WHERE position BETWEEN ${first} AND ${last} AND (pets.source, pets.external_id) = ('', ready.external_id)
        AND (pets.name, pets.category_id, pets.status)
          IS DISTINCT FROM (ready.name, ready.category_id, ready.status)`;
  }

  /** An upsert would do, but it uses up an id for each animal that it only updates. */
  async #insert(first: number, last: number): Promise<void> {
    await this.#client`
      INSERT INTO rehome.pets (name, category_id, status, external_id)
      SELECT name, category_id, status, external_id FROM pg_temp.ready
      WHERE position BETWEEN ${first} AND ${last}
        AND NOT EXISTS (SELECT 1 FROM rehome.pets WHERE (pets.source, pets.external_id) = ('', ready.external_id))
      ORDER BY position`;
  }

  async #try<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw asAppError(error);
    }
  }
}
