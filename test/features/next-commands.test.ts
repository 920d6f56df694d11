/** What a command on an empty store says to type next leads to that store. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "../../src/cli/program.ts";
import { testIo } from "../helpers/io.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "rehome next-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function said(line: string): Promise<string> {
  const io = testIo({ env: { HOME: "/home/kim" } });
  expect(await run([...line.split(" "), "--data", folder], io)).toBe(0);
  return io.said();
}

test.each([
  ["keys list", "categories add Dog", ["Make one: rehome keys create --plan free --name LABEL"]],
  [
    "pets list",
    "categories add Dog",
    [
      "Add one:           rehome pets add --name NAME --category 1 --status available",
      "Or import a file:  rehome pets import FILE",
    ],
  ],
  ["pets list --name x", "categories add Dog", ["All of them: rehome pets list"]],
  ["categories list", "keys create --plan free --name x", ["Make one: rehome categories add NAME"]],
  ["people list", "categories add Dog", ["Invite somebody: rehome people invite NAME"]],
  ["people invite Ana", "categories add Dog", ["Start it: rehome serve --console 127.0.0.1:8090"]],
])("%s", async (line, before, commands) => {
  await said(before);
  const text = await said(line);
  for (const command of commands) expect(text).toContain(`${command} --data '${folder}'\n`);
});
