/**
 * Counters on a disk that is full or read-only: refused, never served uncharged. Needs root, to
 * mount a tmpfs.
 */
import { Database } from "bun:sqlite";
import { afterEach, expect, test } from "bun:test";
import { chmodSync, chownSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeKey, perDay, serve, temporaryFolder } from "../../test/helpers/binary.ts";
import { ask, hammer, withinMinute } from "../../test/helpers/ask.ts";
import { fill, smallDisk } from "../../test/helpers/small-disk.ts";

const canMount = process.getuid?.() === 0;
if (!canMount) process.stderr.write("NOT RUN: counters on a full disk need root, to mount one\n");
const cleanUps: (() => void)[] = [];
afterEach(() => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) cleanUp();
});

/** How many requests of the day were charged to a key. */
const counted = (data: string, keyId: string): number => {
  const db = new Database(join(data, "limits.db"), { readonly: true });
  const row = db
    .query<{ used: number }, [string]>(
      "SELECT day_used + 0 AS used FROM rate_windows WHERE key_id = ?",
    )
    .get(keyId);
  db.close();
  return row?.used ?? 0;
};

test.if(canMount)(
  "a full disk: whoever is served was charged, the others get 503, and it recovers",
  async () => {
    using disk = smallDisk(2);
    const path = disk?.path ?? "";
    const data = join(path, "data");
    const limit = 100_000;
    const { key, id } = await makeKey(data, ...perDay(limit));
    await using server = await serve(data, ["--store-timeout", "300"]);
    expect((await ask(server.origin, key)).status).toBe(200);
    const ballast = fill(path);
    const answers = await hammer([server.origin], key, 6_000, 32);
    const served = answers.filter(({ status }) => status === 200).length;
    for (const { status, code, retryAfterSeconds, limit } of answers) {
      if (status !== 200) {
        expect({ status, code, retryAfterSeconds, limit }).toEqual({
          status: 503,
          code: "unavailable",
          retryAfterSeconds: 1,
          limit,
        });
      }
    }
    ballast[Symbol.dispose]();
    const answer = await ask(server.origin, key);
    expect(answer.status).toBe(200);
    // What the caller has left is never more than what it was not served.
    expect(answer.remaining).toBeLessThanOrEqual(limit - served - 2);
    await server.stop();
    expect(counted(data, id)).toBeGreaterThanOrEqual(served + 2);
  },
  120_000,
);

test.if(canMount)(
  "counters that may not be written to: the server says so and does not start",
  async () => {
    using folder = temporaryFolder();
    const data = join(folder.path, "data");
    await makeKey(data);
    // A user who may do all but write to the counters.
    const nobody = 65_534;
    const files = readdirSync(data).map((name) => join(data, name));
    for (const path of [folder.path, data, ...files]) chownSync(path, nobody, nobody);
    chownSync(join(data, "limits.db"), 0, 0);
    chmodSync(join(data, "limits.db"), 0o444);
    const command = ["setpriv", `--reuid=${nobody}`, "--clear-groups", "--inh-caps=-all"];
    const start = async () => {
      await using server = await serve(data, [], { command });
      return server.origin;
    };
    expect(await start().catch((error: Error) => error.message)).toContain(
      `Error: The data folder ${data} cannot be used: permission denied.`,
    );
  },
);

/**
 * Whether files here can be sealed against writing while they are open, which mounting read-only
 * does not do.
 */
const canSeal = (() => {
  using folder = temporaryFolder();
  const file = join(folder.path, "file");
  writeFileSync(file, "");
  const isSealed = Bun.which("chattr") !== null && chattr("+i", file);
  if (isSealed) chattr("-i", file);
  else process.stderr.write("NOT RUN: read-only counters need the right to seal a file\n");
  return isSealed;
})();

function chattr(...args: string[]): boolean {
  return Bun.spawnSync(["chattr", ...args], { stderr: "ignore" }).exitCode === 0;
}

test.if(canSeal)("counters that become read-only: never an uncharged answer, and it recovers", () =>
  withinMinute(async () => {
    using folder = temporaryFolder();
    const data = join(folder.path, "data");
    const { key, id } = await makeKey(data, "--plan", "business");
    await using server = await serve(data, ["--store-timeout", "300"]);
    expect((await ask(server.origin, key)).status).toBe(200);
    const files = [join(data, "limits.db"), join(data, "limits.db-wal")];
    cleanUps.push(() => void chattr("-i", ...files));
    expect(chattr("+i", ...files)).toBe(true);
    const answers = await hammer([server.origin], key, 200, 8);
    // Sixteen were paid for.
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(16);
    expect(answers.filter(({ status }) => status === 503)).toHaveLength(184);
    expect(chattr("-i", ...files)).toBe(true);
    expect((await ask(server.origin, key)).status).toBe(200);
    expect(counted(data, id)).toBe(34);
  }),
);
