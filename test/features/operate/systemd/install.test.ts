/** What `rehome service install` leaves in the files of a system. */
import { afterEach, expect, test } from "bun:test";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import {
  installService,
  putSettings,
  uninstallService,
  withVariables,
} from "../../../../src/features/operate/systemd/install.ts";
import { temporaryFolder } from "../../../helpers/binary.ts";
import { testIo } from "../../../helpers/io.ts";

const umask = process.umask();
afterEach(() => void process.umask(umask));

const dropIn = (root: string) => join(root, "etc/systemd/system/rehome.service.d/low-port.conf");

async function install(root: string, port?: number): Promise<string> {
  const io = testIo();
  await installService({ root, port, executable: "/usr/bin/rehome", user: "rehome" }, io);
  return io.printed();
}

test("the right to a low port goes with the port", async () => {
  using folder = temporaryFolder();
  const path = dropIn(folder.path);
  expect(await install(folder.path, 80)).toContain(`Wrote ${path}\n`);
  expect(await install(folder.path)).not.toContain(path);
  expect(existsSync(path)).toBe(true);
  expect(await install(folder.path, 8080)).toContain(`Removed ${path}\n`);
  expect(existsSync(path)).toBe(false);
  expect(await install(folder.path, 8081)).not.toContain(path);
});

test("the timer of version 1.0.0 goes, and the service makes its backups in the same folder", async () => {
  const former = ["rehome-backup.timer", "rehome-backup.service"];
  const after = async (settings: string) => {
    using folder = temporaryFolder();
    const units = join(folder.path, "etc/systemd/system");
    mkdirSync(units, { recursive: true });
    mkdirSync(join(folder.path, "etc/default"));
    for (const name of former) writeFileSync(join(units, name), "");
    const file = join(folder.path, "etc/default/rehome");
    writeFileSync(file, settings);
    await install(folder.path);
    expect(readdirSync(units)).toEqual(["rehome.service"]);
    return readFileSync(file, "utf8");
  };
  const port = "REHOME_PORT=8081\n";
  const moved = "REHOME_BACKUP_TO=/var/lib/rehome/backups\nREHOME_BACKUP_KEEP=14\n";
  expect(await after(port)).toBe(port + moved);
  const own = "REHOME_BACKUP_TO=s3://bucket/rehome\n";
  expect(await after(own)).toBe(own);
  const database = "REHOME_STORE_FILE=/etc/rehome/store\n";
  expect(await after(database)).toBe(database);
});

test.each(["REHOME_PORT=443", "REHOME_METRICS=192.0.2.7:443"])(
  "the settings have the right too, as with %s",
  async (line) => {
    using folder = temporaryFolder();
    await install(folder.path);
    const path = dropIn(folder.path);
    const settings = join(folder.path, "etc/default/rehome");
    appendFileSync(settings, `${line}\n`);
    expect(await install(folder.path)).toContain(`Wrote ${path}\n`);
    expect(await install(folder.path)).not.toContain(path);
    writeFileSync(settings, "REHOME_PORT=8443\n");
    expect(await install(folder.path)).toContain(`Removed ${path}\n`);
  },
);

test("an administrator's own drop-in stays, and one that the console needs", async () => {
  using folder = temporaryFolder();
  const path = dropIn(folder.path);
  await install(folder.path, 80);
  const settings = join(folder.path, "etc/default/rehome");
  appendFileSync(settings, "REHOME_CONSOLE='192.0.2.7:443'\n");
  expect(await install(folder.path, 8080)).not.toContain(path);
  expect(existsSync(path)).toBe(true);

  writeFileSync(settings, "REHOME_CONSOLE=192.0.2.7:8443\nREHOME_TRUSTED_PROXY=::1\n");
  writeFileSync(path, "[Service]\nNice=5\n");
  expect(await install(folder.path, 8080)).not.toContain(path);
  expect(readFileSync(path, "utf8")).toBe("[Service]\nNice=5\n");
});

test("an uninstallation removes the units and leaves the settings", async () => {
  using folder = temporaryFolder();
  const io = testIo();
  expect(() => uninstallService(folder.path, io)).toThrow("There is no unit of rehome in");
  await install(folder.path, 80);
  const units = join(folder.path, "etc/systemd/system");
  uninstallService(folder.path, io);
  expect(readdirSync(units)).toEqual([]);
  expect(io.printed().match(/^Removed /gm)).toHaveLength(2);
  expect(existsSync(join(folder.path, "etc/default/rehome"))).toBe(true);
});

const port = new Map([["REHOME_PORT", "9000"]]);

test.each([
  [
    "the line that sets it",
    "REHOME_PORT=80\nREHOME_BANS=off\n",
    "REHOME_PORT=9000\nREHOME_BANS=off\n",
  ],
  ["the last of them", "REHOME_PORT=1\nREHOME_PORT=2\n", "REHOME_PORT=1\nREHOME_PORT=9000\n"],
  ["the comment that shows it", "# ours\n#REHOME_PORT=8080\n", "# ours\nREHOME_PORT=9000\n"],
  ["no other comment", "# REHOME_PORTS\n", "# REHOME_PORTS\nREHOME_PORT=9000\n"],
  ["the end", "REHOME_PORT_X=1", "REHOME_PORT_X=1\nREHOME_PORT=9000\n"],
])("a variable takes the place of %s", (_, before, after) => {
  expect(withVariables(before, port)).toBe(after);
});

test("the file that is there keeps its mode, and is written when something changes", () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "rehome");
  const io = testIo();
  writeFileSync(file, "REHOME_STORE=postgres://u:p@h/d\n");
  chmodSync(file, 0o600);
  for (let time = 0; time < 2; time += 1) putSettings(file, "", port, io);
  expect(readFileSync(file, "utf8")).toBe("REHOME_STORE=postgres://u:p@h/d\nREHOME_PORT=9000\n");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(io.printed()).toBe(`Wrote ${file}\n`);
});
