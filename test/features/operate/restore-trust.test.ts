/** A restore trusts no fact of a backup above the store's: who was put out here stays out. */
import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { copyStore } from "../../../src/features/postgres/moving/copy.ts";
import { backup } from "../../../src/features/operate/backup/copy.ts";
import { restore } from "../../../src/features/operate/backup/restore.ts";
import { openSqliteStore } from "../../../src/storage/sqlite/store.ts";
import { TestClock } from "../../helpers/app.ts";
import { servicesOn, type TestServices } from "../../helpers/services.ts";

const clock = new TestClock();
let folder: string;
let data: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "rehome-trust-"));
  data = join(folder, "data");
  file = join(folder, "backup.db");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const catalogue = () => join(data, "rehome.db");
const openStore = () =>
  openSqliteStore({ folder: data, clock: clock.read, timeoutMs: 100, serving: false });
async function withKeys<T>(work: (services: TestServices) => Promise<T>): Promise<T> {
  const services = servicesOn(openStore(), { clock: clock.read });
  try {
    return await work(services);
  } finally {
    await services.close();
  }
}

/** Changes a file with SQL, as nothing of ours would. */
function change(path: string, ...statements: string[]): void {
  using db = new Database(path);
  for (const sql of ["PRAGMA foreign_keys = OFF", ...statements]) db.run(sql);
}

const query = <T>(path: string, sql: string): T[] => {
  using db = new Database(path, { readonly: true });
  return db.query<T, []>(sql).all();
};

/** True if a caller with the secret is let in. */
const getsIn = (secret: string) =>
  withKeys(async ({ access }) => {
    const { refusal } = await access.admit(secret, () => "192.0.2.1");
    expect(["unauthorized", undefined]).toContain(refusal?.kind);
    return refusal === undefined;
  });

const far = 2n ** 62n;

interface Put {
  readonly out: (services: TestServices, id: string) => Promise<unknown>;
  /** What the output says of the key, if the backup is as it was made. */
  readonly said: "ended" | "unusable";
}

/** How a caller is put out after the backup. */
const puts: Record<string, Put> = {
  revoked: { out: ({ keys }, id) => keys.revoke(id), said: "ended" },
  rotated: { out: ({ keys }, id) => keys.rotate(id, 0), said: "unusable" },
  "rotated and revoked": {
    out: async ({ keys }, id) => (await keys.rotate(id, 0), await keys.revoke(id)),
    said: "ended",
  },
  expired: {
    out: async ({ keys }, id) => {
      await keys.update(id, { expiresInMs: 1_000 });
      clock.nowMs += 2_000;
    },
    said: "ended",
  },
};

/** What somebody writes into the backup, so that the key of `id` gets in again. */
const changes: Record<string, (id: string, hash: string) => string[]> = {
  "as it was made": () => [],
  "with a revocation in the far future": (id) => [
    `UPDATE api_keys SET revoked_at_ms = ${far} WHERE id = '${id}'`,
    `UPDATE api_keys SET revoked_at_ms = NULL WHERE id = '${id}'`,
    `UPDATE key_secrets SET expires_at_ms = ${far} WHERE key_id = '${id}'`,
  ],
  "with facts that say it ended in the far future": (id, hash) => [
    `INSERT INTO store_state VALUES ('ended key ${id}', '${far}')`,
    `INSERT INTO store_state VALUES ('ended secret ${hash}', '${far}')`,
  ],
  "with its secret under another id": (id) => [
    `UPDATE api_keys SET id = 'key_other' WHERE id = '${id}'`,
    `UPDATE key_secrets SET key_id = 'key_other' WHERE key_id = '${id}'`,
    `UPDATE key_events SET key_id = 'key_other' WHERE key_id = '${id}'`,
    `INSERT INTO store_state VALUES ('ended key ${id}', '${far}')`,
  ],
  "with its secret under the id of a live key": (id) => [
    `UPDATE key_secrets SET key_id = (SELECT id FROM api_keys WHERE name = 'kept')
     WHERE key_id = '${id}'`,
  ],
};

/** What was restored before, so that the store only remembers who ended. */
const histories = ["at once", "behind a backup that did not know it", "where that was moved"];

