/**
 * What a start meets in the data folder: each fault has its sentence, and the database stays as it
 * is.
 */
import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AppError } from "../../../src/domain/errors.ts";
import { refuseNetwork } from "../../../src/storage/sqlite/folder.ts";
import { copyMark, deleteMeta, setMeta } from "../../../src/storage/store-state.ts";
import { openSqliteStore } from "../../../src/storage/sqlite/store.ts";
import { TestClock } from "../../helpers/app.ts";

let folder: string;
let catalogue: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "rehome-start-"));
  catalogue = join(folder, "rehome.db");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const options = (at = folder) => ({
  folder: at,
  clock: new TestClock().read,
  timeoutMs: 100,
  serving: false,
});
const open = (at?: string) => openSqliteStore(options(at));

async function filled(): Promise<void> {
  const store = open();
  for (let number = 0; number < 300; number += 1) {
    await store.pets.create({ name: `animal ${number} ${"x".repeat(50)}`, categoryId: 1n });
  }
  await store.close();
}

const contents = () =>
  readdirSync(folder)
    .toSorted()
    .map((name) => [name, Bun.hash(readFileSync(join(folder, name)))]);

/**
 * The sentence about `file` with which a start is refused; nothing in the folder may change by it.
 */
function refusal(file = catalogue): AppError {
  const before = contents();
  let thrown: unknown;
  try {
    open();
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(AppError);
  expect(contents()).toEqual(before);
  const { message, hint = "" } = thrown as AppError;
  expect(message).toContain(file);
  expect(message).toEndWith(".");
  expect(hint).not.toBe("");
  return thrown as AppError;
}

describe("a start is refused in words, and changes nothing, on", () => {
  test("a file that is no database", () => {
    writeFileSync(catalogue, "animals of the town\n".repeat(500));
    expect(refusal().message).toContain("not an SQLite database");
  });

  test("counters that are no database, before the catalogue is made", () => {
    const limits = join(folder, "limits.db");
    writeFileSync(limits, "animals of the town\n".repeat(500));
    expect(refusal(limits).message).toContain("not an SQLite database");
  });

  test("another program's database", () => {
    const db = new Database(catalogue, { create: true });
    db.run("CREATE TABLE notes (text TEXT)");
    db.close(true);
    expect(refusal().message).toContain("not one that rehome made");
  });

  test("a newer program's database", async () => {
    await filled();
    const db = new Database(catalogue);
    db.run("INSERT INTO schema_migrations (tag, hash) VALUES ('9999_future', 'x')");
    db.run("PRAGMA wal_checkpoint(TRUNCATE)");
    db.close(true);
    expect(refusal().message).toContain("a newer rehome");
  });

  test("a database with another history", async () => {
    await filled();
    const db = new Database(catalogue);
    db.run("UPDATE schema_migrations SET hash = 'x'");
    db.close(true);
    expect(refusal().message).toContain("another schema history");
  });

  test("a page of other bytes", async () => {
    await filled();
    const bytes = readFileSync(catalogue);
    // Page after page, so that the test does not hang on where SQLite keeps what.
    for (let at = 4_096 * 8; at < bytes.length; at += 4_096) bytes.fill(0xa5, at, at + 64);
    writeFileSync(catalogue, bytes);
    expect(refusal().message).toContain("is damaged");
  });

  test("a database that was cut off", async () => {
    await filled();
    truncateSync(catalogue, 4_096 * 9);
    expect(refusal().message).toContain("is damaged");
  });

  test("a part of a copy, until the copy is whole", async () => {
    const target = open();
    await target.db.transaction((tx) => setMeta(tx, copyMark, "/srv/elsewhere"));
    await target.close();
    const { code, message } = refusal(folder);
    expect(code).toBe("unfinishedCopy");
    expect(message).toContain("a part of a copy of /srv/elsewhere");
    const copying = openSqliteStore({ ...options(), mayBeCopy: true });
    await copying.db.transaction((tx) => deleteMeta(tx, copyMark));
    await copying.close();
    await open().close();
  });

  test("a read-only database", async () => {
    await filled();
    chmodSync(catalogue, 0o400);
    expect(refusal().message).toContain("is read-only");
    expect(statSync(catalogue).mode & 0o777).toBe(0o400);
  });
});

test.each(["data", "data/inside"])("a data folder at %s, a file, is refused", (name) => {
  const file = join(folder, "data");
  writeFileSync(file, "");
  expect(() => open(join(folder, name))).toThrow(
    `cannot be used: a part of the path is a file, not a folder, and ${file} belongs to`,
  );
});

test.each(["link", "link/below"])("a data folder at %s to an unmounted disk says so", (name) => {
  const disk = join(folder, "disk");
  const link = join(folder, "link");
  symlinkSync(disk, link);
  expect(() => open(join(folder, name))).toThrow(
    `cannot be used: ${link} is a link that leads nowhere.`,
  );
  expect(existsSync(disk)).toBe(false);
});

test("a data folder that cannot be made says why", () => {
  // Below /proc not even root can make a folder.
  expect(() => open("/proc/rehome/data")).toThrow(
    /^The data folder \/proc\/rehome\/data cannot be used: .+, and \/proc belongs to root \(mode 0555\), and this process runs as \S+\.$/,
  );
  expect(() => open(join(folder, "n".repeat(300)))).toThrow("its name is too long");
});

describe("in a service's folder", () => {
  const isRoot = process.geteuid?.() === 0;

  test.if(isRoot).each(["rehome.db", "limits.db", "limits.db-wal", "rehome.db-journal"])(
    "root follows no link in place of %s",
    (name) => {
      const outside = join(folder, "outside");
      const data = join(folder, "data");
      mkdirSync(data);
      chownSync(data, 54_321, 54_321);
      symlinkSync(outside, join(data, name));
      expect(() => open(data)).toThrow("is not a plain file");
      expect(existsSync(outside)).toBe(false);
    },
  );
});

test.each([
  [0x6969, "NFS"],
  [0xff534d42, "CIFS"],
  [0xff534d42 | 0, "CIFS"],
  [0x01021997, "9p"],
])("a network file system (%d) is refused", (type, name) => {
  expect(() => refuseNetwork("/srv/data", type)).toThrow(`network file system (${name})`);
});

test("files are their user's alone, and a new folder too", async () => {
  const inside = join(folder, "a/b");
  const store = open(inside);
  expect(statSync(inside).mode & 0o777).toBe(0o700);
  for (const name of readdirSync(inside)) {
    expect(`${name} ${(statSync(join(inside, name)).mode & 0o077).toString(8)}`).toBe(`${name} 0`);
  }
  await store.close();
  expect(readdirSync(inside).toSorted()).toEqual(["limits.db", "rehome.db"]);
});

test("files that others could read are taken from them, whatever they were", async () => {
  await filled();
  chmodSync(catalogue, 0o664);
  chmodSync(join(folder, "limits.db"), 0o640);
  await open().close();
  for (const name of ["rehome.db", "limits.db"]) {
    expect((statSync(join(folder, name)).mode & 0o777).toString(8)).toBe("600");
  }
});

test("a folder may have any name", async () => {
  const odd = join(folder, "a?mode=memory#b %41 é");
  await open(odd).close();
  const again = open(odd);
  expect(await again.pets.create({ name: "first", categoryId: 1n })).toBe(1n);
  await again.close();
  expect(readdirSync(odd).toSorted()).toEqual(["limits.db", "rehome.db"]);
  // And it is the file in it that is looked at.
  writeFileSync(join(odd, "rehome.db"), "animals of the town\n".repeat(500));
  expect(() => open(odd)).toThrow("not an SQLite database");
});
