/**
 * The sessions of test/sessions on the executable: its words, streams and exit codes are the same.
 * And docs/import.md, whose commands print what it says.
 */
import { test } from "bun:test";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { cleanEnvironment, executable, temporaryFolder } from "../../test/helpers/binary.ts";
import { finished } from "../../test/helpers/finished.ts";
import { testDatabase } from "../../test/helpers/postgres.ts";
import { type Play, playGuide, playSession, sessions } from "../../test/helpers/transcript.ts";

const root = join(import.meta.dir, "../..");

/** Has bash run each line, with the executable as `rehome`, and `more` behind it. */
async function inBash(work: (play: Play) => Promise<void>, more = ""): Promise<void> {
  using bin = temporaryFolder();
  symlinkSync(await executable(), join(bin.path, "rehome"));
  await work((line, env) =>
    finished(["bash", "-c", line + more], {
      env: { ...cleanEnvironment, ...env, PATH: `${bin.path}:${cleanEnvironment.PATH}` },
    }),
  );
}

test.each(sessions)("%s", (_, file) => inBash((play) => playSession(file, play)));

test("a store that moves to a database and back", async () => {
  await using database = await testDatabase();
  const shown = new URL(database.url);
  shown.password = "";
  const variables = { DATABASE: database.url, PLACE: shown.href };
  const page = join(import.meta.dir, "store-copy.md");
  await inBash((play) => playSession(page, play, variables));
});

test("docs/import.md", () =>
  inBash(
    (play) =>
      playGuide(join(root, "docs/import.md"), (line, env) =>
        play(line, { ...env, SUDO_USER: "ana" }),
      ),
    " 2>&1",
  ));
