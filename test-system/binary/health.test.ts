/** `rehome health`: what monitors and containers ask. */
import { expect, test } from "bun:test";
import { networkInterfaces } from "node:os";
import { rehome, serve, temporaryFolder } from "../../test/helpers/binary.ts";
import { command } from "../../test/helpers/command.ts";
import { freePort } from "../../test/helpers/free-port.ts";

test("0 for a server that is ready, whatever the proxy of the network, 1 and why for one that is not there", async () => {
  using folder = temporaryFolder();
  await using server = await serve(folder.path);
  const { port } = new URL(server.origin);
  for (const wait of [[], ["--wait", "0"]]) {
    const ready = await command(["health", "--port", port, ...wait]);
    expect([ready.exitCode, ready.stderr]).toEqual([0, ""]);
    expect(ready.stdout).toBe(`The server answers on 127.0.0.1:${port} and is ready.\n`);
  }
  // As Docker sets them in containers; nothing listens there.
  const env = { http_proxy: "http://127.0.0.1:1", https_proxy: "http://127.0.0.1:1" };
  expect(await rehome(["health", "--port", port], { env })).toMatchObject({ exitCode: 0 });
  await server.stop();
  const gone = await command(["health"], { env: { REHOME_PORT: port } });
  expect(gone.exitCode).toBe(1);
  expect(gone.stderr).toContain(
    `Error: The server is not ready: nothing answers on 127.0.0.1:${port}`,
  );
});

const hasIpv6 = Object.values(networkInterfaces()).some((all) =>
  all?.some(({ address }) => address === "::1"),
);
if (hasIpv6) {
  test("an IPv6 address may stand in brackets, as in a URL", async () => {
    using folder = temporaryFolder();
    await using server = await serve(folder.path, ["--host", "[::1]"]);
    // What it says itself: the requests of this run may go through a proxy.
    const port = /http:\/\/\[::1\]:(\d+)\/v1/.exec(server.stdout())?.[1] ?? "none";
    const ready = await command(["health", "--host", "[::1]", "--port", port]);
    expect([ready.stderr, ready.stdout]).toEqual([
      "",
      `The server answers on [::1]:${port} and is ready.\n`,
    ]);
  });
} else {
  process.stderr.write("NOT RUN: this machine has no IPv6\n");
}

test("--wait asks until it is ready", async () => {
  const port = `${await freePort()}`;
  const waiting = rehome(["health", "--port", port, "--wait", "20s"]);
  using folder = temporaryFolder();
  await using server = await serve(folder.path, ["--port", port]);
  expect((await waiting).exitCode).toBe(0);
  expect(await server.stop()).toBe(0);
});

test("--wait ends with the service that systemd waits for", async () => {
  const service = Bun.spawn(["true"]);
  await service.exited;
  const waiting = rehome(["health", "--port", `${await freePort()}`, "--wait", "1h"], {
    env: { MAINPID: `${service.pid}` },
  });
  expect((await waiting).exitCode).toBe(1);
});
