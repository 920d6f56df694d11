/** `rehome health`: what monitors and containers ask. */
import { expect, test } from "bun:test";
import { rehome, served } from "../../test/helpers/binary.ts";
import { command } from "../../test/helpers/command.ts";
import { freePort } from "../../test/helpers/free-port.ts";

test("0 for a server that is ready, whatever the proxy of the network, 1 and why for one that is not there", async () => {
  await using server = await served();
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

test("--wait ends with the service that systemd waits for", async () => {
  const service = Bun.spawn(["true"]);
  await service.exited;
  const waiting = rehome(["health", "--port", `${await freePort()}`, "--wait", "1h"], {
    env: { MAINPID: `${service.pid}` },
  });
  expect((await waiting).exitCode).toBe(1);
});
