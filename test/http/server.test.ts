/** A server that is renewed, and a stop. */
import { expect, test } from "bun:test";
import { connect } from "node:net";
import { idleTimeoutSeconds, listen } from "../../src/http/server.ts";
import { until } from "../helpers/until.ts";

const tls = { cert: "certificate", key: "key" };
const options = { host: "shelter.example", port: 0, reusePort: true, tls };
const handler = () => Promise.resolve(new Response());

/** Servers that only take notes, as Bun makes them of port 443. */
function servers(stop = (_isForced?: boolean): Promise<void> => Promise.resolve()) {
  const given: { port?: number | string | undefined }[] = [];
  // An address does not name the port that goes with its scheme.
  const url = new URL("https://shelter.example:443");
  const server = { port: 443, url, pendingRequests: 0, reload: () => server, stop };
  const serve = (asked: { port?: number | string | undefined }) => {
    given.push(asked);
    return server;
  };
  return { given, serve };
}

test("with a certificate too, a port that another program has is not shared with it", () => {
  using other = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => undefined } });
  const { given, serve } = servers();
  const asked = { host: "127.0.0.1", port: other.port, reusePort: false, tls };
  expect(() => listen(handler, asked, serve)).toThrow("listen");
  expect(given).toEqual([]);
  other.stop(true);
  listen(handler, asked, serve);
  expect(given).toMatchObject([{ port: asked.port }]);
});

test("another certificate has the same port, the scheme's own too; a stop waits for the former's", async () => {
  const { promise: answered, resolve } = Promise.withResolvers<void>();
  let stops = 0;
  const { given, serve } = servers(() => ((stops += 1) === 1 ? answered : Promise.resolve()));
  const server = listen(handler, options, serve);
  expect(server.url.port).toBe("");
  const renewed = server.renew(tls);
  // A connection may be idle as long as its answers say, and a body is ours to refuse.
  const bounds = { idleTimeout: idleTimeoutSeconds, maxRequestBodySize: Number.MAX_SAFE_INTEGER };
  expect(given).toMatchObject([0, 443].map((port) => ({ port, ...bounds })));
  await until(() => stops === 1);
  let isStopped = false;
  const stopped = server.stop(0).then(() => (isStopped = true));
  await Bun.sleep(50);
  expect([stops, isStopped]).toEqual([2, false]);
  resolve();
  await Promise.all([renewed, stopped]);
});

test("a stop waits for a slow answer, and for what its client asks then, which says close", async () => {
  const { promise: goOn, resolve } = Promise.withResolvers<void>();
  let asked = 0;
  const slow = async () => {
    asked += 1;
    await goOn;
    return new Response("ok", { headers: { "Keep-Alive": "timeout=75" } });
  };
  const server = listen(slow, { host: "127.0.0.1", port: 0, reusePort: false });
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
