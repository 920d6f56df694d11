/** Bans through the services: who is banned, who never is, what is said, and what is kept. */
import { countsOf } from "../../src/features/keys/usage.ts";
import { describe, expect, test } from "bun:test";
import { keyState } from "../../src/features/keys/service.ts";
import type { Admission } from "../../src/service/admission.ts";
import { TestClock } from "../helpers/app.ts";
import { SharedFolder, Stack } from "../helpers/stack.ts";
import { changesNoticed } from "../helpers/store-under-test.ts";

const minuteMs = 60_000;
/** A Free minute is noisy with more than this many refusals after its first two seconds. */
const threshold = 30;

/**
 * The rest of a minute on a Free key: its 60 requests, then `refusals` that count. Ends at the next
 * minute's start.
 */
async function minute(stack: Stack, secret: string, refusals: number): Promise<Admission> {
  const { clock } = stack;
  await stack.requests(secret, 61);
  clock.advance(2_000);
  const admissions = await stack.requests(secret, refusals);
  await changesNoticed();
  clock.advance(minuteMs - (clock.nowMs % minuteMs));
  return admissions.at(-1) as Admission;
}

/** Makes a Free key noisy in three minutes; the ban begins two seconds into the third. */
async function becomeBanned(stack: Stack, secret: string): Promise<void> {
  for (let i = 0; i < 3; i += 1) await minute(stack, secret, threshold + 1);
}

const start = () => new TestClock(Date.UTC(2026, 10, 21, 12, 0, 0));

describe("a key that goes on after 429", () => {
  test("is told what it leads to, and in its third noisy minute that it is banned, why and until when", async () => {
    const stack = await Stack.open(start(), {});
    const { secret } = await stack.key("free");
    await stack.requests(secret, 60);
    expect((await stack.request(secret)).refusal?.message).toBe(
      "The free plan allows 60 requests per minute, and that limit is reached; try again in 60 s.",
    );
    stack.clock.advance(2_000);
    expect((await stack.request(secret)).refusal?.message).toBe(
      "The free plan allows 60 requests per minute, and that limit is reached; try again in 58 s, because going on without waiting leads to a temporary ban.",
    );
    await becomeBanned(stack, secret);
    const { refusal, view } = await stack.request(secret);
    const endSeconds = Date.UTC(2026, 10, 21, 12, 7, 2) / 1000;
    expect(refusal).toMatchObject({
      kind: "key_banned",
      detail: "banned",
      retryAfterSeconds: endSeconds - stack.clock.nowMs / 1000,
    });
    expect(refusal?.message).toBe(
      "This key is banned for another 242 s, until 2026-11-21T12:07:02Z, because it went on sending requests after 429 in 3 minutes out of 10. Waiting is enough.",
    );
    expect(view).toMatchObject({ remaining: 0, resetSeconds: endSeconds });
    const [day] = await stack.services.usage.days(1);
    expect(day?.bans).toBe(1);
  });

  test("is served again once the ban is over, and not a moment before", async () => {
    const stack = await Stack.open(start(), {});
    const { key, secret } = await stack.key("free");
    await becomeBanned(stack, secret);
    const { refusal } = await stack.request(secret);
    stack.clock.advance((refusal?.retryAfterSeconds ?? 0) * 1000 - 1);
    expect((await stack.request(secret)).refusal?.kind).toBe("key_banned");
    stack.clock.advance(1);
    expect((await stack.request(secret)).view.remaining).toBe(59);
    // A thousand requests while it was banned were charged to nothing, and prolonged nothing.
    await becomeBanned(stack, secret);
    const before = await countsOf(stack.store, key.id);
    const first = await stack.request(secret);
    await stack.requests(secret, 1_000);
    expect((await stack.request(secret)).view.resetSeconds).toBe(first.view.resetSeconds);
    expect(await countsOf(stack.store, key.id)).toEqual(before as NonNullable<typeof before>);
  });

  test("is not banned with --bans off, but an operator's ban holds", async () => {
    const stack = await Stack.open(start(), { bans: false });
    const { key, secret } = await stack.key("free");
    for (let i = 0; i < 10; i += 1) {
      expect((await minute(stack, secret, 500)).refusal?.kind).toBe("rate_limited");
    }
    expect((await stack.request(secret)).refusal).toBeUndefined();
    await stack.services.keys.ban(key.id, minuteMs);
    expect((await stack.request(secret)).refusal?.message).toBe(
      "This key is banned for another 60 s, until 2026-11-21T12:11:00Z, because the operator of this service imposed it. Waiting is enough.",
    );
  });
});

