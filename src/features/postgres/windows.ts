import type { ReservedSQL } from "bun";
import type { Clock } from "../../domain/clock.ts";
import { settleReservation, usageStoredDays, type WindowCounts } from "../../domain/windows.ts";
import type { Reserved, ReserveRequest, UsageDelta, WindowStore } from "../../storage/contract.ts";
import { GroupCommit } from "../../storage/group-commit.ts";
import type { Runner } from "./connections.ts";
import { isHarmless } from "./failures.ts";
import { lockTimeout } from "./transaction.ts";

/** Calls of `reserve` in one transaction at the most. */
const batchMax = 256;
/** Calls that may wait for their transaction; a server makes one at a time. */
const waitingMax = 4_096;

interface WindowStoreOptions {
  readonly timeoutMs: number;
  /** In place of the database's clock, for tests that move the time. */
  readonly clock: Clock | undefined;
  /** Changes with each poll of the database: other processes are always taken to be at work. */
  readonly version: () => number;
  readonly skewMs: () => number;
}

/**
 * Reservations in PostgreSQL. All reservations of a process use one connection, one transaction at
 * a time; those that arrive meanwhile share the next one. All processes lock the rows in the same
 * order.
 */
export function windowStore(
  reservations: Runner<ReservedSQL>,
  options: WindowStoreOptions,
): WindowStore & { settled(): Promise<void> } {
  const { timeoutMs, clock, version, skewMs } = options;
  const commits = new GroupCommit<ReserveCall, Reserved[]>(
    async (calls, sinceMs) => {
      const progress = { isDecided: false };
      return reservations.run(
        async (client) => {
          progress.isDecided = false;
          try {
            return await reserveInTransaction(client, calls, { timeoutMs, clock, progress });
          } catch (error) {
            // The connection is used again: nothing of this transaction may be left in it.
            await client`ROLLBACK`;
            throw error;
          }
        },
        {
          deadlineMs: sinceMs + timeoutMs,
          // Once the commit was sent it may have happened, and nothing may be given back twice.
          mayRepeat: (error) => !progress.isDecided || isHarmless(error),
        },
      );
    },
    { batchMax, waitingMax },
  );
  return {
    reserve: (requests, usage) => commits.add({ requests, usage }),
    version,
    skewMs,
    settled: () => commits.settled(),
  };
}

interface TransactionOptions extends Pick<WindowStoreOptions, "timeoutMs" | "clock"> {
  /** Decided from the moment at which the commit may have reached the server. */
  readonly progress: { isDecided: boolean };
}

async function reserveInTransaction(
  client: ReservedSQL,
  calls: readonly ReserveCall[],
  { timeoutMs, clock, progress }: TransactionOptions,
): Promise<Reserved[][]> {
  const ids = new Set(calls.flatMap(({ requests }) => requests.map(({ keyId }) => keyId)));
  const locked = await lockWindows(client, [...ids].toSorted(), timeoutMs);
  // After the last lock: a process that waited past the window's end must not charge the old one.
  const nowMs = clock?.() ?? locked.nowMs;
  const { results, changed, usage, endedDays } = decide(calls, locked.counts, nowMs);

  // Sent together with the commit, in order: one journey to the server and back for all of it.
  const statements: Promise<unknown>[] = [];
  if (changed.size > 0) statements.push(writeCounts(client, changed));
  if (usage.length > 0) statements.push(addUsage(client, usage));
  if (endedDays.size > 0) statements.push(forgetUsage(client, endedDays));
  progress.isDecided = statements.length > 0;
  const outcomes = await Promise.allSettled([...statements, client`COMMIT`.execute()]);
  for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
  return results;
}

interface LockedRow extends WindowCounts {
  readonly keyId: string;
  readonly nowMs: number;
}

/**
 * Begins the transaction and locks the rows of these keys by id, so that two processes never
 * deadlock. Missing rows are created first, outside of it; their locks would come too late.
 */
