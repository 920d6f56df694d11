/** A stop breaks no answer, loses nothing, and cannot be held up. */
import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import {
  cleanEnvironment,
  executable,
  serve,
  served,
  temporaryFolder,
} from "../../test/helpers/binary.ts";
import { childrenOf, isRunning } from "../../test/helpers/family.ts";
import { filesWhenClosed, onStoreUnderTest } from "../../test/helpers/store-under-test.ts";
import { goneBeforeRequest, load, portOf, requestText } from "../../test/helpers/load.ts";
import { until } from "../../test/helpers/ask.ts";

test.each([
  ["SIGTERM", 1],
  // As Ctrl-C does, it reaches all of them.
  ["SIGINT", 2],
] as const)(
  "%s to %d processes under load breaks no answer and exits with 0",
  async (signal, processes) => {
    await using server = await served(["--processes", `${processes}`]);
    if (processes > 1) await until(() => server.stderr().includes("2 processes serve"));
    const { key, data } = server;
    let isOver = false;
    let created = 0;
    const loading = load({
      port: portOf(server.origin),
      clients: 8,
      keepAlive: true,
      pauseMs: 2,
      isOver: () => isOver,
      onAnswer: (status) => (created += status === 201 ? 1 : 0),
      request: (client, count) =>
        client % 2 === 0
          ? requestText("GET", "/v1/pets", key)
          : requestText("POST", "/v1/pets", key, `{"name":"${client}-${count}","categoryId":1}`),
    });
    await until(() => created > 50);
    for (const pid of childrenOf(server)) process.kill(pid, signal);
    expect(await server.stop(signal)).toBe(0);
    isOver = true;
    const { statuses, failures } = await loading;

    for (const failure of goneBeforeRequest) failures.delete(failure);
    expect(Object.fromEntries(failures)).toEqual({});
    expect(new Set(statuses.keys())).toEqual(new Set([200, 201]));
    // The last one to leave folds the logs into their files.
    expect(readdirSync(data).toSorted()).toEqual(filesWhenClosed as string[]);

    await using again = await serve(data);
    const stored = /\(([\d,]+) animals/.exec(again.stdout())?.[1]?.replaceAll(",", "");
    // A create that was seen and not answered would be one too many.
    expect(Number(stored)).toBe(created);
  },
);

/** A server with connections that stop in the headers, in the body, and before anything. */
async function serveHalfSent(timeoutSeconds: number) {
  const server = await served(["--shutdown-timeout", `${timeoutSeconds}`]);
  const post = requestText("POST", "/v1/pets", server.key, '{"name":"half","categoryId":1}');
  const sockets = ["GET /v1/pets HTTP/1.1\r\nHost: local", post.slice(0, -5), ""].map((text) => {
    const socket = connect({ port: portOf(server.origin), host: "127.0.0.1" });
    socket.on("error", () => undefined);
    socket.write(text);
    return socket;
  });
  // An answer on a later connection says that the server has met these.
  expect((await fetch(`${server.origin}/health`)).status).toBe(200);
  return {
    ...server,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await server[Symbol.asyncDispose]();
    },
  };
}

test("half-sent requests hold a stop as long as --shutdown-timeout, and a second signal ends it", async () => {
  await using patient = await serveHalfSent(600);
  await using hasty = await serveHalfSent(1);
  process.kill(patient.pid, "SIGTERM");
  await until(() => patient.stderr().includes("Stopping"));
  expect(await hasty.stop()).toBe(0);
  expect(isRunning(patient.pid)).toBe(true);
  expect(await patient.stop()).toBe(1);
});

const tls = join(import.meta.dir, "../../test/fixtures/tls/first");
test.each([
  ["one process", ["--tls-cert", `${tls}.crt`, "--tls-key", `${tls}.key`], "Reloaded the certi"],
  ["two processes", ["--processes", "2"], "The new processes serve."],
])(
  "a server of %s ends with its terminal, while which a SIGHUP is a reload",
  async (_, flags, said) => {
    using folder = temporaryFolder();
    const args = ["serve", "--data", folder.path, "--port", "0", ...flags];
    const named = await onStoreUnderTest(args, cleanEnvironment);
    let screen = "";
    const file = join(folder.path, "log");
    const log = () => (existsSync(file) ? readFileSync(file, "utf8") : "");
    const withLog = ["sh", "-c", `exec "$@" 2>>'${file}'`, "sh", await executable(), ...named.args];
    await using child = Bun.spawn(withLog, {
      env: named.env,
      terminal: { data: (_, bytes) => void (screen += new TextDecoder().decode(bytes)) },
    });
    await until(() => screen.includes("Try it in another terminal"));
    child.kill("SIGHUP");
    await until(() => log().includes(said));
    child.terminal?.close();
    expect(await child.exited).toBe(0);
    expect(log()).toContain("Stopped: counters saved, database closed.");
  },
);
