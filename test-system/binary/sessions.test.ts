/**
 * The sessions of test/sessions on the executable: its words, streams and exit codes are the same.
 * And docs/import.md, whose commands print what it says.
 */
import { test } from "bun:test";
import { readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { cleanEnvironment, executable, temporaryFolder } from "../../test/helpers/binary.ts";
import { finished } from "../../test/helpers/finished.ts";
import { type Play, playGuide, playSession } from "../../test/helpers/transcript.ts";

/** Has bash run each line, with the executable as `rehome`, and `more` behind it. */
async function inBash(work: (play: Play) => Promise<void>, more = ""): Promise<void> {
  using bin = temporaryFolder();
  symlinkSync(await executable(), join(bin.path, "rehome"));
  await work((line, env) =>
    finished(
      Bun.spawn(["bash", "-c", line + more], {
        env: { ...cleanEnvironment, ...env, PATH: `${bin.path}:${cleanEnvironment.PATH}` },
        stdin: "ignore",
        stdout: "pipe",
        stderr: "pipe",
      }),
    ),
  );
}

test.each(readdirSync(join(import.meta.dir, "../../test/sessions")))("%s", (name) =>
  inBash((play) => playSession(name, play)),
);

test("docs/import.md", () =>
  inBash(
    (play) =>
      playGuide(join(import.meta.dir, "../../docs/import.md"), (line, env) =>
        play(line, { ...env, SUDO_USER: "ana" }),
      ),
    " 2>&1",
  ));
