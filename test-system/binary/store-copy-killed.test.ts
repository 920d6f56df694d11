/** A `store copy` that is killed at any moment is served by nobody, and goes well the next time. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { random as randomOf } from "../../scripts/random.ts";
import { begun, makeKey, rehome, temporaryFolder } from "../../test/helpers/binary.ts";
import { command } from "../../test/helpers/command.ts";
import { hookTimeoutMs, testDatabase, type TestDatabase } from "../../test/helpers/postgres.ts";

const rounds = 20;
const animals = 20_000;
const signals = ["SIGKILL", "SIGTERM", "SIGINT", "SIGHUP"] as const;
const folder = temporaryFolder();
const [data, copied] = [join(folder.path, "data"), join(folder.path, "copied")];
let database: TestDatabase;
let others: TestDatabase;

beforeAll(async () => {
  [database, others] = [await testDatabase(), await testDatabase()];
  await makeKey(data);
  const lines = Array.from({ length: animals }, (_, at) =>
    JSON.stringify({ name: `Pet ${at + 1}`, categoryId: 7, status: "available" }),
  );
  const add = ["pets", "import", "-", "--data", data];
  expect((await command(add, { stdin: lines.join("\n") })).exitCode).toBe(0);
  const whole = ["store", "copy", "--from", data, "--to", others.url];
  expect((await command(whole)).exitCode).toBe(0);
}, hookTimeoutMs);
afterAll(async () => {
  folder[Symbol.dispose]();
  await database[Symbol.asyncDispose]();
  await others[Symbol.asyncDispose]();
}, hookTimeoutMs);

/** The target, how a command names it, and how it is taken away. */
const directions = {
  "from a folder to a database": () => ({
    from: data,
    to: database.url,
    target: [],
    env: { REHOME_STORE: database.url },
    empty: () => database.sql`DROP SCHEMA IF EXISTS rehome CASCADE`,
    async isMade() {
      const [row] = await database.sql`SELECT to_regclass('rehome.store_state') AS found`;
      return (row as { found: string | null }).found !== null;
    },
  }),
  "from a database to a folder": () => ({
    from: others.url,
    to: copied,
    target: ["--data", copied],
    env: {},
    empty: async () => rmSync(copied, { recursive: true, force: true }),
    async isMade() {
      try {
        using db = new Database(join(copied, "rehome.db"), { readonly: true });
        return db.query("SELECT 1 FROM sqlite_schema WHERE name = 'store_state'").get() !== null;
      } catch {
        return false;
      }
    },
  }),
};

/** The commands that look at a store, or work on it, each in its own way. */
const commands = [
  ["serve", "--port", "0"],
  ["keys", "list"],
  ["pets", "list"],
  ["doctor", "--port", "1"],
];
const onFolders = [
  ["backup", join(folder.path, "backup.db")],
  ["restore", join(data, "rehome.db"), "--yes"],
];

const list = (target: readonly string[], env: Record<string, string>, after: number) =>
  command(["pets", "list", "--json", "--after", String(after), ...target], { env });

test.each(Object.entries(directions))(
  "%s it is refused by all, at whatever moment it was killed",
  async (_, direction) => {
    const { from, to, target, env, empty, isMade } = direction();
    const words = ["store", "copy", "--from", from, "--to", to, "--moved-store"];
    const random = randomOf(54);
    const begunMs = performance.now();
    expect(await rehome(words)).toMatchObject({ exitCode: 0 });
    const wholeMs = performance.now() - begunMs;
    await empty();
    let parts = 0;
    for (let round = 0; round < rounds; round += 1) {
      // Half of them as soon as the target is there: chance seldom meets that moment.
      const atFirst = round % 2 === 0;
      if (atFirst) await empty();
      const child = await begun(words);
      if (atFirst) while (child.exitCode === null && !(await isMade())) await Bun.sleep(0);
      else await Bun.sleep(random() * wholeMs);
      child.kill(signals[round % signals.length]);
      await child.exited;
      const made = await isMade();
      const [listed, last] = [await list(target, env, 0), await list(target, env, animals - 1)];
      if (listed.exitCode === 0) {
        // It had not begun, or it had ended.
        const isEmpty = listed.stdout === "[]\n";
        expect([round, last.stdout === "[]\n", made]).toEqual([round, isEmpty, !isEmpty]);
        await empty();
        continue;
      }
      if (listed.stderr.includes("There is no catalogue")) continue;
      parts += 1;
      for (const each of [...commands, ...(target.length > 0 ? onFolders : [])]) {
        const refused = await command([...each, ...target], { env });
        expect([each[0], refused.exitCode]).toEqual([each[0], 1]);
        expect(refused.stderr + refused.stdout).toContain("holds a part of a copy of");
      }
    }
    // How many depends on the machine; one at least was killed in its middle.
    expect(parts).toBeGreaterThan(0);
    const again = await command(words);
    if (again.exitCode !== 0) expect(again.stderr).toContain("is not empty");
    expect((await list(target, env, animals - 1)).stdout).toContain(`Pet ${animals}`);
  },
);
