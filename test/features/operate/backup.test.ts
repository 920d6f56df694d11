/** Backups hold one moment of the catalogue, and restoring one loses nothing. */
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
import { animalsOf } from "../animals/animals-of.ts";

const clock = new TestClock();
let folder: string;
let data: string;
let catalogue: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "rehome-backup-"));
  data = join(folder, "data");
  catalogue = join(data, "rehome.db");
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

describe("a backup", () => {
  test("of a store in use holds what was committed, is verified, and only its user may read it", async () => {
    const store = open();
    await store.pets.create({ name: "Rex", categoryId: 1n });
    backup(catalogue, file);
    await store.pets.create({ name: "later", categoryId: 1n });
    await store.close();
    expect(contentsOf(file)).toEqual({ file, bytes: statSync(file).size, animals: 1, keys: 0 });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder).toSorted()).toEqual(["backup.db", "data"]);
    const db = new Database(file, { readonly: true });
    expect(db.query("SELECT name FROM pets").all()).toEqual([{ name: "Rex" }]);
    db.close();
    const bytes = readFileSync(file);
    expect(() => backup(catalogue, file)).toThrow("never overwrites");
    expect(readFileSync(file)).toEqual(bytes);
  });

  test("takes the place of nothing, a link that leads nowhere included", async () => {
    await add("Rex");
    symlinkSync(join(folder, "nowhere"), file);
    expect(() => backup(catalogue, file)).toThrow("never overwrites");
    expect(readlinkSync(file)).toBe(join(folder, "nowhere"));
  });

  test("of a damaged catalogue is not made", async () => {
    await add(...Array.from({ length: 400 }, (_, number) => `animal ${number}`));
    const bytes = readFileSync(catalogue);
    for (let at = 4_096 * 8; at < bytes.length; at += 4_096) bytes.fill(0xa5, at, at + 64);
    writeFileSync(catalogue, bytes);
    const refused = refusal(() => backup(catalogue, file));
    expect(refused.message).toMatch(/rehome\.db is damaged: .*malformed\.$/);
    expect(refused.hint).toStartWith("Restore a backup");
    expect(readdirSync(folder)).toEqual(["data"]);
  });

  test("of a catalogue with rows that refer to nothing is not made, and blames the catalogue", async () => {
    await add("Rex");
    const db = new Database(catalogue);
    db.run("PRAGMA foreign_keys = OFF");
    db.run("INSERT INTO key_events (key_id, at_ms, actor, action, after) VALUES (?, 0, ?, ?, ?)", [
      "gone",
      "kim",
      "create",
      "{}",
    ]);
    db.close();
    const refused = refusal(() => backup(catalogue, file));
    expect(refused.message).toBe(`${catalogue} is damaged: it has rows with broken references.`);
    expect(refused.hint).toStartWith("Restore a backup");
    expect(readdirSync(folder)).toEqual(["data"]);
    const [{ finding }] = examineFiles(data);
    expect(`${finding?.detail}.`).toBe(refused.message);
    expect(finding?.advice).toBe(refused.hint ?? "");
  });
});

