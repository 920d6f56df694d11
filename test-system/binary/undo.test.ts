/** `rehome undo` of a whole import beside a server, on the compiled file. */
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  cleanEnvironment,
  executable,
  makeKey,
  roomy,
  serve,
  temporaryFolder,
} from "../../test/helpers/binary.ts";
import { finished } from "../../test/helpers/finished.ts";
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
