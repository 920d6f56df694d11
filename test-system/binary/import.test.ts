/** `rehome pets import` and `pets export`: what docs/import.md does not show of their files. */
import { describe, expect, test } from "bun:test";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { importSchema } from "../../src/features/import/commands/import-report.ts";
import { documentedJson } from "../../test/helpers/json-contract.ts";
import {
  cleanEnvironment,
  executable,
  rehome,
  temporaryFolder,
} from "../../test/helpers/binary.ts";
import { command } from "../../test/helpers/command.ts";
import { finished } from "../../test/helpers/finished.ts";

const importInto = (folder: string, ...args: string[]) =>
  command(["pets", "import", ...args, "--data", join(folder, "data")]);
const fixture = (name: string) => join(import.meta.dir, "../../test/fixtures/import", name);

describe("pets import", () => {
  test("writes rejects to a new file alone: not over one that exists, nor over what it reads", async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, "animals.csv");
    const text = "name,categoryId\nRex,1\n";
    writeFileSync(file, text);
    const args = [file, "--rejects", `${folder.path}/./animals.csv`];
    const { exitCode, stderr } = await importInto(folder.path, ...args);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining("exists.\nTry: Name another")]);
    expect(await Bun.file(file).text()).toBe(text);
    const rejects = join(folder.path, "rejects.ndjson");
    const bad = join(folder.path, "bad.ndjson");
    writeFileSync(bad, '{"name":"Rex","categoryId":1}\n{"name":5,"categoryId":1}\n');
    expect((await importInto(folder.path, bad, "--rejects", rejects)).exitCode).toBe(1);
    expect((await Bun.file(rejects).text()).split("\n")).toHaveLength(2);
    const nowhere = await importInto(folder.path, bad, "--rejects", "/no/such/folder/x");
    expect(nowhere.exitCode).toBe(1);
    expect(nowhere.stderr).toContain(
      "/no/such/folder/x cannot be written: its folder does not exist.\nTry: ",
    );
  });

  test("a device that fails is said in words", async () => {
    using folder = temporaryFolder();
    // Nothing can be read at the beginning of a process's memory.
    expect(await rehome(["pets", "import", "/proc/self/mem", "--data", folder.path])).toEqual({
      exitCode: 1,
      stdout: "",
      stderr:
        "Error: /proc/self/mem cannot be read on: the device reports an error.\n" +
        "Try: Copy the file to the disk of this machine. Nothing was changed.\n",
    });
  });

  test("a workbook is read", async () => {
    using folder = temporaryFolder();
    // What reads one is loaded where it is wanted: the executable has to have it.
    const data = ["--data", join(folder.path, "data")];
    const workbook = await rehome([
      "pets",
      "import",
      fixture("streamed.xlsx"),
      "--create-categories",
      "--json",
      ...data,
    ]);
    expect(documentedJson(importSchema, workbook.stdout)).toMatchObject({
      shape: "xlsx",
      added: 2,
    });
  });

  test("a dry run says that a whole list would be refused, as more than half are missing", async () => {
    using folder = temporaryFolder();
    const map = ["--map", "name=N,categoryId=K,status=S,externalId=T", "--source", "clinic"];
    const args = ["pets", "import", "-", ...map, "--create-categories", "--data", folder.path];
    const [head, lu] = ["N,K,S,T", "Lu,Cat,Adopted,3"];
    const monday = [head, "Rex,Dog,Available,1", "Bo,Cat,Available,2", lu].join("\n");
    expect(await command(args, { stdin: monday })).toMatchObject({ exitCode: 0 });
    const tuesday = { stdin: `${head}\n${lu}\n` };
    const dry = await command([...args, "--complete", "--dry-run", "--json"], tuesday);
    const notes = (JSON.parse(dry.stdout) as { notes: { text: string }[] }).notes;
    expect([dry.exitCode, notes.map(({ text }) => text)]).toEqual([
      0,
      [
        "none of 1 animal is for adoption by S",
        "the import itself would be refused: 2 of the 3 animals of clinic are not in this list",
      ],
    ]);
    const done = await command([...args, "--complete", "--yes", "--json"], tuesday);
    expect(JSON.parse(done.stdout)).toMatchObject({ withdrawn: 2, missing: 2, unchanged: 1 });
  });

  test("an import of which nothing could be taken has failed, --skip-bad or not", async () => {
    using folder = temporaryFolder();
    const args = ["pets", "import", "-", "--skip-bad", "--data", join(folder.path, "data")];
    const none = await command(args, { stdin: "name,categoryId\nRex,\nBo,x\n" });
    expect([none.exitCode, none.stderr]).toEqual([
      1,
      expect.stringContaining("Error: None of 2 records could be imported."),
    ]);
  });

  test("a dry run needs no catalogue, and leaves none", async () => {
    using folder = temporaryFolder();
    const place = `--data=${folder.path}/data`;
    const dry = await command(["pets", "import", fixture("dallas.csv"), "--dry-run", place]);
    expect([dry.exitCode, dry.stderr]).toEqual([
      0,
      `There is no catalogue in ${folder.path}/data yet; this would create one.\n`,
    ]);
    expect(readdirSync(folder.path)).toEqual([]);
  });

  test.each([
    [["nothing.json"], 2, "nothing.json cannot be read: there is no such file."],
    [["/dev/null"], 2, "/dev/null cannot be read: it is a device."],
    [[], 2, "missing required argument 'file'"],
    [["-"], 1, "Error: standard input: the input is empty"],
    [
      [fixture("other.csv")],
      1,
      "or say the same: --map 'name=Pet Name,categoryId=\"Kind, or species\",status=State,externalId=Tag'",
    ],
  ])("refuses %j in words", async (args, exitCode, words) => {
    using folder = temporaryFolder();
    const result = await importInto(folder.path, ...args);
    expect(result.exitCode).toBe(exitCode);
    expect(result.stderr).toStartWith("Error: ");
    expect(result.stderr).toContain(words);
    expect(result.stderr).not.toContain("    at ");
  });
});

describe("pets export", () => {
  test("ends quietly when nobody reads on", async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, "large.csv");
    writeFileSync(file, `name,categoryId,status\n${"Rex,1,available\n".repeat(20_000)}`);
    await importInto(folder.path, file, "--new-ids");
    const line = '"$0" pets export --format ndjson --data data | head -n 1';
    const child = Bun.spawn(["bash", "-o", "pipefail", "-c", line, await executable()], {
      cwd: folder.path,
      env: cleanEnvironment,
      stdout: "pipe",
      stderr: "pipe",
    });
    const { exitCode, stdout, stderr } = await finished(child);
    expect([exitCode, stdout, stderr]).toEqual([
      0,
      '{"id":1,"name":"Rex","categoryId":1,"status":"available"}\n',
      "",
    ]);
  });
});
