/** `rehome undo` of a whole import, on the compiled file. */
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { undoneSchema } from "../../src/features/animals/commands/undo.ts";
import {
  cleanEnvironment,
  executable,
  makeKey,
  roomy,
  serve,
  temporaryFolder,
} from "../../test/helpers/binary.ts";
import { finished } from "../../test/helpers/finished.ts";
import { documentedJson } from "../../test/helpers/json-contract.ts";
import { command } from "../../test/helpers/command.ts";
import { onStoreUnderTest } from "../../test/helpers/store-under-test.ts";

const header = "Animal ID,Name,DateTime,MonthYear,Outcome Type,Animal Type\n";
const slowMs = 120_000;

/** An Austin file of so many dogs that are there. */
function largeFile(folder: string, rows: number): string {
  const file = join(folder, "large.csv");
  const row = (index: number) => `A${index},Luna ${index},01/02/2026 10:00 AM,m,,Dog\n`;
  writeFileSync(file, header + Array.from({ length: rows }, (_, index) => row(index)).join(""));
  return file;
}

test("takes a mistaken import back whole, with the categories that it made", async () => {
  using folder = temporaryFolder();
  const store = ["--data", join(folder.path, "data")];
  const take = (stdin: string, ...args: string[]) =>
    command(["pets", "import", "-", "--create-categories", ...args, ...store], { stdin });
  const good = await take(`${header}A1,Rex,01/02/2026,m,,Dog\nA2,Ada,01/02/2026,m,,Dog\n`);
  expect(good.exitCode).toBe(0);
  const whole = async () => (await command(["pets", "export", ...store])).stdout;
  const before = await whole();

  // The breed was taken for the species, and a row says that Ada died, which she did not.
  const bad = await take(`${header}A1,Rex,01/03/2026,m,,Beagle\nA2,Ada,01/03/2026,m,Died,Dog\n`);
  expect(bad.stdout).toContain("1  withdrawn");
  const asked = await command(["undo", ...store]);
  expect([asked.exitCode, asked.stderr]).toEqual([
    2,
    expect.stringMatching(
      /^Change 2: import by \S+, \S+ Animals: 1 changed back, 1 brought back; 1 category changed back\.\n/,
    ),
  ]);
  const done = await command(["undo", "--yes", "--json", ...store]);
  expect(documentedJson(undoneSchema, done.stdout)).toMatchObject({
    action: "import",
    updated: 1,
    removed: 0,
    restored: 1,
    left: 0,
    categories: 1,
  });
  expect(await whole()).toBe(before);
  const categories = await command(["categories", "list", "--json", ...store]);
  expect(JSON.parse(categories.stdout)).toEqual([{ id: 1, name: "Dog", animals: 2 }]);
  const history = await command(["pets", "history", "2", "--json", ...store]);
  const { events } = JSON.parse(history.stdout) as { events: { action: string }[] };
  expect(events.map(({ action }) => action)).toEqual(["import", "undo"]);
});

test("changes nothing when all of it was changed since, and says so", async () => {
  using folder = temporaryFolder();
  const store = ["--data", join(folder.path, "data")];
  await command(["pets", "add", "--name", "Rex", "--category", "1", ...store]);
  await command(["pets", "update", "1", "--name", "Max", ...store]);
  const { exitCode, stdout } = await command(["undo", "1", "--yes", ...store]);
  expect([exitCode, stdout]).toEqual([
    0,
    "Nothing was changed. Nothing of it is left to undo. 1 left unchanged, because it was changed since.\n",
  ]);
  const shown = await command(["pets", "show", "1", "--json", ...store]);
  expect(JSON.parse(shown.stdout)).toMatchObject({ name: "Max" });
});

test(
  "a server goes on beside one",
  async () => {
    using folder = temporaryFolder();
    const data = join(folder.path, "data");
    const store = ["--data", data];
    const rows = 30_000;
    const file = largeFile(folder.path, rows);
    await command(["pets", "import", file, "--create-categories", ...store]);
    const { args, env } = await onStoreUnderTest(["undo", "--yes", "--json", ...store]);
    const undo = async () =>
      Bun.spawn([await executable(), ...args], {
        env: { ...cleanEnvironment, ...env },
        stdout: "pipe",
        stderr: "pipe",
      });
    const animals = async (name: string) => {
      const { stderr } = await command(["pets", "list", "--name", name, "--limit", "1", ...store]);
      return Number((/^([\d,]+) of/.exec(stderr)?.[1] ?? "0").replaceAll(",", ""));
    };
    await using server = await serve(data);
    const { key } = await makeKey(data, ...roomy);
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const again = await undo();
    const ended = { is: false };
    void again.exited.then(() => (ended.is = true));
    let created = 0;
    while (!ended.is) {
      const body = '{"name":"Rex","categoryId":5}';
      const response = await fetch(`${server.origin}/v1/pets`, { method: "POST", headers, body });
      await response.text();
      if (response.status === 201) created += 1;
      else expect([response.status, response.headers.get("retry-after")]).toEqual([503, "1"]);
    }
    expect((await finished(again)).exitCode).toBe(0);
    expect(await animals("luna")).toBe(0);
    expect(await animals("rex")).toBeGreaterThanOrEqual(created);
  },
  slowMs,
);
