import type { ApiKey } from "../../domain/api-key.ts";
import { type Clock, dayMs, isoSeconds } from "../../domain/clock.ts";
import {
  rollCounts,
  unusedCounts,
  usageStoredDays,
  windowMs,
  type WindowCounts,
} from "../../domain/windows.ts";
import type { Services } from "../../service/services.ts";
import { countsOf, countsOfAll, type UsageDay, usageSince } from "./counters.ts";

/** A key that used this share of a limit is near it. */
export const nearLimitShare = 0.8;

/** A UTC day, counted from the epoch, as its date: `2026-11-21`. */
export function isoDay(day: number): string {
  return isoSeconds(day * dayMs).slice(0, "2026-11-21".length);
}

export interface KeyUse {
  readonly counts: WindowCounts;
  /** The last UTC day (days since the epoch) with an admitted request, if any is known. */
  readonly lastUsedDay: number | undefined;
}

export interface UsedKey {
  readonly key: ApiKey;
  readonly use: KeyUse;
}

export class UsageService {
  readonly #store: Services["store"];
  readonly #clock: Clock;

  constructor({ store, clock }: Pick<Services, "store" | "clock">) {
    this.#store = store;
    this.#clock = clock;
  }

  today(): number {
    return Math.floor(this.#clock() / windowMs.day);
  }

  async nowOfAll(keys: readonly ApiKey[]): Promise<UsedKey[]> {
    const stored = await countsOfAll(this.#store);
    const used: UsedKey[] = [];
    for (const key of keys) used.push({ key, use: await this.#use(key.id, stored.get(key.id)) });
    return used;
  }

  async now({ id }: ApiKey): Promise<KeyUse> {
    return this.#use(id, await countsOf(this.#store, id));
  }

  async #use(id: string, stored: WindowCounts | undefined): Promise<KeyUse> {
    if (stored === undefined) {
      return { counts: rollCounts(unusedCounts, this.#clock()), lastUsedDay: undefined };
    }
    const counts = rollCounts(stored, this.#clock());
    if (stored.dayUsed > 0) return { counts, lastUsedDay: stored.dayLabel };
    // The last reservation only gave back; the last day with requests is in the usage.
    const days = await usageSince(this.#store, stored.dayLabel - usageStoredDays, id);
    return { counts, lastUsedDay: days.findLast(({ requests }) => requests > 0)?.day };
  }

  /** The use of the last `days` UTC days, today included, of one key or of all, oldest first. */
  async days(days: number, keyId?: string): Promise<UsageDay[]> {
    return usageSince(this.#store, this.today() - days + 1, keyId);
  }
}
