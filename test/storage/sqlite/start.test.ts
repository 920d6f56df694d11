/**
 * What a start meets in the data folder: each fault has its sentence, and the database stays as it
 * is.
 */
import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AppError } from "../../../src/domain/errors.ts";
import { refuseNetwork } from "../../../src/storage/sqlite/folder.ts";
import { copyMark } from "../../../src/storage/database.ts";
import { deleteMeta, setMeta } from "../../../src/features/meta.ts";
import { openSqliteStore } from "../../../src/storage/sqlite/store.ts";
import { TestClock } from "../../helpers/app.ts";
import { temporaryFolder } from "../../helpers/binary.ts";

let folder: string;
let catalogue: string;
beforeEach(() => {
  folder = fs.mkdtempSync(join(tmpdir(), "rehome-start-"));
  catalogue = join(folder, "rehome.db");
});
afterEach(() => fs.rmSync(folder, { recursive: true, force: true }));

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
  fs
    .readdirSync(folder)
    .toSorted()
    .map((name) => [name, Bun.hash(fs.readFileSync(join(folder, name)))]);

/**
 * The sentence about `file` with which a start is refused; nothing in the folder may change by it.
 */
function refusal(file = catalogue): AppError {
  const before = contents();
  try {
    open();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    expect(contents()).toEqual(before);
    expect(error.message).toContain(file);
    expect(error.message).toEndWith(".");
    expect(error.hint ?? "").not.toBe("");
    return error;
  }
  throw new Error("it was opened");
}

const noDatabase = "animals of the town\n".repeat(500);
const damaged = "is damaged: file is not a database";

/** Changes the catalogue past the store. */
function run(...statements: readonly string[]): void {
  const db = new Database(catalogue, { create: true });
  for (const statement of statements) db.run(statement);
  db.run("PRAGMA wal_checkpoint(TRUNCATE)");
  db.close(true);
}

describe("a start is refused in words, and changes nothing, on", () => {
  test.each(["rehome.db", "limits.db"])("%s that is no database", (name) => {
    const file = join(folder, name);
    fs.writeFileSync(file, noDatabase);
    expect(refusal(file).message).toContain(damaged);
  });

  test("another program's database", () => {
    run("CREATE TABLE notes (text TEXT)");
    expect(refusal().message).toContain("not one that rehome made");
  });

  test.each([
    ["a newer rehome", "INSERT INTO schema_migrations (tag, hash) VALUES ('9999_future', 'x')"],
    ["another schema history", "UPDATE schema_migrations SET hash = 'x'"],
  ])("a database of %s", async (message, statement) => {
    await filled();
    run(statement);
    expect(refusal().message).toContain(message);
  });

  test.each(["rehome.db", "limits.db", "rehome.db-wal"])("a link in place of %s", (name) => {
    using outside = temporaryFolder();
    const file = join(outside.path, "somebody's");
    fs.writeFileSync(file, "text");
    fs.chmodSync(file, 0o666);
    fs.symlinkSync(file, join(folder, name));
    expect(refusal(join(folder, name)).message).toContain("is not a plain file");
    expect(fs.statSync(file).mode & 0o777).toBe(0o666);
  });

  test("a socket, a pipe or a device in place of a database", () => {
    const socket = Bun.listen({ unix: catalogue, socket: { data: () => undefined } });
    expect(() => open()).toThrow(`${catalogue} is not a plain file.`);
    socket.stop(true);
  });

  test.each(["is missing", "is empty"])(
    "a catalogue that %s beside used counters",
    async (state) => {
      const store = open();
      const limits = { perMinute: 1, perDay: 1 };
      await store.windows.reserve([{ keyId: "a", limits, want: 1, unused: undefined }], []);
      await store.close();
      if (state === "is empty") fs.truncateSync(catalogue, 0);
      else fs.rmSync(catalogue);
      const { message, hint } = refusal();
      const shown = `${state}, but ${join(folder, "limits.db")} shows that there was one`;
      expect(message).toContain(shown);
      expect(hint).toContain("rehome restore");
    },
  );

  test("a part of a copy, until the copy is whole", async () => {
    const target = open();
    await target.db.transaction((tx) => setMeta(tx, copyMark, "/srv/elsewhere"));
    await target.close();
    const { code, message } = refusal(folder);
    expect(code).toBe("unfinishedCopy");
    expect(message).toContain("a part of a copy of /srv/elsewhere");
    const copying = openSqliteStore({ ...options(), copyOf: "elsewhere" });
    await copying.db.transaction((tx) => deleteMeta(tx, copyMark));
    await copying.close();
    await open().close();
  });
});

