/** The limiter on a real store, one case at a time; limiter-model.test.ts has random histories. */
import { afterEach, describe, expect, test } from "bun:test";
import { dayMs, minuteMs } from "../../src/domain/clock.ts";
import { limitMax, planNames } from "../../src/domain/plan.ts";
import { countsOf, usageSince } from "../../src/features/keys/usage.ts";
import { type Account, Limiter } from "../../src/service/limiter.ts";
import type { Admission } from "../../src/service/admission.ts";
import { KeyDirectory } from "../../src/service/key-directory.ts";
import { agreedLimits } from "../../src/service/keys.ts";
import { TestClock } from "../helpers/app.ts";
import { countersOf } from "../helpers/counters.ts";
import { countAdmitted, SharedFolder, type Stack } from "../helpers/stack.ts";
import { changesNoticed, isOnPostgres } from "../helpers/store-under-test.ts";
import { until } from "../helpers/ask.ts";

type StackOptions = Parameters<SharedFolder["stack"]>[0];
type Take = ReturnType<Stack["store"]["windows"]["reserve"]>;

const folders: SharedFolder[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await folder[Symbol.asyncDispose]();
});

/** A process on a folder whose takes are counted, and pass through `around`. */
async function noted(options: StackOptions = {}, clock = new TestClock()) {
  const folder = new SharedFolder(clock);
  folders.push(folder);
  const state = { takes: 0, around: (take: () => Take) => take() };
  const stack = await folder.stack({
    reserve:
      (reserve) =>
      async (...args) => {
        state.takes += 1;
        return state.around(() => reserve(...args));
      },
    ...options,
  });
  const used = async (id: string) => (await countsOf(stack.store, id))?.minuteUsed;
  return { clock, folder, stack, state, used };
}

const kindsOf = (admissions: readonly Admission[]) =>
  admissions.map(({ refusal }) => refusal?.kind);