describe("a read-only key", () => {
  test("is limited like any other, and never banned but by an operator", async () => {
    const stack = await Stack.open(start(), {});
    const { key, secret } = await stack.key("free");
    await stack.services.keys.update(key.id, { readOnly: true });
    await changesNoticed();
    for (let i = 0; i < 5; i += 1) {
      const { refusal } = await minute(stack, secret, 500);
      expect(refusal?.message).toEndWith("try again in 58 s.");
    }
    expect((await stack.request(secret)).refusal).toBeUndefined();
    await stack.services.keys.ban(key.id, minuteMs);
    await changesNoticed();
    expect((await stack.request(secret)).refusal?.kind).toBe("key_banned");
  });

  test("is served again when it becomes read-only during an automatic ban", async () => {
    const stack = await Stack.open(start(), {});
    const { key, secret } = await stack.key("free");
    await becomeBanned(stack, secret);
    expect((await stack.request(secret)).refusal?.kind).toBe("key_banned");
    const readOnly = await stack.services.keys.update(key.id, { readOnly: true });
    await changesNoticed();
    expect((await stack.request(secret)).refusal).toBeUndefined();
    expect(keyState(readOnly, stack.clock.nowMs)).toBe("active");
  });
});

describe("a ban", () => {
  test("holds in every process, after a restart, and for a rotated secret; unban ends it everywhere", async () => {
    await using folder = new SharedFolder(start());
    const [one, two] = [await folder.stack(), await folder.stack()];
    const { key, secret } = await one.key("free");
    await becomeBanned(one, secret);
    await changesNoticed();
    expect((await two.request(secret)).refusal?.kind).toBe("key_banned");
    await folder.stop(one);
    const restarted = await folder.stack();
    expect((await restarted.request(secret)).refusal?.kind).toBe("key_banned");
    const { secret: rotated } = await two.services.keys.rotate(key.id, 0);
    await changesNoticed();
    expect((await restarted.request(rotated)).refusal?.kind).toBe("key_banned");
    await two.services.keys.unban(key.id);
    await changesNoticed();
    expect((await restarted.request(rotated)).refusal).toBeUndefined();
    expect((await two.request(rotated)).refusal).toBeUndefined();
  });

  test("comes of minutes that were noisy in different processes; the same minute counts once", async () => {
    await using folder = new SharedFolder(start());
    const stacks = [await folder.stack(), await folder.stack()];
    const { secret } = await (stacks[0] as Stack).key("free");
    const noisy = async (stack: Stack | undefined) => stack?.requests(secret, 100);
    for (const position of [0, 1]) {
      // Both see the same minute; that is one noisy minute, and the limit is the key's, not each
      // one's.
      await Promise.all(stacks.map(noisy));
      folder.clock.advance(2_000);
      await Promise.all(stacks.map(noisy));
      await changesNoticed();
      expect((await stacks[position]?.request(secret))?.refusal?.kind).toBe("rate_limited");
      folder.clock.advance(58_000);
    }
    await noisy(stacks[1]);
    folder.clock.advance(2_000);
    await noisy(stacks[1]);
    await changesNoticed();
    expect((await stacks[0]?.request(secret))?.refusal?.kind).toBe("key_banned");
  });
});
