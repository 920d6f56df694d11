import type { SQL } from "bun";
import { AppError } from "../../domain/errors.ts";
import { pendingAfter } from "../../storage/migration-history.ts";
import { jobRows, jobsSql } from "../operate/doctor/schedule.ts";
import { newestRecordSql, newestWindowSql } from "../operate/examine-catalogue.ts";
import { movedMark } from "../../storage/database.ts";
import { describeAddress, describeHost, parseDatabaseAddress } from "./address.ts";
import { schemaName } from "../../storage/schema.postgres.ts";
import { PrimaryFinder } from "./primary.ts";
import { closeAtOnce } from "./connections.ts";
import { explainRefusal, readOnlyHint } from "./failures.ts";
import {
  appliedMigrations,
  checkServer,
  metaOf,
  postgresMigrations,
  refuseCopy,
} from "./migrate.ts";

/** Looks at the database at `address`. Throws AppError for what keeps it from being used. */
export async function diagnosePostgres(address: string, timeoutMs: number) {
  const parsed = parseDatabaseAddress(address);
  const where = describeAddress(parsed);
  let sql: SQL | undefined;
  try {
    const found = await new PrimaryFinder(parsed, timeoutMs).find();
    ({ sql } = found);
    await checkServer(sql, where);
    const applied = await appliedMigrations(sql, where);
    const [row] = (await sql`
      SELECT current_setting('server_version') AS version,
        pg_database_size(current_database())::float8 AS bytes,
        current_setting('transaction_read_only') = 'on' AS "isReadOnly"`) as [
      { version: string; bytes: number; isReadOnly: boolean },
    ];
    if (row.isReadOnly) {
      throw new AppError("unavailable", `${where} is read-only.`, { hint: readOnlyHint });
    }
    const pending = pendingAfter(applied, postgresMigrations, where).map(({ tag }) => tag);
    // An older schema has no place for the marks.
    if (pending.length === 0) await refuseCopy(sql, where);
    return {
      where,
      /** The host that is used, where the address has several, and others that accept writes. */
      host: parsed.hosts.length > 1 ? describeHost(found.host) : undefined,
      rivals: found.rivals.map(describeHost),
      movedTo: pending.length === 0 ? await metaOf(sql, movedMark) : undefined,
      jobs: pending.length === 0 ? jobRows(await sql.unsafe(jobsSql(`${schemaName}.`))) : [],
      server: `PostgreSQL ${row.version}`,
      bytes: row.bytes,
      /** When something happened at last; 0 where it is not known. */
      newestMs: pending.length === 0 ? await newestRecord(sql) : 0,
      pending,
    };
  } catch (error) {
    throw explainRefusal(error, where);
  } finally {
    if (sql !== undefined) await closeAtOnce(sql);
  }
}

async function newestRecord(sql: SQL): Promise<number> {
  const queries = [newestRecordSql, newestWindowSql].map((of) => sql.unsafe(of(`${schemaName}.`)));
  const found = (await Promise.all(queries)) as { newest: bigint | string | null }[][];
  return Math.max(...found.map(([row]) => Number(row?.newest ?? 0)));
}
