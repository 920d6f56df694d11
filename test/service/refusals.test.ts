import { expect, test } from "bun:test";
import { noBan } from "../../src/domain/ban.ts";
import { banned, rateLimited } from "../../src/service/refusals.ts";

const view = { window: "minute", limit: 60, resetSeconds: 120 };

test("a refusal that says the same again is the same one", () => {
  const first = rateLimited(view, 90_000, "The free plan allows");
  expect(first.retryAfterSeconds).toBe(30);
  expect(rateLimited(view, 90_000, "The free plan allows")).toBe(first);
  expect(rateLimited(view, 90_000, "The free plan allows", true)).not.toBe(first);
  expect(rateLimited({ ...view, limit: 61 }, 90_000, "The free plan allows")).not.toBe(first);
  expect(rateLimited(view, 91_000, "The free plan allows").retryAfterSeconds).toBe(29);
});

test("a banned key is told how long it still has to wait, though the message stays", () => {
  const ban = { ...noBan, bannedUntilMs: 300_000, reason: "it did not wait" };
  const waits = [0, 1_000, 299_000].map((nowMs) => banned(ban, 300, nowMs));
  expect(waits.map(({ retryAfterSeconds }) => retryAfterSeconds)).toEqual([300, 299, 1]);
  expect(new Set(waits.map(({ message }) => message)).size).toBe(1);
});

test("keeps a bounded number of refusals, and gives right ones beyond it", () => {
  const first = rateLimited(view, 0, "The free plan allows");
  for (let limit = 1; limit <= 3_000; limit += 1) {
    const { message } = rateLimited({ ...view, limit }, 0, "The free plan allows");
    expect(message).toContain(` ${limit} request${limit === 1 ? "" : "s"} per minute`);
  }
  // It was let go meanwhile, and is made again.
  const again = rateLimited(view, 0, "The free plan allows");
  expect(again).not.toBe(first);
  expect(again).toEqual(first);
});