test.each([
  [10, 1],
  [30, 2],
])(
  "takes %d who come while one is under way are served from its block: %d in all",
  async (count, taken) => {
    const { stack, state, used } = await noted();
    const [begun, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    state.around = async (take) => {
      begun.resolve();
      const results = await take();
      await answered.promise;
      return results;
    };
    const { key, secret } = await stack.key("business");
    const first = stack.request(secret);
    await begun.promise;
    const others = stack.requests(secret, count);
    await Bun.sleep(1);
    answered.resolve();
    const shown = [await first, ...(await others)].map(({ view }) => view.remaining);
    expect(shown).toEqual(Array.from({ length: count + 1 }, (_, i) => 999 - i));
    // A take that nobody waits for would begin in the turn after.
    await Bun.sleep(1);
    expect([state.takes, await used(key.id)]).toEqual([taken, 17 * taken]);
  },
);

test("takes are one for every 17 requests of a busy Business key, and none for a refusal", async () => {
  const { stack, state } = await noted();
  const { secret } = await stack.key("business");
  for (let i = 0; i < 1_000; i += 1) await stack.request(secret);
  await stack.requests(secret, 500);
  expect(state.takes).toBe(59);
  const { secret: daily } = await stack.key("enterprise", { perMinute: 60, perDay: 2 });
  await stack.requests(daily, 2);
  const before = state.takes;
  for (let i = 0; i < 5; i += 1) await stack.request(daily);
  expect(state.takes).toBe(before);
});

test("takes are not used beyond their window on the store's clock, ahead of the machine's", async () => {
  const skewMs = 3_000;
  const clock = new TestClock(Date.UTC(2026, 10, 21, 12, 0, 59, 900) - skewMs);
  const { stack } = await noted({ storeClock: () => clock.nowMs + skewMs }, clock);
  Object.assign(stack.store.windows, { skewMs: () => skewMs });
  const { secret } = await stack.key("business");
  const [first, second] = [await stack.request(secret), await stack.request(secret)];
  expect([first.view.remaining, second.view.remaining]).toEqual([999, 998]);
  clock.advance(200);
  // By this machine's clock the first minute still runs, but it is the next one that is charged.
  const { remaining, resetSeconds } = (await stack.request(secret)).view;
  expect([remaining, resetSeconds]).toEqual([999, first.view.resetSeconds + 60]);
});

test("an idle block goes to the process that has run out, a second after its last use", async () => {
  const { clock, folder, stack: idle, state } = await noted();
  const busy = await folder.stack();
  const { secret } = await idle.key("business");
  await changesNoticed();
  expect([await idle.admitted(secret, 1), await busy.admitted(secret, 2_000)]).toEqual([1, 983]);
  for (const [ms, taken] of [
    [999, 1],
    [1, 2],
  ] as const) {
    clock.advance(ms);
    await idle.services.sweep();
    expect(state.takes).toBe(taken);
  }
  await busy.services.sweep();
  expect([await busy.admitted(secret, 20), await idle.admitted(secret, 20)]).toEqual([16, 0]);
});

test("an idle block of a process that is alone stays with it", async () => {
  const { clock, stack, state } = await noted();
  const { secret } = await stack.key("business");
  // A client of a database cannot tell, and takes others to be there.
  Object.assign(stack.store.windows, { version: () => 1 });
  await stack.services.sweep();
  clock.advance(61_000);
  await stack.request(secret);
  clock.advance(30_000);
  await stack.services.sweep();
  expect((await stack.request(secret)).view.remaining).toBe(998);
  expect(state.takes).toBe(1);
});

describe("a store in trouble", () => {
  /** A server with a writer thread, whose takes never block. */
  const serving = (timeoutMs = 5_000) => noted({ serving: true, timeoutMs });

  test("serves nobody uncharged while another process holds the lock, and recovers by itself", async () => {
    const { clock, folder, stack, used } = await serving(isOnPostgres ? 1_000 : 400);
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
    const { secret: unseen } = await stack.key("free");
    const resetSeconds = Math.floor(clock.nowMs / 1000) + 50;
    for (const [admission, limit, remaining] of [
      [during.at(-1), 1_000, 983],
      [await stack.request(unseen), 60, 60],
    ] as const) {
      const view = { limit, remaining, resetSeconds };
      expect(admission).toMatchObject({ refusal: { kind: "unavailable" }, view });
    }
    await other.unlock();
    expect((await stack.request(secret)).view.remaining).toBe(982);
    expect([await used(key.id), stack.reported.length]).toEqual([34, 2]);
  });

  test("lets those who gathered behind a take that failed wait no second time, nor pay", async () => {
    const { folder, stack, state, used } = await serving(2_000);
    const { key, secret } = await stack.key("free");
    await using other = await countersOf(folder.path);
    await other.lock();
    const first = stack.request(secret);
    await Bun.sleep(300);
    const both = await Promise.all([first, stack.request(secret)]);
    expect([...kindsOf(both), state.takes]).toEqual(["unavailable", "unavailable", 1]);
    await other.unlock();
    expect((await stack.request(secret)).view.remaining).toBe(59);
    expect(await used(key.id)).toBe(1);
  });

  test("has a plan that moved down while a take waits bind at once", async () => {
    const { folder, stack, used } = await serving();
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
    expect([countAdmitted(await waiting), countAdmitted(await after)]).toEqual([3, 0]);
    expect(kindsOf([await atOnce])).toEqual(["rate_limited"]);
    expect(await stack.admitted(secret, 20)).toBe(0);
    await changesNoticed();
    expect(await used(key.id)).toBe(103);
  });

  test("leaves nothing taken behind for accounts that are let go while a take waits", async () => {
    const { clock, folder, stack, used } = await serving();
    const { store } = stack;
    const onError = (error: unknown) => stack.reported.push(error);
    const options = { windows: store.windows, clock: clock.read, bans: true, onNoisyMinute() {} };
    const limiter = new Limiter({ ...options, onError });
    const read = { store, limiter, environment: "production", clock: clock.read } as const;
    const directory = new KeyDirectory(read, 1);
    const [one, two] = [await stack.key("business"), await stack.key("business")];
    const find = async (secret: string) => (await directory.find(secret)) as Account;
    await using other = await countersOf(folder.path);
    await other.lock();
    const admit = async (secret: string) => limiter.admit(await find(secret));
    const admissions = [admit(one.secret)];
    await Bun.sleep(5);
    admissions.push(admit(two.secret), admit(one.secret));
    await find(two.secret);
    await other.unlock();
    expect(countAdmitted(await Promise.all(admissions))).toBe(3);
    await limiter.release(directory.accounts());
    // The rest of a take for an account that was let go is given back without anybody waiting.
    await until(async () => (await used(one.key.id)) === 2 && (await used(two.key.id)) === 1);
    expect(stack.reported).toEqual([]);
  });

  test("that fails after its commit lets no block be used twice", async () => {
    const { clock, stack, state, used } = await noted();
    const { key, secret } = await stack.key("enterprise", { perMinute: 60, perDay: 100 });
    const { secret: wide } = await stack.key("business");
    expect([await stack.admitted(wide, 1), await stack.admitted(secret, 40)]).toEqual([1, 40]);
    state.around = async (take) => {
      await take();
      throw new Error("the answer to the commit was lost");
    };
    expect(await stack.admitted(secret, 3)).toBe(0);
    expect(await used(key.id)).toBe(43);
    clock.advance(minuteMs);
    expect(await stack.admitted(wide, 1)).toBe(0);
    state.around = (take) => take();
    expect(await stack.admitted(wide, 2_000)).toBe(1_000 - 17);
  });

  test("that fails in its transaction charges nothing and serves nobody", async () => {
    const clock = new TestClock();
    let isBroken = false;
    const storeClock = () => {
      if (isBroken) throw new Error("killed after BEGIN");
      return clock.nowMs;
    };
    const { stack, used } = await noted({ storeClock }, clock);
    const { key, secret } = await stack.key("free");
    expect(await stack.admitted(secret, 1)).toBe(1);
    isBroken = true;
    expect(kindsOf(await stack.requests(secret, 3))).toEqual(Array(3).fill("unavailable"));
    isBroken = false;
    expect([await used(key.id), await stack.admitted(secret, 100)]).toEqual([1, 59]);
  });
});

test("a refusal writes nothing; refusals are kept every ten minutes and at a stop, each once", async () => {
  const { clock, folder, stack, state } = await noted();
  const { key, secret } = await stack.key("enterprise", { perMinute: 1, perDay: 1 });
  const day = Math.floor(clock.nowMs / dayMs);
  const kept = async (by = stack) => {
    const [usage] = await usageSince(by.store, day, key.id);
    return usage?.refusals;
  };
  const afterSweep = async (ms: number, refusals: number) => {
    expect(countAdmitted(await stack.requests(secret, refusals))).toBe(0);
    clock.advance(ms);
    await stack.services.sweep();
    return kept();
  };
  await stack.request(secret);
  await using counters = await countersOf(folder.path);
  const before = await counters.state();
  expect(await afterSweep(9 * minuteMs, 5_000)).toBe(0);
  expect(await afterSweep(minuteMs - 1, 1)).toBe(0);
  expect(await counters.state()).toEqual(before);
  expect([await afterSweep(1, 0), await afterSweep(9 * minuteMs, 2)]).toEqual([5_001, 5_001]);
  const error = new Error("the store is away");
  state.around = () => Promise.reject(error);
  expect(await afterSweep(minuteMs, 0)).toBe(5_001);
  expect(stack.reported).toEqual([error]);
  state.around = (take) => take();
  for (let i = 0; i < 2; i += 1) expect(await afterSweep(10 * minuteMs, 0)).toBe(5_003);
  await stack.requests(secret, 7);
  await folder.stop(stack);
  expect(await kept(await folder.stack())).toBe(5_010);
});

test.each([
  ["at once", true],
  ["later", false],
])(
  "a look-up that fails %s is 503 with the address's numbers, and charged to nobody",
  async (_when, isThrown) => {
    const { clock, stack, used } = await noted({ anonymousPerMinute: 10 });
    const { key, secret } = await stack.key("free");
    const error = new Error("the keys cannot be read");
    const working = stack.store.keys.byHash;
    stack.store.keys.byHash = () => {
      if (isThrown) throw error;
      return Promise.reject(error);
    };
    expect((await stack.request("nonsense")).view.remaining).toBe(9);
    for (const [ms, remaining] of [
      [0, 9],
      [0, 9],
      // The next minute's bucket is whole again, though nobody was charged in it yet.
      [50_000, 10],
    ] as const) {
      clock.advance(ms);
      const { view, refusal, key: shown } = await stack.request(secret);
      expect([refusal?.kind, shown]).toEqual(["unavailable", undefined]);
      const resetSeconds = clock.nowMs / 1000 + (remaining === 10 ? 60 : 50);
      expect(view).toEqual({ window: "minute", limit: 10, remaining, resetSeconds });
    }
    expect(stack.reported).toEqual([error, error, error]);
    stack.store.keys.byHash = working;
    expect((await stack.request(secret)).view.remaining).toBe(59);
    expect(await used(key.id)).toBe(1);
  },
);

test("enterprise has the limits that were agreed on and needs both, and no other plan takes any", () => {
  const both = { perMinute: 1, perDay: limitMax };
  expect(agreedLimits("enterprise", both)).toEqual(both);
  const some = [{ perMinute: 5 }, { perDay: 5 }];
  for (const numbers of [{}, ...some]) {
    expect(() => agreedLimits("enterprise", numbers)).toThrow("it needs both numbers");
  }
  for (const wrong of [0, -0, -1, 0.5, 1.5, limitMax + 1, 2 ** 53, NaN, Infinity, -Infinity]) {
    for (const numbers of [
      { ...both, perMinute: wrong },
      { ...both, perDay: wrong },
    ]) {
      expect(() => agreedLimits("enterprise", numbers)).toThrow("A limit must be a whole number");
    }
  }
  for (const plan of planNames.filter((each) => each !== "enterprise")) {
    for (const numbers of [...some, both]) {
      expect(() => agreedLimits(plan, numbers)).toThrow("only enterprise takes its own");
    }
  }
});
