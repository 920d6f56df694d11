/** `rehome backup` and `rehome restore` at the command line: output, questions and exit codes. */
import { describe, expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { backupSchema } from "../../src/features/operate/backup/backup.ts";
import { verifiedSchema } from "../../src/features/operate/backup/verify.ts";
import { restoreSchema } from "../../src/features/operate/backup/restore.ts";
import { makeKey, rehome, temporaryFolder } from "../helpers/binary.ts";
import { documentedJson } from "../helpers/json-contract.ts";
import { rehomeAtTerminal } from "../helpers/terminal.ts";

async function installation() {
  const folder = temporaryFolder();
  const data = join(folder.path, "data");
  const file = join(folder.path, "backup.db");
  await makeKey(data, "--plan", "free");
  const made = await rehome(["backup", file, "--data", data, "--json"]);
  expect(documentedJson(backupSchema, made.stdout)).toMatchObject({ file, animals: 0, keys: 1 });
  await makeKey(data, "--plan", "free");
  return { folder, data, file, [Symbol.dispose]: () => folder[Symbol.dispose]() };
}

async function keyCount(data: string): Promise<number> {
  const result = await rehome(["keys", "list", "--json", "--data", data]);
  return (JSON.parse(result.stdout) as unknown[]).length;
}

test("backup says what it wrote, and never overwrites", async () => {
  using at = await installation();
  const file = join(at.folder.path, "other.db");
  const result = await rehome(["backup", file, "--data", at.data]);
  expect(result).toMatchObject({ exitCode: 0, stderr: "" });
  expect(result.stdout).toMatch(
    /^Backed up 0 animals and 2 keys to .*\([\d,]+ bytes, verified\)\.\n$/,
  );
  const again = await rehome(["backup", file, "--data", at.data]);
  expect(again).toMatchObject({ exitCode: 2, stdout: "" });
  expect(again.stderr).toContain("a backup never overwrites a file");
});

test("backup writes no file in place of standard output", async () => {
  using at = await installation();
  const result = await rehome(["backup", "-", "--data", at.data], { cwd: at.folder.path });
  expect(result).toMatchObject({ exitCode: 2, stdout: "" });
  expect(result.stderr).toStartWith("Error: A backup is a file, ");
  expect(existsSync(join(at.folder.path, "-"))).toBe(false);
});

describe("a folder of backups", () => {
  test("gets a dated file each time, and keeps the newest and whatever is no backup of ours", async () => {
    using at = await installation();
    const folder = join(at.folder.path, "backups");
    mkdirSync(folder);
    const run = (...args: string[]) =>
      rehome(["backup", folder, "--data", at.data, "--json", ...args]);
    const all = documentedJson(backupSchema, (await run()).stdout) as { file: string };
    const [, mark = ""] = /\/backups\/rehome-([0-9a-f]{8})-\d{8}T\d{6}Z\.db$/.exec(all.file) ?? [];
    const old = [`rehome-${mark}-20250101T000000Z.db`, `rehome-${mark}-20250102T000000Z.db`];
    const others = [
      "rehome-notes.db",
      "rehome.db",
      "rehome-20250101T000000Z.db",
      "rehome-00000000-20250101T000000Z.db",
    ];
    for (const name of [...old, ...others]) writeFileSync(join(folder, name), "");
    const kept = documentedJson(backupSchema, (await run("--keep", "3")).stdout) as {
      file: string;
      removed: string[];
    };
    expect(kept.removed).toEqual([join(folder, old[0] ?? "")]);
    const names = [all.file, kept.file].map((file) => file.slice(folder.length + 1));
    expect(readdirSync(folder).toSorted()).toEqual([old[1] ?? "", ...others, ...names].toSorted());
    const one = await rehome(["backup", folder, "--data", at.data, "--keep", "3"]);
    expect(one.stdout).toEndWith(`\nRemoved ${join(folder, old[1] ?? "")}\n`);
  });

  test("of which one cannot be removed is named", async () => {
    using at = await installation();
    const run = () => rehome(["backup", at.folder.path, "--keep", "1", "--data", at.data]);
    const [, mark = ""] = /rehome-([0-9a-f]{8})-/.exec((await run()).stdout) ?? [];
    const stuck = join(at.folder.path, `rehome-${mark}-20200101T000000Z.db`);
    mkdirSync(stuck);
    const refused = await run();
    expect(refused).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining(`Error: ${stuck} cannot be removed: it is a folder.`),
    });
    expect(readdirSync(at.folder.path).filter((name) => name.startsWith("rehome-"))).toHaveLength(
      3,
    );
  });

  test("must be there to keep anything in it", async () => {
    using at = await installation();
    const missing = join(at.folder.path, "missing");
    const refused = await rehome(["backup", missing, "--keep", "3", "--data", at.data]);
    expect(refused).toMatchObject({ exitCode: 2, stdout: "" });
    expect(refused.stderr).toContain(`--keep needs a folder, and ${missing} is not a folder.`);
    for (const count of ["0", "1.5"]) {
      const none = await rehome(["backup", at.folder.path, "--keep", count, "--data", at.data]);
      expect([count, none.exitCode]).toEqual([count, 2]);
    }
    const unset = await rehome(["backup", "", "--data", at.data]);
    expect(unset).toMatchObject({ exitCode: 2, stdout: "" });
    expect(unset.stderr).toContain("It must not be empty.");
  });
});

