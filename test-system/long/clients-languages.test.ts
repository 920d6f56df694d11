/**
 * What docs/clients.md says of languages and libraries, run against the executable with Debian's
 * versions of them.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import {
  makeKey,
  roomy,
  serve,
  temporaryFolder,
  type RunningBinary,
} from "../../test/helpers/binary.ts";
import { finished } from "../../test/helpers/finished.ts";
import { limitedProxy } from "../../test/helpers/limited-proxy.ts";

const folder = temporaryFolder();
const beyondDouble = "9007199254740993";
const rounded = /9007199254740992|9\.00719925474099\d*e\+?15/i;
let server: RunningBinary;
let key: string;

beforeAll(async () => {
  server = await serve(folder.path);
  ({ key } = await makeKey(folder.path, ...roomy));
  await fetch(`${server.origin}/v1/pets`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: `{"name":"Big","categoryId":${beyondDouble}}`,
  });
  const headers = { authorization: `Bearer ${key}` };
  const page = await fetch(`${server.origin}/v1/pets`, { headers });
  await Bun.write(join(folder.path, "page.json"), await page.text());
});
afterAll(async () => {
  await server.stop();
  folder[Symbol.dispose]();
});

async function run(...command: string[]) {
  const child = Bun.spawn(command, {
    cwd: folder.path,
    env: { ...process.env, API_KEY: key },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  return await finished(child);
}

/** Programs that print page.json, or its categoryId, as they read it. */
const readers: Record<string, { readonly command: string[]; readonly isExact: boolean }> = {
  "JavaScript's JSON.parse": {
    command: [
      process.execPath,
      "-e",
      'console.log(JSON.parse(await Bun.file("page.json").text()))',
    ],
    isExact: false,
  },
  "JavaScript's JSON.parse with a reviver": {
    command: [
      process.execPath,
      "-e",
      'console.log(JSON.parse(await Bun.file("page.json").text(), (k, v, c) => typeof v === "number" ? BigInt(c.source) : v))',
    ],
    isExact: true,
  },
  Python: {
    command: ["/usr/bin/python3", "-c", 'import json; print(json.load(open("page.json")))'],
    isExact: true,
  },
  PHP: {
    command: ["php", "-r", 'var_dump(json_decode(file_get_contents("page.json")));'],
    isExact: true,
  },
  Ruby: {
    command: ["ruby", "-rjson", "-e", 'p JSON.parse(File.read("page.json"))'],
    isExact: true,
  },
  "jq 1.6": { command: ["jq", ".[0].categoryId", "page.json"], isExact: false },
  "Lua's cjson": {
    command: [
      "lua5.3",
      "-e",
      'print(string.format("%.0f", require("cjson").decode(io.open("page.json"):read("a"))[1].categoryId))',
    ],
    isExact: false,
  },
};

describe("an int64 beyond 2^53", () => {
  test.each(Object.entries(readers))(
    "in %s",
    async (_name, { command, isExact }) => {
      const { stdout, stderr, exitCode } = await run(...command);
      expect([exitCode, stderr]).toEqual([0, ""]);
      if (isExact) expect(stdout).toContain(beyondDouble);
      else expect(stdout).toMatch(rounded);
    },
    120_000,
  );
});

/** How often each sends a request that is refused with 429 once: GET, POST. */
const clients: Record<string, { readonly command: (method: string, url: string) => string[] }> = {
  "curl --retry": {
    command: (method, url) => ["curl", "-sf", "--retry", "3", "-X", method, url],
  },
  wget: { command: (method, url) => ["wget", "-qO-", "--tries=3", `--method=${method}`, url] },
  requests: {
    command: (method, url) => [
      "/usr/bin/python3",
      "-c",
      `import requests; requests.request("${method}", "${url}")`,
    ],
  },
  urllib3: {
    command: (method, url) => [
      "/usr/bin/python3",
      "-c",
      `import urllib3; urllib3.PoolManager().request("${method}", "${url}")`,
    ],
  },
};
const sentTimes: Record<string, readonly [get: number, post: number]> = {
  "curl --retry": [2, 2],
  wget: [1, 1],
  requests: [1, 1],
  urllib3: [2, 1],
};

describe("a request that is refused with 429", () => {
  test.each(Object.entries(clients))(
    "is sent again or not by %s",
    async (name, { command }) => {
      const counts: number[] = [];
      for (const method of ["GET", "POST"]) {
        const proxy = limitedProxy(server.origin, { 0: { status: 429, retryAfterSeconds: 1 } });
        await run(...command(method, `${proxy.origin}/v1/pets`));
        await proxy.stop();
        const [first = 0, second = Infinity] = proxy.arrivals;
        expect(second - first).toBeGreaterThan(950);
        counts.push(proxy.arrivals.length);
      }
      expect(counts).toEqual([...(sentTimes[name] ?? [])]);
    },
    120_000,
  );
});