test("a page of other bytes is found when it is read, and names the doctor", async () => {
  await filled();
  const db = new Database(catalogue);
  const root = "SELECT rootpage - 1 AS before FROM sqlite_schema WHERE name = 'pets'";
  const { before = 0 } = db.query<{ before: number }, []>(root).get() ?? {};
  db.close(true);
  const bytes = fs.readFileSync(catalogue);
  fs.writeFileSync(catalogue, bytes.fill(0xa5, 4_096 * before, 4_096 * before + 64));
  const store = open();
  const error: unknown = await store.pets.page({ limit: 100 }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ kind: "unavailable", why: "database disk image is malformed" });
  expect((error as AppError).hint).toContain("rehome doctor");
  await store.close();
});

test("a data folder that cannot be made says why", () => {
  const file = join(folder, "data");
  fs.writeFileSync(file, "");
  const link = join(folder, "link");
  fs.symlinkSync(join(folder, "disk"), link);
  const noFolder = "a part of the path is a file, not a folder";
  for (const [path, why] of [
    [file, noFolder],
    [join(file, "inside"), noFolder],
    [link, "it is a link that leads nowhere"],
    [join(link, "below"), "its folder does not exist"],
    // Not even root can make one there.
    ["/proc/rehome/data", "its folder does not exist"],
    [join(folder, "n".repeat(300)), "its name is too long"],
  ] as const) {
    expect(() => open(path)).toThrow(`The data folder ${path} cannot be used: ${why}.`);
  }
  expect(fs.existsSync(join(folder, "disk"))).toBe(false);
});

test.if(process.geteuid?.() !== 0)("a file that may not be written names the folder", async () => {
  await filled();
  fs.chmodSync(catalogue, 0o400);
  expect(() => open()).toThrow(`The data folder ${folder} cannot be used: permission denied.`);
});

test.each([
  [0x6969, "NFS"],
  [0xff534d42, "CIFS"],
  [0xff534d42 | 0, "CIFS"],
  [0x01021997, "9p"],
])("a network file system (%d) is refused", (type, name) => {
  expect(() => refuseNetwork("/srv/data", type)).toThrow(`network file system (${name})`);
});

test("files and a new folder of any name are their user's alone, whatever they were", async () => {
  const odd = join(folder, "a?mode=memory#b %41 é/b");
  const files = ["limits.db", "rehome.db"];
  const modes = (...names: readonly string[]) =>
    names.map((name) => (fs.statSync(join(odd, name)).mode & 0o777).toString(8));
  const store = open(odd);
  expect(modes("", ...files)).toEqual(["700", "600", "600"]);
  for (const mode of modes(...fs.readdirSync(odd))) expect(mode).toEndWith("00");
  await store.close();
  expect(fs.readdirSync(odd).toSorted()).toEqual(files);
  fs.chmodSync(join(odd, "rehome.db"), 0o664);
  fs.chmodSync(join(odd, "limits.db"), 0o640);
  const again = open(odd);
  expect(await again.pets.create({ name: "first", categoryId: 1n })).toBe(1n);
  await again.close();
  expect(modes(...files)).toEqual(["600", "600"]);
  // And it is the file in it that is looked at.
  fs.writeFileSync(join(odd, "rehome.db"), noDatabase);
  expect(() => open(odd)).toThrow(damaged);
});
