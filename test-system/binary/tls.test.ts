/**
 * HTTPS served directly, its certificate changed without a stop, and the warning where there is
 * none.
 */
import { expect, test } from "bun:test";
import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connect } from "node:tls";
import { served, temporaryFolder } from "../../test/helpers/binary.ts";
import { invite, serveConsole } from "../../test/helpers/console.ts";
import { until } from "../../test/helpers/ask.ts";

/** Certificates of first.example and second.example. */
const fixtures = join(import.meta.dir, "../../test/fixtures/tls");

/** The files of a certificate and its key in a folder, and what puts one in their place. */
function certificateIn(folder: string) {
  const [cert, key] = [join(folder, "server.crt"), join(folder, "server.key")];
  const use = (name: "first" | "second") => {
    copyFileSync(join(fixtures, `${name}.crt`), cert);
    copyFileSync(join(fixtures, `${name}.key`), key);
  };
  use("first");
  return { key, use, flags: ["--tls-cert", cert, "--tls-key", key] };
}

/** The name in the certificate that a new connection is shown. */
function shownName(origin: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const { hostname, port } = new URL(origin);
  const socket = connect({ port: Number(port), host: hostname, rejectUnauthorized: false }, () => {
    resolve(String(socket.getPeerCertificate().subject.CN));
    socket.destroy();
  });
  socket.on("error", reject);
  return promise;
}

test("HTTPS is served, and SIGHUP takes up another certificate while requests go on, for the console too", async () => {
  using folder = temporaryFolder();
  const { key, flags, use } = certificateIn(folder.path);
  const data = join(folder.path, "data");
  await using server = await serveConsole(data, flags);
  const tls = { rejectUnauthorized: false };
  const ask = async () => (await fetch(`${server.origin}/health`, { tls })).status;
  const form = { method: "POST", headers: { origin: server.console }, tls } as const;
  const joined = await fetch(await invite(data, "Ana", "staff"), { ...form, redirect: "manual" });
  expect(joined.headers.getSetCookie().join()).toMatch(/^__Host-.*; Secure; SameSite=Strict$/);
  expect(await shownName(server.origin)).toBe("first.example");

  const stop = new AbortController();
  const statuses = new Set<number>();
  const asking = (async () => {
    while (!stop.signal.aborted) statuses.add(await ask());
  })();
  const says = (text: string) => until(() => server.stderr().includes(text));
  use("second");
  process.kill(server.pid, "SIGHUP");
  await says("Reloaded the certificate");
  expect(await shownName(server.origin)).toBe("second.example");
  // A connection that the console's former listener had not taken yet is reset.
  const ofConsole = () => shownName(server.console).catch(() => "");
  await until(async () => (await ofConsole()) === "second.example");

  // A half-written file is no reason to stop: what works goes on.
  writeFileSync(key, "half of a k");
  process.kill(server.pid, "SIGHUP");
  await says("is not a private key in PEM");
  expect(await shownName(server.origin)).toBe("second.example");
  stop.abort();
  await asking;
  expect([...statuses]).toEqual([200]);
  expect(await server.stop()).toBe(0);
});

test("a server that others can reach without TLS warns of it", async () => {
  await using server = await served(["--host", "0.0.0.0"]);
  expect(await server.stop()).toBe(0);
  expect(server.stderr()).toMatch(/can be reached from other machines.*plain HTTP.*API keys/);
});
