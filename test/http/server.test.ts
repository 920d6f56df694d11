/** What surrounds the servers that share a port, on servers that only take notes. */
import { expect, test } from "bun:test";
import { listen } from "../../src/http/server.ts";

const tls = { cert: "certificate", key: "key" };
const options = { host: "shelter.example", port: 0, reusePort: true, tls };

const makeDoor = () => () => Promise.resolve(new Response());

/** Servers as Bun makes them of port 443, and the ports that they were to listen on. */
function servers() {
  const ports: number[] = [];
  // An address does not name the port that goes with its scheme.
  const server = {
    port: 443,
    url: new URL("https://shelter.example:443"),
    reload: () => server,
    stop: () => Promise.resolve(),
  };
  const serve = ({ port }: { port?: number | string | undefined }) => {
    ports.push(Number(port));
    return server;
  };
  return { ports, serve };
}

test("another certificate is taken up on the same port, the scheme's own too", async () => {
  const { ports, serve } = servers();
  const server = listen(makeDoor, options, serve);
  expect(server.url.port).toBe("");
  await server.renew(tls);
  expect(ports).toEqual([0, 443]);
});

test("a certificate that comes while the server stops opens no other one", async () => {
  const { ports, serve } = servers();
  const server = listen(makeDoor, options, serve);
  const stopped = server.stop(200);
  await server.renew(tls);
  await stopped;
  await server.renew(tls);
  expect(ports).toEqual([0]);
});
