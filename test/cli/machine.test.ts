import { expect, test } from "bun:test";
import { chownSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  asOwner,
  findService,
  readSettingsFile,
  refuseRoot,
  requireServiceAccount,
} from "../../src/cli/machine.ts";
import { actorOf } from "../../src/cli/io.ts";
import { localHost } from "../../src/domain/address.ts";
import { loadConfig, type ServiceSettings } from "../../src/config.ts";
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

test.each([
  [{}, 0, "root"],
  [{ USER: "mallory" }, 0, "root"],
  [{ SUDO_USER: "kim" }, 0, "kim"],
  [{ SUDO_USER: "" }, 0, "root"],
  [{}, undefined, "unknown"],
])("%j as user %p is known by name", (env, uid, name) => expect(actorOf(env, uid)).toBe(name));

test.each([
  ["0.0.0.0", "127.0.0.1"],
  ["::", "[::1]"],
  ["2001:db8::2", "[2001:db8::2]"],
  ["localhost", "localhost"],
])("this machine reaches %s at %s", (host, local) => expect(localHost(host)).toBe(local));

/** A machine with these programs, as its user `uid` sees it. */
const machineWith = (uid: number, programs: string, more = {}) => ({
  uid,
  service: () => undefined,
  isContainer: false,
  program: "rehome",
  hasProgram: (name: string) => programs.split(" ").includes(name),
  ...more,
});

// Every system has the first account, with these numbers.
const named = { name: "nobody", uid: 65_534, gid: 65_534 };
const nameless = { name: "uid 1000", uid: 1_000, gid: 1_001 };
const typed = "keys create --name 'a b'";
const inSetpriv = `setpriv --reuid=1000 --regid=1001 --clear-groups rehome ${typed}`;
const elsewhere = { program: "/opt/a b/rehome" };
const contained = { isContainer: true };

test.each([
  ["root, with sudo", named, machineWith(0, "sudo runuser"), `sudo -u nobody rehome ${typed}`],
  ["root, without", named, machineWith(0, "runuser"), `runuser -u nobody -- rehome ${typed}`],
  ["another user", named, machineWith(1_000, "sudo"), `sudo -u nobody rehome ${typed}`],
  [
    "root of a small system",
    named,
    machineWith(0, "su"),
    `su -s /bin/sh nobody -c ${shellWord(`rehome ${typed}`)}`,
  ],
  ["an owner without a name here", nameless, machineWith(0, "sudo setpriv"), inSetpriv],
  [
    "a program that no shell finds",
    named,
    machineWith(0, "sudo", elsewhere),
    `sudo -u nobody '/opt/a b/rehome' ${typed}`,
  ],
  ["a container", named, machineWith(0, "", contained), "--user 65534:65534 "],
  ["its mounted folder", nameless, machineWith(0, "sudo su", contained), "--user 1000:1001 "],
  ["an image without any of these", nameless, machineWith(0, "", contained), "--user 1000:1001 "],
])("what to type to work as the owner of the data: %s", (_place, owner, machine, line) =>
  expect(asOwner(owner, ["keys", "create", "--name", "a b"], machine)).toContain(line),
);

test.if(process.geteuid?.() === 0)(
  "root is refused in the data folder of another user alone",
  () => {
    using folder = temporaryFolder();
    const io = testIo({ machine: machineWith(0, "sudo") });
    const refused = (path: string) => expect(() => refuseRoot(path, ["serve"], io));
    const below = ["", "/data", "/data/deeper"].map((name) => folder.path + name);
    for (const path of [...below, ":memory:"]) refused(path).not.toThrow();
    chownSync(folder.path, 65_534, 65_534);
    const hint = "sudo -u nobody rehome serve";
    for (const path of below) refused(path).toThrow(expect.objectContaining({ hint }));
  },
);

test("the store of this machine's service is open to its account alone", () => {
  const account = { name: "rehome", uid: 990, gid: 990 };
  const service: ServiceSettings = { file: "/etc/default/rehome", variables: new Map(), account };
  const loaded = loadConfig({ data: "/var/lib/rehome" }, {}, []);
  const begin = (uid: number) => () =>
    requireServiceAccount(service, loaded, ["doctor"], testIo({ machine: machineWith(uid, "") }));
  for (const uid of [0, 1_000]) {
    expect(begin(uid)).toThrow("which belongs to the account rehome.");
  }
  expect(begin(990)).not.toThrow();
});
