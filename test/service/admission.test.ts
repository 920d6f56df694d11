import { expect, test } from "bun:test";
import { rateLimited } from "../../src/service/admission.ts";

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
