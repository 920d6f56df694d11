/**
 * Random histories of several processes on one folder against a model that knows nothing of blocks,
 * commits or memory: it only adds up who was admitted.
 */
import { expect, test } from "bun:test";
import * as fc from "fast-check";
import { dayMs, minuteMs } from "../../src/domain/clock.ts";
import type { Limits } from "../../src/domain/plan.ts";
import { reservationSize } from "../../src/domain/windows.ts";
import { TestClock } from "../helpers/app.ts";
import { countAdmitted, SharedFolder, type Stack } from "../helpers/stack.ts";
import { changesNoticed, isOnPostgres } from "../helpers/store-under-test.ts";

interface Row {
  readonly minute: number;
  readonly minuteUsed: number;
  readonly day: number;
  readonly dayUsed: number;
}

/**
 * The model: what a key was admitted in the windows that may be in force. There may be several such
 * states, since a window that nothing was taken from is not kept, and a clock that is set back then
 * finds the one before.
 */
class Model {
  private rows: Row[] = [{ minute: 0, minuteUsed: 0, day: 0, dayUsed: 0 }];

  roll(nowMs: number): void {
    const label = (old: number, lengthMs: number) => {
      const now = Math.floor(nowMs / lengthMs);
      return old === now + 1 ? old : now;
    };
    const rolled = this.rows.map((row): Row => {
      const [minute, day] = [label(row.minute, minuteMs), label(row.day, dayMs)];
      const minuteUsed = minute > row.minute ? 0 : row.minuteUsed;
      return { minute, minuteUsed, day, dayUsed: day > row.day ? 0 : row.dayUsed };
    });
    const all = [...this.rows, ...rolled].map((row) => [JSON.stringify(row), row] as const);
    this.rows = [...new Map(all).values()];
  }

  /** The least and the most that the key may still be admitted. */
  left(limits: Limits, nowMs: number): { least: number; most: number } {
    this.roll(nowMs);
    const lefts = this.rows.map((row) => leftOf(row, limits, nowMs)).filter((left) => left >= 0);
    return { least: Math.min(...lefts), most: Math.max(...lefts) };
  }

  admit(count: number, limits: Limits, nowMs: number): void {
    this.rows = this.rows
      .filter((row) => leftOf(row, limits, nowMs) >= count)
      .map((row) => ({
        ...row,
        minuteUsed: row.minuteUsed + count,
        dayUsed: row.dayUsed + count,
      }));
  }
}

/** What is left of a state's windows, or -1 where they are not the ones that run. */
function leftOf(row: Row, { perMinute, perDay }: Limits, nowMs: number): number {
  const runs = (label: number, lengthMs: number) => {
    const ahead = label - Math.floor(nowMs / lengthMs);
    return ahead === 0 || ahead === 1;
  };
  if (!runs(row.minute, minuteMs) || !runs(row.day, dayMs)) return -1;
  return Math.max(0, Math.min(perMinute - row.minuteUsed, perDay - row.dayUsed));
}

const key = fc.nat(1);
/** Taken modulo the number of processes that there are. */
const process = fc.nat(5);
const count = fc.integer({ min: 1, max: 90 });
const limits = fc.record({
  perMinute: fc.integer({ min: 1, max: 300 }),
  perDay: fc.integer({ min: 1, max: 600 }),
});
const steps = [1, 999, 4_000, 30_000, minuteMs, dayMs, -1, -1_000, -15_000, -600_000, -93_600_000];
const kindOf = <K extends string>(...kinds: readonly K[]) => fc.constantFrom(...kinds);
const take = fc.record({ kind: kindOf("take"), process, key, count });
const clock = fc.record({ kind: kindOf("clock"), byMs: fc.constantFrom(...steps) });
const byMs = fc.integer({ min: 1_000, max: 7_200_000 });
const bounce = fc.record({ kind: kindOf("bounce"), byMs, process, key, count });
const plan = fc.record({ kind: kindOf("plan"), key, limits });
const ban = fc.record({ kind: kindOf("ban", "unban"), key });
const end = fc.record({ kind: kindOf("stop", "kill"), process });
const all = [take, clock, bounce, plan, ban, end] as fc.Arbitrary<Action>[];
const weights = [8, 3, 2, 1, 1, 1];
const action = fc.oneof(...all.map((arbitrary, at) => ({ arbitrary, weight: weights[at]! })));
type ValueOf<A> = A extends fc.Arbitrary<infer T> ? T : never;
type Change = ValueOf<typeof plan> | ValueOf<typeof ban>;
type Action = ValueOf<typeof take | typeof clock | typeof bounce | typeof end> | Change;

