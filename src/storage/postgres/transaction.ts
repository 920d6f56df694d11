import { sql } from "drizzle-orm";
import type { Query } from "./connections.ts";

/**
 * Runs `work` in a transaction that waits for nobody's lock longer than `timeoutMs`, and whose own locks the server
 * lifts when this process falls silent for that long.
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
  const text = String(timeoutMs);
  return sql`SELECT set_config('lock_timeout', ${text}, true),
    set_config('idle_in_transaction_session_timeout', ${text}, true)`;
}
