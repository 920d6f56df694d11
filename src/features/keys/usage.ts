/** What keys used, and the plan that would fit. */
import { and, eq, gte } from "drizzle-orm";
import type { ApiKey } from "../../domain/api-key.ts";
import { type Clock, dayMs, isoSeconds } from "../../domain/clock.ts";
import { planNames, publishedLimits, type Limits, type PlanName } from "../../domain/plan.ts";
import {
  rollCounts,
  unusedCounts,
  usageStoredDays,
  type WindowCounts,
  type WindowName,
} from "../../domain/windows.ts";
import type { Services } from "../../service/services.ts";
import type { Store } from "../../storage/contract.ts";
import type { Tables } from "../../storage/database.ts";

export type UsageDay = Tables["usageDays"]["$inferSelect"];
type Counters = Pick<Store, "counters">;

export function isoDay(day: number): string {
  return isoSeconds(day * dayMs).slice(0, "2026-11-21".length);
}

function storedCounts({ counters }: Counters, keyId?: string): Promise<Map<string, WindowCounts>> {
  return counters.read(async (tx) => {
    const { keyId: id, minuteLabel, minuteUsed, dayLabel, dayUsed } = tx.t.rateWindows;
    const counts = { minuteLabel, minuteUsed, dayLabel, dayUsed };
    const all = tx.select({ id, counts }).from(tx.t.rateWindows);
    const rows = await all.where(keyId === undefined ? undefined : eq(id, keyId));
    return new Map(rows.map((row) => [row.id, row.counts]));
  });
}

export async function countsOf(of: Counters, keyId: string): Promise<WindowCounts | undefined> {
  return (await storedCounts(of, keyId)).get(keyId);
}

/** Running days are in the windows, and the others in the days of usage. */
export function usageSince(
  { counters }: Counters,
  firstDay: number,
  keyId: string | undefined,
): Promise<UsageDay[]> {
  return counters.read(async (tx) => {
    const { rateWindows, usageDays } = tx.t;
    const ofKey = (table: typeof rateWindows | typeof usageDays) =>
      keyId === undefined ? undefined : eq(table.keyId, keyId);
    const isStored = and(gte(usageDays.day, firstDay), ofKey(usageDays));
    const isRunning = and(gte(rateWindows.dayLabel, firstDay), ofKey(rateWindows));
    const stored = await tx.select().from(usageDays).where(isStored);
    const days = new Map(stored.map((row) => [`${row.keyId} ${row.day}`, row]));
    for (const row of await tx.select().from(rateWindows).where(isRunning)) {
      const { keyId: id, dayLabel: day } = row;
      const none = { keyId: id, day, requests: 0, refusals: 0, bans: 0 };
      const sofar = days.get(`${id} ${day}`) ?? none;
      days.set(`${id} ${day}`, { ...sofar, requests: sofar.requests + row.dayUsed });
    }
    return [...days.values()].toSorted((a, b) => a.day - b.day || (a.keyId < b.keyId ? -1 : 1));
  });
}

export interface KeyUse {
  readonly counts: WindowCounts;
  /** The last UTC day (days since the epoch) with an admitted request, if any is known. */
  readonly lastUsedDay: number | undefined;
}

export class UsageService {
  readonly #store: Services["store"];
  readonly #clock: Clock;

  constructor({ store, clock }: Pick<Services, "store" | "clock">) {
    this.#store = store;
    this.#clock = clock;
  }

  today(): number {
    return Math.floor(this.#clock() / dayMs);
  }

  async nowOfAll(keys: readonly ApiKey[]): Promise<{ key: ApiKey; use: KeyUse }[]> {
    const stored = await storedCounts(this.#store);
    const used = [];
    for (const key of keys) used.push({ key, use: await this.#use(key.id, stored.get(key.id)) });
    return used;
  }

  async now({ id }: ApiKey): Promise<KeyUse> {
    return this.#use(id, await countsOf(this.#store, id));
  }

  async #use(id: string, stored: WindowCounts = unusedCounts): Promise<KeyUse> {
    const counts = rollCounts(stored, this.#clock());
    if (stored.dayUsed > 0) return { counts, lastUsedDay: stored.dayLabel };
    if (stored === unusedCounts) return { counts, lastUsedDay: undefined };
    // The last reservation only gave back; the last day with requests is in the usage.
    const days = await usageSince(this.#store, stored.dayLabel - usageStoredDays, id);
    return { counts, lastUsedDay: days.findLast(({ requests }) => requests > 0)?.day };
  }

  /** The use of the last `days` UTC days, today included, of one key or of all, oldest first. */
  async days(days: number, keyId?: string): Promise<UsageDay[]> {
    return usageSince(this.#store, this.today() - days + 1, keyId);
  }
}

const nearLimitShare = 0.8;
/** Fewer refusals than both of these are no reason for another plan. */
const refusalsMin = 20;
const refusalShareMin = 0.01;

/**
 * The plan to offer for a key near its limits, and the window that is too small; undefined if its
 * plan fits. A day that was nearly used up needs a larger day. Refusals without such a day mean
 * that the minute is too small.
 */
export function planAdvice(
  limits: Limits,
  days: readonly Pick<UsageDay, "requests" | "refusals">[],
): { readonly window: WindowName; readonly plan: PlanName } | undefined {
  const peakPerDay = Math.max(0, ...days.map(({ requests }) => requests));
  if (peakPerDay >= limits.perDay * nearLimitShare) {
    const plan = smallestPlan(({ perDay }) => peakPerDay < perDay * nearLimitShare);
    return { window: "day", plan };
  }
  const requests = days.reduce((total, day) => total + day.requests, 0);
  const refusals = days.reduce((total, day) => total + day.refusals, 0);
  if (refusals < refusalsMin || refusals < requests * refusalShareMin) return undefined;
  const plan = smallestPlan(({ perMinute }) => perMinute > limits.perMinute);
  return { window: "minute", plan };
}

function smallestPlan(fits: (limits: Limits) => boolean): PlanName {
  const published = planNames.filter((name) => name !== "enterprise");
  return published.find((name) => fits(publishedLimits[name])) ?? "enterprise";
}