describe("verify", () => {
  test("starts from a backup in memory, says what is in it, and touches nothing", async () => {
    using at = await installation();
    await rehome(["pets", "add", "--name", "Rex", "--category", "1", "--data", at.data]);
    const add = ["pets", "add", "--category", "1", "--status", "sold", "--data", at.data];
    await rehome([...add, "--name", "Luna"]);
    const file = join(at.folder.path, "full.db");
    await rehome(["backup", file, "--data", at.data]);
    const before = readFileSync(file);
    const shown = await rehome(["backup", "verify", file]);
    expect(shown).toMatchObject({ exitCode: 0, stderr: "" });
    expect(shown.stdout).toMatch(
      new RegExp(
        `^${file} can be restored: [\\d,]+ bytes, read through, schema up to date\\.\\n` +
          "  2 animals: 1 sold, 1 without a status\n  2 keys: 2 active\n  newest change of a key: ",
      ),
    );
    const { stdout } = await rehome(["backup", "verify", file, "--json"]);
    expect(documentedJson(verifiedSchema, stdout)).toMatchObject({
      animals: 2,
      keys: 2,
      pending: [],
    });
    expect(readFileSync(file).equals(before)).toBe(true);
    expect(readdirSync(at.folder.path).toSorted()).toEqual(["backup.db", "data", "full.db"]);
  });

  test("works on the catalogue of a store in use, too", async () => {
    using at = await installation();
    const file = join(at.data, "rehome.db");
    expect(await rehome(["backup", "verify", file])).toMatchObject({ exitCode: 0, stderr: "" });
  });

  test("refuses what is cut short, and what is no backup", async () => {
    using at = await installation();
    truncateSync(at.file, 20_480);
    const cut = await rehome(["backup", "verify", at.file]);
    expect(cut).toMatchObject({ exitCode: 1, stdout: "" });
    expect(cut.stderr).toContain("is damaged");
    const other = join(at.folder.path, "other.db");
    new Database(other).run("CREATE TABLE a (b)");
    const foreign = await rehome(["backup", "verify", other]);
    expect(foreign).toMatchObject({ exitCode: 1, stdout: "" });
    expect(foreign.stderr).not.toContain("    at ");
    const empty = join(at.folder.path, "empty.db");
    writeFileSync(empty, "");
    expect(await rehome(["backup", "verify", empty])).toMatchObject({
      exitCode: 1,
      stderr: `Error: ${empty} holds no catalogue; it is not a backup.\nTry: Name a file that rehome backup made.\n`,
    });
  });
});

