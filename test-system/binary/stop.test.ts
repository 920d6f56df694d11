/** A stop breaks no answer, loses nothing, and cannot be held up. */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import {
  cleanEnvironment,
  executable,
  makeKey,
  roomy,
  serve,
  temporaryFolder,
} from "../../test/helpers/binary.ts";
import { filesWhenClosed, onStoreUnderTest } from "../../test/helpers/store-under-test.ts";
import { goneBeforeRequest, load, portOf, requestText } from "../../test/helpers/load.ts";
import { until } from "../../test/helpers/until.ts";

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  test(`${signal} under load breaks no answer and exits with 0`, async () => {
    using folder = temporaryFolder();
    await using server = await serve(folder.path);
    const { key } = await makeKey(folder.path, ...roomy);
    let isOver = false;
    const seen = new Set<number>();
    const loading = load({
      port: portOf(server.origin),
      clients: 8,
      keepAlive: true,
      pauseMs: 2,
      isOver: () => isOver,
      onAnswer: (status) => seen.add(status),
      request: (client, count) =>
        client % 2 === 0
          ? requestText("GET", "/v1/pets", key)
          : requestText("POST", "/v1/pets", key, `{"name":"${client}-${count}","categoryId":1}`),
    });
    await until(() => seen.has(200) && seen.has(201));
    await Bun.sleep(200);
    expect(await server.stop(signal)).toBe(0);
    isOver = true;
    const { statuses, failures } = await loading;

    for (const failure of goneBeforeRequest) failures.delete(failure);
    expect(Object.fromEntries(failures)).toEqual({});
    expect(new Set(statuses.keys())).toEqual(new Set([200, 201]));
    // The last one to leave folds the logs into their files.
    expect(readdirSync(folder.path).toSorted()).toEqual(filesWhenClosed as string[]);

    await using again = await serve(folder.path);
    const stored = /\(([\d,]+) animals/.exec(again.stdout())?.[1]?.replaceAll(",", "");
    // A create that was seen and not answered would be one too many.
    expect(Number(stored)).toBe(statuses.get(201) ?? 0);
  });
}

test("half-sent requests hold a stop no longer than --shutdown-timeout", async () => {
  using folder = temporaryFolder();
  await using server = await serve(folder.path, ["--shutdown-timeout", "1"]);
  const { key } = await makeKey(folder.path, ...roomy);
  const sockets = await halfSent(server.origin, key);
  const startMs = performance.now();
  expect(await server.stop()).toBe(0);
  // And not after the ten seconds that are granted without it.
  expect(performance.now() - startMs).toBeLessThan(9_000);
  for (const socket of sockets) socket.destroy();
});

test("a second signal ends it at once", async () => {
  using folder = temporaryFolder();
  await using server = await serve(folder.path, ["--shutdown-timeout", "60"]);
  const { key } = await makeKey(folder.path, ...roomy);
  const sockets = await halfSent(server.origin, key);
  process.kill(server.pid, "SIGTERM");
  await until(() => server.stderr().includes("Stopping"));
  const startMs = performance.now();
  expect(await server.stop()).toBe(1);
  // And not after the minute that a single one grants.
  expect(performance.now() - startMs).toBeLessThan(50_000);
  for (const socket of sockets) socket.destroy();
});

test.each(["1", "2"])("a server of %s processes ends with its terminal", async (count) => {
  using folder = temporaryFolder();
  const args = ["--data", folder.path, "--port", "0", "--processes", count];
  const named = await onStoreUnderTest(["serve", ...args], cleanEnvironment);
  let screen = "";
  const log = join(folder.path, "log");
  const withLog = ["sh", "-c", `exec "$@" 2>>'${log}'`, "sh", await executable(), ...named.args];
  await using child = Bun.spawn(withLog, {
    env: named.env,
    terminal: { data: (_, bytes) => void (screen += new TextDecoder().decode(bytes)) },
  });
  await until(() => screen.includes("Try it in another terminal"));
  // As long as the terminal is there, the signal means a reload.
  child.kill("SIGHUP");
  await Bun.sleep(100);
  expect(child.exitCode).toBeNull();
  child.terminal?.close();
  expect(await child.exited).toBe(0);
  const said = readFileSync(log, "utf8");
  expect(said).toContain("Stopped: counters saved, database closed.");
});

/** Connections that stop in the middle of the headers, of the body, and before anything. */
async function halfSent(origin: string, key: string): Promise<Socket[]> {
  const post = requestText("POST", "/v1/pets", key, '{"name":"half","categoryId":1}');
  const sockets = ["GET /v1/pets HTTP/1.1\r\nHost: local", post.slice(0, -5), ""].map((text) => {
    const socket = connect({ port: portOf(origin), host: "127.0.0.1" });
    socket.on("error", () => undefined);
    socket.write(text);
    return socket;
  });
  // An answer on a later connection says that the server has met these.
  expect((await fetch(`${origin}/health`)).status).toBe(200);
  return sockets;
}
