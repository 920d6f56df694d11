/** A server that is renewed, and a stop. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { connect as connectPlain } from "node:net";
import { join } from "node:path";
import { connect } from "node:tls";
import { listen } from "../../src/http/server.ts";
import { raw } from "../helpers/raw.ts";
import { until } from "../helpers/ask.ts";

const fixture = (name: string) =>
  readFileSync(join(import.meta.dir, "../fixtures/tls", name), "utf8");
const tls = { cert: fixture("first.crt"), key: fixture("first.key") };
const options = { host: "127.0.0.1", port: 0, reusePort: false, tls };

test("with a certificate too, a port that another program has is not shared with it", async () => {
  using other = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => undefined } });
  const handler = () => Promise.resolve(new Response());
  const asked = { ...options, port: other.port };
  expect(() => listen(handler, asked)).toThrow("listen");
  other.stop(true);
  const server = listen(handler, asked);
  expect(server.port).toBe(asked.port);
  await server.stop(0);
});

/** The name that the certificate of a new connection has. */
function nameAt(port: number): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const socket = connect({ host: "127.0.0.1", port, rejectUnauthorized: false }, () => {
    resolve(socket.getPeerCertificate().subject.CN);
    socket.end();
  });
  socket.on("error", reject);
  return promise;
}

test("another certificate has the same port, and a stop waits for requests of the former's", async () => {
  const { promise: goOn, resolve } = Promise.withResolvers<void>();
  let asked = 0;
  const server = listen(async () => {
    asked += 1;
    if (asked === 1) await goOn;
    return new Response("ok");
  }, options);
  const ask = async () => {
    const address = `https://127.0.0.1:${server.port}`;
    return (await fetch(address, { keepalive: false, tls: { rejectUnauthorized: false } })).text();
  };
  const slow = ask();
  await until(() => asked === 1);
  const renewed = server.renew({ cert: fixture("second.crt"), key: fixture("second.key") });
  await until(async () => (await nameAt(server.port)) === "second.example");
  expect(await ask()).toBe("ok");
  let isStopped = false;
  const stopped = server.stop(0).then(() => (isStopped = true));
  await Bun.sleep(50);
  expect(isStopped).toBe(false);
  resolve();
  expect(await slow).toBe("ok");
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
  const socket = connectPlain({ port: server.port, host: "127.0.0.1" });
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

test("a body is ours to refuse, whatever length it has", async () => {
  const server = listen(() => Promise.resolve(new Response("ours")), {
    ...options,
    tls: undefined,
  });
  const head = `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${Number.MAX_SAFE_INTEGER}\r\n\r\n`;
  expect(await raw(server.url.href, head, 1)).toMatchObject({ status: 200, body: "ours" });
  await server.stop(0);
});
