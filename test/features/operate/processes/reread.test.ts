/** Which settings a running service has after its file was changed. */
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { featureSettings } from "../../../../src/cli/options.ts";
import { loadConfig } from "../../../../src/config.ts";
import { settingsReader } from "../../../../src/features/operate/processes/serve.ts";
import { temporaryFolder } from "../../../helpers/binary.ts";
import { testIo } from "../../../helpers/io.ts";

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
