/** Several servers on one database: limits hold exactly, whatever comes at once. */
import { expect, test } from "bun:test";
import { countsOf } from "../../../src/features/keys/usage.ts";
import { servicesOn } from "../../../test/helpers/services.ts";
import { postgresStore } from "../../../test/helpers/postgres-store.ts";
import { testDatabase } from "../../../test/helpers/postgres.ts";

const clock = () => Date.UTC(2026, 10, 21, 12, 0, 10);
const [servers, keys] = [8, 50];
/** A block of 2, so that the last one is not always whole. */
const limits = { perMinute: 119, perDay: 1_000 };
/** A key is given up after so many refusals in a row: others may still give blocks back. */
const refusalsMax = 3;

test(`${servers} servers that hammer ${keys} keys admit exactly their limits`, async () => {
  await using database = await testDatabase();
  const opened = Array.from({ length: servers }, async () => {
    const store = await postgresStore.open(database.url, { timeoutMs: 60_000, clock });
    return { store, services: servicesOn(store, { clock, bans: false }) };
  });
  const stacks = await Promise.all(opened);
  const [first] = stacks;
  const admitted = new Map<string, number>();
  const hammer = async (secret: string) => {
    const by = stacks.map(async ({ services }) => {
      for (let refusals = 0; refusals < refusalsMax;) {
        const { key, refusal } = await services.access.admit(secret, () => undefined);
        if (refusal !== undefined) refusals += 1;
        else {
          refusals = 0;
          admitted.set(key?.id ?? "", (admitted.get(key?.id ?? "") ?? 0) + 1);
        }
      }
    });
    await Promise.all(by);
  };
  const secrets: string[] = [];
  for (let at = 0; at < keys; at += 1) {
    const made = await first?.services.keys.create({
      name: `${at}`,
      plan: "enterprise",
      ...limits,
    });
    secrets.push(made?.secret ?? "");
  }
  await Promise.all(secrets.map(hammer));
  expect([...admitted.values()]).toEqual(secrets.map(() => limits.perMinute));
  for (const id of admitted.keys()) {
    const counts = first && (await countsOf(first.store, id));
    expect(counts?.minuteUsed).toBe(limits.perMinute);
  }
  for (const { services } of stacks) await services.close();
}, 120_000);
