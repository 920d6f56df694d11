/** Callers without a valid key: a bucket for each address, in memory that is bounded. */
import { heapStats } from "bun:jsc";
import { expect, test } from "bun:test";
import { minuteMs } from "../../src/domain/clock.ts";
import { AddressLimiter } from "../../src/service/access.ts";
import { random as randomOf } from "../../scripts/random.ts";
import { TestClock } from "../helpers/app.ts";

function bucketsOf(perMinute: number) {
  const clock = new TestClock();
  const buckets = new AddressLimiter(clock.read, perMinute);
  const admitted = (address?: string) => buckets.admit(address).refusal === undefined;
  return { admitted, buckets, clock };
}

test.each([
  ["an IPv4 address, mapped or not", ["192.0.2.1", "::ffff:192.0.2.1", "::ffff:c000:201"]],
  ["an IPv6 /64", ["2001:db8::1", "2001:db8::2:1", "2001:db8:0:0:ffff:ffff:ffff:ffff"]],
  ["all without an address, or with what is none", [undefined, "nonsense", ""]],
])("of %s there is one bucket, and of any other address another", (_what, addresses) => {
  const { admitted } = bucketsOf(3);
  expect(addresses.map(admitted)).toEqual([true, true, true]);
  expect(addresses.map(admitted)).toEqual([false, false, false]);
  // With the prefix cut before it is unmapped, all of IPv4 would share one bucket.
  for (const other of ["::ffff:192.0.2.2", "192.0.2.3", "2001:db8:0:1::"]) {
    expect(admitted(other)).toBe(true);
  }
});

test("a bucket shows its numbers, and refuses in words", () => {
  const { buckets, clock } = bucketsOf(3);
  const resetSeconds = clock.nowMs / 1000 + 50;
  const admissions = [2, 1, 0, 0].map((remaining) => {
    const admission = buckets.admit("192.0.2.1");
    expect(admission.view).toEqual({ window: "minute", limit: 3, remaining, resetSeconds });
    return admission;
  });
  expect(admissions.at(-1)?.refusal).toMatchObject({
    kind: "rate_limited",
    retryAfterSeconds: 50,
    message:
      "An address without a valid key may make 3 requests per minute, and that limit is reached; try again in 50 s.",
  });
  clock.advance(50_000);
  expect(buckets.admit("192.0.2.1").view.remaining).toBe(2);
});

test("200,000 addresses are all counted, later ones share one, and the next minute forgets them", () => {
  const { admitted, clock } = bucketsOf(1);
  const at = (i: number) => admitted(`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`);
  // What is alive on the heap; the memory of the process would depend on the tests before this one.
  const heapBytes = () => {
    Bun.gc(true);
    return heapStats().heapSize;
  };
  const before = heapBytes();
  for (let i = 0; i < 200_000; i += 1) expect(at(i)).toBe(true);
  expect([0, 1, 100_000, 199_999].map(at)).toEqual([false, false, false, false]);
  expect(at(200_000)).toBe(true);
  for (let i = 200_001; i < 250_000; i += 1) expect(at(i)).toBe(false);
  expect(heapBytes() - before).toBeLessThan(64 * 1024 * 1024);
  clock.advance(minuteMs);
  // Each with a bucket of its own, so those of the minute before are gone.
  expect([0, 200_001, 200_002, 200_003].map(at)).toEqual([true, true, true, true]);
});

test("a clock that goes back admits nobody more often in any minute", () => {
  const random = randomOf(51);
  for (let round = 0; round < 200; round += 1) {
    const { buckets, clock } = bucketsOf(5);
    const counts = new Map<number, number>();
    let latestMs = clock.nowMs;
    for (let step = 0; step < 300; step += 1) {
      if (random() < 0.2) {
        // Set back several times, by less than a minute in all: so far a window keeps its label.
        const nextMs = clock.nowMs + Math.floor((random() - 0.45) * 2 * 31_000);
        clock.nowMs = Math.max(nextMs, latestMs - 59_000);
        latestMs = Math.max(latestMs, clock.nowMs);
      }
      const { view, refusal } = buckets.admit("192.0.2.1");
      if (refusal !== undefined) continue;
      counts.set(view.resetSeconds, (counts.get(view.resetSeconds) ?? 0) + 1);
    }
    expect([round, Math.max(...counts.values())]).toEqual([round, 5]);
    while (buckets.admit("192.0.2.1").refusal === undefined);
    clock.advance(-10 * minuteMs);
    expect(buckets.admit("192.0.2.1").refusal).toBeDefined();
  }
});