describe("restoring", () => {
  test("brings back the moment, keeps what it replaces, and gives no id twice", async () => {
    await add("Rex", "Ada");
    backup(catalogue, file);
    expect(await add("later")).toEqual([3n]);
    const made = restore(file, data, clock.read());
    expect(made.replaced).toBe(`${catalogue}.replaced-2026-11-21T120010Z`);
    expect(await names()).toEqual(["Rex", "Ada"]);
    expect(await add("after")).toEqual([4n]);

    const kept = new Database(made.replaced ?? "", { readonly: true });
    expect(kept.query("SELECT name FROM pets ORDER BY id").all()).toEqual([
      { name: "Rex" },
      { name: "Ada" },
      { name: "later" },
    ]);
    kept.close();
    expect(readdirSync(data).filter((name) => name.includes("restoring"))).toEqual([]);
  });

  test("gives no id again of an animal that was removed before the backup", async () => {
    const [, second = 0n] = await add("Rex", "Ada");
    const store = open();
    await animalsOf(store).remove([second]);
    await store.close();
    backup(catalogue, file);
    rmSync(data, { recursive: true });
    expect(restore(file, data, clock.read()).replaced).toBeNull();
    expect(statSync(catalogue).mode & 0o777).toBe(0o600);
    expect(await add("Mia")).toEqual([3n]);
  });

  test("refuses a store in use and leaves it as it is", async () => {
    await add("Rex");
    backup(catalogue, file);
    const store = open();
    await store.pets.create({ name: "later", categoryId: 1n });
    expect(() => restore(file, data, clock.read())).toThrow("in use by another process");
    await store.pets.create({ name: "still", categoryId: 1n });
    await store.close();
    expect(await names()).toEqual(["Rex", "later", "still"]);
    expect(existsSync(`${catalogue}.restoring`)).toBe(false);
  });

  test("takes the place of a damaged catalogue", async () => {
    await add("Rex");
    backup(catalogue, file);
    writeFileSync(catalogue, Buffer.alloc(20_000, 7));
    // What a restore that was killed left behind.
    writeFileSync(`${catalogue}.restoring`, "half a catalogue");
    const made = restore(file, data, clock.read());
    expect(await names()).toEqual(["Rex"]);
    expect(readFileSync(made.replaced ?? "")).toEqual(Buffer.alloc(20_000, 7));
  });

  test("reads nothing from the log of a catalogue that is lost", async () => {
    await add("Rex");
    backup(catalogue, file);
    const store = open();
    await store.pets.create({ name: "later", categoryId: 1n });
    const log = readFileSync(`${catalogue}-wal`);
    await store.close();
    rmSync(catalogue);
    writeFileSync(`${catalogue}-wal`, log);
    expect(restore(file, data, clock.read()).replaced).toBeNull();
    expect(await names()).toEqual(["Rex"]);
    expect(examineFiles(data).map(({ finding }) => finding?.state)).toEqual(["ok", "ok"]);
  });
});

/** Changes the catalogue with SQL, as nothing of ours would. */
function change(path: string, ...statements: string[]): void {
  using db = new Database(path);
  for (const sql of statements) db.run(sql);
}

test("ids and numbers go on from the greater of both, after a restore", async () => {
  await add("Rex");
  change(catalogue, "INSERT INTO categories VALUES (3, 'Dog', 'dog')");
  backup(catalogue, file);
  const changed =
    "INSERT INTO changes (at_ms, actor, action, summary) VALUES (1, 'kim', 'add', '{}')";
  change(
    catalogue,
    changed,
    changed,
    "INSERT INTO categories VALUES (7, 'Cat', 'cat'), (9223372036854775807, 'x', 'x')",
  );
  restore(file, data, clock.read());
  using db = new Database(catalogue, { readonly: true });
  const last = (sql: string) =>
    Object.values(db.query<Record<string, unknown>, []>(sql).get() ?? {})[0];
  expect(last("SELECT seq FROM sqlite_sequence WHERE name = 'changes'")).toBe(2);
  expect(last("SELECT value FROM store_state WHERE name = 'last_category_id'")).toBe("7");
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
  backup(catalogue, file);
  if (typeof how === "string") change(file, how);
  else how();
  const said = `${file} ${why}.`;
  expect(refusal(() => verifyBackup(file)).message).toBe(said);
  expect(refusal(() => restore(file, data, clock.read())).message).toBe(said);
  expect(await names()).toEqual(["Rex"]);
});

test("the statistics that SQLite's ANALYZE leaves are no stranger's", async () => {
  await add("Rex");
  backup(catalogue, file);
  change(file, "ANALYZE");
  expect(verifyBackup(file).animals).toBe(1);
});
