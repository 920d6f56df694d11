/** `rehome undo` of a whole import, on the compiled file. */
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { undoneSchema } from "../../src/features/animals/commands/undo.ts";
import {
  cleanEnvironment,
  executable,
  makeKey,
  rehome,
  roomy,
  serve,
  temporaryFolder,
} from "../helpers/binary.ts";
import { finished } from "../helpers/finished.ts";
import { documentedJson } from "../helpers/json-contract.ts";
import { onStoreUnderTest } from "../helpers/store-under-test.ts";

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
    rehome(["pets", "import", "-", "--create-categories", ...args, ...store], { stdin });
  const good = await take(`${header}A1,Rex,01/02/2026,m,,Dog\nA2,Ada,01/02/2026,m,,Dog\n`);
  expect(good.exitCode).toBe(0);
  const whole = async () => (await rehome(["pets", "export", ...store])).stdout;
  const before = await whole();

  // The breed was taken for the species, and a row says that Ada died, which she did not.
  const bad = await take(`${header}A1,Rex,01/03/2026,m,,Beagle\nA2,Ada,01/03/2026,m,Died,Dog\n`);
  expect(bad.stdout).toContain("1  withdrawn");
  const asked = await rehome(["undo", ...store]);
  expect([asked.exitCode, asked.stderr]).toEqual([
    2,
    expect.stringMatching(
      /^Change 2: import by \S+, \S+ Animals: 1 changed back, 1 brought back; 1 category changed back\.\n/,
    ),
  ]);
  const done = await rehome(["undo", "--yes", "--json", ...store]);
  expect(documentedJson(undoneSchema, done.stdout)).toMatchObject({
    action: "import",
    updated: 1,
    removed: 0,
    restored: 1,
    left: 0,
    categories: 1,
  });
  expect(await whole()).toBe(before);
  const categories = await rehome(["categories", "list", "--json", ...store]);
  expect(JSON.parse(categories.stdout)).toEqual([{ id: 1, name: "Dog", animals: 2 }]);
  const history = await rehome(["pets", "history", "2", "--json", ...store]);
  const { events } = JSON.parse(history.stdout) as { events: { action: string }[] };
  expect(events.map(({ action }) => action)).toEqual(["import", "undo"]);
});

test("changes nothing when all of it was changed since, and says so", async () => {
  using folder = temporaryFolder();
  const store = ["--data", join(folder.path, "data")];
  await rehome(["pets", "add", "--name", "Rex", "--category", "1", ...store]);
  await rehome(["pets", "update", "1", "--name", "Max", ...store]);
  const { exitCode, stdout } = await rehome(["undo", "1", "--yes", ...store]);
  expect([exitCode, stdout]).toEqual([
    0,
    "Nothing was changed. Nothing of it is left to undo. 1 left unchanged, because it was changed since.\n",
  ]);
  const shown = await rehome(["pets", "show", "1", "--json", ...store]);
  expect(JSON.parse(shown.stdout)).toMatchObject({ name: "Max" });
});

test(
  "one that is killed is finished by the next, and a server goes on beside both",
  async () => {
    using folder = temporaryFolder();
    const data = join(folder.path, "data");
    const file = largeFile(folder.path, 60_000);
    const store = ["--data", data];
    await rehome(["pets", "import", file, "--create-categories", ...store]);
    const { args, env } = await onStoreUnderTest(["undo", "--yes", ...store]);
    const child = Bun.spawn([await executable(), ...args], {
      env: { ...cleanEnvironment, ...env },
      stdout: "ignore",
      stderr: "pipe",
    });
    // It says what it is going to do, and begins.
    await child.stderr.getReader().read();
    await Bun.sleep(100);
    child.kill("SIGKILL");
    await child.exited;
    expect(child.signalCode).toBe("SIGKILL");

    await using server = await serve(data);
    const { key } = await makeKey(data, ...roomy);
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const again = Bun.spawn([await executable(), ...args, "--json"], {
      env: { ...cleanEnvironment, ...env },
      stdout: "pipe",
      stderr: "pipe",
    });
    const ended = { is: false };
    void again.exited.then(() => (ended.is = true));
    const waitsMs: number[] = [];
    while (!ended.is) {
      const startMs = performance.now();
      const body = '{"name":"Rex","categoryId":5}';
      const created = await fetch(`${server.origin}/v1/pets`, { method: "POST", headers, body });
      expect(created.status).toBe(201);
      await created.text();
      waitsMs.push(performance.now() - startMs);
    }
    const { exitCode, stdout } = await finished(again);
    expect(exitCode).toBe(0);
    expect(documentedJson(undoneSchema, stdout)).toMatchObject({ left: 0, categories: 1 });
    // Creates in a row would be one or two if the undo held the lock from its beginning to its end.
    expect(waitsMs.length).toBeGreaterThan(5);
    const listed = await rehome(["pets", "list", "--name", "luna", ...store]);
    expect(listed.stderr).toContain("There is no such animal");
    const nothing = await rehome(["undo", "--yes", ...store]);
    expect(nothing.stderr).toContain("There is no change to undo.");
  },
  slowMs,
);
