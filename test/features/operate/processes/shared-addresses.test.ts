/** Callers without a valid key, counted by several processes together. */
import { describe, expect, test } from "bun:test";
import { array, assert, asyncProperty, constantFrom, integer, nat, record } from "fast-check";
import type { Admission } from "../../../../src/service/admission.ts";
import { MinuteBuckets } from "../../../../src/features/operate/processes/supervisor.ts";
import { AddressLimiter } from "../../../../src/service/anonymous.ts";
import { TestClock } from "../../../helpers/app.ts";

const minuteMs = 60_000;
const address = "192.0.2.1";
const takesMax = 100_000;

function processes(count: number, perMinute: number) {
  const clock = new TestClock();
  const buckets = new MinuteBuckets(clock.read, perMinute);
  let takes = 0;
  const take = async (bucket: string, want: number) => {
    await Promise.resolve();
    // Asking without end in one turn would stop the test's own timeout too.
    if ((takes += 1) > takesMax) throw new Error("a process asks without end");
    return buckets.reserve(bucket, want);
  };
  const limiters = Array.from(
    { length: count },
    () => new AddressLimiter(clock.read, perMinute, take),
  );
  /** One request at a process. */
  const ask = async (process: number): Promise<Admission> => {
    const limiter = limiters[process % count];
    if (limiter === undefined) throw new Error("there is no such process");
    return limiter.admit(address);
  };
  return { clock, ask, limiters, takes: () => takes };
}

/** Requests served, by the minute that their headers showed. */
class Served {
  readonly #byReset = new Map<number, number>();

  add(admissions: readonly Admission[]): void {
    for (const { view, refusal } of admissions) {
      if (refusal !== undefined) continue;
      this.#byReset.set(view.resetSeconds, (this.#byReset.get(view.resetSeconds) ?? 0) + 1);
    }
  }

  get most(): number {
    return Math.max(0, ...this.#byReset.values());
  }
}

describe("several processes", () => {
  test("show one client at a time a number that falls by one", async () => {
    const { ask } = processes(2, 60);
    const seen: number[] = [];
    for (let count = 0; count < 60; count += 1) {
      seen.push((await ask(0)).view.remaining);
    }
    expect(seen).toEqual(Array.from({ length: 60 }, (_, at) => 59 - at));
  });

  test("take a second's requests ahead, once for all who wait, and show them without taking", async () => {
    const { ask, limiters, takes } = processes(2, 300);
    await Promise.all([ask(0), ask(0), ask(0)]);
    expect(limiters[0]?.peek(address)).toMatchObject({ limit: 300, remaining: 297 });
    expect(takes()).toBe(1);
    expect((await ask(1)).view.remaining).toBe(294);
  });

  test("refuse an address for no longer than a minute after a clock was set back", async () => {
    const { ask, clock } = processes(2, 60);
    await Promise.all(Array.from({ length: 60 }, () => ask(0)));
    clock.advance(-60 * minuteMs);
    expect((await ask(0)).refusal).toBeDefined();
    clock.advance(minuteMs);
    expect((await ask(0)).refusal).toBeUndefined();
  });

  test("never admit more than the limit in a minute, whenever they ask and whatever the clock does", async () => {
    const step = record({
      process: nat(2),
      burst: integer({ min: 1, max: 40 }),
      ms: constantFrom(0, 900, 15_000, 60_000, -900, -31_000),
    });
    await assert(
      asyncProperty(array(step, { maxLength: 40 }), async (steps) => {
        const { ask, clock } = processes(3, 60);
        const served = new Served();
        for (const { process, burst, ms } of steps) {
          clock.advance(ms);
          served.add(await Promise.all(Array.from({ length: burst }, () => ask(process))));
        }
        expect(served.most).toBeLessThanOrEqual(60);
      }),
    );
  });
});
