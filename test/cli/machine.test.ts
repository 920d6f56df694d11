import { describe, expect, test } from "bun:test";
import { chownSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  asOwner,
  findService,
  type MachineService,
  readSettingsFile,
  refuseRoot,
  requireServiceAccount,
} from "../../src/cli/machine.ts";
import { loadConfig } from "../../src/config.ts";
import { shellWord } from "../../src/domain/errors.ts";
import { temporaryFolder } from "../helpers/binary.ts";
import { testIo } from "../helpers/io.ts";

test("the service is what its settings file and the owner of its data folder say", () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "settings");
  expect(findService(file, "/nowhere")).toBeUndefined();
  writeFileSync(file, "REHOME_PORT=81\nPATH=/bin\nAWS_REGION=x\n");
  const found = findService(file, folder.path);
  expect(found).toMatchObject({ file, account: { uid: process.geteuid?.() ?? 0 } });
  expect([...(found?.variables ?? [])]).toEqual([
    ["REHOME_DATA", folder.path],
    ["REHOME_PORT", "81"],
    // Of its bucket.
    ["AWS_REGION", "x"],
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

/** A machine with these programs, as its user `uid` sees it. */
const machineWith = (uid: number, programs: readonly string[], more = {}) => ({
  uid,
  service: () => undefined,
  isContainer: false,
  program: "rehome",
  hasProgram: (name: string) => programs.includes(name),
  ...more,
});

describe("what to type to work as the owner of the data", () => {
  // Every system has this account, with these numbers.
  const named = { name: "nobody", uid: 65_534, gid: 65_534 };
  const nameless = { name: "uid 1000", uid: 1_000, gid: 1_001 };
  const words = ["keys", "create", "--name", "a b"];
  const typed = "rehome keys create --name 'a b'";

  test.each([
    ["root, with sudo", named, machineWith(0, ["sudo", "runuser"]), `sudo -u nobody ${typed}`],
    ["root, without", named, machineWith(0, ["runuser"]), `runuser -u nobody -- ${typed}`],
    ["another user", named, machineWith(1_000, ["sudo"]), `sudo -u nobody ${typed}`],
    [
      "root of a small system",
      named,
      machineWith(0, ["su"]),
      `su -s /bin/sh nobody -c ${shellWord(typed)}`,
    ],
    [
      "a bind mount whose owner has no name here",
      nameless,
      machineWith(0, ["sudo", "setpriv"]),
      `setpriv --reuid=1000 --regid=1001 --clear-groups ${typed}`,
    ],
    [
      "a program that no shell finds",
      named,
      machineWith(0, ["sudo"], { program: "/opt/a b/rehome" }),
      "sudo -u nobody '/opt/a b/rehome' keys create --name 'a b'",
    ],
  ])("%s", (_place, owner, machine, line) => {
    expect(asOwner(owner, words, machine)).toBe(line);
  });

  test.each([
    ["a container", named, []],
    ["a folder that is mounted into a container", nameless, ["sudo", "setpriv", "su"]],
    ["an image without any of these", nameless, []],
  ])("%s", (_place, owner, programs) => {
    const inside = machineWith(0, programs, { isContainer: true });
    expect(asOwner(owner, words, inside)).toContain(`--user ${owner.uid}:${owner.gid} `);
  });
});

describe.if(process.geteuid?.() === 0)("root and the data folder of another user", () => {
  const io = testIo({ machine: machineWith(0, ["sudo"]) });
  const refused = (folder: string) => expect(() => refuseRoot(folder, ["serve"], io));

  test.each(["", "/data", "/data/deeper"])("is refused at their folder%s", (below) => {
    using folder = temporaryFolder();
    chownSync(folder.path, 65_534, 65_534);
    const hint = "sudo -u nobody rehome serve";
    refused(folder.path + below).toThrow(expect.objectContaining({ hint }));
  });

  test("is let into its own, and into memory", () => {
    using folder = temporaryFolder();
    chownSync(folder.path, 0, 0);
    refused(folder.path).not.toThrow();
    refused(join(folder.path, "new")).not.toThrow();
    refused(":memory:").not.toThrow();
  });
});

describe("the store of this machine's service", () => {
  const account = { name: "rehome", uid: 990, gid: 990 };
  const service: MachineService = { file: "/etc/default/rehome", variables: new Map(), account };
  const loaded = loadConfig({ data: "/var/lib/rehome" }, {}, []);
  const begin = (uid: number) =>
    requireServiceAccount(service, loaded, ["doctor"], testIo({ machine: machineWith(uid, []) }));

  test.each([0, 1_000])("is closed to the user %d", (uid) => {
    expect(() => begin(uid)).toThrow("which belongs to the account rehome.");
  });

  test("is open to its account", () => {
    expect(() => begin(990)).not.toThrow();
  });
});
