/**
 * Backups hold one moment of the catalogue, and restoring one loses nothing and lets nobody in who
 * was put out.
 */
import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AppError } from "../../../src/domain/errors.ts";
import { backup } from "../../../src/features/operate/backup/copy.ts";
import { examineFiles } from "../../../src/features/operate/doctor/store.ts";
import { restore } from "../../../src/features/operate/backup/restore.ts";
import { contentsOf, verifyBackup } from "../../../src/features/operate/backup/find.ts";
import { openSqliteStore } from "../../../src/storage/sqlite/store.ts";
import { TestClock } from "../../helpers/app.ts";
import { copyStore } from "../../../src/features/postgres/moving/copy.ts";
import { servicesOn, type TestServices } from "../../helpers/services.ts";
import { animalsOf } from "../animals/animals-of.ts";

const clock = new TestClock();
let folder: string;
let data: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "rehome-backup-"));
  data = join(folder, "data");
  file = join(folder, "backup.db");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const open = () =>
  openSqliteStore({
    folder: data,
    clock: clock.read,
    timeoutMs: 100,
    serving: false,
  });

function refusal(work: () => unknown): AppError {
  try {
    work();
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

const catalogue = () => join(data, "rehome.db");

/** Changes the catalogue with SQL, as nothing of ours would. */
function change(path: string, ...statements: string[]): void {
  using db = new Database(path);
  for (const sql of ["PRAGMA foreign_keys = OFF", ...statements]) db.run(sql);
}

const query = <T>(path: string, sql: string): T[] => {
  using db = new Database(path, { readonly: true });
  return db.query<T, []>(sql).all();
};

async function add(...names: string[]): Promise<bigint[]> {
  const store = open();
  const ids = await Promise.all(names.map((name) => store.pets.create({ name, categoryId: 1n })));
  await store.close();
  return ids;
}

async function names(): Promise<string[]> {
  const store = open();
  const page = await store.pets.page({ limit: 100 });
  await store.close();
  return page.map(({ name }) => name);
}

test("a backup of a store in use holds what was committed, is verified, and only its user may read it", async () => {
  const store = open();
  await store.pets.create({ name: "Rex", categoryId: 1n });
  backup(catalogue(), file);
  await store.pets.create({ name: "later", categoryId: 1n });
  await store.close();
  expect(contentsOf(file)).toEqual({ file, bytes: statSync(file).size, animals: 1, keys: 0 });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder).toSorted()).toEqual(["backup.db", "data"]);
  expect(query(file, "SELECT name FROM pets")).toEqual([{ name: "Rex" }]);
  const bytes = readFileSync(file);
  expect(() => backup(catalogue(), file)).toThrow("never overwrites");
  expect(readFileSync(file)).toEqual(bytes);
});

test("a backup takes the place of nothing, a link that leads nowhere included", async () => {
  await add("Rex");
  symlinkSync(join(folder, "nowhere"), file);
  expect(() => backup(catalogue(), file)).toThrow("never overwrites");
  expect(readlinkSync(file)).toBe(join(folder, "nowhere"));
});

test("a backup of a damaged catalogue is not made", async () => {
  await add(...Array.from({ length: 400 }, (_, number) => `animal ${number}`));
  const bytes = readFileSync(catalogue());
  for (let at = 4_096 * 8; at < bytes.length; at += 4_096) bytes.fill(0xa5, at, at + 64);
  writeFileSync(catalogue(), bytes);
  const refused = refusal(() => backup(catalogue(), file));
  expect(refused.message).toMatch(/rehome\.db is damaged: .*malformed\.$/);
  expect(refused.hint).toStartWith("Restore a backup");
  expect(readdirSync(folder)).toEqual(["data"]);
});

test("a backup of a catalogue with rows that refer to nothing is not made, and blames the catalogue", async () => {
  await add("Rex");
  change(
    catalogue(),
    "INSERT INTO key_events (key_id, at_ms, actor, action, after) VALUES ('x', 0, 'kim', 'create', '{}')",
  );
  const refused = refusal(() => backup(catalogue(), file));
  expect(refused.message).toBe(`${catalogue()} is damaged: it has rows with broken references.`);
  expect(refused.hint).toStartWith("Restore a backup");
  expect(readdirSync(folder)).toEqual(["data"]);
  const [{ finding }] = examineFiles(data);
  expect(`${finding?.detail}.`).toBe(refused.message);
  expect(finding?.advice).toBe(refused.hint ?? "");
});

test("restoring brings back the moment, keeps what it replaces, and gives no id twice", async () => {
  await add("Rex", "Ada");
  backup(catalogue(), file);
  expect(await add("later")).toEqual([3n]);
  const made = restore(file, data, clock.read());
  expect(made.replaced).toBe(`${catalogue()}.replaced-2026-11-21T120010Z`);
  expect(await names()).toEqual(["Rex", "Ada"]);
  expect(await add("after")).toEqual([4n]);

  const kept = query<{ name: string }>(made.replaced ?? "", "SELECT name FROM pets ORDER BY id");
  expect(kept.map(({ name }) => name)).toEqual(["Rex", "Ada", "later"]);
  expect(readdirSync(data).filter((name) => name.includes("restoring"))).toEqual([]);
});

test("restoring gives no id again of an animal that was removed before the backup", async () => {
  const [, second = 0n] = await add("Rex", "Ada");
  const store = open();
  await animalsOf(store).remove([second]);
  await store.close();
  backup(catalogue(), file);
  rmSync(data, { recursive: true });
  expect(restore(file, data, clock.read()).replaced).toBeNull();
  expect(statSync(catalogue()).mode & 0o777).toBe(0o600);
  expect(await add("Mia")).toEqual([3n]);
});