describe.each(Object.keys(puts))("a key that was %s since", (how) => {
  describe.each(Object.keys(changes))("by a backup %s", (kind) => {
    // A move carries on what a store remembers, whatever a backup says.
    const some = histories.slice(0, kind === "as it was made" ? 3 : 2);
    test.each(some)("stays out, %s", async (history) => {
      const { out, said } = puts[how] as Put;
      const earlier = join(folder, "earlier.db");
      const made = await withKeys(async ({ keys }) => {
        const kept = await keys.create({ name: "kept", plan: "free" });
        backup(catalogue(), earlier);
        const ends = await keys.create({ name: "ends", plan: "free" });
        backup(catalogue(), file);
        return { kept, ends };
      });
      const { id } = made.ends.key;
      const hash = new Bun.CryptoHasher("sha256").update(made.ends.secret).digest("hex");
      const changed = changes[kind]?.(id, hash.toUpperCase()) ?? [];
      await withKeys((services) => out(services, id));
      change(file, ...changed);
      if (history !== histories[0]) {
        change(earlier, ...(kind.includes("facts") ? changed : []));
        restore(earlier, data, clock.read());
      }
      if (history === histories[2]) {
        const from = openStore();
        data = join(folder, "moved");
        const to = openStore();
        await copyStore(from, to, () => {});
        await from.close();
        await to.close();
      }
      const restored = restore(file, data, clock.read());
      expect(await getsIn(made.ends.secret)).toBe(false);
      expect(await getsIn(made.kept.secret)).toBe(true);
      // Nobody may read that the key is well, or that the other one is not.
      const { ended, unusable } = restored;
      const named = [...ended, ...unusable].map((each) => each.name);
      if (kind !== "with its secret under the id of a live key") expect(named).toEqual(["ends"]);
      if (kind === "as it was made" && !(how === "expired" && history !== histories[0])) {
        expect(restored[said].map((each) => each.id)).toEqual([id]);
      }
      expect(restored.admitted).toEqual([]);
    });
  });
});

test("a key without a secret gets one by keys rotate", async () => {
  const { key } = await withKeys(({ keys }) => keys.create({ name: "one", plan: "free" }));
  backup(catalogue(), file);
  await withKeys(({ keys }) => keys.rotate(key.id, 0));
  const { unusable, ended } = restore(file, data, clock.read());
  expect([unusable, ended]).toEqual([[{ kind: "key", id: key.id, name: "one" }], []]);
  const { secret } = await withKeys(({ keys }) => keys.rotate(key.id, 0));
  expect(await getsIn(secret)).toBe(true);
});

test("what was taken from a key since stays taken, and what it has had is the backup's", async () => {
  const { key } = await withKeys(({ keys }) => keys.create({ name: "one", plan: "free" }));
  backup(catalogue(), file);
  await withKeys(async ({ keys }) => {
    await keys.update(key.id, { readOnly: true, name: "renamed", plan: "pro" });
    await keys.ban(key.id, 3_600_000);
  });
  restore(file, data, clock.read());
  expect(
    query(catalogue(), "SELECT name, plan, read_only AS ro, ban_reason AS why FROM api_keys"),
  ).toEqual([{ name: "one", plan: "free", ro: 1, why: expect.stringContaining("operator") }]);
});

describe("people", () => {
  const add = (id: string, name: string, role = "staff") =>
    `INSERT INTO people (id, name, role, created_at_ms, created_by) VALUES ('${id}', '${name}', '${role}', 1, 'kim')`;
  const hash = (byte: string) => `X'${byte.repeat(32)}'`;

  test.each<[string, string[]]>([
    ["as it was made", []],
    ["with another id", ["UPDATE people SET id = 'p_9' WHERE id = 'p_1'", "DELETE FROM sessions"]],
    [
      "with a removal in the far future",
      [`UPDATE people SET removed_at_ms = ${far} WHERE id = 'p_1'`],
    ],
    ["with a fact of it", [`INSERT INTO store_state VALUES ('ended person p_1', '${far}')`]],
  ])("who were removed stay so, by a backup %s; visits end", async (_, changed) => {
    await withKeys(async () => undefined);
    change(
      catalogue(),
      add("p_1", "Ana", "operator"),
      add("p_2", "Ben"),
      `INSERT INTO sessions VALUES (${hash("01")}, 'p_1', 1, 9e12, 1)`,
      `INSERT INTO invitations VALUES (${hash("02")}, 'p_2', 1, 9e12, NULL)`,
    );
    backup(catalogue(), file);
    change(catalogue(), "UPDATE people SET removed_at_ms = 5 WHERE id = 'p_1'");
    change(file, ...changed, "UPDATE people SET role = 'operator'", add("p_3", "Eve"));
    const { ended, admitted } = restore(file, data, clock.read());
    expect(query(catalogue(), "SELECT name, role, removed_at_ms AS at FROM people")).toEqual(
      expect.arrayContaining([
        { name: "Ana", role: "operator", at: 5 },
        { name: "Ben", role: "staff", at: null },
      ]),
    );
    expect(ended.map(({ name }) => name)).toEqual(
      changed[0]?.includes("SET removed") ? [] : ["Ana"],
    );
    expect(admitted).toEqual([{ kind: "person", id: "p_3", name: "Eve" }]);
    for (const table of ["sessions", "invitations"]) {
      expect(query(catalogue(), `SELECT * FROM ${table}`)).toEqual([]);
    }
  });
});

