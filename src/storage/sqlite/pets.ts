import type { Database as Connection } from "bun:sqlite";
import { and, asc, eq, gt, sql } from "drizzle-orm";
import { int64Min } from "../../domain/int64.ts";
import type { PageQuery } from "../../domain/page.ts";
import type { Pet, PetStatus } from "../../domain/pet.ts";
import type { KeyHash } from "../contract.ts";
import type { StoredSecret } from "../keys.ts";
import { createdFields, petOfRow, type PetRow, responseFields } from "../pet-row.ts";
import { buildersOn, sqliteTables } from "../schema.sqlite.ts";
import { translating } from "./connection.ts";

/**
 * Drizzle writes the hot statements when the program starts, and SQLite runs them prepared: to map
 * a row costs Drizzle more than the row.
 */
const written = buildersOn.mock();
const { keySecrets, pets } = sqliteTables;
const given = (name: string) => sql.placeholder(name);

/** By the names of the fields, so that a row is an animal except for nulls. */
const columns = Object.fromEntries(
  responseFields.map((name) => [name, sql`${pets[name]}`.as(name)]),
);
const rows = written
  .select(columns)
  .from(pets)
  .orderBy(asc(pets.id))
  .limit(given("limit"))
  .$dynamic();
const isAfter = gt(pets.id, given("after"));
const texts = {
  page: rows.where(isAfter).toSQL().sql,
  pageOfStatus: rows.where(and(eq(pets.status, given("status")), isAfter)).toSQL().sql,
  byId: written
    .select(columns)
    .from(pets)
    .where(eq(pets.id, given("id")))
    .toSQL().sql,
  secret: written
    .select({ keyId: keySecrets.keyId, expiresAtMs: keySecrets.expiresAtMs })
    .from(keySecrets)
    .where(eq(keySecrets.hash, given("hash")))
    .toSQL().sql,
};

/** Reads animals, and secrets, through statements prepared once. */
export function hotReads(connection: Connection) {
  const page = connection.prepare<PetRow, [after: bigint, limit: number]>(texts.page);
  const pageOfStatus = connection.prepare<
    PetRow,
    [status: PetStatus, after: bigint, limit: number]
  >(texts.pageOfStatus);
  const byId = connection.prepare<PetRow, [id: bigint]>(texts.byId);
  const secret = connection.prepare<SecretRow, [hash: Uint8Array]>(texts.secret);
  return {
    async page({ limit, status, after = int64Min }: PageQuery): Promise<Pet[]> {
      const found = translating(() =>
        status === undefined ? page.all(after, limit) : pageOfStatus.all(status, after, limit),
      );
      return found.map(petOfRow);
    },
    async byId(id: bigint): Promise<Pet | undefined> {
      const row = translating(() => byId.get(id));
      return row === null ? undefined : petOfRow(row);
    },
    async secret(hash: KeyHash): Promise<StoredSecret | undefined> {
      const row = translating(() => secret.get(hash));
      if (row === null) return undefined;
      const { key_id: keyId, expires_at_ms: expiresAtMs } = row;
      return { keyId, expiresAtMs: expiresAtMs === null ? null : Number(expiresAtMs) };
    },
  };
}

interface SecretRow {
  readonly key_id: string;
  readonly expires_at_ms: bigint | null;
}

/** The statement of the writer thread, which does not load Drizzle to write it. */
export const insertPet = written
  .insert(pets)
  .values({
    ...(Object.fromEntries(createdFields.map((name) => [name, given(name)])) as GivenFields),
    source: sql`''`,
  })
  .toSQL().sql;
type GivenFields = Record<(typeof createdFields)[number], ReturnType<typeof given>>;
