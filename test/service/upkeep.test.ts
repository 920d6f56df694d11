/**
 * What the limiter does without a request that asks for it: once a second, when a day ends, and at
 * a clean stop.
 */
import { Database } from "bun:sqlite";
import { describe, expect, jest, test } from "bun:test";
import type { ReserveRequest, UsageDelta } from "../../src/storage/contract.ts";
import { TestClock } from "../helpers/app.ts";
import { countersOf } from "../helpers/counters.ts";
import { SharedFolder, Stack } from "../helpers/stack.ts";
import { changesNoticed, isOnPostgres } from "../helpers/store-under-test.ts";

const dayMs = 86_400_000;
/** As often as refusals are kept. */
const usageIntervalMs = 600_000;

/** A stack whose takes are noted, and fail while `isDown`. */
async function noted(folder: SharedFolder) {
  const takes: { requests: readonly ReserveRequest[]; usage: readonly UsageDelta[] }[] = [];
  const state = { isDown: false };
  const stack = await folder.stack({
    reserve:
      (reserve) =>
      (...args) => {
        if (state.isDown) throw new Error("the store is away");
        takes.push({ requests: args[0], usage: args[1] });
        return reserve(...args);
      },
  });
  return { stack, takes, state };
}

describe("blocks", () => {
  test("of a process that is alone stay with it, however idle", async () => {
    await using folder = new SharedFolder(new TestClock());
    const { stack, takes } = await noted(folder);
    const { secret } = await stack.key("business");
    // A client of a database cannot tell, and takes others to be there.
    Object.assign(stack.store.windows, { version: () => 1 });
    await stack.services.sweep();
    folder.clock.advance(61_000);
    await stack.request(secret);
    folder.clock.advance(30_000);
    await stack.services.sweep();
    expect(takes).toHaveLength(1);
    expect((await stack.request(secret)).view.remaining).toBe(998);
    expect(takes).toHaveLength(1);
  });

  test("that were used within the second stay, also where others ask for the same", async () => {
    await using folder = new SharedFolder(new TestClock());
    const { stack: busy, takes } = await noted(folder);
    const other = await folder.stack();
    const { secret } = await busy.key("business");
    await changesNoticed();
    await other.request(secret);
    await busy.request(secret);
    folder.clock.advance(900);
    await busy.request(secret);
    const before = takes.length;
    folder.clock.advance(900);
    await busy.services.sweep();
    expect(takes).toHaveLength(before);
    folder.clock.advance(100);
    await busy.services.sweep();
    expect(takes).toHaveLength(before + 1);
  });

  test.skipIf(isOnPostgres)(
    "that others gave back are asked for once, not every second from then on",
    async () => {
      await using folder = new SharedFolder(new TestClock());
      const { stack, takes } = await noted(folder);
      const other = await folder.stack();
      const { secret } = await stack.key("free");
      await changesNoticed();
      await other.request(secret);
      await stack.requests(secret, 60);
      await stack.services.sweep();
      await stack.request(secret);
      const before = takes.length;
      for (let i = 0; i < 3; i += 1) {
        folder.clock.advance(1_000);
        await stack.services.sweep();
        expect((await stack.request(secret)).refusal?.kind).toBe("rate_limited");
      }
      expect(takes).toHaveLength(before);
    },
  );
});

