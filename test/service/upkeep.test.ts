/**
 * What the limiter does without a request that asks for it: once a second, when a day ends, and at
 * a clean stop.
 */
import { usageSince } from "../../src/features/keys/usage.ts";
import { describe, expect, test } from "bun:test";
import type { ReserveRequest, UsageDelta } from "../../src/storage/contract.ts";
import { TestClock } from "../helpers/app.ts";
import { countersOf } from "../helpers/counters.ts";
import { SharedFolder, type Stack } from "../helpers/stack.ts";
import { changesNoticed } from "../helpers/store-under-test.ts";

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
});

describe("refusals", () => {
  const refused = async (stack: Stack, secret: string, count: number) => {
    for (const { refusal } of await stack.requests(secret, count)) {
      expect(refusal?.kind).toBe("rate_limited");
    }
  };
  const kept = async (stack: Stack, keyId: string) =>
    (await usageSince(stack.store, 0, keyId)).map(({ day, refusals }) => [day, refusals]);
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
