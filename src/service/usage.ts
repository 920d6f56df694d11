import type { ApiKey } from "../domain/api-key.ts";
import type { Clock } from "../domain/clock.ts";
import {
  rollCounts,
  unusedCounts,
  usageKeptDays,
  windowMs,
  type WindowCounts,
} from "../domain/windows.ts";
import type { UsageDay, WindowStore } from "../storage/contract.ts";

/** How much a key is used now. */
export interface KeyUse {
  /** Both windows as they stand at this moment. */
  readonly counts: WindowCounts;
  /** The last UTC day (days since the epoch) with an admitted request, if any is known. */
  readonly lastUsedDay: number | undefined;
}

export interface UsedKey {
  readonly key: ApiKey;
  readonly use: KeyUse;
}

/** What operators ask about the use of keys. */
export class UsageService {
  readonly #windows: WindowStore;
  readonly #clock: Clock;

  constructor(windows: WindowStore, clock: Clock) {
    this.#windows = windows;
    this.#clock = clock;
  }

  /** The running UTC day, in days since the epoch. */
  today(): number {
    return Math.floor(this.#clock() / windowMs.day);
  }

  /** Each of `keys` with its use now, in their order. */
  async nowOfAll(keys: readonly ApiKey[]): Promise<UsedKey[]> {
    const kept = await this.#windows.countsOfAll();
    const used: UsedKey[] = [];
    for (const key of keys) used.push({ key, use: await this.#use(key.id, kept.get(key.id)) });
    return used;
  }

  /** The windows of a key, and when it was last used. */
  async now({ id }: ApiKey): Promise<KeyUse> {
    return this.#use(id, await this.#windows.counts(id));
  }

  async #use(id: string, kept: WindowCounts | undefined): Promise<KeyUse> {
    if (kept === undefined) {
      return { counts: rollCounts(unusedCounts, this.#clock()), lastUsedDay: undefined };
    }
    const counts = rollCounts(kept, this.#clock());
    if (kept.dayUsed > 0) return { counts, lastUsedDay: kept.dayLabel };
    // The last take only gave back; the day before it that counted is among the kept ones.
    const days = await this.#windows.usage(kept.dayLabel - usageKeptDays, id);
    return { counts, lastUsedDay: days.findLast(({ requests }) => requests > 0)?.day };
  }

  /** Where `key` was last used from, or undefined when that is not known. */
  async lastAddress({ id }: ApiKey): Promise<string | undefined> {
    return this.#windows.lastAddress(id);
  }

  /** The use of the last `days` UTC days, today included, of one key or of all, oldest first. */
  async days(days: number, keyId?: string): Promise<UsageDay[]> {
    return this.#windows.usage(this.today() - days + 1, keyId);
  }
}
