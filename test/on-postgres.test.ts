/**
 * Tests that were written for a data folder and hold for a database as well: here they run on PostgreSQL. By hand:
 * `TEST_STORE=postgres bun test test/binary/contract.test.ts`.
 */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { sharedServer } from "./helpers/postgres.ts";

const files = [
  "test/binary/bad-inputs.test.ts",
  "test/binary/contract.test.ts",
  "test/binary/keys.test.ts",
  "test/binary/kill.test.ts",
  "test/binary/pets.test.ts",
];
const passedMin = 200;

test(`${files.length} files of tests hold on PostgreSQL too`, async () => {
  const { url } = await sharedServer();
  const preload = "./test/helpers/drop-databases.ts";
  const child = Bun.spawn([process.execPath, "test", "--preload", preload, ...files], {
    cwd: join(import.meta.dir, ".."),
    env: { ...process.env, TEST_STORE: "postgres", REHOME_TEST_POSTGRES: url },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [exitCode, stdout, stderr] = await Promise.all([
    child.exited,
    child.stdout.text(),
    child.stderr.text(),
  ]);
  const report = `${stdout}${stderr}`.split("\n").filter((line) => !line.startsWith("(pass)"));
  expect([exitCode, ...report.slice(-80)]).toEqual([0, ...report.slice(-80)]);
  expect(Number(/^ *(\d+) pass$/m.exec(stderr)?.[1] ?? 0)).toBeGreaterThan(passedMin);
}, 120_000);