/** The processes as they are, beside the model of each key. Returns what to do with an action. */
async function drive(
  folder: SharedFolder,
  processes: number,
  both: readonly Limits[],
  totals: { admitted: number; refused: number },
) {
  const open = () => folder.stack({ bans: false });
  const stacks: Stack[] = [];
  while (stacks.length < processes) stacks.push(await open());
  const service = () => stacks[0]!.services.keys;
  const keys = await Promise.all(
    both.map(async (limits) => {
      const { key, secret } = await stacks[0]!.key("enterprise", limits);
      return { id: key.id, secret, limits, bannedUntilMs: 0, model: new Model() };
    }),
  );
  /** What other processes may hold, or killed ones have lost, of any key. */
  let blockMax = Math.max(...both.map(reservationSize));
  let kills = 0;

  async function requests({ process, key, count }: ValueOf<typeof take>): Promise<void> {
    const { secret, limits, bannedUntilMs, model } = keys[key]!;
    const { nowMs } = folder.clock;
    const admissions = await stacks[process % processes]!.requests(secret, count);
    const admitted = countAdmitted(admissions);
    totals.admitted += admitted;
    totals.refused += count - admitted;
    const { least, most } = model.left(limits, nowMs);
    if (nowMs < bannedUntilMs) {
      expect(admissions.every(({ refusal }) => refusal?.kind === "key_banned")).toBe(true);
      return;
    }
    const elsewhere = (processes - 1 + kills) * (blockMax - 1);
    expect(admitted).toBeLessThanOrEqual(most);
    expect(admitted).toBeGreaterThanOrEqual(Math.min(count, least - elsewhere));
    // In a database requests that arrive together may overtake each other.
    const inOrder = admissions.toSorted((a, b) => b.view.remaining - a.view.remaining);
    for (const [position, { view, refusal }] of inOrder.entries()) {
      // What a block shows is as of its take: what other processes have taken since then is not
      // known.
      if (processes === 1) {
        const expected = Math.max(0, most - 1 - position);
        if (least === most && kills === 0) expect(view.remaining).toBe(expected);
        expect(view.remaining).toBeLessThanOrEqual(expected);
        expect([limits.perMinute, limits.perDay]).toContain(view.limit);
      }
      expect(view.remaining).toBeGreaterThanOrEqual(0);
      if (refusal === undefined) continue;
      const { kind, retryAfterSeconds = 0 } = refusal;
      expect({ kind, remaining: view.remaining }).toEqual({ kind: "rate_limited", remaining: 0 });
      expect(nowMs + retryAfterSeconds * 1000).toBeGreaterThanOrEqual(view.resetSeconds * 1000);
    }
    if (admitted > 0) model.admit(admitted, limits, nowMs);
  }

  async function change(step: Change): Promise<void> {
    const key = keys[step.key]!;
    if (step.kind === "plan") {
      await service().update(key.id, step.limits);
      key.limits = step.limits;
      blockMax = Math.max(blockMax, reservationSize(step.limits));
    } else if (step.kind === "ban") {
      await service().ban(key.id, 30_000);
      key.bannedUntilMs = folder.clock.nowMs + 30_000;
    } else {
      await service().unban(key.id);
      // A clock set back does not bring a lifted ban back.
      key.bannedUntilMs = 0;
    }
  }

  return async function run(step: Action): Promise<void> {
    if (step.kind === "bounce") {
      // A clock that two sources set in turn: ahead, used, and back again.
      await run({ kind: "clock", byMs: step.byMs });
      await run({ ...step, kind: "take" });
      return run({ kind: "clock", byMs: -step.byMs });
    }
    if (step.kind === "take") await requests(step);
    else if (step.kind === "clock") folder.clock.advance(step.byMs);
    else if ("process" in step) {
      if (step.kind === "kill") kills += 1;
      await folder[step.kind](stacks[step.process % processes]!);
      stacks[step.process % processes] = await open();
    } else await change(step);
    for (const stack of stacks) await stack.services.sweep();
    for (const { model } of keys) model.roll(folder.clock.nowMs);
    // A server reads the epoch once a turn.
    await changesNoticed();
  };
}

/** Ahead of midnight and back: the rest of a block went back, and was refused from memory. */
const smallAndWide = [1, 120].map((most) => ({ perMinute: most, perDay: most }));
const bounced: Action[] = [
  { kind: "take", process: 0, key: 1, count: 118 },
  { kind: "take", process: 0, key: 0, count: 1 },
  { kind: "take", process: 0, key: 1, count: 1 },
  { kind: "bounce", byMs: 30_000, process: 0, key: 0, count: 1 },
  { kind: "take", process: 0, key: 1, count: 1 },
];

test.each([1, 3])(
  "with %i processes no history of takes, changes, bans, clocks, stops and kills admits more than the limits, or needlessly less",
  async (processes) => {
    const totals = { admitted: 0, refused: 0 };
    const history = async (both: readonly Limits[], actions: readonly Action[]) => {
      await using folder = new SharedFolder(new TestClock(Date.UTC(2026, 10, 21, 23, 59, 30)));
      const run = await drive(folder, processes, both, totals);
      for (const step of actions) await run(step);
    };
    const both = fc.array(limits, { minLength: 2, maxLength: 2 });
    const actions = fc.array(action, { minLength: 10, maxLength: 40 });
    await fc.assert(fc.asyncProperty(both, actions, history), {
      examples: [[smallAndWide, bounced]],
      numRuns: Number(Bun.env["MODEL_RUNS"] ?? (isOnPostgres ? 12 : 40)),
    });
    // A model that is never near a limit, or only beyond it, would prove nothing.
    expect(totals.admitted).toBeGreaterThan(1_000);
    expect(totals.refused).toBeGreaterThan(1_000);
  },
  600_000,
);
