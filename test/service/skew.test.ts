/** A machine whose clock is behind the database's. */
import { expect, test } from "bun:test";
import { TestClock } from "../helpers/app.ts";
import { servicesOn } from "../helpers/services.ts";
import { openTestStore } from "../helpers/store-under-test.ts";

const behindMs = 3_000;

test("a block is not used beyond its window on the store's clock", async () => {
  const clock = new TestClock(Date.UTC(2026, 10, 21, 12, 0, 59, 900) - behindMs);
  const store = await openTestStore({ clock: () => clock.nowMs + behindMs, serving: true });
  Object.assign(store.windows, { skewMs: () => behindMs });
  const services = servicesOn(store, { clock: clock.read });
  const { secret } = await services.keys.create({ name: "a key", plan: "business" });
  const admit = async () => (await services.access.admit(secret, () => undefined)).view;
  const before = await admit();
  expect(before.remaining).toBe(999);
  expect((await admit()).remaining).toBe(998);
  clock.advance(200);
  // By this machine's clock the first minute still runs, but it is the next one that is charged.
  const after = await admit();
  expect([after.remaining, after.resetSeconds]).toEqual([999, before.resetSeconds + 60]);
  await services.close();
});
