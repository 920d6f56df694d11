/** What surrounds the servers that share a port, on servers that only take notes; and a stop. */
import { expect, test } from "bun:test";
import { connect } from "node:net";
import { idleTimeoutSeconds, listen } from "../../src/http/server.ts";
import { until } from "../helpers/until.ts";

const tls = { cert: "certificate", key: "key" };
const options = { host: "shelter.example", port: 0, reusePort: true, tls };

const handler = () => Promise.resolve(new Response());

/** Servers as Bun makes them of port 443, and the ports that they were to listen on. */
function servers() {
  const ports: number[] = [];
  // An address does not name the port that goes with its scheme.
  const server = {
    port: 443,
    url: new URL("https://shelter.example:443"),
    pendingRequests: 0,
    reload: () => server,
    stop: () => Promise.resolve(),
  };
  const options: object[] = [];
  const serve = (given: { port?: number | string | undefined }) => {
    ports.push(Number(given.port));
    options.push(given);
    return server;
  };
  return { options, ports, serve };
}

test("with a certificate too, a port that another program has is not shared with it", () => {
  using other = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => undefined } });
  const { ports, serve } = servers();
  const given = { host: "127.0.0.1", port: other.port, reusePort: false, tls };
  expect(() => listen(handler, given, serve)).toThrow("listen");
  expect(ports).toEqual([]);
  other.stop(true);
  listen(handler, given, serve);
  expect(ports).toEqual([given.port]);
});

test("another certificate is taken up on the same port, the scheme's own too", async () => {
  const { options: given, ports, serve } = servers();
  const server = listen(handler, options, serve);
  expect(server.url.port).toBe("");
  await server.renew(tls);
  expect(ports).toEqual([0, 443]);
  // A connection may be idle as long as its answers say, and a body is ours to refuse.
  const bounds = { idleTimeout: idleTimeoutSeconds, maxRequestBodySize: Number.MAX_SAFE_INTEGER };
  expect(given).toMatchObject([bounds, bounds]);
});

test("a stop waits for what the former certificate's server still answers", async () => {
  const { serve } = servers();
  const { promise: answered, resolve } = Promise.withResolvers<void>();
  let stops = 0;
  const stop = () => ((stops += 1) === 1 ? answered : Promise.resolve());
  const server = listen(handler, options, (given) => Object.assign(serve(given), { stop }));
  const renewed = server.renew(tls);
  await until(() => stops === 1);
  let isStopped = false;
  const stopped = server.stop(0).then(() => (isStopped = true));
  await Bun.sleep(50);
  expect([stops, isStopped]).toEqual([2, false]);
  resolve();
  await Promise.all([renewed, stopped]);
});

test("a stop cuts off what takes longer than it may", async () => {
  const { serve } = servers();
  const stops: unknown[] = [];
  const stop = (isForced?: boolean) => {
    stops.push(isForced);
    return isForced === true ? Promise.resolve() : new Promise<void>(() => undefined);
  };
  const server = listen(handler, options, (given) => Object.assign(serve(given), { stop }));
  await server.stop(20);
  expect(stops).toEqual([undefined, true]);
});

test("a stop waits for a slow answer, and for what its client asks then, which says close", async () => {
  const { promise: goOn, resolve } = Promise.withResolvers<void>();
  let asked = 0;
  const handler = async () => {
    asked += 1;
    await goOn;
    return new Response("ok", { headers: { "Keep-Alive": "timeout=75" } });
  };
  const server = listen(handler, { host: "127.0.0.1", port: 0, reusePort: false });
  const socket = connect({ port: server.port, host: "127.0.0.1" });
  let text = "";
  let isClosed = false;
  socket.on("close", () => (isClosed = true));
  const ask = () => socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  socket.on("data", (bytes) => {
    text += bytes.toString();
    if (text.split("HTTP/1.1 200").length === 2) ask();
  });
  ask();
  await until(() => asked === 1);
  const stopped = server.stop(10_000);
  // Longer than the silence after which connections that nobody uses are closed.
  await Bun.sleep(200);
  resolve();
  await stopped;
  await until(() => isClosed);
  const [, first = "", second = ""] = text.split("HTTP/1.1 200");
  expect(first).not.toContain("Connection: close");
  expect(second).toContain("Connection: close");
  expect(second).not.toContain("Keep-Alive");
});
