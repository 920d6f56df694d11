/** What root does not do in folders of other users: nobody can lead its writes elsewhere. */
import { describe, expect, test } from "bun:test";
import {
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { rehome, temporaryFolder } from "../../test/helpers/binary.ts";

const isRoot = process.geteuid?.() === 0;
const alice = 54_321;

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
  test.each([
    "serve --port 0",
    "serve --processes 2 --port 0",
    "doctor",
    "restore FILE --yes",
    "backup FILE",
    "keys create --plan free --name b",
    "keys list",
    "pets list",
    "pets import FILE --dry-run",
    "pets export",
    "people list",
    "sources list",
    "undo",
    "console 127.0.0.1:0",
  ])("%s is refused on a folder of another user, and touches nothing there", async (line) => {
    using at = place();
    const theirs = join(at.folder.path, "theirs");
    cpSync(join(import.meta.dir, "../../test/fixtures/1.0.0"), theirs, { recursive: true });
    Bun.spawnSync(["chown", "-R", `${alice}:${alice}`, theirs]);
    const file = join(at.folder.path, "given");
    writeFileSync(file, "name,category,status\nRex,Dog,available\n");
    const before = { ...ownersIn(theirs), ...ownersIn(at.folder.path) };
    const typed = line.split(" ").map((word) => (word === "FILE" ? file : word));
    const result = await rehome([...typed, "--data", theirs]);
    expect(result.exitCode).toBe(1);
    expect(result.stderr).toStartWith(
      `Error: ${theirs} belongs to uid ${alice}, and root does not work on data of others.\nTry: `,
    );
    expect(result.stderr).toMatch(/--reuid=54321 --regid=54321 |--user 54321:54321 /);
    expect({ ...ownersIn(theirs), ...ownersIn(at.folder.path) }).toEqual(before);
  });

  test("a copy from or to a folder of another user is refused", async () => {
    using at = place();
    const theirs = folderOf(alice, join(at.folder.path, "theirs"));
    const address = "postgres://kim@127.0.0.1:1/none";
    for (const to of [theirs, join(theirs, "new")]) {
      const copied = await rehome(["store", "copy", "--from", address, "--to", to]);
      expect(copied).toMatchObject({ exitCode: 1, stdout: "" });
      expect(copied.stderr).toContain("root does not work on data of others");
      expect(readdirSync(theirs)).toEqual([]);
      expect(lstatSync(theirs).uid).toBe(alice);
    }
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
      await backup(name);
      expect(existsSync(join(at.folder.path, "new"))).toBe(false);
    }
    expect(readFileSync(at.secret, "utf8")).toBe("kept");
    expect(readdirSync(at.rootData).toSorted()).toEqual(["limits.db", "rehome.db"]);
  });
});
