/** Bans through the services: who is banned, who never is, what is said, and what is kept. */
import { expect, test } from "bun:test";
import { minuteMs } from "../../src/domain/clock.ts";
import { keyState } from "../../src/features/keys/service.ts";
import { countsOf } from "../../src/features/keys/usage.ts";
import { TestClock } from "../helpers/app.ts";
import { SharedFolder, Stack } from "../helpers/stack.ts";
import { changesNoticed } from "../helpers/store-under-test.ts";

const open = async (options = {}) => {
  const stack = await Stack.open(new TestClock(Date.UTC(2026, 10, 21, 12)), options);
  return { stack, ...(await stack.key("free")) };
};
const refusalOf = async (stack: Stack, secret: string) => (await stack.request(secret)).refusal;

/** The rest of a minute: its 60 requests, then `refusals` that count. Ends as the next begins. */
async function minute(stack: Stack, secret: string, refusals: number) {
  const { clock } = stack;
  await stack.requests(secret, 61);
  clock.advance(2_000);
  const admissions = await stack.requests(secret, refusals);
  await changesNoticed();
  clock.advance(minuteMs - (clock.nowMs % minuteMs));
  return admissions.at(-1)?.refusal;
}

/** Three minutes with more than a quiet one's 30 refusals; the ban begins 2 s into the third. */
async function becomeBanned(stack: Stack, secret: string): Promise<void> {
  for (let i = 0; i < 3; i += 1) await minute(stack, secret, 31);
}

const changeOf = async (change: Promise<unknown>) => {
  await change;
  await changesNoticed();
};

test("who goes on after 429 is told what it leads to, and banned until the end that was said", async () => {
  const { stack, key, secret } = await open();
  const { clock } = stack;
  await stack.requests(secret, 60);
  const limit =
    "The free plan allows 60 requests per minute, and that limit is reached; try again in";
  expect((await refusalOf(stack, secret))?.message).toBe(`${limit} 60 s.`);
  clock.advance(2_000);
  expect((await refusalOf(stack, secret))?.message).toBe(
    `${limit} 58 s, because going on without waiting leads to a temporary ban.`,
  );
  await becomeBanned(stack, secret);
  const { refusal, view } = await stack.request(secret);
  const endMs = Date.UTC(2026, 10, 21, 12, 7, 2);
  expect(refusal).toMatchObject({
    kind: "key_banned",
    detail: "banned",
    retryAfterSeconds: (endMs - clock.nowMs) / 1000,
    message:
      "This key is banned for another 242 s, until 2026-11-21T12:07:02Z, because it went on sending requests after 429 in 3 minutes out of 10. Waiting is enough.",
  });
  expect(view).toMatchObject({ remaining: 0, resetSeconds: endMs / 1000 });
  const [day] = await stack.services.usage.days(1);
  expect(day?.bans).toBe(1);
  // A thousand requests while it is banned are charged to nothing, and prolong nothing.
  const before = await countsOf(stack.store, key.id);
  await stack.requests(secret, 1_000);
  expect(await countsOf(stack.store, key.id)).toEqual(before);
  clock.nowMs = endMs - 1;
  expect((await refusalOf(stack, secret))?.kind).toBe("key_banned");
  clock.nowMs = endMs;
  expect((await stack.request(secret)).view.remaining).toBe(59);
});

test.each([
  ["with --bans off", { bans: false }, false],
  ["that is read-only", {}, true],
])(
  "a key %s is limited like any other, and banned by an operator alone",
  async (_, options, readOnly) => {
    const { stack, key, secret } = await open(options);
    await changeOf(stack.services.keys.update(key.id, { readOnly }));
    for (let i = 0; i < 5; i += 1) {
      const refusal = await minute(stack, secret, 500);
      expect(refusal?.kind).toBe("rate_limited");
      if (readOnly) expect(refusal?.message).toEndWith("try again in 58 s.");
    }
    expect(await refusalOf(stack, secret)).toBeUndefined();
    await changeOf(stack.services.keys.ban(key.id, minuteMs));
    expect((await refusalOf(stack, secret))?.message).toBe(
      "This key is banned for another 60 s, until 2026-11-21T12:06:00Z, because the operator of this service imposed it. Waiting is enough.",
    );
  },
);

test("a key is served again when it becomes read-only during an automatic ban", async () => {
  const { stack, key, secret } = await open();
  await becomeBanned(stack, secret);
  expect((await refusalOf(stack, secret))?.kind).toBe("key_banned");
  const changed = stack.services.keys.update(key.id, { readOnly: true });
  await changeOf(changed);
  expect(await refusalOf(stack, secret)).toBeUndefined();
  expect(keyState(await changed, stack.clock.nowMs)).toBe("active");
});

test("a ban holds in every process, after a restart and for a rotated secret, until it is lifted", async () => {
  await using folder = new SharedFolder(new TestClock(Date.UTC(2026, 10, 21, 12)));
  const [one, two] = [await folder.stack(), await folder.stack()];
  const { key, secret } = await one.key("free");
  await becomeBanned(one, secret);
  await changesNoticed();
  await folder.stop(one);
  const restarted = await folder.stack();
  const kinds = async (given: string) =>
    [await refusalOf(two, given), await refusalOf(restarted, given)].map(
      (refusal) => refusal?.kind,
    );
  expect(await kinds(secret)).toEqual(["key_banned", "key_banned"]);
  const rotating = two.services.keys.rotate(key.id, 0);
  await changeOf(rotating);
  const { secret: rotated } = await rotating;
  expect(await kinds(rotated)).toEqual(["key_banned", "key_banned"]);
  await changeOf(two.services.keys.unban(key.id));
  expect(await kinds(rotated)).toEqual([undefined, undefined]);
});

test("a ban comes of minutes that were noisy in different processes; the same minute counts once", async () => {
  await using folder = new SharedFolder(new TestClock(Date.UTC(2026, 10, 21, 12)));
  const [one, two] = [await folder.stack(), await folder.stack()];
  const { secret } = await one.key("free");
  // Both see the first two minutes: each is one, and the limit is the key's, not each process's.
  for (const [stacks, kind] of [
    [[one, two], "rate_limited"],
    [[one, two], "rate_limited"],
    [[two], "key_banned"],
  ] as const) {
    for (const ms of [0, 2_000]) {
      folder.clock.advance(ms);
      await Promise.all(stacks.map((stack) => stack.requests(secret, 100)));
    }
    await changesNoticed();
    expect((await refusalOf(one, secret))?.kind).toBe(kind);
    folder.clock.advance(58_000);
  }
});
