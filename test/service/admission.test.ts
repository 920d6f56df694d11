import { expect, test } from "bun:test";
import { noBan } from "../../src/domain/ban.ts";
import { banned, rateLimited } from "../../src/service/admission.ts";

const view = { window: "minute", limit: 60, resetSeconds: 120 };

const free = { allowance: "The free plan allows", exceeded: "limit" } as const;

test("a refusal that says the same again is the same one", () => {
  const first = rateLimited(view, 90_000, free);
  expect(first.retryAfterSeconds).toBe(30);
  expect(rateLimited(view, 90_000, free)).toBe(first);
  expect(rateLimited(view, 90_000, { ...free, warning: true })).not.toBe(first);
  expect(rateLimited({ ...view, limit: 61 }, 90_000, free)).not.toBe(first);
  expect(rateLimited(view, 91_000, free).retryAfterSeconds).toBe(29);
});

test("a banned key is told how long it still has to wait", () => {
  const ban = { ...noBan, bannedUntilMs: 300_000, reason: "it did not wait" };
  const waits = [0, 1_000, 299_000].map((nowMs) => banned(ban, 300, nowMs));
  expect(waits.map(({ retryAfterSeconds }) => retryAfterSeconds)).toEqual([300, 299, 1]);
  expect(waits[1]?.message).toBe(
    "This key is banned for another 299 s, until 1970-01-01T00:05:00Z, because it did not wait. Waiting is enough.",
  );
});

test("keeps a bounded number of refusals, and gives right ones beyond it", () => {
  const first = rateLimited(view, 0, free);
  for (let limit = 1; limit <= 3_000; limit += 1) {
    const { message } = rateLimited({ ...view, limit }, 0, free);
    expect(message).toContain(` ${limit} request${limit === 1 ? "" : "s"} per minute`);
  }
  // It was let go meanwhile, and is made again.
  const again = rateLimited(view, 0, free);
  expect(again).not.toBe(first);
  expect(again).toEqual(first);
});
