/** What `rehome service install` leaves in the files of a system. */
import { afterEach, expect, test } from "bun:test";
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { installService } from "../../../../src/features/operate/systemd/install.ts";
import { serviceCommand } from "../../../../src/features/operate/systemd/service-command.ts";
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

test("a port that changes with each start is not offered, and not taken", () => {
  const install = serviceCommand(testIo()).commands.find((each) => each.name() === "install");
  if (install === undefined) throw new Error("there is no command install");
  expect(install.helpInformation()).toContain("--port <PORT>");
  expect(install.helpInformation()).not.toContain("any free port");
  expect(install.parseAsync(["--port", "0"], { from: "user" })).rejects.toThrow(
    "The service needs a port that stays.",
  );
});
