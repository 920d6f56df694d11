import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { findService, readSettingsFile } from "../../src/cli/machine.ts";
import { temporaryFolder } from "../helpers/binary.ts";

test("the service is what its settings file and the owner of its data folder say", () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "settings");
  expect(findService(file, "/nowhere")).toBeUndefined();
  writeFileSync(file, "REHOME_PORT=81\nPATH=/bin\n");
  const found = findService(file, folder.path);
  expect(found).toMatchObject({ file, account: { uid: process.geteuid?.() ?? 0 } });
  expect([...(found?.variables ?? [])]).toEqual([
    ["REHOME_DATA", folder.path],
    ["REHOME_PORT", "81"],
  ]);
  // The unit reads the settings after it has named its own folder.
  writeFileSync(file, "REHOME_DATA=/srv/nowhere\n");
  const moved = findService(file, folder.path);
  expect(moved?.variables.get("REHOME_DATA")).toBe("/srv/nowhere");
  expect(moved?.account).toBeUndefined();
});

test.each([
  ["REHOME_PORT=80", "80"],
  ["REHOME_PORT = 80 ", "80"],
  ['REHOME_PORT="80"', "80"],
  ["REHOME_PORT='8''0'", "80"],
  ["#REHOME_PORT=80", undefined],
  ["; REHOME_PORT=80", undefined],
  // Unlike a shell, systemd knows no comment behind a value.
  ["REHOME_PORT=80 # http", "80 # http"],
  ["REHOME_PORT=8\\\n0", "80"],
])("a settings file with %j sets %j, as systemd has it", (text, value) => {
  using folder = temporaryFolder();
  const file = join(folder.path, "settings");
  writeFileSync(file, text);
  expect(readSettingsFile(file).get("REHOME_PORT")).toBe(value);
});
