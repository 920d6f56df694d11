/**
 * Starts that are refused before anything is changed, and starts on a short ration of file
 * descriptors.
 */
import { describe, expect, test } from "bun:test";
import {
  chmodSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { ask } from "../../test/helpers/ask.ts";
import { makeKey, roomy, serve, temporaryFolder } from "../../test/helpers/binary.ts";
import { command } from "../../test/helpers/command.ts";
import { Client, portOf, requestText } from "../../test/helpers/load.ts";
import { until } from "../../test/helpers/until.ts";

const modeOf = (path: string) => (statSync(path).mode & 0o7777).toString(8);
const contents = (folder: string) =>
  readdirSync(folder).map((name) => [name, Bun.hash(readFileSync(join(folder, name)))]);

test("servers that begin a store together make one first key", async () => {
  using folder = temporaryFolder();
  const starts = Array.from({ length: 3 }, () => serve(folder.path, ["--first-key"]));
  const servers = await Promise.all(starts);
  // Whatever is done behind the start is over.
  const { stdout } = await command(["keys", "list", "--json", "--data", folder.path]);
  expect((JSON.parse(stdout) as unknown[]).length).toBe(1);
  for (const server of servers) expect(await server.stop()).toBe(0);
});

describe("a link, a pipe or a device in place of a database", () => {
  test.each(["rehome.db", "limits.db", "rehome.db-wal"])(
    "%s: no mode, owner or byte of what it names is changed",
    async (name) => {
      using folder = temporaryFolder();
      const data = join(folder.path, "data");
      const outside = join(folder.path, "outside");
      mkdirSync(data);
      writeFileSync(outside, "somebody's");
      chmodSync(outside, 0o666);
      symlinkSync(outside, join(data, name));
      for (const words of [["serve"], ["keys", "create", "--plan", "free", "--name", "a"]]) {
        const result = await command([...words, "--data", data]);
        expect(result).toMatchObject({ exitCode: 1, stdout: "" });
        expect(result.stderr).toStartWith(`Error: ${join(data, name)} is not a plain file.\nTry: `);
      }
      expect([modeOf(outside), readFileSync(outside, "utf8")]).toEqual(["666", "somebody's"]);
      expect(readdirSync(data)).toEqual([name]);
    },
  );

  test("a pipe holds nobody up", async () => {
    using folder = temporaryFolder();
    Bun.spawnSync(["mkfifo", join(folder.path, "rehome.db")]);
    const result = await command(["serve", "--data", folder.path]);
    expect(result.exitCode).toBe(1);
    expect(result.stderr).toContain("rehome.db is not a plain file.");
  });
});

describe("a catalogue that is not all there", () => {
  test.each([
    ["is missing", (file: string) => rmSync(file)],
    ["is empty", (file: string) => truncateSync(file, 0)],
  ])("%s beside counters that were used: refused, with what to do", async (state, take) => {
    using folder = temporaryFolder();
    const { key } = await makeKey(folder.path);
    const server = await serve(folder.path);
    expect((await ask(server.origin, key)).status).toBe(200);
    expect(await server.stop()).toBe(0);
    const catalogue = join(folder.path, "rehome.db");
    const backup = join(folder.path, "backup");
    expect((await command(["backup", backup, "--data", folder.path])).exitCode).toBe(0);
    take(catalogue);
    const before = contents(folder.path);
    for (const words of [["serve"], ["keys", "create", "--plan", "free", "--name", "a"]]) {
      const result = await command([...words, "--data", folder.path]);
      expect(result).toMatchObject({ exitCode: 1, stdout: "" });
      const limits = join(folder.path, "limits.db");
      expect(result.stderr).toBe(
        `Error: The catalogue ${catalogue} ${state}, but ${limits} shows that there was one.\n` +
          "Try: Restore a backup with rehome restore FILE. To start over, move all files out of the data folder.\n",
      );
    }
    expect(contents(folder.path)).toEqual(before);
    const restored = await command(["restore", backup, "--yes", "--data", folder.path]);
    expect(restored).toMatchObject({ exitCode: 0 });
    await using again = await serve(folder.path);
    expect((await ask(again.origin, key)).status).toBe(200);
  });
});

describe("file descriptors", () => {
  /** Runs the executable with these limits on them. */
  const withLimits = (soft: number, hard: number) => [
    "sh",
    "-c",
    `ulimit -Sn ${soft} && ulimit -Hn ${hard} && exec "$@"`,
    "sh",
  ];

  test("a soft limit is raised to the hard one", async () => {
    using folder = temporaryFolder();
    await using server = await serve(folder.path, [], { command: withLimits(64, 700) });
    const limits = readFileSync(`/proc/${server.pid}/limits`, "utf8");
    expect(limits).toMatch(/^Max open files +700 +700 /m);
  });

  test("a server without any answers on and stores on", async () => {
    using folder = temporaryFolder();
    const { key } = await makeKey(folder.path, ...roomy);
    await using server = await serve(folder.path, [], { command: withLimits(256, 256) });
    const port = portOf(server.origin);
    const kept = new Client(port, true);
    const request = (method: string, body?: string) =>
      kept.send(requestText(method, "/v1/pets", key, body));
    // Accepted by the process, not only by the system.
    expect(await request("GET")).toMatchObject({ status: 200 });
    const others: Socket[] = Array.from({ length: 400 }, () =>
      connect({ port, host: "127.0.0.1" }),
    );
    for (const socket of others) socket.on("error", () => undefined);
    await until(() => readdirSync(`/proc/${server.pid}/fd`).length === 256);
    // The first create of this server, while it has none left.
    const created = await request("POST", '{"name":"Rex","categoryId":1}');
    expect(created).toMatchObject({ status: 201 });
    expect(await request("GET")).toMatchObject({ body: expect.stringContaining('"name":"Rex"') });
    expect(kept.connections).toBe(1);
    for (const socket of others) socket.destroy();
    expect((await ask(server.origin, key)).status).toBe(200);
    kept.close();
    expect(await server.stop()).toBe(0);
  });
});
