/** Reads what keys used. The counters of SQLite are in a file of their own, `limits.db`. */
import { and, eq, gte } from "drizzle-orm";
import type { WindowCounts } from "../../domain/windows.ts";
import type { Store } from "../../storage/contract.ts";
import type { Tables, Tx } from "../../storage/database.ts";

export type UsageDay = Tables["usageDays"]["$inferSelect"];
type Counters = Pick<Store, "counters">;
type WindowRow = Tables["rateWindows"]["$inferSelect"];

function countsIn({ minuteLabel, minuteUsed, dayLabel, dayUsed }: WindowRow): WindowCounts {
  return { minuteLabel, minuteUsed, dayLabel, dayUsed };
}

export function countsOf({ counters }: Counters, keyId: string): Promise<WindowCounts | undefined> {
  return counters.read(async (tx) => {
    const { rateWindows } = tx.t;
    const [found] = await tx.select().from(rateWindows).where(eq(rateWindows.keyId, keyId));
    return found && countsIn(found);
  });
}

export async function countsOfAll({
  counters,
}: Counters): Promise<ReadonlyMap<string, WindowCounts>> {
  const found = await counters.read((tx) => tx.select().from(tx.t.rateWindows));
  return new Map(found.map((row) => [row.keyId, countsIn(row)]));
}

/** Days from `firstDay` on, of one key or of all, oldest first; the running day included. */
export function usageSince(
  { counters }: Counters,
  firstDay: number,
  keyId: string | undefined,
): Promise<UsageDay[]> {
  return counters.read((tx) => daysSince(tx, firstDay, keyId));
}

/** Running days are in the windows, and the others in the days of usage. */
async function daysSince(tx: Tx, firstDay: number, keyId: string | undefined): Promise<UsageDay[]> {
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
