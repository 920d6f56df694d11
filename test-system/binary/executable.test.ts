/**
 * What only the compiled file can get wrong: build flags, the folder it stands in, what it keeps
 * over a restart.
 */
import { expect, test } from "bun:test";
import { chmodSync, copyFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { callerOf } from "../../test/helpers/ask.ts";
import { executable, rehome, serve, served, temporaryFolder } from "../../test/helpers/binary.ts";

test("runs from any folder, on a bare environment, as one file", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "rehome");
  copyFileSync(await executable(), file);
  chmodSync(file, 0o755);
  const child = Bun.spawn([file, "keys", "create", "--plan", "free", "--name", "x", "--json"], {
    cwd: "/",
    env: { REHOME_DATA: join(folder.path, "data") },
    stdout: "pipe",
  });
  expect(JSON.parse(await child.stdout.text())).toMatchObject({ plan: "free", name: "x" });
  expect(await child.exited).toBe(0);
});

test("reads neither .env nor bunfig.toml of the folder it stands in", async () => {
  using folder = temporaryFolder();
  const data = join(folder.path, "data");
  writeFileSync(join(folder.path, ".env"), "REHOME_ANONYMOUS_PER_MINUTE=7\n");
  writeFileSync(join(folder.path, "bunfig.toml"), 'preload = ["./evil.ts"]\n');
  writeFileSync(join(folder.path, "evil.ts"), `await Bun.write("${folder.path}/ran", "")`);
  await using server = await serve(data, [], { cwd: folder.path });
  // No key is printed where no person reads.
  expect(server.stdout()).not.toContain("rehome_live_");
  const answer = await fetch(`${server.origin}/v1/pets`);
  expect(answer.headers.get("x-ratelimit-limit")).toBe("300");
  expect(readdirSync(folder.path)).not.toContain("ran");
});

test("is in production mode: an error shows no library's words", async () => {
  await using server = await served([], { env: { NODE_ENV: "development" } });
  const answer = await callerOf(server, server.key).get("/v1/pets?limit=1000");
  expect(await answer.text()).toBe(
    '{"code":"invalid_request","message":"limit must be an integer from 1 to 100.","status":400}',
  );
});

const hasCurl = Bun.which("curl") !== null;
test.if(hasCurl)(
  "the first key is printed once, with commands that work as they stand",
  async () => {
    using folder = temporaryFolder();
    const first = await serve(folder.path, ["--first-key"]);
    const commands = first.stdout().match(/^ {2}curl .*$/gm) ?? [];
    // Of older curls too: Ubuntu 22.04 has one without --json.
    expect(commands.filter((line) => / --json /.test(line))).toEqual([]);
    const statuses: (string | undefined)[] = [];
    for (const line of commands)
      statuses.push((await Bun.$`sh -c ${line}`.text()).split("\r\n")[0]);
    expect(statuses).toEqual(["HTTP/1.1 201 Created", "HTTP/1.1 200 OK"]);
    await first.stop();
    await using second = await serve(folder.path, ["--first-key"]);
    expect(second.stdout()).not.toContain("rehome_live_");
  },
);

test("a server without keys shows a command that makes one for it", async () => {
  using parent = temporaryFolder();
  const data = join(parent.path, "the shelter's animals");
  await using server = await serve(data, ["--environment", "staging"]);
  const shown = /No key exists yet: (.*)/.exec(server.stdout())?.[1]?.replace("LABEL", "first");
  const PATH = `${dirname(await executable())}:${process.env["PATH"]}`;
  const key = await Bun.$`sh -c ${shown}`.env({ PATH, HOME: parent.path }).quiet().text();
  expect((await callerOf(server, key.trim()).get()).status).toBe(200);
  await using other = await serve(undefined, ["--data=:memory:"]);
  expect(other.stdout()).toContain("  No key exists yet: start again with --first-key.");
});

test("reads a workbook: what does so is loaded where it is wanted", async () => {
  using folder = temporaryFolder();
  const workbook = join(import.meta.dir, "../../test/fixtures/import/streamed.xlsx");
  const args = ["pets", "import", workbook, "--create-categories", "--data", folder.path];
  expect(await rehome(args)).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining("added"),
  });
});