test("restoring refuses a store in use and leaves it as it is", async () => {
  await add("Rex");
  backup(catalogue(), file);
  const store = open();
  await store.pets.create({ name: "later", categoryId: 1n });
  expect(() => restore(file, data, clock.read())).toThrow("in use by another process");
  await store.pets.create({ name: "still", categoryId: 1n });
  await store.close();
  expect(await names()).toEqual(["Rex", "later", "still"]);
  expect(existsSync(`${catalogue()}.restoring`)).toBe(false);
});

test("restoring takes the place of a damaged catalogue", async () => {
  await add("Rex");
  backup(catalogue(), file);
  writeFileSync(catalogue(), Buffer.alloc(20_000, 7));
  // What a restore that was killed left behind.
  writeFileSync(`${catalogue()}.restoring`, "half a catalogue");
  const made = restore(file, data, clock.read());
  expect(await names()).toEqual(["Rex"]);
  expect(readFileSync(made.replaced ?? "")).toEqual(Buffer.alloc(20_000, 7));
});

test("restoring reads nothing from the log of a catalogue that is lost", async () => {
  await add("Rex");
  backup(catalogue(), file);
  const store = open();
  await store.pets.create({ name: "later", categoryId: 1n });
  const log = readFileSync(`${catalogue()}-wal`);
  await store.close();
  rmSync(catalogue());
  writeFileSync(`${catalogue()}-wal`, log);
  expect(restore(file, data, clock.read()).replaced).toBeNull();
  expect(await names()).toEqual(["Rex"]);
  expect(examineFiles(data).map(({ finding }) => finding?.state)).toEqual(["ok", "ok"]);
});

test("ids and numbers go on from the greater of both, after a restore", async () => {
  await add("Rex");
  change(catalogue(), "INSERT INTO categories VALUES (3, 'Dog', 'dog')");
  backup(catalogue(), file);
  const changed =
    "INSERT INTO changes (at_ms, actor, action, summary) VALUES (1, 'kim', 'add', '{}')";
  change(
    catalogue(),
    changed,
    changed,
    "INSERT INTO categories VALUES (7, 'Cat', 'cat'), (9223372036854775807, 'x', 'x')",
  );
  restore(file, data, clock.read());
  const changes = "SELECT seq AS last FROM sqlite_sequence WHERE name = 'changes'";
  const categories = "SELECT value AS last FROM store_state WHERE name = 'last_category_id'";
  expect(query(catalogue(), changes)).toEqual([{ last: 2 }]);
  expect(query(catalogue(), categories)).toEqual([{ last: "7" }]);
});

/** Changes the bytes of a database, for what SQLite makes no such name of, but reads. */
function edit(path: string, from: string, to: string): void {
  writeFileSync(path, readFileSync(path, "latin1").replaceAll(from, to), "latin1");
}

/** Makes what has such a name to hide behind. */
function hide(kind: string, name: string, rest: string): void {
  const free = name.replace("_", "X");
  change(file, `CREATE ${kind} ${free} ${rest}`);
  edit(file, free, name);
}

const last = 2n ** 63n - 1n;
const evil = "AFTER INSERT ON pets BEGIN DELETE FROM pets; END";
test.each<[string, string | (() => void)]>([
  ["holds no catalogue; it is not a backup", () => writeFileSync(file, "")],
  ["has the trigger evil, which is not rehome's", `CREATE TRIGGER evil ${evil}`],
  ["has the view evil, which is not rehome's", "CREATE VIEW evil AS SELECT 1"],
  ["lacks the index api_keys_by_change", "DROP INDEX api_keys_by_change"],
  ["has another table pets than rehome's", "ALTER TABLE pets ADD COLUMN evil TEXT"],
  [
    "has the trigger sqlite_evil, which is not rehome's",
    () => hide("trigger", "sqlite_evil", evil),
  ],
  [
    "has the table sqlite_stat1, which is not rehome's",
    () => hide("table", "sqlite_stat1", "(tbl, idx, stat AS (hex(zeroblob(9))))"),
  ],
  // Before a check computes it.
  [
    "has the index evil, which is not rehome's",
    () => {
      change(file, "CREATE INDEX evil ON pets (id + 0)");
      edit(file, "(id + 0)", "(id + 1)");
    },
  ],
  [
    "is damaged: CHECK constraint failed in pets",
    () => change(file, "PRAGMA ignore_check_constraints = ON", "UPDATE pets SET status = 'evil'"),
  ],
  // Nothing could be changed after it.
  [
    "is damaged: the ids of pets are used up",
    `UPDATE sqlite_sequence SET seq = ${last} WHERE name = 'pets'`,
  ],
  [
    "is damaged: the numbers of changes of keys are used up",
    `UPDATE key_epoch SET epoch = ${last}`,
  ],
])("a backup that a stranger has changed is refused: it %s", async (why, how) => {
  await add("Rex");
  backup(catalogue(), file);
  if (typeof how === "string") change(file, how);
  else how();
  const said = `${file} ${why}.`;
  expect(refusal(() => verifyBackup(file)).message).toBe(said);
  expect(refusal(() => restore(file, data, clock.read())).message).toBe(said);
  expect(await names()).toEqual(["Rex"]);
});

test("the statistics that SQLite's ANALYZE leaves are no stranger's", async () => {
  await add("Rex");
  backup(catalogue(), file);
  change(file, "ANALYZE");
  expect(verifyBackup(file).animals).toBe(1);
});

// A restore trusts no fact of a backup above the store's: who was put out here stays out.

async function withKeys<T>(work: (services: TestServices) => Promise<T>): Promise<T> {
  const services = servicesOn(open(), { clock: clock.read });
  try {
    return await work(services);
  } finally {
    await services.close();
  }
}

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
        const from = open();
        data = join(folder, "moved");
        const to = open();
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
