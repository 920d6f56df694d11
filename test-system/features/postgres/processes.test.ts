/**
 * Several processes on one database: limits hold exactly, a killed one takes nothing that is not
 * its own.
 */
import { countsOf } from "../../../src/features/keys/usage.ts";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Services } from "../../../src/service/services.ts";
import type { Store } from "../../../src/storage/contract.ts";
import { temporaryFolder } from "../../../test/helpers/binary.ts";
import { servicesOn } from "../../../test/helpers/services.ts";
import { postgresStore } from "../../../test/helpers/postgres-store.ts";
import { hookTimeoutMs, testDatabase, type TestDatabase } from "../../../test/helpers/postgres.ts";

const noonMs = Date.UTC(2026, 10, 21, 12, 0, 10);
const processes = 8;
/** A block of 2, so that the last one is not always whole. */
const limits = { perMinute: 119, perDay: 1_000 };

const folder = temporaryFolder();
let database: TestDatabase;
let store: Store;
let services: Services;

beforeAll(async () => {
  database = await testDatabase();
  const clock = () => noonMs;
  store = await postgresStore.open(database.url, { timeoutMs: 2_000, clock });
  services = servicesOn(store, { clock, bans: false });
}, hookTimeoutMs);
afterAll(async () => {
  await services.close();
  await database[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
}, hookTimeoutMs);

let made = 0;

async function makeKeys(count: number): Promise<{ id: string; secret: string }[]> {
  const keys = [];
  for (let i = 0; i < count; i += 1) {
    const { key, secret } = await services.keys.create({
      name: `key ${(made += 1)}`,
      plan: "enterprise",
      ...limits,
    });
    keys.push({ id: key.id, secret });
  }
  return keys;
}

function hammer(file: string, keys: readonly { secret: string }[]) {
  const program = join(import.meta.dir, "hammer.ts");
  const secrets = keys.map(({ secret }) => secret);
  return Bun.spawn([process.execPath, program, database.url, String(noonMs), file, ...secrets], {
    stdout: "ignore",
    stderr: "pipe",
  });
}

function admitted(file: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const id of readFileSync(file, "utf8").split("\n").filter(Boolean)) {
    counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return counts;
}

test(`${processes} processes that hammer 100 keys admit exactly their limits`, async () => {
  const keys = await makeKeys(100);
  const file = join(folder.path, "exact");
  writeFileSync(file, "");
  const children = Array.from({ length: processes }, () => hammer(file, keys));
  const codes = await Promise.all(children.map(({ exited }) => exited));
  expect(codes).toEqual(codes.map(() => 0));
  expect((await Promise.all(children.map(({ stderr }) => stderr.text()))).join("")).toBe("");
  const counts = admitted(file);
  expect(keys.map(({ id }) => counts.get(id))).toEqual(keys.map(() => limits.perMinute));
  const kept = await Promise.all(keys.map(async ({ id }) => countsOf(store, id)));
  expect(kept.map((each) => each?.minuteUsed)).toEqual(keys.map(() => limits.perMinute));
}, 120_000);
