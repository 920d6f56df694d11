/** The limiter on a real store; limiter-model.test.ts has random histories. */
import { countsOf, usageSince } from "../../src/features/keys/usage.ts";
import { describe, expect, test } from "bun:test";
import { publishedLimits } from "../../src/domain/plan.ts";
import type { Admission } from "../../src/service/admission.ts";
import { Account } from "../../src/service/account.ts";
import { KeyDirectory } from "../../src/service/key-directory.ts";
import { Limiter } from "../../src/service/limiter.ts";
import { TestClock } from "../helpers/app.ts";
import { countersOf } from "../helpers/counters.ts";
import { countAdmitted, SharedFolder, Stack } from "../helpers/stack.ts";
import { changesNoticed, isOnPostgres } from "../helpers/store-under-test.ts";
import { until } from "../helpers/until.ts";

const minuteMs = 60_000;
const dayMs = 86_400_000;
const seconds = (ms: number) => Math.floor(ms / 1000);

const remaining = (admissions: readonly Admission[]) =>
  admissions.filter(({ refusal }) => refusal === undefined).map(({ view }) => view.remaining);

describe("one process", () => {
  test("a plan moved up binds at once and keeps what was used; moved down it refuses, and says until when", async () => {
    const stack = await Stack.open(new TestClock(), {});
    const { key, secret } = await stack.key("free");
    await stack.requests(secret, 100);
    await stack.services.keys.update(key.id, { plan: "pro" });
    expect((await stack.request(secret)).view).toMatchObject({ limit: 300, remaining: 239 });
    expect(await stack.admitted(secret, 189)).toBe(189);

    await stack.services.keys.update(key.id, { plan: "free" });
    const { view, refusal } = await stack.request(secret);
    expect(view).toMatchObject({ window: "minute", limit: 60, remaining: 0 });
    expect(refusal).toMatchObject({ kind: "rate_limited", retryAfterSeconds: 50 });
    stack.clock.advance(50_000);
    expect((await stack.request(secret)).view).toMatchObject({ limit: 60, remaining: 59 });
  });

  test.each([
    [10, 1],
    [30, 2],
  ])(
    "%d who come while a take is under way are served from its block while it lasts: %d takes",
    async (count, taken) => {
      const begun = Promise.withResolvers<void>();
      const answered = Promise.withResolvers<void>();
      let takes = 0;
      const stack = await Stack.open(new TestClock(), {
        reserve:
          (reserve) =>
          async (...args) => {
            takes += 1;
            begun.resolve();
            const results = await reserve(...args);
            await answered.promise;
            return results;
          },
      });
      const { key, secret } = await stack.key("business");
      const first = stack.request(secret);
      await begun.promise;
      const others = stack.requests(secret, count);
      await Bun.sleep(1);
      answered.resolve();
      const admissions = [await first, ...(await others)];
      expect(remaining(admissions)).toEqual(Array.from({ length: count + 1 }, (_, i) => 999 - i));
      // A take that nobody waits for would begin in the turn after.
      await Bun.sleep(1);
      expect(takes).toBe(taken);
      expect(await countsOf(stack.store, key.id)).toMatchObject({ minuteUsed: 17 * taken });
    },
  );
});

describe("several processes on one folder", () => {
  test("an idle block goes to the process that has run out", async () => {
    await using folder = new SharedFolder(new TestClock());
    const [idle, busy] = [await folder.stack(), await folder.stack()];
    const { secret } = await idle.key("business");
    expect(await idle.admitted(secret, 1)).toBe(1);
    expect(await busy.admitted(secret, 2_000)).toBe(983);
    expect(await busy.admitted(secret, 20)).toBe(0);
    folder.clock.advance(1_000);
    await idle.services.sweep();
    await busy.services.sweep();
    expect(await busy.admitted(secret, 20)).toBe(16);
    expect(await idle.admitted(secret, 20)).toBe(0);
  });
});