describe("refusals", () => {
  const refused = async (stack: Stack, secret: string, count: number) => {
    for (const { refusal } of await stack.requests(secret, count)) {
      expect(refusal?.kind).toBe("rate_limited");
    }
  };
  const kept = async (stack: Stack, keyId: string) =>
    (await stack.store.windows.usage(0, keyId)).map(({ day, refusals }) => [day, refusals]);
  const today = ({ clock }: SharedFolder) => Math.floor(clock.nowMs / dayMs);

  test("are kept at a clean stop", async () => {
    await using folder = new SharedFolder(new TestClock());
    const stack = await folder.stack();
    const { key, secret } = await stack.key("free");
    await stack.requests(secret, 60);
    await refused(stack, secret, 7);
    await folder.stop(stack);
    expect(await kept(await folder.stack(), key.id)).toEqual([[today(folder), 7]]);
  });

  test.skipIf(isOnPostgres)(
    "are kept while another process holds the lock at the stop",
    async () => {
      await using folder = new SharedFolder(new TestClock());
      let busy = 0;
      const onBusy = () => (busy += 1);
      const stack = await folder.stack({ serving: true, timeoutMs: 2_000, onBusy });
      const { key, secret } = await stack.key("enterprise", { perMinute: 1, perDay: 1 });
      await stack.request(secret);
      await refused(stack, secret, 7);
      expect(busy).toBe(0);
      using other = new Database(`${folder.path}/limits.db`);
      other.run("BEGIN IMMEDIATE");
      const stopped = folder.stop(stack);
      // Longer than everything else takes at a stop.
      await Bun.sleep(300);
      other.run("ROLLBACK");
      await stopped;
      expect(busy).toBeGreaterThan(0);
      expect(await kept(await folder.stack(), key.id)).toEqual([[today(folder), 7]]);
    },
  );

  test("are written no sooner than ten minutes after the last time", async () => {
    await using folder = new SharedFolder(new TestClock());
    const stack = await folder.stack();
    const { key, secret } = await stack.key("enterprise", { perMinute: 1, perDay: 1 });
    await stack.request(secret);
    await refused(stack, secret, 1);
    folder.clock.advance(usageIntervalMs);
    await stack.services.sweep();
    expect(await kept(stack, key.id)).toEqual([[today(folder), 1]]);
    await refused(stack, secret, 1);
    await using counters = await countersOf(folder.path);
    const before = await counters.state();
    folder.clock.advance(usageIntervalMs - 1);
    await stack.services.sweep();
    expect(await counters.state()).toEqual(before);
    folder.clock.advance(1);
    await stack.services.sweep();
    expect(await kept(stack, key.id)).toEqual([[today(folder), 2]]);
  });

  test("stand on the day on which they happened", async () => {
    await using folder = new SharedFolder(new TestClock(Date.UTC(2026, 10, 21, 23, 59, 50)));
    const stack = await folder.stack();
    const { key, secret } = await stack.key("enterprise", { perMinute: 1, perDay: 1 });
    await stack.request(secret);
    await refused(stack, secret, 3);
    folder.clock.advance(10_000);
    await stack.request(secret);
    await refused(stack, secret, 2);
    folder.clock.advance(usageIntervalMs);
    await stack.services.sweep();
    expect(await kept(stack, key.id)).toEqual([
      [today(folder) - 1, 3],
      [today(folder), 2],
    ]);
  });

  test("that could not be kept are kept the next time, and once", async () => {
    await using folder = new SharedFolder(new TestClock());
    const { stack, state } = await noted(folder);
    const { key, secret } = await stack.key("enterprise", { perMinute: 1, perDay: 1 });
    await stack.request(secret);
    await refused(stack, secret, 4);
    state.isDown = true;
    folder.clock.advance(usageIntervalMs);
    await stack.services.sweep();
    expect(stack.reported).toEqual([new Error("the store is away")]);
    expect(await kept(stack, key.id)).toEqual([[today(folder), 0]]);
    state.isDown = false;
    for (let i = 0; i < 2; i += 1) {
      folder.clock.advance(usageIntervalMs);
      await stack.services.sweep();
    }
    expect(await kept(stack, key.id)).toEqual([[today(folder), 4]]);
  });
});

test("a noisy minute that cannot be reported is no failure of the request", async () => {
  const stack = await Stack.open(new TestClock(Date.UTC(2026, 10, 21, 12, 0, 0)), {});
  const { secret } = await stack.key("free");
  const error = new Error("the writer is away");
  stack.store.reportNoisyMinute = () => {
    throw error;
  };
  await stack.requests(secret, 61);
  stack.clock.advance(2_000);
  const admissions = await stack.requests(secret, 40);
  expect(new Set(admissions.map(({ refusal }) => refusal?.kind))).toEqual(
    new Set(["rate_limited"]),
  );
  expect(stack.reported).toEqual([error]);
});

test("once a second there is a sweep, and none after the stop", async () => {
  jest.useFakeTimers();
  try {
    const stack = await Stack.open(new TestClock(), {});
    let sweeps = 0;
    Object.assign(stack.store.windows, { version: () => (sweeps += 1) });
    jest.advanceTimersByTime(3_000);
    expect(sweeps).toBe(3);
    await stack.services.close();
    jest.advanceTimersByTime(3_000);
    expect(sweeps).toBe(3);
  } finally {
    jest.useRealTimers();
  }
});
