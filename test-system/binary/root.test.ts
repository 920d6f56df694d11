/** What root writes in folders of other users: as their owner, or where they can put no link. */
import { describe, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { loadConfig } from "../../src/config.ts";
import { dayMs } from "../../src/domain/clock.ts";
import { uploadsFolder } from "../../src/features/console/imports.ts";
import { rehome, serve, temporaryFolder } from "../../test/helpers/binary.ts";

const isRoot = process.geteuid?.() === 0;
const [alice, service] = [54_321, 54_322];

/** A folder of a user within one that everybody may enter. */
function folderOf(uid: number, path: string): string {
  mkdirSync(path);
  chownSync(path, uid, uid);
  return path;
}

function place() {
  const folder = temporaryFolder();
  const secret = join(folder.path, "secret");
  writeFileSync(secret, "kept");
  chownSync(folder.path, 0, 0);
  // Others come through it, and make nothing in it.
  Bun.spawnSync(["chmod", "755", folder.path]);
  const rootData = join(folder.path, "root-data");
  return { folder, secret, rootData, [Symbol.dispose]: () => folder[Symbol.dispose]() };
}

const ownersIn = (folder: string) =>
  Object.fromEntries(readdirSync(folder).map((name) => [name, lstatSync(join(folder, name)).uid]));
const key = (data: string) =>
  rehome(["keys", "create", "--plan", "free", "--name", "a", "--data", data]);

describe.if(isRoot)("as root", () => {
  test("a server works as the owner of its folder, also of one that it makes", async () => {
    using at = place();
    const home = folderOf(alice, join(at.folder.path, "home"));
    await using server = await serve(join(home, "data"));
    const status = readFileSync(`/proc/${server.pid}/status`, "utf8");
    expect(status).toMatch(new RegExp(String.raw`^Uid:(?:\t${alice}){4}$`, "m"));
    expect(new Set(Object.values(ownersIn(join(home, "data"))))).toEqual(new Set([alice]));
  });

  test("a copy of a store is its folder's, and no link leads it elsewhere", async () => {
    using at = place();
    const from = folderOf(alice, join(at.folder.path, "from"));
    const to = folderOf(service, join(at.folder.path, "to"));
    await key(from);
    // A data folder may be a link to another disk.
    const link = join(at.folder.path, "link");
    symlinkSync(to, link);
    const copy = () => rehome(["store", "copy", "--from", from, "--to", link]);
    symlinkSync(at.secret, join(to, "limits.db"));
    expect((await copy()).stderr).toContain("is not a plain file");
    expect([readFileSync(at.secret, "utf8"), statSync(at.secret).uid]).toEqual(["kept", 0]);
    expect([statSync(from).uid, statSync(to).uid]).toEqual([alice, service]);
    await rehome(["keys", "list", "--data", from]);
    Bun.spawnSync(["rm", join(to, "limits.db")]);
    expect(await copy()).toMatchObject({ exitCode: 0 });
    expect(ownersIn(to)).toEqual({ "limits.db": service, "rehome.db": service });
    expect(new Set(Object.values(ownersIn(from)))).toEqual(new Set([alice]));
  });

  test("a backup into a folder of others follows no link", async () => {
    using at = place();
    const theirs = folderOf(alice, join(at.folder.path, "theirs"));
    await key(at.rootData);
    const backup = (name: string) => rehome(["backup", join(theirs, name), "--data", at.rootData]);
    symlinkSync(at.secret, join(theirs, "b.db.partial-journal"));
    expect(await backup("b.db")).toMatchObject({ exitCode: 0 });
    for (const [name, link] of [
      ["c.db", "c.db"],
      ["d.db", "d.db.partial"],
    ] as const) {
      symlinkSync(join(at.folder.path, "new"), join(theirs, link));
      expect((await backup(name)).exitCode).toBeGreaterThan(0);
      expect(existsSync(join(at.folder.path, "new"))).toBe(false);
    }
    expect(readFileSync(at.secret, "utf8")).toBe("kept");
    expect(readdirSync(at.rootData).toSorted()).toEqual(["limits.db", "rehome.db"]);
  });

  test.each<[string, ...string[]]>([["restore", "rehome.db.restoring", "rehome.db-journal"]])(
    "%s changes a folder as its owner, and follows no link there",
    async (command, ...links) => {
      using at = place();
      const theirs = join(at.folder.path, "theirs");
      cpSync(join(import.meta.dir, "../../test/fixtures/1.0.0"), theirs, { recursive: true });
      Bun.spawnSync(["chown", "-R", `${alice}:${alice}`, theirs]);
      const file = join(at.folder.path, "backup.db");
      cpSync(join(theirs, "rehome.db"), file);
      chmodSync(file, 0o644);
      for (const link of links) symlinkSync(at.secret, join(theirs, link));
      const words = command === "restore" ? [command, file, "--yes"] : [command];
      await rehome([...words, "--data", theirs]);
      expect([readFileSync(at.secret, "utf8"), statSync(at.secret).uid]).toEqual(["kept", 0]);
      expect(new Set(Object.values(ownersIn(theirs)))).toEqual(new Set([alice, 0]));
      for (const link of links) rmSync(join(theirs, link), { force: true });
      expect(await rehome([...words, "--data", theirs])).toMatchObject({ exitCode: 0 });
      expect(new Set(Object.values(ownersIn(theirs)))).toEqual(new Set([alice]));
    },
  );

  test("a file of rejects in a folder of others follows no link", async () => {
    using at = place();
    const theirs = folderOf(alice, join(at.folder.path, "theirs"));
    const link = join(theirs, "link");
    symlinkSync(at.secret, link);
    await key(at.rootData);
    const data = ["--data", at.rootData];
    const list = join(at.folder.path, "list.csv");
    writeFileSync(list, "name,category,status\nRex,Dog,available\n");
    const importing = ["pets", "import", list, "--rejects", link, "--force", ...data];
    expect(await rehome(importing)).toMatchObject({ exitCode: 1 });
    expect(readFileSync(at.secret, "utf8")).toBe("kept");
  });

  test("a backup with a link beside it is not looked at", async () => {
    using at = place();
    const theirs = folderOf(alice, join(at.folder.path, "theirs"));
    await key(at.rootData);
    const file = join(theirs, "b.db");
    await rehome(["backup", file, "--data", at.rootData]);
    writeFileSync(`${file}-wal`, "x");
    symlinkSync(at.secret, `${file}-shm`);
    const verified = await rehome(["backup", "verify", file]);
    expect(verified.stderr).toContain("is not a plain file");
    expect(readFileSync(at.secret, "utf8")).toBe("kept");
  });

  test("a console removes no folder of another user", () => {
    using at = place();
    const theirs = folderOf(alice, join(at.folder.path, "rehome-console-uploads-ffffffff-1-old"));
    const nowMs = Date.now();
    utimesSync(theirs, new Date(), new Date(nowMs - 2 * dayMs));
    uploadsFolder(loadConfig({ data: at.folder.path }, {}, []).config, nowMs);
    expect(existsSync(theirs)).toBe(true);
  });
});
