import { sql } from "drizzle-orm";
import type { Query } from "./connections.ts";

/**
 * The part of a transaction's time in which it may not wait for a lock, so that the server's
 * lock_timeout comes before our deadline, which drops the connection. At most a quarter of the
 * time.
 */
const lockMarginMs = 250;

/**
 * How long a transaction that has `timeoutMs` may wait for a lock, as the server's setting
 * `lock_timeout` wants it.
 */
export function lockTimeout(timeoutMs: number): string {
  return String(Math.ceil(Math.max(timeoutMs - lockMarginMs, timeoutMs * 0.75)));
}

/**
 * Runs `work` in a transaction that waits for nobody's lock as long as `timeoutMs`, and whose own
 * locks the server lifts when this process falls silent for that long.
 */
export function inTransaction<T>(
  query: Query,
  timeoutMs: number,
  work: (tx: Query) => Promise<T>,
): Promise<T> {
  return query.transaction(async (tx) => {
    await tx.execute(limitLocks(timeoutMs));
    return work(tx);
  });
}

function limitLocks(timeoutMs: number) {
  return sql`SELECT set_config('lock_timeout', ${lockTimeout(timeoutMs)}, true),
    set_config('idle_in_transaction_session_timeout', ${String(timeoutMs)}, true)`;
}
