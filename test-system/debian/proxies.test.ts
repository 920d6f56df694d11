/**
 * rehome behind the proxies that Debian has, with the configurations that are published, as real
 * processes.
 */
import { describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { callerOf, until } from "../../test/helpers/ask.ts";
import { freePort } from "../../test/helpers/free-port.ts";
import { portOf } from "../../test/helpers/load.ts";
import { served, temporaryFolder } from "../../test/helpers/binary.ts";

const packaging = join(import.meta.dir, "../../packaging");
const baseUrl = "https://pets.example.org/v1";
const trusting = ["--trusted-proxy", "127.0.0.1", "--base-url", baseUrl];

/** Starts a proxy and resolves when it answers. */
async function start(command: string[], port: number, env = {}) {
  const child = Bun.spawn(command, {
    env: { ...process.env, ...env },
    stdout: "ignore",
    stderr: "pipe",
  });
  const origin = `http://127.0.0.1:${port}`;
  const answers = () =>
    fetch(origin).then(
      async (answer) => {
        await answer.body?.cancel();
        return true;
      },
      () => false,
    );
  await until(async () => (await answers()) || child.exitCode !== null);
  if (child.exitCode !== null) throw new Error(await child.stderr.text());
  return {
    origin,
    async [Symbol.asyncDispose]() {
      child.kill();
      await child.exited;
    },
  };
}

/** nginx with the published server, on ports of this test. */
async function nginx(folder: string, upstream: number) {
  const port = await freePort();
  const server = readFileSync(join(packaging, "nginx/rehome.conf"), "utf8")
    .replace("server 127.0.0.1:8080 ", `server 127.0.0.1:${upstream} `)
    .replace("listen 80;", `listen 127.0.0.1:${port};`);
  expect(server).toContain(`127.0.0.1:${upstream}`);
  const file = join(folder, "nginx.conf");
  const kinds = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  const temporary = kinds.map((kind) => `${kind}_temp_path ${folder}/${kind};`);
  const user = process.getuid?.() === 0 ? "user root;" : "";
  writeFileSync(
    file,
    `${user} daemon off; master_process off; pid ${folder}/pid; error_log ${folder}/error;
     events {} http { access_log off; ${temporary.join(" ")} ${server} }`,
  );
  return await start(["/usr/sbin/nginx", "-c", file], port);
}

/** Caddy with the published site, on ports of this test and without a certificate. */
async function caddy(folder: string, upstream: number) {
  const port = await freePort();
  const site = readFileSync(join(packaging, "caddy/Caddyfile"), "utf8")
    .replace("pets.example.org {", `http://127.0.0.1:${port} {`)
    .replace("127.0.0.1:8080", `127.0.0.1:${upstream}`);
  const file = join(folder, "Caddyfile");
  writeFileSync(file, `{\n\tadmin off\n\tauto_https off\n}\n${site}`);
  const home = join(folder, "home");
  mkdirSync(home);
  return await start(["/usr/bin/caddy", "run", "--config", file, "--adapter", "caddyfile"], port, {
    HOME: home,
    XDG_DATA_HOME: home,
  });
}

/** HAProxy with the published configuration, on ports of this test. */
async function haproxy(folder: string, upstream: number) {
  const port = await freePort();
  const text = readFileSync(join(packaging, "haproxy/haproxy.cfg"), "utf8")
    .replace("bind :80\n", `bind 127.0.0.1:${port}\n`)
    .replace("first 127.0.0.1:8080", `first 127.0.0.1:${upstream}`);
  const file = join(folder, "haproxy.cfg");
  writeFileSync(file, text);
  return await start(["/usr/sbin/haproxy", "-db", "-f", file], port);
}

describe.each([
  ["nginx", nginx],
  ["caddy", caddy],
  ["haproxy", haproxy],
] as const)("behind %s", (_name, proxyFor) => {
  test("addresses are the clients', limits are theirs, and links name the public address", async () => {
    using folder = temporaryFolder();
    await using server = await served([...trusting, "--anonymous-per-minute", "3"]);
    await using proxy = await proxyFor(folder.path, portOf(server.origin));
    const { get, create } = callerOf(proxy, server.key);
    for (const name of ["Rex", "Mia"]) expect((await create(name)).status).toBe(201);
    const page = await get("/v1/pets?limit=1");
    expect(page.headers.get("link")).toBe(`<${baseUrl}/pets?limit=1&after=1>; rel="next"`);
    expect(page.headers.get("x-ratelimit-limit")).toBe("1000000");
    expect(page.headers.get("x-request-id")).toMatch(/^[\w.-]{8,64}$/);
    const named = await fetch(`${proxy.origin}/health`, { headers: { "x-request-id": "mine-1" } });
    expect(named.headers.get("x-request-id")).toBe("mine-1");
    const document = (await (await fetch(`${proxy.origin}/docs/json`)).json()) as {
      servers: { url: string }[];
    };
    expect(document.servers.map(({ url }) => url)).toContain(baseUrl);

    // A client that forges the header is still the one that the proxy saw: three requests, then
    // 429.
    const statuses: number[] = [];
    for (let i = 0; i < 5; i += 1) {
      const forged = { "x-forwarded-for": `203.0.113.${i}` };
      statuses.push((await fetch(`${proxy.origin}/v1/pets`, { headers: forged })).status);
    }
    expect(statuses).toEqual([401, 401, 401, 429, 429]);
    // Another client of the same proxy has its own bucket.
    const client = ["-s", "-o", "/dev/null", "-w", "%{http_code}", "--interface", "127.0.0.2"];
    const other = Bun.spawnSync(["curl", ...client, `${proxy.origin}/v1/pets`]);
    expect(other.stdout.toString()).toBe("401");
    expect(await server.stop()).toBe(0);
    const addresses = server
      .stderr()
      .split("\n")
      .filter((line) => line.includes('"status":201'))
      .map((line) => (JSON.parse(line) as { address: string }).address);
    expect(addresses).toEqual(["127.0.0.1", "127.0.0.1"]);
  });
});
