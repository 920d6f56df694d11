/** The oldest PostgreSQL that is supported, which Debian 12 has: what holds on the newest one. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { cleanEnvironment } from "../../test/helpers/binary.ts";
import { finished } from "../../test/helpers/finished.ts";

const programs = "/usr/lib/postgresql/15/bin";

test("opens, fails over, recovers and counts there too", async () => {
  expect(Bun.spawnSync([`${programs}/postgres`, "--version"]).stdout.toString()).toContain(" 15.");
  const command = [
    process.execPath,
    "test",
    "--timeout",
    "360000",
    "./test-system/features/postgres",
  ];
  const { exitCode, stdout, stderr } = await finished(command, {
    cwd: join(import.meta.dir, "../.."),
    env: { ...cleanEnvironment, TEST_POSTGRES: programs },
  });
  expect(exitCode, stdout + stderr).toBe(0);
  expect(stderr).toContain("\n 0 fail\n");
});
