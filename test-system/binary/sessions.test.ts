/**
 * The sessions of test/sessions on the executable: its words, streams and exit codes are the same.
 * And docs/import.md and README, whose commands print what they say, and the commands of
 * docs/clients.md and docs/website.md.
 */
import { expect, test } from "bun:test";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cleanEnvironment, executable, serve, temporaryFolder } from "../../test/helpers/binary.ts";
import { finished } from "../../test/helpers/finished.ts";
import { testDatabase } from "../../test/helpers/postgres.ts";
import {
  commandsOf,
  comparable,
  type Play,
  playGuide,
  playSession,
  sessions,
} from "../../test/helpers/transcript.ts";

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
}, 60_000);

test("docs/import.md", () =>
  inBash(
    (play) =>
      playGuide(join(root, "docs/import.md"), (line, env) =>
        play(line, { ...env, SUDO_USER: "ana" }),
      ),
    " 2>&1",
  ));

test("README.md, docs/clients.md and docs/website.md on a service", async () => {
  using folder = temporaryFolder();
  const data = join(folder.path, "data");
  await using server = await serve(data, ["--first-key"]);
  const API_KEY = /rehome_live_\w+/.exec(server.stdout())?.[0] ?? "";
  writeFileSync(join(folder.path, ".curlrc"), "silent\n");
  for (const name of ["dist", "examples"]) symlinkSync(join(root, name), join(folder.path, name));
  const own = { HOME: folder.path, REHOME_DATA: data, API_URL: `${server.origin}/v1`, API_KEY };
  const run = async (line: string) => {
    const env = { ...cleanEnvironment, ...own };
    const { exitCode, stdout } = await finished(["bash", "-c", `exec 2>&1; ${line}`], {
      cwd: folder.path,
      env,
    });
    expect([line, exitCode, stdout]).toEqual([line, 0, stdout]);
    return stdout;
  };
  const page = (path: string) => readFileSync(join(root, path), "utf8");
  // Another minute may begin meanwhile.
  const header = /^(X-Request-Id|X-RateLimit-Remaining|X-RateLimit-Reset|Date): .*$/gm;
  const steady = (text: string) => comparable(text.replaceAll(header, "$1: ..."));
  for (const [at, { command, output }] of commandsOf(page("README.md")).entries()) {
    const printed = (await run(command))
      .replaceAll("\r", "")
      .replaceAll(server.origin, "http://127.0.0.1:8080")
      .replaceAll(data, "/home/pi/.local/share/rehome");
    expect(steady(printed.trimEnd())).toBe(steady(output));
    // "Add a few more".
    for (const name of at === 0 ? ["Luna", "Max", "Zoe"] : []) {
      await run(command.replace("Rex", name).replace('"categoryId":1', '"categoryId":2'));
    }
  }
  const blocks = [...page("docs/clients.md").matchAll(/^```sh\n([^]*?)^```/gm)];
  // The client that is generated has a test of its own.
  const lines = blocks.map(([, text = ""]) => text).filter((text) => !text.includes("npx "));
  expect(lines).toHaveLength(2);
  for (const text of lines) {
    await run(text.replace(/^export API_URL=\S+ API_KEY=\S+$/m, ""));
  }
  for (const { command } of commandsOf(page("docs/website.md"))) {
    await run(command.replace("sudo -u rehome ", "dist/"));
  }
});