test("what a killed backup left in a folder goes after a day, and elsewhere it is named", async () => {
  using at = await installation();
  const folder = join(at.folder.path, "backups");
  mkdirSync(folder);
  const [old, running, other] = [
    "rehome-20250101T000000Z.db.partial",
    "rehome-20250102T000000Z.db.partial",
    "film.partial",
  ];
  for (const name of [old, running, other]) writeFileSync(join(folder, name), "");
  for (const name of [old, other]) utimesSync(join(folder, name), 0, 0);
  const result = await rehome(["backup", folder, "--data", at.data]);
  expect(result).toMatchObject({ exitCode: 0, stderr: "" });
  const left = readdirSync(folder).filter((name) => name.endsWith(".partial"));
  expect(left.toSorted()).toEqual([other, running]);

  const file = join(at.folder.path, "next.db");
  writeFileSync(`${file}.partial`, "");
  const refused = await rehome(["backup", file, "--data", at.data]);
  expect(refused).toMatchObject({ exitCode: 1, stdout: "" });
  expect(refused.stderr).toContain(`Another process may be writing ${file}.partial.`);
  expect(existsSync(file)).toBe(false);
});

describe("restore", () => {
  test("over a catalogue needs --yes where nobody can be asked", async () => {
    using at = await installation();
    const refused = await rehome(["restore", at.file, "--data", at.data]);
    expect(refused).toMatchObject({ exitCode: 2, stdout: "" });
    expect(refused.stderr).toBe(
      `Error: There is a catalogue in ${at.data}, and there is no terminal to ask on.\nTry: Add --yes if you are sure.\n`,
    );
    expect(await keyCount(at.data)).toBe(2);
    const done = await rehome(["restore", at.file, "--data", at.data, "--yes", "--json"]);
    expect(done).toMatchObject({ exitCode: 0, stderr: "" });
    expect(documentedJson(restoreSchema, done.stdout)).toMatchObject({
      keys: 1,
      replaced: expect.stringContaining("rehome.db.replaced-"),
    });
    expect(await keyCount(at.data)).toBe(1);
  });

  test("asks at a terminal", async () => {
    using at = await installation();
    const question = "? [y/N] ";
    const run = (answer: string) =>
      rehomeAtTerminal(["restore", at.file, "--data", at.data], {
        answers: [[question, answer]],
        columns: 200,
      });
    const no = await run("n\n");
    expect(no.exitCode).toBe(1);
    expect(no.screen).toContain(`Replace the catalogue in ${at.data} with `);
    expect(await keyCount(at.data)).toBe(2);
    const yes = await run("y\n");
    expect(yes.exitCode).toBe(0);
    expect(yes.screen).toContain("Restored 0 animals and 1 key to ");
    expect(await keyCount(at.data)).toBe(1);
  });

  test("into an empty folder has nothing to ask", async () => {
    using at = await installation();
    const fresh = join(at.folder.path, "fresh");
    const result = await rehome(["restore", at.file, "--data", fresh, "--json"]);
    expect(result).toMatchObject({ exitCode: 0, stderr: "" });
    expect(documentedJson(restoreSchema, result.stdout)).toMatchObject({ replaced: null });
    expect(await keyCount(fresh)).toBe(1);
  });

  test("a missing backup and the wrong kind of store are said", async () => {
    using at = await installation();
    // Before anybody is asked.
    for (const file of ["/none.db", join(at.file, "none.db")]) {
      const missing = await rehome(["restore", file, "--data", at.data]);
      expect(missing).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("no backup") });
    }
    for (const env of [
      { REHOME_STORE: "postgres://kim@127.0.0.1:1/x" },
      { REHOME_STORE_FILE: join(at.folder.path, "address") },
    ]) {
      const wrong = await rehome(["restore", at.file], { env });
      expect(wrong).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("pg_restore") });
    }
  });
});
