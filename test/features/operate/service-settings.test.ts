/**
 * What `rehome service install` writes to the settings, and which of them a running service has
 * after their file was changed: test-system/debian/service.md has more.
 */
import { expect, test } from "bun:test";
import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { putSettings, withVariables } from "../../../src/features/operate/systemd/command.ts";
import { temporaryFolder } from "../../helpers/binary.ts";
import { testIo } from "../../helpers/io.ts";
import { featureSettings } from "../../../src/cli/command.ts";
import { loadConfig } from "../../../src/config.ts";
import { settingsReader } from "../../../src/features/operate/processes/serve.ts";

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

test.each([0o600, 0o644, 0o666])(
  "the file that is there with mode %o is the account's to read, and written when something changes",
  (mode) => {
    using folder = temporaryFolder();
    const file = join(folder.path, "rehome");
    const io = testIo();
    writeFileSync(file, "REHOME_STORE=postgres://u:p@h/d\n");
    chmodSync(file, mode);
    const owner = { uid: process.geteuid?.() ?? 0, gid: process.getegid?.() ?? 0 };
    for (let time = 0; time < 2; time += 1) putSettings(file, "", port, io, owner);
    expect(readFileSync(file, "utf8")).toBe("REHOME_STORE=postgres://u:p@h/d\nREHOME_PORT=9000\n");
    expect(statSync(file).mode & 0o777).toBe(0o640);
    expect(io.printed()).toBe(`Wrote ${file}\n`);
  },
);

/** The value of --base-url, and AWS_REGION, after a change of the file from `before` to `now`. */
function reread(env: Record<string, string>, before: string, now: string, flags = {}) {
  using folder = temporaryFolder();
  const file = join(folder.path, "rehome");
  const io = { ...testIo(), env };
  writeFileSync(file, before);
  const read = settingsReader(loadConfig(flags, env, featureSettings(io.features)), io, file);
  writeFileSync(file, now);
  const next = read();
  return [next.loaded.config.baseUrl, next.env["AWS_REGION"]];
}

const line = (name: string) => `REHOME_BASE_URL=https://${name}.example/v1\n`;
const ofUnit = { REHOME_BASE_URL: "https://a.example/v1", REHOME_DATA: "/var/lib/rehome" };

test.each([
  ["a value that was changed", ofUnit, line("a"), line("b"), "https://b.example/v1"],
  ["a value that went", ofUnit, line("a"), "REHOME_BANS=off\n", undefined],
  ["no file that is another's", ofUnit, line("other"), line("b"), "https://a.example/v1"],
])("%s", (_, env, before, now, expected) => {
  expect(reread(env, before, now)).toEqual([expected, undefined]);
});

test("a flag stays, and other variables of the file come along", () => {
  const flags = { "base-url": "https://flag.example/v1" };
  const found = reread(ofUnit, line("a"), `${line("b")}AWS_REGION=eu\n`, flags);
  expect(found).toEqual(["https://flag.example/v1", "eu"]);
});

test("what is wrong in the file is an error, which names the setting", () => {
  expect(() => reread(ofUnit, line("a"), "REHOME_BASE_URL=nonsense\n")).toThrow("BASE_URL");
});