describe("a store in trouble", () => {
  /** A server with a writer thread, whose takes never block. */
  const serving = { serving: true, timeoutMs: isOnPostgres ? 1_000 : 60 };

  test("while another process holds the lock nobody is served uncharged, and it recovers by itself", async () => {
    await using folder = new SharedFolder(new TestClock());
    const stack = await folder.stack(serving);
    const { key, secret } = await stack.key("business");
    expect(await stack.admitted(secret, 1)).toBe(1);
    await using other = await countersOf(folder.path);
    await other.lock();
    let turns = 0;
    const counting = setInterval(() => (turns += 1), 1);
    // Sixteen are paid for already.
    const during = await stack.requests(secret, 20);
    clearInterval(counting);
    // An event loop that waited with them would have had no turn.
    expect(turns).toBeGreaterThan(3);
    expect(countAdmitted(during)).toBe(16);
    expect(during.at(-1)).toMatchObject({
      refusal: { kind: "unavailable" },
      view: { limit: 1_000, remaining: 983, resetSeconds: seconds(stack.clock.nowMs) + 50 },
    });
    const { secret: unseen } = await stack.key("free");
    expect(await stack.request(unseen)).toMatchObject({
      refusal: { kind: "unavailable" },
      view: { limit: 60, remaining: 60, resetSeconds: seconds(stack.clock.nowMs) + 50 },
    });
    await other.unlock();
    expect((await stack.request(secret)).view.remaining).toBe(982);
    expect(await countsOf(stack.store, key.id)).toMatchObject({ minuteUsed: 34 });
    expect(stack.reported).toHaveLength(2);
  });

  test("those who gathered behind a take that failed do not wait a second time", async () => {
    await using folder = new SharedFolder(new TestClock());
    let takes = 0;
    const stack = await folder.stack({
      serving: true,
      timeoutMs: 2_000,
      reserve:
        (reserve) =>
        (...args) => {
          takes += 1;
          return reserve(...args);
        },
    });
    const { key, secret } = await stack.key("free");
    await using other = await countersOf(folder.path);
    await other.lock();
    const first = stack.request(secret);
    await Bun.sleep(300);
    const second = stack.request(secret);
    expect((await first).refusal?.kind).toBe("unavailable");
    expect((await second).refusal?.kind).toBe("unavailable");
    expect(takes).toBe(1);
    await other.unlock();
    // Nor are they charged afterwards for what they were refused.
    expect((await stack.request(secret)).view.remaining).toBe(59);
    expect(await countsOf(stack.store, key.id)).toMatchObject({ minuteUsed: 1 });
  });

  test("a plan moved down while a take waits for the lock binds at once", async () => {
    await using folder = new SharedFolder(new TestClock());
    const stack = await folder.stack({ ...serving, timeoutMs: 5_000 });
    const operator = await folder.stack();
    const { key, secret } = await operator.key("business");
    await changesNoticed();
    expect(await stack.admitted(secret, 100)).toBe(100);
    await using other = await countersOf(folder.path);
    await other.lock();
    const waiting = stack.requests(secret, 3);
    await Bun.sleep(5);
    await operator.services.keys.update(key.id, { plan: "free" });
    await changesNoticed();
    const after = stack.requests(secret, 3);
    await Bun.sleep(5);
    await other.unlock();
    const atOnce = waiting.then(() => stack.request(secret));
    // The three were under way before the change; nothing that came after it is admitted, not from
    // their block either.
    expect(countAdmitted(await waiting)).toBe(3);
    expect((await atOnce).refusal?.kind).toBe("rate_limited");
    expect(countAdmitted(await after)).toBe(0);
    expect(await stack.admitted(secret, 20)).toBe(0);
    await changesNoticed();
    expect(await countsOf(stack.store, key.id)).toMatchObject({ minuteUsed: 103 });
  });

  test("accounts let go while a take waits leave nothing taken behind", async () => {
    await using folder = new SharedFolder(new TestClock());
    const stack = await folder.stack({ ...serving, timeoutMs: 5_000 });
    const { store, clock } = stack;
    const released: Promise<void>[] = [];
    const limiter = new Limiter({
      windows: store.windows,
      clock: clock.read,
      bans: true,
      onNoisyMinute() {},
      onError: (error) => stack.reported.push(error),
    });
    const directory = new KeyDirectory({
      store,
      limiter: {
        open: (key) => limiter.open(key),
        async release(accounts) {
          const done = limiter.release(accounts);
          released.push(done);
          return done;
        },
      },
      environment: "production",
      clock: clock.read,
      entriesMax: 1,
    });
    const [one, two] = [await stack.key("business"), await stack.key("business")];
    const find = async (secret: string) => {
      const found = await directory.find(secret);
      if (!(found instanceof Account)) throw new Error(JSON.stringify(found));
      return found;
    };
    await using other = await countersOf(folder.path);
    await other.lock();
    const admit = async (secret: string) => limiter.admit(await find(secret));
    const admissions = [admit(one.secret)];
    await Bun.sleep(5);
    admissions.push(admit(two.secret), admit(one.secret));
    await find(two.secret);
    await other.unlock();
    expect(countAdmitted(await Promise.all(admissions))).toBe(3);
    await Promise.all(released);
    await limiter.release(directory.accounts());
    // The rest of a take for an account that was let go is given back without anybody waiting.
    const used = async (id: string) => (await countsOf(store, id))?.minuteUsed;
    await until(async () => (await used(one.key.id)) === 2 && (await used(two.key.id)) === 1);
    expect(await countsOf(store, one.key.id)).toMatchObject({ minuteUsed: 2, dayUsed: 2 });
    expect(await countsOf(store, two.key.id)).toMatchObject({ minuteUsed: 1, dayUsed: 1 });
    expect(stack.reported).toEqual([]);
  });

  test("a failure that may come after the commit never lets a block be used twice", async () => {
    await using folder = new SharedFolder(new TestClock());
    let failsAfterCommit = false;
    const stack = await folder.stack({
      reserve:
        (reserve) =>
        async (...args) => {
          const results = await reserve(...args);
          if (failsAfterCommit) throw new Error("the answer to the commit was lost");
          return results;
        },
    });
    const { key, secret } = await stack.key("enterprise", { perMinute: 60, perDay: 100 });
    const { key: wide, secret: wideSecret } = await stack.key("business");
    let admitted = await stack.admitted(wideSecret, 1);
    expect(await stack.admitted(secret, 40)).toBe(40);
    failsAfterCommit = true;
    expect(await stack.admitted(secret, 3)).toBe(0);
    stack.clock.advance(minuteMs);
    expect(await stack.admitted(wideSecret, 1)).toBe(0);
    failsAfterCommit = false;
    admitted += await stack.admitted(wideSecret, 2_000);
    expect(await countsOf(stack.store, key.id)).toMatchObject({ minuteUsed: 43 });
    expect(admitted).toBe(1 + 1_000 - 17);
    expect(await countsOf(stack.store, wide.id)).toMatchObject({ dayUsed: 1 + 1_000 });
  });

  test.each(["after BEGIN", "after the update", "in COMMIT"] as const)(
    "a failure %s charges nothing and serves nobody",
    async (point) => {
      let isAt: string | undefined;
      const clock = new TestClock();
      const readClock = () => {
        if (isAt === "after BEGIN") throw new Error("killed after BEGIN");
        return clock.nowMs;
      };
      await using folder = new SharedFolder(clock);
      const stack = await folder.stack({ storeClock: readClock });
      const { key, secret } = await stack.key("free");
      expect(await stack.admitted(secret, 1)).toBe(1);
      await using counters = await countersOf(folder.path);
      if (point !== "after BEGIN") await counters.break(point);
      isAt = point;
      const admissions = await stack.requests(secret, 3);
      expect(admissions.map(({ refusal }) => refusal?.kind)).toEqual(Array(3).fill("unavailable"));
      isAt = undefined;
      if (point !== "after BEGIN") await counters.mend();
      expect(await countsOf(stack.store, key.id)).toMatchObject({ minuteUsed: 1, dayUsed: 1 });
      expect(await stack.admitted(secret, 100)).toBe(59);
    },
  );
});

