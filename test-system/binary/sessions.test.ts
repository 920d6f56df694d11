/** The sessions of test/sessions on the executable: its words, streams and exit codes are the same. */
import { test } from "bun:test";
import { readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { cleanEnvironment, executable, temporaryFolder } from "../../test/helpers/binary.ts";
import { finished } from "../../test/helpers/finished.ts";
import { playSession } from "../../test/helpers/transcript.ts";

test.each(readdirSync(join(import.meta.dir, "../../test/sessions")))("%s", async (name) => {
  using bin = temporaryFolder();
  symlinkSync(await executable(), join(bin.path, "rehome"));
  await playSession(name, async (line, env) => {
    const child = Bun.spawn(["bash", "-c", line], {
      env: { ...cleanEnvironment, ...env, PATH: `${bin.path}:${cleanEnvironment.PATH}` },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    return finished(child);
  });
});
