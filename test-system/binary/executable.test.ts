/**
 * What only the compiled file can get wrong: build flags, the folder it stands in, what it keeps
 * over a restart.
 */
import { describe, expect, test } from "bun:test";
import { chmodSync, copyFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { executable, makeKey, rehome, serve, temporaryFolder } from "../../test/helpers/binary.ts";
import { finished } from "../../test/helpers/finished.ts";
import { freePort } from "../../test/helpers/free-port.ts";
import { rehomeAtTerminal } from "../../test/helpers/terminal.ts";

const list = (origin: string, key: string, query = "") =>
  fetch(`${origin}/v1/pets${query}`, { headers: { authorization: `Bearer ${key}` } });

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
  const answer = await fetch(`${server.origin}/v1/pets`);
  expect(answer.headers.get("x-ratelimit-limit")).toBe("300");
  expect(readdirSync(folder.path)).not.toContain("ran");
});

test("is in production mode: an error shows no library's words", async () => {
  using folder = temporaryFolder();
  await using server = await serve(folder.path, [], { env: { NODE_ENV: "development" } });
  const { key } = await makeKey(folder.path);
  const answer = await list(server.origin, key, "?limit=1000");
  expect(await answer.text()).toBe(
    '{"code":"invalid_request","message":"limit must be an integer from 1 to 100.","status":400}',
  );
});

describe("the first key", () => {
  test("is not printed where no person reads", async () => {
    using folder = temporaryFolder();
    await using server = await serve(folder.path);
    expect(server.stdout()).not.toContain("rehome_live_");
  });

  test("is printed at a terminal without being asked for", async () => {
    using folder = temporaryFolder();
    const { exitCode, screen } = await rehomeAtTerminal(
      ["serve", "--data", folder.path, "--port", "0"],
      { answers: [["Try it in another terminal", "\u0003"]] },
    );
    expect([exitCode, screen]).toEqual([0, expect.stringMatching(/^ {2}rehome_live_\w{36}$/m)]);
  });

  test("is printed once when it is asked for, and works", async () => {
    using folder = temporaryFolder();
    const first = await serve(folder.path, ["--first-key"]);
    const [key = ""] = /rehome_live_\w+/.exec(first.stdout()) ?? [];
    expect((await list(first.origin, key)).status).toBe(200);
    await first.stop();
    await using second = await serve(folder.path, ["--first-key"]);
    expect(second.stdout()).not.toContain("rehome_live_");
  });

  test.if(Bun.which("curl") !== null)("comes with commands that work as they stand", async () => {
    using folder = temporaryFolder();
    await using server = await serve(folder.path, ["--first-key"]);
    const commands = server.stdout().match(/^ {2}curl .*$/gm) ?? [];
    // Of older curls too: Ubuntu 22.04 has one without --json.
    expect(commands.filter((line) => / --json /.test(line))).toEqual([]);
    const statuses: (string | undefined)[] = [];
    for (const line of commands) {
      const { stdout } = await finished(
        Bun.spawn(["sh", "-c", line], { stdin: "ignore", stdout: "pipe", stderr: "pipe" }),
      );
      statuses.push(stdout.split("\r\n", 1)[0]);
    }
    expect(statuses).toEqual(["HTTP/1.1 201 Created", "HTTP/1.1 200 OK"]);
  });
});

test("a server without keys shows a command that makes one for it", async () => {
  using parent = temporaryFolder();
  const data = join(parent.path, "the shelter's animals");
  await using server = await serve(data, ["--environment", "staging"]);
  const shown = /No key exists yet: (.*)/.exec(server.stdout())?.[1]?.replace("LABEL", "first");
  const PATH = `${dirname(await executable())}:${process.env["PATH"]}`;
  const key = await Bun.$`sh -c ${shown}`.env({ PATH, HOME: parent.path }).quiet().text();
  expect((await list(server.origin, key.trim())).status).toBe(200);
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

describe("settings", () => {
  test("of the web edge are those of its answers", async () => {
    using folder = temporaryFolder();
    const [page, base, staging] = [
      "https://a.example",
      "https://b.example/v1",
      "https://c.example/v1",
    ];
    const flags = ["--cors-origin", page, "--base-url", base, "--staging-base-url", staging];
    await using server = await serve(folder.path, flags);
    const answer = await fetch(`${server.origin}/docs/json`, { headers: { origin: page } });
    expect(answer.headers.get("access-control-allow-origin")).toBe(page);
    const { servers } = (await answer.json()) as { servers: { url: string }[] };
    expect(servers.map(({ url }) => url)).toEqual([base, staging]);
  });

  test.skipIf(process.getuid?.() !== 0)("of a scheme's own port leave it out", async () => {
    using folder = temporaryFolder();
    // An address of this machine that nobody else listens on.
    await using server = await serve(folder.path, ["--host", "127.0.45.17", "--port", "80"]);
    expect(server.stdout()).toContain("http://127.0.45.17/v1\n");
  });

  test.each([[], ["--processes", "2"], ["--host", "0.0.0.0"]])(
    "the console has no port of the service (%j)",
    async (...flags) => {
      using folder = temporaryFolder();
      const port = String(await freePort());
      const own = ["--port", port, "--console", `127.0.0.1:${port}`, ...flags];
      const result = await rehome(["serve", "--data", folder.path, ...own]);
      expect(result.exitCode).not.toBe(0);
      expect(result.stderr).toStartWith(
        `Error: The console and the service cannot both listen on 127.0.0.1 port ${port}.\nTry: `,
      );
    },
  );
});
