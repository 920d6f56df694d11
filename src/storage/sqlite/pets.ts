import type { Database as Connection, SQLQueryBindings } from "bun:sqlite";
import { sql } from "drizzle-orm";
import { int64Min } from "../../domain/int64.ts";
import type { PageQuery, Pet, PetStatus } from "../../domain/pet.ts";
import type { KeyHash } from "../contract.ts";
import type { StoredSecret } from "../keys.ts";
import { createdFields, hotStatements, petOfRow } from "../pet-row.ts";
import { buildersOn, sqliteTables } from "../schema.sqlite.ts";
import { translating } from "./connection.ts";

/**
 * Drizzle writes the hot statements when the program starts, and SQLite runs them prepared: to map
 * a row costs Drizzle more than the row.
 */
const written = buildersOn.mock();
const texts = hotStatements(written, sqliteTables);

export function hotReads(connection: Connection) {
  const prepare = <Row, Bindings extends SQLQueryBindings[]>(name: keyof typeof texts) =>
    connection.prepare<Row, Bindings>(texts[name].toSQL().sql);
  const page = prepare<PetRow, [after: bigint, limit: number]>("page");
  const pageOfStatus = prepare<PetRow, [status: PetStatus, after: bigint, limit: number]>(
    "pageOfStatus",
  );
  const byId = prepare<PetRow, [id: bigint]>("byId");
  const secret = prepare<SecretRow, [hash: Uint8Array]>("secret");
  return {
    async page({ limit, status, after = int64Min }: PageQuery): Promise<Pet[]> {
      const found = translating(() =>
        status === undefined ? page.all(after, limit) : pageOfStatus.all(status, after, limit),
      );
      return found.map(petOf);
    },
    async byId(id: bigint): Promise<Pet | undefined> {
      const row = translating(() => byId.get(id));
      return row === null ? undefined : petOf(row);
    },
    async secret(hash: KeyHash): Promise<StoredSecret | undefined> {
      const row = translating(() => secret.get(hash));
      if (row === null) return undefined;
      const { key_id: keyId, expires_at_ms: expiresAtMs } = row;
      return { keyId, expiresAtMs: expiresAtMs === null ? null : Number(expiresAtMs) };
    },
  };
}

interface PetRow {
  readonly id: bigint;
  readonly name: string;
  readonly category_id: bigint;
  readonly status: PetStatus | null;
}

const petOf = ({ id, name, category_id: categoryId, status }: PetRow): Pet =>
  petOfRow({ id, name, categoryId, status });

interface SecretRow {
  readonly key_id: string;
  readonly expires_at_ms: bigint | null;
}

/** The statement of the writer thread, which does not load Drizzle to write it. */
export const insertPet = written
  .insert(sqliteTables.pets)
  .values({
    ...(Object.fromEntries(
      createdFields.map((name) => [name, sql.placeholder(name)]),
    ) as GivenFields),
    source: sql`''`,
  })
  .toSQL().sql;
type GivenFields = Record<(typeof createdFields)[number], ReturnType<typeof sql.placeholder>>;
