/** What surrounds the servers that share a port, on servers that only take notes. */
import { expect, test } from "bun:test";
import type { App } from "../../src/http/app.ts";
import { listen } from "../../src/http/server.ts";

const tls = { cert: "certificate", key: "key" };
const options = { host: "shelter.example", port: 0, reusePort: true, tls };

/** Applications whose server is what Bun makes of port 443, and the ports that they were to listen on. */
function applications() {
  const ports: number[] = [];
  // An address does not name the port that goes with its scheme.
  const server = {
    port: 443,
    url: new URL("https://shelter.example:443"),
    reload: () => undefined,
    stop: () => Promise.resolve(),
  };
  const listenTo = ({ port }: { port: number }) => void ports.push(port);
  const makeApp = () => ({ server, listen: listenTo }) as unknown as App;
  return { ports, makeApp };
}

test("another certificate is taken up on the same port, the scheme's own too", async () => {
  const { ports, makeApp } = applications();
  const server = listen(makeApp, options);
  expect(server.url.port).toBe("");
  await server.renew(tls);
  expect(ports).toEqual([0, 443]);
});

test("a certificate that comes while the server stops opens no other one", async () => {
  const { ports, makeApp } = applications();
  const server = listen(makeApp, options);
  const stopped = server.stop(200);
  await server.renew(tls);
  await stopped;
  await server.renew(tls);
  expect(ports).toEqual([0]);
});
