/** A credential that cannot be looked up: nobody is let in by it, and nobody pays for it. */
import { countsOf } from "../../src/features/keys/usage.ts";
import { expect, test } from "bun:test";
import { TestClock } from "../helpers/app.ts";
import { Stack } from "../helpers/stack.ts";

const error = new Error("the keys cannot be read");

test.each<[string, () => never | Promise<never>]>([
  [
    "at once",
    () => {
      throw error;
    },
  ],
  ["later", () => Promise.reject(error)],
])(
  "a look-up that fails %s is 503 with the address's numbers, and charged to nobody",
  async (_when, byHash) => {
    const stack = await Stack.open(new TestClock(), { anonymousPerMinute: 10 });
    const { key, secret } = await stack.key("free");
    const working = stack.store.keys.byHash;
    stack.store.keys.byHash = byHash;
    expect((await stack.request("nonsense")).view.remaining).toBe(9);
    for (let i = 0; i < 3; i += 1) {
      const { view, refusal, key: shown } = await stack.request(secret);
      expect(refusal).toMatchObject({ kind: "unavailable" });
      expect(shown).toBeUndefined();
      expect(view).toEqual({
        window: "minute",
        limit: 10,
        remaining: 9,
        resetSeconds: stack.clock.nowMs / 1000 + 50,
      });
    }
    expect(stack.reported).toEqual([error, error, error]);
    // The next minute's bucket is whole again, though nobody was charged in it yet.
    stack.clock.advance(50_000);
    expect((await stack.request(secret)).view).toMatchObject({
      remaining: 10,
      resetSeconds: stack.clock.nowMs / 1000 + 60,
    });
    stack.store.keys.byHash = working;
    expect((await stack.request(secret)).view.remaining).toBe(59);
    expect(await countsOf(stack.store, key.id)).toMatchObject({ minuteUsed: 1 });
  },
);
