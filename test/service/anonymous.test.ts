/** Callers without a valid key: a bucket for each address, in memory that is bounded. */
import { heapStats } from "bun:jsc";
import { describe, expect, test } from "bun:test";
import { AddressLimiter } from "../../src/service/anonymous.ts";
import { random as randomOf } from "../../scripts/random.ts";
import { TestClock } from "../helpers/app.ts";
import { Stack } from "../helpers/stack.ts";

const minuteMs = 60_000;
/**
 * What is alive on the heap; the memory of the process would depend on the tests before this one.
 */
function heapBytes(): number {
  Bun.gc(true);
  return heapStats().heapSize;
}
const address = (i: number) => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`;
const limiter = (perMinute = 3) => {
  const clock = new TestClock();
  return { clock, limiter: new AddressLimiter(clock.read, perMinute) };
};
const admitted = (buckets: AddressLimiter, address: string | undefined) =>
  buckets.admit(address).refusal === undefined;

describe("buckets", () => {
  test("of IPv4 are one address each, also where it is mapped into IPv6", () => {
    const { limiter: buckets } = limiter();
    expect(admitted(buckets, "192.0.2.1")).toBe(true);
    expect(admitted(buckets, "::ffff:192.0.2.1")).toBe(true);
    expect(admitted(buckets, "::ffff:c000:201")).toBe(true);
    expect(admitted(buckets, "192.0.2.1")).toBe(false);
    // With the prefix cut before it is unmapped, all of IPv4 would share one bucket.
    expect(admitted(buckets, "::ffff:192.0.2.2")).toBe(true);
    expect(admitted(buckets, "192.0.2.3")).toBe(true);
  });

  test("of IPv6 are a /64 each", () => {
    const { limiter: buckets } = limiter();
    for (let i = 0; i < 3; i += 1) expect(admitted(buckets, `2001:db8::${i}:1`)).toBe(true);
    expect(admitted(buckets, "2001:db8:0:0:ffff:ffff:ffff:ffff")).toBe(false);
    expect(admitted(buckets, "2001:db8:0:1::")).toBe(true);
  });

  test("of callers without an address, or with what is none, are one", () => {
    const { limiter: buckets } = limiter();
    for (const address of [undefined, "nonsense", ""])
      expect(admitted(buckets, address)).toBe(true);
    expect(admitted(buckets, "also nonsense")).toBe(false);
    expect(admitted(buckets, "192.0.2.1")).toBe(true);
  });

  test("show their numbers, and refuse in words", () => {
    const { clock, limiter: buckets } = limiter();
    const resetSeconds = clock.nowMs / 1000 + 50;
    const views = [1, 2, 3, 4].map(() => buckets.admit("192.0.2.1"));
    expect(views.map(({ view }) => view)).toEqual(
      [2, 1, 0, 0].map((remaining) => ({ window: "minute", limit: 3, remaining, resetSeconds })),
    );
    expect(views[3]?.refusal).toMatchObject({
      kind: "rate_limited",
      retryAfterSeconds: 50,
      message:
        "An address without a valid key may make 3 requests per minute, and that limit is reached; try again in 50 s.",
    });
    clock.advance(50_000);
    expect(buckets.admit("192.0.2.1").view.remaining).toBe(2);
  });

  test("of 200,000 addresses are all counted, later ones share one, and the next minute forgets them", () => {
    const { clock, limiter: buckets } = limiter(1);
    const before = heapBytes();
    for (let i = 0; i < 200_000; i += 1) expect(admitted(buckets, address(i))).toBe(true);
    for (const i of [0, 1, 100_000, 199_999]) expect(admitted(buckets, address(i))).toBe(false);
    expect(admitted(buckets, address(200_000))).toBe(true);
    for (let i = 200_001; i < 250_000; i += 1) expect(admitted(buckets, address(i))).toBe(false);
    expect(heapBytes() - before).toBeLessThan(64 * 1024 * 1024);
    clock.advance(minuteMs);
    expect(admitted(buckets, address(0))).toBe(true);
    // Each with a bucket of its own, so those of the minute before are gone.
    for (const i of [200_001, 200_002, 200_003]) expect(admitted(buckets, address(i))).toBe(true);
  });
});

test("a clock that goes back admits nobody more often in any minute", () => {
  const random = randomOf(51);
  for (let round = 0; round < 200; round += 1) {
    const { clock, limiter: buckets } = limiter(5);
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
  }
});

describe("a flood without a key", () => {
  test("never touches a request with one, from the same address either", async () => {
    const stack = await Stack.open(new TestClock(), { anonymousPerMinute: 10 });
    const { secret } = await stack.key("free");
    const bad = `${secret.slice(0, -1)}${secret.endsWith("0") ? "1" : "0"}`;
    const kinds = new Map<string | undefined, number>();
    for (let i = 0; i < 500; i += 1) {
      const { refusal, view, key } = await stack.request(i % 2 === 0 ? bad : "nonsense");
      kinds.set(refusal?.kind, (kinds.get(refusal?.kind) ?? 0) + 1);
      // Never the numbers of the key that it nearly is.
      expect([view.limit, key]).toEqual([10, undefined]);
    }
    expect([...kinds]).toEqual([
      ["unauthorized", 10],
      ["rate_limited", 490],
    ]);
    expect((await stack.request(secret)).view).toMatchObject({ limit: 60, remaining: 59 });
  });
});
