/**
 * What shares a commit, what waits for the next one, and what becomes of those who wait when one
 * fails: random histories against a model of the queue.
 */
import { expect, test } from "bun:test";
import * as fc from "fast-check";
import { GroupCommit } from "../../src/storage/group-commit.ts";

/** Enough turns of the event loop for all that can happen. */
const turns = async () => {
  for (let i = 0; i < 5; i += 1) await new Promise(setImmediate);
};

const refused = {
  aborted: "invalid_request: The request ended before it was carried out.",
  full: "unavailable: The store is overloaded at the moment.",
  failed: "unavailable: no room",
};
const bounds = { batchMax: 3, waitingMax: 5 };
type Step = "add" | "abort" | "turn" | "commit" | "fail";

/** A queue of numbers, whose commits end when the test says so, each with ten times the number. */
function queue() {
  const batches: number[][] = [];
  const commits: ((error?: object) => void)[] = [];
  const group = new GroupCommit<number, number>((items) => {
    batches.push(items);
    const { promise, resolve, reject } = Promise.withResolvers<readonly number[]>();
    commits.push((error) => (error ? reject(error) : resolve(items.map((item) => item * 10))));
    return promise;
  }, bounds);
  const outcomeOf = (item: number, signal: AbortSignal) =>
    group
      .add(item, signal)
      .catch(({ kind, message }: { kind: string; message: string }) => `${kind}: ${message}`);
  return { batches, commits, group, outcomeOf };
}

test("items share the commit of their turn or the next one, and each hears of its own", async () => {
  const seen = { aborted: 0, full: 0, failed: 0, stored: 0 };
  const step = fc.constantFrom<Step>("add", "add", "add", "abort", "turn", "commit", "fail");
  const history = async (steps: readonly Step[]) => {
    const { batches, commits, group, outcomeOf } = queue();
    const items: { outcome: Promise<unknown>; signal: AbortController }[] = [];
    // The model: who waits, who is in the commit under way, and what each one must hear.
    const expected: unknown[] = [];
    const expectedBatches: number[][] = [];
    let waiting: number[] = [];
    let running: number[] | undefined;
    const acts: Record<Step, () => unknown> = {
      add() {
        const signal = new AbortController();
        const item = items.push({ signal, outcome: outcomeOf(items.length, signal.signal) }) - 1;
        if (waiting.length < bounds.waitingMax) waiting.push(item);
        else expected[item] = refused.full;
      },
      // Too late for one whose commit has begun.
      abort: () => items.at(-2)?.signal.abort(),
      async turn() {
        await turns();
        while (running === undefined && waiting.length > 0) {
          const batch = waiting.slice(0, bounds.batchMax);
          waiting = waiting.slice(bounds.batchMax);
          const isAborted = (item: number) => items[item]?.signal.signal.aborted === true;
          for (const item of batch.filter(isAborted)) expected[item] = refused.aborted;
          const kept = batch.filter((item) => !isAborted(item));
          if (kept.length > 0) expectedBatches.push((running = kept));
        }
        expect(batches).toEqual(expectedBatches);
      },
      commit: () => end((item) => item * 10),
      fail: () => end(() => refused.failed, { kind: "unavailable", message: "no room" }),
    };
    const end = (outcome: (item: number) => unknown, error?: object) => {
      if (running === undefined) return;
      for (const item of running) expected[item] = outcome(item);
      running = undefined;
      commits.at(-1)?.(error);
    };
    for (const each of steps) await acts[each]();
    // Until nobody waits any more.
    for (const _ of steps) {
      await acts.turn();
      await acts.commit();
    }
    expect(await Promise.all(items.map(({ outcome }) => outcome))).toEqual(expected);
    await group.settled();
    for (const outcome of expected) {
      const [name] = Object.entries(refused).find(([, text]) => text === outcome) ?? ["stored"];
      seen[name as keyof typeof seen] += 1;
    }
  };
  const steps = fc.array(step, { minLength: 10, maxLength: 60 });
  await fc.assert(fc.asyncProperty(steps, history), { numRuns: 200 });
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(50);
});
