/**
 * The counters of both databases. In SQLite they are in a separate file, `limits.db`. So they never
 * wait for the fsync of an animal, and a restored backup gives no used requests back.
 */
import { and, eq, gte, sql } from "drizzle-orm";
import { windowMs, type WindowCounts } from "../domain/windows.ts";
import type { UsageDay, WindowStore } from "./contract.ts";
import type { Database, Tables, Tx } from "./database.ts";

type WindowRow = Tables["rateWindows"]["$inferSelect"];

function countsIn({ minuteLabel, minuteUsed, dayLabel, dayUsed }: WindowRow): WindowCounts {
  return { minuteLabel, minuteUsed, dayLabel, dayUsed };
}

export function counterReads({
  read,
}: Pick<Database, "read">): Pick<WindowStore, "counts" | "countsOfAll" | "usage"> {
  const windowsOf = (keyId: string) =>
    read(async (tx) => {
      const { rateWindows } = tx.t;
      const [found] = await tx.select().from(rateWindows).where(eq(rateWindows.keyId, keyId));
      return found;
    });
  return {
    async counts(keyId) {
      const found = await windowsOf(keyId);
      return found && countsIn(found);
    },
    async countsOfAll() {
      const found = await read((tx) => tx.select().from(tx.t.rateWindows));
      return new Map(found.map((row) => [row.keyId, countsIn(row)]));
    },
    usage: (firstDay, keyId) => read((tx) => usageSince(tx, firstDay, keyId)),
  };
}

/** Running days are in the windows, and the others in the days of usage. */
async function usageSince(
  tx: Tx,
  firstDay: number,
  keyId: string | undefined,
): Promise<UsageDay[]> {
  const { rateWindows, usageDays } = tx.t;
  const ofKey = (table: typeof rateWindows | typeof usageDays) =>
    keyId === undefined ? undefined : eq(table.keyId, keyId);
  const stored = await tx
    .select()
    .from(usageDays)
    .where(and(gte(usageDays.day, firstDay), ofKey(usageDays)));
  const running = await tx
    .select()
    .from(rateWindows)
    .where(and(gte(rateWindows.dayLabel, firstDay), ofKey(rateWindows)));
  const days = new Map(stored.map((row) => [`${row.keyId} ${row.day}`, row]));
  for (const { keyId: id, dayLabel: day, dayUsed } of running) {
    const sofar = days.get(`${id} ${day}`) ?? { keyId: id, day, requests: 0, refusals: 0, bans: 0 };
    days.set(`${id} ${day}`, { ...sofar, requests: sofar.requests + dayUsed });
  }
  return [...days.values()].toSorted((a, b) => a.day - b.day || (a.keyId < b.keyId ? -1 : 1));
}

export async function countBan(tx: Tx, keyId: string, nowMs: number): Promise<void> {
  const { usageDays } = tx.t;
  await tx
    .insert(usageDays)
    .values({ keyId, day: Math.floor(nowMs / windowMs.day), bans: 1 })
    .onConflictDoUpdate({
      target: [usageDays.keyId, usageDays.day],
      set: { bans: sql`${usageDays.bans} + 1` },
    });
}
