/** One connection to a host of the address, and how long to wait for it. */
import { SQL } from "bun";
import type { DatabaseAddress, DatabaseHost } from "./address.ts";
import { DeadlineError, ReadOnlyError } from "./failures.ts";

interface ConnectOptions {
  readonly host: DatabaseHost;
  readonly max: number;
  readonly timeoutMs: number;
}

/** One connection or several to a host of `address`, opened when the first statement needs them. */
export function connect(address: DatabaseAddress, { host, max, timeoutMs }: ConnectOptions): SQL {
  const { socketFolder } = host;
  return new SQL({
    adapter: "postgres",
    ...(socketFolder === undefined ? { hostname: host.host } : { path: socketFolder }),
    port: host.port,
    username: address.user,
    password: address.password,
    database: address.database,
    tls: socketFolder === undefined ? tlsOf(address) : "disable",
    channelBinding: address.channelBinding,
    connection: address.startup,
    max,
    connectionTimeout: timeoutMs / 1000,
    // int64 stays exact.
    bigint: true,
  });
}

function tlsOf(address: DatabaseAddress): NonNullable<SQL.PostgresOrMySQLOptions["tls"]> {
  const { sslMode, sslRootCert, sslCert, sslKey } = address;
  if (sslMode === "disable") return "disable";
  const isVerified = sslMode !== "require";
  return {
    // Said outright, because NODE_TLS_REJECT_UNAUTHORIZED=0 would switch it off.
    rejectUnauthorized: isVerified,
    ...(sslMode === "verify-ca" ? { checkServerIdentity: () => undefined } : {}),
    ...(sslRootCert === undefined ? {} : { caFile: sslRootCert }),
    ...(sslCert === undefined ? {} : { certFile: sslCert }),
    ...(sslKey === undefined ? {} : { keyFile: sslKey }),
  };
}

export async function closeAtOnce(sql: SQL): Promise<void> {
  try {
    await sql.close({ timeout: 0 });
  } catch {
    // It is not used any more either way.
  }
}

/** What `promise` resolves to, or DeadlineError when it takes longer. */
export async function before<T>(deadlineMs: number, promise: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new DeadlineError("the database did not answer in time")),
    Math.max(0, deadlineMs - performance.now()),
  );
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
    // Whichever comes second is nobody's any more.
    promise.catch(() => {});
  }
}

/** Whether the server accepts writes. Rejects when it does not answer. */
export async function isWritable(sql: SQL): Promise<boolean> {
  const [row] = (await sql`
    SELECT NOT pg_is_in_recovery() AND current_setting('transaction_read_only') = 'off'
      AS "isWritable"`) as [{ isWritable: boolean }];
  return row.isWritable;
}

/** Rejects where a write would only lose the connection again, such as at a standby. */
export async function requireWritable(sql: SQL): Promise<void> {
  if (!(await isWritable(sql))) throw new ReadOnlyError("the server does not accept writes");
}
