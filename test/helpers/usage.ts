import { windowMs } from "../../src/domain/windows.ts";
import { countBan } from "../../src/storage/keys.ts";
import { TestClock } from "./app.ts";
import { openTestStore } from "./store-under-test.ts";

interface DayDone {
  readonly daysAgo: number;
  readonly requests: number;
  readonly refusals?: number;
  readonly bans?: number;
}

/** Lets the key `keyId` of the store at `folder` have done what `days` say, oldest first. */
export async function liveThrough(
  folder: string,
  keyId: string,
  days: readonly DayDone[],
): Promise<void> {
  const nowMs = Date.now();
  const clock = new TestClock(nowMs);
  const store = await openTestStore({ folder, clock: clock.read, timeoutMs: 1_000 });
  const limits = { perMinute: 1_000_000, perDay: 1_000_000 };
  for (const { daysAgo, requests, refusals = 0, bans = 0 } of days) {
    clock.nowMs = nowMs - daysAgo * windowMs.day;
    const day = Math.floor(clock.nowMs / windowMs.day);
    await store.windows.reserve(
      [{ keyId, limits, want: requests, unused: undefined }],
      [{ keyId, day, refusals }],
    );
    for (let ban = 0; ban < bans; ban += 1) {
      await store.counters.transaction((tx) => countBan(tx, keyId, clock.nowMs));
    }
  }
  await store.close();
}