async function lockWindows(
  client: ReservedSQL,
  ids: readonly string[],
  timeoutMs: number,
): Promise<{ readonly counts: Map<string, WindowCounts>; readonly nowMs: number }> {
  for (;;) {
    const [, , rows] = await Promise.all([
      client`BEGIN`.execute(),
      client`SELECT set_config('lock_timeout', ${lockTimeout(timeoutMs)}, true),
        set_config('idle_in_transaction_session_timeout', ${String(timeoutMs)}, true)`.execute(),
      client`
        WITH locked AS MATERIALIZED (
          SELECT * FROM rehome.rate_windows WHERE key_id = ANY(${ids}::text[])
          ORDER BY key_id FOR UPDATE
        )
        SELECT key_id AS "keyId", minute_label::float8 AS "minuteLabel",
          minute_used::float8 AS "minuteUsed", day_label::float8 AS "dayLabel",
          day_used::float8 AS "dayUsed",
          floor(extract(epoch FROM clock_timestamp()) * 1000)::float8 AS "nowMs"
        FROM (SELECT 1) AS always LEFT JOIN locked ON true`.execute() as Promise<LockedRow[]>,
    ]);
    // Without a key there is still one row, with the time.
    const counts = new Map<string, WindowCounts>(
      rows.map(({ keyId, minuteLabel, minuteUsed, dayLabel, dayUsed }) => [
        keyId,
        { minuteLabel, minuteUsed, dayLabel, dayUsed },
      ]),
    );
    const nowMs = Math.max(...rows.map((row) => row.nowMs));
    const missing = ids.filter((id) => !counts.has(id));
    if (missing.length === 0) return { counts, nowMs };
    await client`ROLLBACK`;
    await client`
      INSERT INTO rehome.rate_windows (key_id, minute_label, minute_used, day_label, day_used)
      SELECT id, 0, 0, 0, 0 FROM unnest(${missing}::text[]) AS id
      ON CONFLICT DO NOTHING`;
  }
}

function writeCounts(
  client: ReservedSQL,
  changed: ReadonlyMap<string, WindowCounts>,
): Promise<unknown> {
  const counts = [...changed.values()];
  return client`
    UPDATE rehome.rate_windows AS stored
    SET minute_label = given.minute_label, minute_used = given.minute_used,
      day_label = given.day_label, day_used = given.day_used
    FROM unnest(
      ${[...changed.keys()]}::text[],
      ${counts.map(({ minuteLabel }) => minuteLabel)}::bigint[],
      ${counts.map(({ minuteUsed }) => minuteUsed)}::bigint[],
      ${counts.map(({ dayLabel }) => dayLabel)}::bigint[],
      ${counts.map(({ dayUsed }) => dayUsed)}::bigint[]
    ) AS given (key_id, minute_label, minute_used, day_label, day_used)
    WHERE stored.key_id = given.key_id`.execute();
}

/** In one order in every process, like the windows. */
function addUsage(client: ReservedSQL, usage: readonly UsageRow[]): Promise<unknown> {
  return client`
    INSERT INTO rehome.usage_days AS stored (key_id, day, requests, refusals)
    SELECT key_id, day, sum(requests)::bigint, sum(refusals)::bigint FROM unnest(
      ${usage.map(({ keyId }) => keyId)}::text[],
      ${usage.map(({ day }) => day)}::bigint[],
      ${usage.map(({ requests }) => requests)}::bigint[],
      ${usage.map(({ refusals }) => refusals)}::bigint[]
    ) AS given (key_id, day, requests, refusals)
    GROUP BY key_id, day ORDER BY key_id, day
    ON CONFLICT (key_id, day) DO UPDATE SET requests = stored.requests + excluded.requests,
      refusals = stored.refusals + excluded.refusals`.execute();
}

function forgetUsage(client: ReservedSQL, ids: ReadonlySet<string>): Promise<unknown> {
  return client`
    DELETE FROM rehome.usage_days AS stored
    WHERE key_id = ANY(${[...ids]}::text[]) AND day < (
      SELECT min(day) FROM (
        SELECT newest.day FROM rehome.usage_days AS newest
        WHERE newest.key_id = stored.key_id ORDER BY newest.day DESC LIMIT ${usageStoredDays}
      ) AS kept
    )`.execute();
}

interface ReserveCall {
  readonly requests: readonly ReserveRequest[];
  readonly usage: readonly UsageDelta[];
}

interface UsageRow extends UsageDelta {
  readonly requests: number;
}

/** What the calls are granted and what is to be stored of it, one request after the other. */
function decide(calls: readonly ReserveCall[], stored: Map<string, WindowCounts>, nowMs: number) {
  const changed = new Map<string, WindowCounts>();
  const usage: UsageRow[] = [];
  /** The keys whose day ended. */
  const endedDays = new Set<string>();
  const reserveOne = (request: ReserveRequest): Reserved => {
    const { keyId } = request;
    const counts = stored.get(keyId) as WindowCounts;
    const { result, mustPut, finished } = settleReservation(counts, request, nowMs);
    if (mustPut) {
      stored.set(keyId, result.counts);
      changed.set(keyId, result.counts);
    }
    if (finished !== undefined) {
      usage.push({ keyId, ...finished, refusals: 0 });
      endedDays.add(keyId);
    }
    return result;
  };
  const results = calls.map(({ requests, usage: deltas }) => {
    for (const delta of deltas) usage.push({ ...delta, requests: 0 });
    return requests.map(reserveOne);
  });
  return { results, changed, usage, endedDays };
}
