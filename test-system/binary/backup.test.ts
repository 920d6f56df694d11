/** `rehome backup` and `rehome restore` at the command line: output, questions and exit codes. */
import { describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  truncateSync,
  utimesSync,
} from "node:fs";
import { join } from "node:path";
import { backupSchema } from "../../src/features/operate/backup/backup.ts";
import { verifiedSchema } from "../../src/features/operate/backup/verify.ts";
import { restoreSchema } from "../../src/features/operate/backup/restore.ts";
import {
  cleanEnvironment,
  executable,
  makeKey,
  rehome,
  temporaryFolder,
} from "../../test/helpers/binary.ts";
import { random as randomOf } from "../../scripts/random.ts";
import { documentedJson } from "../../test/helpers/json-contract.ts";
import { command } from "../../test/helpers/command.ts";
import { rehomeAtTerminal } from "../../test/helpers/terminal.ts";

async function installation() {
  const folder = temporaryFolder();
  const data = join(folder.path, "data");
  const file = join(folder.path, "backup.db");
  await makeKey(data, "--plan", "free");
  const made = await command(["backup", file, "--data", data, "--json"]);
  expect(documentedJson(backupSchema, made.stdout)).toMatchObject({ file, animals: 0, keys: 1 });
  await makeKey(data, "--plan", "free");
  return { folder, data, file, [Symbol.dispose]: () => folder[Symbol.dispose]() };
}

async function keyCount(data: string): Promise<number> {
  const result = await command(["keys", "list", "--json", "--data", data]);
  return (JSON.parse(result.stdout) as unknown[]).length;
}

test("backup says what it wrote, never overwrites, and does not go to standard output", async () => {
  using at = await installation();
  const file = join(at.folder.path, "other.db");
  const result = await command(["backup", file, "--data", at.data]);
  expect(result).toMatchObject({ exitCode: 0, stderr: "" });
  expect(result.stdout).toMatch(
    /^Backed up 0 animals and 2 keys to .*\([\d,]+ bytes, verified\)\.\n$/,
  );
  const again = await command(["backup", file, "--data", at.data]);
  expect(again).toMatchObject({ exitCode: 2, stdout: "" });
  expect(again.stderr).toContain("a backup never overwrites a file");
  const dash = await rehome(["backup", "-", "--data", at.data], { cwd: at.folder.path });
  expect(dash).toMatchObject({ exitCode: 2, stdout: "" });
  expect(existsSync(join(at.folder.path, "-"))).toBe(false);
});

test("--keep needs a folder", async () => {
  using at = await installation();
  const folder = join(at.folder.path, "backups");
  const run = () => command(["backup", folder, "--data", at.data, "--json", "--keep", "3"]);
  expect(await run()).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining(`--keep needs a folder, and ${folder} is not a folder.`),
  });
  mkdirSync(folder);
  const { file } = documentedJson(backupSchema, (await run()).stdout) as { file: string };
  expect(file).toMatch(/\/backups\/rehome-[0-9a-f]{8}-\d{8}T\d{6}Z\.db$/);
});

test("verify starts from a backup in memory, says what is in it, and touches nothing", async () => {
  using at = await installation();
  const add = ["pets", "add", "--category", "1", "--status", "sold", "--data", at.data];
  await command([...add, "--name", "Luna"]);
  const file = join(at.folder.path, "full.db");
  await command(["backup", file, "--data", at.data]);
  const before = readFileSync(file);
  const shown = await command(["backup", "verify", file]);
  expect(shown).toMatchObject({ exitCode: 0, stderr: "" });
  expect(shown.stdout).toMatch(
    new RegExp(
      `^${file} can be restored: [\\d,]+ bytes, read through, schema up to date\\.\\n` +
        "  1 animal, 2 keys\n  newest change of a key: ",
    ),
  );
  const { stdout } = await command(["backup", "verify", file, "--json"]);
  expect(documentedJson(verifiedSchema, stdout)).toMatchObject({
    animals: 1,
    keys: 2,
    pending: [],
  });
  expect(readFileSync(file).equals(before)).toBe(true);
  expect(readdirSync(at.folder.path).toSorted()).toEqual(["backup.db", "data", "full.db"]);
  truncateSync(file, 20_480);
  const cut = await command(["backup", "verify", file]);
  expect(cut).toMatchObject({ exitCode: 1, stdout: "" });
  expect(cut.stderr).toContain("is damaged");
});

test("a backup that is killed at any moment leaves nothing for ever", async () => {
  using at = await installation();
  const random = randomOf(9);
  const folder = join(at.folder.path, "backups");
  mkdirSync(folder);
  const words = [await executable(), "backup", folder, "--data", at.data];
  for (let round = 0; round < 20; round += 1) {
    const child = Bun.spawn(words, {
      env: cleanEnvironment,
      stdio: ["ignore", "ignore", "ignore"],
    });
    await Bun.sleep(random() * 120);
    child.kill("SIGKILL");
    await child.exited;
  }
  for (const place of [folder, at.data]) {
    for (const name of readdirSync(place)) utimesSync(join(place, name), 0, 0);
  }
  expect((await command(["backup", folder, "--data", at.data])).exitCode).toBe(0);
  for (const name of readdirSync(folder)) {
    expect((await command(["backup", "verify", join(folder, name)])).exitCode).toBe(0);
  }
  const besides = readdirSync(at.data).filter((name) => !/^(?:rehome|limits)\.db/.test(name));
  expect(besides).toEqual([]);
}, 60_000);

describe("restore", () => {
  test("over a catalogue asks, or needs --yes; into an empty folder it has nothing to ask", async () => {
    using at = await installation();
    const refused = await command(["restore", at.file, "--data", at.data]);
    expect(refused).toMatchObject({ exitCode: 2, stdout: "" });
    expect(refused.stderr).toContain("Try: Add --yes if you are sure.");
    const no = await rehomeAtTerminal(["restore", at.file, "--data", at.data], {
      answers: [["? [y/N] ", "n\n"]],
      columns: 200,
    });
    expect(no.exitCode).toBe(1);
    expect(no.screen).toContain(`Replace the catalogue in ${at.data} with `);
    expect(await keyCount(at.data)).toBe(2);
    const done = await command(["restore", at.file, "--data", at.data, "--yes", "--json"]);
    expect(done).toMatchObject({ exitCode: 0, stderr: "" });
    expect(documentedJson(restoreSchema, done.stdout)).toMatchObject({
      keys: 1,
      replaced: expect.stringContaining("rehome.db.replaced-"),
    });
    expect(await keyCount(at.data)).toBe(1);
    const fresh = join(at.folder.path, "fresh");
    const first = await command(["restore", at.file, "--data", fresh]);
    expect(first.stdout).toStartWith("Restored 0 animals and 1 key to ");
    expect(await keyCount(fresh)).toBe(1);
  });

  test("a missing backup and the wrong kind of store are said before anybody is asked", async () => {
    using at = await installation();
    const missing = await command(["restore", join(at.file, "none.db"), "--data", at.data]);
    expect(missing).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("no backup") });
    const env = { REHOME_STORE: "postgres://kim@127.0.0.1:1/x" };
    const wrong = await command(["restore", at.file], { env });
    expect(wrong).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("pg_restore") });
  });
});
