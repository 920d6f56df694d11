import { describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { findService, unitFiles } from "../../../src/features/operate/systemd/find-service.ts";
import { readEnvironmentFile, readUnit } from "../../../src/features/operate/systemd/unit.ts";
import { temporaryFolder } from "../../helpers/binary.ts";

const folders = { state: "/var/lib", home: "/home/kim", configuration: "/etc" };

describe("a unit", () => {
  test("says account, variables, files and command", () => {
    const unit = readUnit(
      [
        "[Unit]\nUser=nobody\n[Service]\n# User=other\nUser=shelter\nEnvironment=REHOME_DATA=%S/rehome 'REHOME_A=a b'\n" +
          'EnvironmentFile=-/etc/default/rehome\nExecStart=/usr/bin/rehome serve --port 9000 \\\n  --base-url="https://a/100%%/v1"\n[Install]\nUser=nobody\n',
      ],
      folders,
    );
    expect(unit.user).toBe("shelter");
    expect([...unit.environment]).toEqual([
      ["REHOME_DATA", "/var/lib/rehome"],
      ["REHOME_A", "a b"],
    ]);
    expect(unit.environmentFiles).toEqual(["/etc/default/rehome"]);
    expect(unit.command.slice(2)).toEqual(["--port", "9000", "--base-url=https://a/100%/v1"]);
  });

  test("is changed by its drop-ins, and an empty assignment takes back", () => {
    const unit = readUnit(
      [
        "[Service]\nEnvironment=REHOME_PORT=1 REHOME_BANS=off\nEnvironmentFile=/a\nExecStart=/old",
        "[Service]\nEnvironment=\nEnvironment=REHOME_PORT=2\nEnvironmentFile=\nEnvironmentFile=/b\nExecStart=\nExecStart=/new",
      ],
      folders,
    );
    expect([...unit.environment]).toEqual([["REHOME_PORT", "2"]]);
    expect(unit.environmentFiles).toEqual(["/b"]);
    expect(unit.command).toEqual(["/new"]);
  });
});

test("the drop-ins of all folders are in the order of their names, the first folder's counting", () => {
  using folder = temporaryFolder();
  const [admin, vendor] = ["etc", "usr"].map((name) => join(folder.path, name)) as [string, string];
  const files = [
    join(admin, "rehome.service.d/20.conf"),
    join(vendor, "rehome.service"),
    join(vendor, "rehome.service.d/10.conf"),
    join(vendor, "rehome.service.d/20.conf"),
    join(vendor, "rehome.service.d/30.conf"),
    join(vendor, "rehome.service.d/40.txt"),
  ] as const;
  for (const file of files) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, "");
  }
  const [own, unit, first, , last] = files;
  expect(unitFiles([admin, vendor])).toEqual([unit, first, own, last]);
  expect(unitFiles([admin])).toEqual([]);
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
  // Unlike in a unit, where it is a space.
  ["REHOME_PORT=8\\\n0", "80"],
])("an environment file with %j sets %j", (text, value) =>
  expect(readEnvironmentFile(text).get("REHOME_PORT")).toBe(value),
);

describe("a user's own unit", () => {
  test("is the service of this machine for that user, with the flags of its command", () => {
    using home = temporaryFolder();
    const folder = join(home.path, ".config/systemd/user");
    mkdirSync(join(folder, "rehome.service.d"), { recursive: true });
    const file = join(folder, "rehome.service");
    writeFileSync(
      file,
      "[Service]\nEnvironment=REHOME_PORT=1 PATH=/bin\nEnvironmentFile=-%h/settings\nExecStart=%h/rehome serve --data=%S/pets --reuse-port --cors-origin a --cors-origin b\n",
    );
    writeFileSync(join(home.path, "settings"), "REHOME_PORT=2\n");
    writeFileSync(
      join(folder, "rehome.service.d/more.conf"),
      "[Service]\nEnvironment=REHOME_BANS=off\n",
    );
    const found = findService({ HOME: home.path }, 1000);
    expect(found?.file).toBe(join(home.path, "settings"));
    expect(found?.account).toBeUndefined();
    expect([...(found?.variables ?? [])].map(([name, { text }]) => [name, text])).toEqual([
      ["REHOME_PORT", "2"],
      ["REHOME_BANS", "off"],
      ["REHOME_DATA", join(home.path, ".local/state/pets")],
      ["REHOME_REUSE_PORT", "true"],
      ["REHOME_CORS_ORIGIN", "a,b"],
    ]);
    const fileOf = (name: string) => found?.variables.get(name)?.file;
    expect(fileOf("REHOME_PORT")).toBe(join(home.path, "settings"));
    // As `systemctl --user edit rehome` writes it.
    expect(fileOf("REHOME_BANS")).toBe(join(folder, "rehome.service.d/more.conf"));
    expect(fileOf("REHOME_DATA")).toBe(file);
    // Root's commands are about the machine, even where sudo keeps HOME.
    expect(findService({ HOME: home.path }, 0)?.file).not.toBe(found?.file);
  });
});
