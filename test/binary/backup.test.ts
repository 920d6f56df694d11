/** `rehome backup` and `rehome restore` at the command line: output, questions and exit codes. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { backupSchema } from "../../src/annexes/operate/backup/backup-command.ts";
import { restoreSchema } from "../../src/annexes/operate/backup/restore-command.ts";
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

describe("restore", () => {
  test("over a catalogue needs --yes where nobody can be asked", async () => {
    using at = await installation();
    const refused = await rehome(["restore", at.file, "--data", at.data]);
    expect(refused).toMatchObject({ exitCode: 2, stdout: "" });
    expect(refused.stderr).toBe(
      `Error: There is a catalogue in ${at.data}, and there is no terminal to ask at.\nTry: Add --yes if you are sure.\n`,
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
    expect(no.screen).toContain(`in the place of the catalogue in ${at.data}? [y/N] `);
    expect(await keyCount(at.data)).toBe(2);
    const yes = await run("y\n");
    expect(yes.exitCode).toBe(0);
    expect(yes.screen).toContain("Restored 0 animals and 1 key to ");
    expect(await keyCount(at.data)).toBe(1);
  });

  test("into an empty folder has nothing to ask", async () => {
    using at = await installation();
    const fresh = join(at.folder.path, "fresh");
    const result = await rehome(["restore", at.file, "--data", fresh]);
    expect(result).toMatchObject({ exitCode: 0, stderr: "" });
    expect(await keyCount(fresh)).toBe(1);
  });

  test("a missing backup and the wrong kind of store are said", async () => {
    using at = await installation();
    // Before anybody is asked.
    const missing = await rehome(["restore", "/none.db", "--data", at.data]);
    expect(missing).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("no backup") });
    const env = { REHOME_STORE: "postgres://kim@127.0.0.1:1/x" };
    const wrong = await rehome(["restore", at.file], { env });
    expect(wrong).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("pg_restore") });
  });
});
