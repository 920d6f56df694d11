/**
 * The door: whatever Host and path a request has, the guard and the router see the same path. Byte
 * by byte, because no client would send most of this.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "bun:test";
import { listen } from "../../src/http/server.ts";
import { testApp } from "../helpers/app.ts";
import { raw } from "../helpers/raw.ts";

const fixture = (name: string) =>
  readFileSync(join(import.meta.dir, "../fixtures/tls", name), "utf8");

const goodHosts = [
  "abc localhost A.Example a.example:8080 127.0.0.1 [::1] [::1]:80 xn--bcher-kva.example",
  "a".repeat(255),
].flatMap((line) => line.split(" "));
/** In a URL with https:// the router does not find the path behind them. */
const shortHosts = ["a", "ab"];
const badHosts = [
  "a@b user:secret@abc a/b abc/v1/pets? a?b a#b a\\b a,b a:99999 a:x a:-1 %00 [::1 [::g] 256.1.1.1",
  "a".repeat(256),
].flatMap((line) => line.split(" "));
const badHeads = ["", "a b", "abc\r\nHost: abc", "abc\r\nHost: b.example"];

/** What is under /v1 as the router reads it, with the status that a key gets. */
const versioned = pathsOf(`/v1 404, /v1/pets 200, /v1/pets?x=/health 200, /x/../v1/pets 200,
  /v1\\pets 200, http://elsewhere.example/v1/pets 200, /v1/p%65ts 404, /v1//pets 404,
  /v1/pets#health 404`);
const others = pathsOf(`/health 200, /v1/../health 200, /health?/v1/pets 200, /x/v1/pets 404,
  //v1/pets 404, /v1%2Fpets 404, /%761/pets 404`);

function pathsOf(text: string) {
  const pairs = text.split(/,\s+/).map((each) => each.split(" "));
  return pairs.map(([path = "", status]) => [path, Number(status)] as const);
}

test.each(["http", "https"])(
  "over %s, every Host with every path",
  async (scheme) => {
    const isHttps = scheme === "https";
    const many = 1_000_000;
    const app = await testApp({ app: { isHttps }, service: { anonymousPerMinute: many } });
    const key = await app.key("enterprise", { perMinute: many, perDay: many });
    const tls = { cert: fixture("first.crt"), key: fixture("first.key") };
    const options = { host: "127.0.0.1", port: 0, reusePort: false };
    const server = listen(app.handler, { ...options, ...(isHttps && { tls }) });

    /** Without a key and with one: the status, and whether there are limits. */
    async function shown(host: string, path: string): Promise<string> {
      const head = `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n`;
      const asked = [`${head}\r\n`, `${head}Authorization: Bearer ${key}\r\n\r\n`];
      const origin = `${scheme}://127.0.0.1:${server.port}`;
      const answers = await Promise.all(asked.map((bytes) => raw(origin, bytes, 1, 5_000)));
      const words = answers.map(
        ({ headers, status }) =>
          `${status}${headers.has("x-ratelimit-limit") ? " with limits" : ""}`,
      );
      return `${path} at ${host.slice(0, 30)}: ${words.join(", ")}`;
    }

    for (const host of [...goodHosts, ...shortHosts, ...badHosts, ...badHeads]) {
      const isGood = goodHosts.includes(host) || (!isHttps && shortHosts.includes(host));
      for (const [path, status] of [...versioned, ...others]) {
        const isVersioned = versioned.some(([each]) => each === path);
        const good = isVersioned
          ? `401 with limits, ${status} with limits`
          : `${status}, ${status}`;
        const words = await shown(host, path);
        if (isGood) expect(words).toEndWith(`: ${good}`);
        // Whether it is under /v1 is a guess: such a URL was not made a path of.
        else expect(words).toMatch(/: 400( with limits)?, 400( with limits)?$/);
      }
    }
    expect(await shown("[fe80::1%25eth0]", "/health")).toEndWith(": 200, 200");
    expect(await shown("[fe80::1%25eth0]:80", "/v1/pets")).toEndWith(
      "401 with limits, 200 with limits",
    );
    await server.stop(0);
  },
  60_000,
);
