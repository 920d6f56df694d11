/**
 * HTTPS served directly, its certificate changed without a stop, and the warning where there is
 * none.
 */
import { expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { exposureWarning } from "../../src/cli/warnings.ts";
import { loadConfig } from "../../src/config.ts";
import { makeKey, roomy, serve, temporaryFolder } from "../../test/helpers/binary.ts";
import { command } from "../../test/helpers/command.ts";
import { portOf } from "../../test/helpers/load.ts";
import { until } from "../../test/helpers/until.ts";

const fixtures = join(import.meta.dir, "../../test/fixtures/tls");
const certificates = ["first", "second"].map((name) =>
  readFileSync(join(fixtures, `${name}.crt`), "utf8"),
);
const pair = (name: string) => [
  "--tls-cert",
  join(fixtures, `${name}.crt`),
  "--tls-key",
  join(fixtures, `${name}.key`),
];

/** The name in the certificate that a new connection is shown. */
async function shownName(origin: string): Promise<string> {
  let name = "";
  const checkServerIdentity = (
    _host: string,
    { subject }: { subject: { CN?: string | string[] } },
  ) => {
    name = String(subject.CN);
    return undefined;
  };
  const answer = await fetch(`${origin}/health`, {
    headers: { connection: "close" },
    tls: { ca: certificates, checkServerIdentity },
  });
  expect(answer.status).toBe(200);
  return name;
}

test("HTTPS is served, and SIGHUP takes up another certificate while requests go on", async () => {
  using folder = temporaryFolder();
  const cert = join(folder.path, "server.crt");
  const key = join(folder.path, "server.key");
  const use = (name: string) => {
    copyFileSync(join(fixtures, `${name}.crt`), cert);
    copyFileSync(join(fixtures, `${name}.key`), key);
  };
  use("first");
  await using server = await serve(join(folder.path, "data"), [
    "--tls-cert",
    cert,
    "--tls-key",
    key,
  ]);
  expect(server.origin).toStartWith("https://127.0.0.1:");
  const { key: secret } = await makeKey(join(folder.path, "data"), ...roomy);
  const ask = async () => {
    const answer = await fetch(`${server.origin}/v1/pets`, {
      headers: { authorization: `Bearer ${secret}` },
      tls: { rejectUnauthorized: false },
    });
    return answer.status;
  };
  expect(await ask()).toBe(200);
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

  // A half-written file is no reason to stop: what works goes on.
  writeFileSync(key, "half of a k");
  process.kill(server.pid, "SIGHUP");
  await says("is not a private key in PEM");
  expect(await shownName(server.origin)).toBe("second.example");
  stop.abort();
  await asking;
  expect([...statuses]).toEqual([200]);

  const port = String(portOf(server.origin));
  const args = ["serve", "--data", join(folder.path, "data"), "--port", port];
  const other = await command([...args, ...pair("first")]);
  expect(other.exitCode).toBe(1);
  expect(other.stderr).toContain("the port is in use");
  expect(await server.stop()).toBe(0);
}, 120_000);

test("a key may come from a command that takes its time, and is read once", async () => {
  using folder = temporaryFolder();
  const late = 'exec "$0" "$@" --tls-key <(sleep 0.3; cat "$KEY")';
  await using server = await serve(folder.path, pair("first").slice(0, 2), {
    command: ["bash", "-c", late],
    env: { KEY: pair("first")[3] ?? "" },
  });
  // Whatever is done behind the start is over.
  await makeKey(folder.path);
  expect(await shownName(server.origin)).toBe("first.example");
  expect(await server.stop()).toBe(0);
});

test("a key with a passphrase, and a file that is no certificate, are refused in words", async () => {
  using folder = temporaryFolder();
  const key = join(folder.path, "with a passphrase.key");
  const { privateKey } = generateKeyPairSync("ec", {
    namedCurve: "P-256",
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem", cipher: "aes-128-cbc", passphrase: "x" },
  });
  writeFileSync(key, privateKey);
  const args = ["--data", folder.path, "--port", "0", ...pair("first").slice(0, 2)];
  expect(await command(["serve", ...args, "--tls-key", key])).toEqual({
    exitCode: 2,
    stdout: "",
    stderr:
      `Error: ${key} is not a private key in PEM without a passphrase.\n` +
      "Try: Convert it with openssl.\n",
  });
  const none = ["--tls-cert", import.meta.path, ...pair("first").slice(2)];
  const { stderr } = await command(["serve", "--data", folder.path, "--port", "0", ...none]);
  expect(stderr).toContain("is not a certificate in PEM");
});

test.each([
  ["0.0.0.0", {}, true],
  ["0.0.0.0", { "trusted-proxy": "10.0.0.0/8" }, false],
  ["0.0.0.0", { "tls-cert": "a.crt", "tls-key": "a.key" }, false],
  ["127.0.0.1", {}, false],
  ["localhost", {}, false],
])("that others can reach %s with %j without TLS is warned of: %p", (host, flags, isWarned) => {
  const { config } = loadConfig({ host, ...flags }, {}, []);
  expect(exposureWarning(config) !== undefined).toBe(isWarned);
});

test("a server that others can reach without TLS warns of it", async () => {
  using folder = temporaryFolder();
  await using server = await serve(folder.path, ["--host", "0.0.0.0"]);
  expect(await server.stop()).toBe(0);
  expect(server.stderr()).toMatch(/can be reached from other machines.*plain HTTP.*API keys/);
});