describe("what a store knows of itself", () => {
  const own = [
    ["store_id", "11111111-own"],
    ["backup", '{"atMs":1,"file":"/own/a.db","bytes":1}'],
    ["console", "https://console.example"],
    ["place_of_backup", "/own"],
    ["made /own/a.db", '{"bytes":1,"digest":"00"}'],
  ] as const;
  const foreign = [...own.map(([name]) => [name, "evil"] as const), ["made /evil/b.db", "{}"]];
  const put = (facts: readonly (readonly string[])[]) =>
    facts.map(
      ([name, value]) => `INSERT OR REPLACE INTO store_state VALUES ('${name}', '${value}')`,
    );
  const job = (every: number) =>
    `INSERT OR REPLACE INTO schedule (name, kind, target, every_ms, next_at_ms)
     VALUES ('backup', 'backup', '', ${every}, ${every === 1 ? 1n : far})`;
  const marks = ["moved_to", "copied_from"].map((name) => [name, "evil"]);
  const facts = () =>
    query<{ name: string; value: string }>(catalogue(), "SELECT name, value FROM store_state");
  const jobs = () => query(catalogue(), "SELECT every_ms AS every FROM schedule");

  test("is never a backup's", async () => {
    await withKeys(async () => undefined);
    backup(catalogue(), file);
    change(catalogue(), ...put(own), job(1));
    change(file, ...put([...foreign, ...marks]), job(2));
    restore(file, data, clock.read());
    expect(new Map(facts().map(({ name, value }) => [name, value]))).toEqual(new Map(own));
    expect(jobs()).toEqual([{ every: 1 }]);
  });

  test("is nothing but its id where there was no store", async () => {
    await withKeys(async () => undefined);
    backup(catalogue(), file);
    change(file, ...put([...foreign, ...marks]), job(2));
    rmSync(data, { recursive: true });
    restore(file, data, clock.read());
    expect(facts()).toEqual([{ name: "store_id", value: "evil" }]);
    expect(jobs()).toEqual([]);
  });

  test.each(["9223372036854775807", "-5", "kim", "1e9", "99999999999999999999999"])(
    "goes on where a backup says that a last number is %s",
    async (value) => {
      await withKeys(async () => undefined);
      backup(catalogue(), file);
      const numbers = ["animal_edits", "last_category_id"];
      change(catalogue(), ...put(numbers.map((name) => [name, "7"])));
      change(file, ...put(numbers.map((name) => [name, value])));
      restore(file, data, clock.read());
      expect(facts()).toEqual(numbers.map((name) => ({ name, value: "7" })));
    },
  );
});

test("a catalogue whose keys cannot be read is replaced, and all who can get in are named", async () => {
  const { key } = await withKeys(({ keys }) => keys.create({ name: "one", plan: "free" }));
  backup(catalogue(), file);
  const tables = ["api_keys", "key_secrets"].map((name) => `'${name}'`).join(", ");
  const roots = query<{ root: number }>(
    catalogue(),
    `SELECT rootpage AS root FROM sqlite_schema WHERE name IN (${tables})`,
  );
  const bytes = readFileSync(catalogue());
  const pageBytes = bytes.readUInt16BE(16);
  for (const { root } of roots) bytes.fill(0xa5, (root - 1) * pageBytes, root * pageBytes);
  writeFileSync(catalogue(), bytes);
  const { admitted, replaced } = restore(file, data, clock.read());
  expect(admitted).toEqual([{ kind: "key", id: key.id, name: "one" }]);
  expect(readFileSync(replaced ?? "").length).toBe(bytes.length);
});

test("a key that the old catalogue does not know is named", async () => {
  await withKeys(({ keys }) => keys.create({ name: "one", plan: "free" }));
  backup(catalogue(), file);
  const hash = `X'${"ab".repeat(32)}'`;
  change(file, `INSERT INTO key_secrets SELECT ${hash}, id, 'x', 1, NULL FROM api_keys`);
  expect(restore(file, data, clock.read()).admitted.map(({ name }) => name)).toEqual(["one"]);
});