describe("what is written", () => {
  test("a refusal writes nothing, and refusals are kept now and then", async () => {
    await using folder = new SharedFolder(new TestClock());
    const stack = await folder.stack();
    const { key, secret } = await stack.key("free");
    await stack.requests(secret, 60);
    await using counters = await countersOf(folder.path);
    const before = await counters.state();
    await stack.requests(secret, 5_000);
    for (let i = 0; i < 9; i += 1) {
      stack.clock.advance(5_000);
      await stack.request(secret);
      await stack.services.sweep();
    }
    expect(await counters.state()).toEqual(before);
    stack.clock.advance(600_000);
    await stack.services.sweep();
    expect(await counters.state()).not.toEqual(before);
    const day = Math.floor(stack.clock.nowMs / dayMs);
    expect(await usageSince(stack.store, day, key.id)).toEqual([
      { keyId: key.id, day, requests: 60, refusals: 5_009, bans: 0 },
    ]);
  });

  test("a busy Business key costs a take for every 17 requests, and a refusal none", async () => {
    let takes = 0;
    await using folder = new SharedFolder(new TestClock());
    const stack = await folder.stack({
      reserve:
        (reserve) =>
        (...args) => {
          takes += 1;
          return reserve(...args);
        },
    });
    const { secret } = await stack.key("business");
    for (let i = 0; i < publishedLimits.business.perMinute; i += 1) await stack.request(secret);
    expect(takes).toBe(59);
    await stack.requests(secret, 500);
    expect(takes).toBe(59);
    const { secret: daily } = await stack.key("enterprise", { perMinute: 60, perDay: 2 });
    await stack.requests(daily, 2);
    const before = takes;
    for (let i = 0; i < 5; i += 1) await stack.request(daily);
    expect(takes).toBe(before);
  });
});
