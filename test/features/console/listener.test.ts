/** What the console's listener says of a request, and what every answer says to a browser. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { permit } from "../../../src/features/console/reach.ts";
import { consoleSetting } from "../../../src/features/console/settings.ts";
import { download, pageAnswer, redirect } from "../../../src/features/console/web/answer.ts";
import { assetAt, assetPaths } from "../../../src/features/console/web/assets.ts";
import { listen, type Origin } from "../../../src/features/console/web/server.ts";
import { receiveFile } from "../../../src/features/console/web/upload.ts";
import { html } from "../../../src/features/docs/html.ts";
import { loadConfig } from "../../../src/config.ts";
import { parseCidr } from "../../../src/domain/address.ts";

const fixtures = join(import.meta.dir, "../../fixtures/tls");
const tls = {
  cert: readFileSync(join(fixtures, "first.crt"), "utf8"),
  key: readFileSync(join(fixtures, "first.key"), "utf8"),
};

function listener(options: Partial<Parameters<typeof listen>[0]> = {}) {
  return listen({
    host: "127.0.0.1",
    port: 0,
    reusePort: false,
    tls: undefined,
    trustedProxies: [],
    handle: async (_request, { address, isSecure }: Origin) => Response.json({ address, isSecure }),
    ...options,
  });
}

const flagsOf: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "with HTTPS": { "tls-cert": join(fixtures, "first.crt"), "tls-key": join(fixtures, "first.key") },
  "behind a proxy": { "trusted-proxy": "127.0.0.1" },
};

test.each([
  ["203.0.113.9:8090", "in plain HTTP", "refused"],
  ["203.0.113.9:8090", "with HTTPS", "silent"],
  ["203.0.113.9:8090", "behind a proxy", "silent"],
  ["192.168.1.5:8090", "in plain HTTP", "warned"],
  ["192.168.1.5:8090", "with HTTPS", "silent"],
  ["192.168.1.5:8090", "behind a proxy", "silent"],
  ["127.0.0.1:8090", "in plain HTTP", "silent"],
  ["localhost:8090", "in plain HTTP", "silent"],
] as const)("at %s %s the console is %s", async (address, how, expected) => {
  const loaded = loadConfig({ console: address, ...flagsOf[how] }, {}, [consoleSetting]);
  const warnings: string[] = [];
  const permitted = await permit(loaded, (text) => warnings.push(text)).catch((error: unknown) => {
    expect(error).toMatchObject({ kind: "invalid_request" });
    return "refused";
  });
  expect(permitted ?? (warnings.length > 0 ? "warned" : "silent")).toBe(expected);
});

test("only a trusted proxy says where a request comes from, and that it came over HTTPS", async () => {
  const headers = { "x-forwarded-for": "203.0.113.7", "x-forwarded-proto": "https" };
  const trusted = [parseCidr("127.0.0.1")].filter((each) => each !== undefined);
  for (const [trustedProxies, expected] of [
    [[], { address: "127.0.0.1", isSecure: false }],
    [trusted, { address: "203.0.113.7", isSecure: true }],
  ] as const) {
    const server = listener({ trustedProxies });
    const answer = await fetch(server.url.href, { headers });
    expect(await answer.json()).toEqual(expected);
    await server.stop();
  }
});

test("a port with HTTPS is not shared with another program that has it", async () => {
  const server = listener({ tls });
  expect(() => listener({ tls, port: Number(server.url.port) })).toThrow("Failed to listen");
  await server.stop();
});

test("a file that cannot be written ends its upload with the reason, which is the service's", async () => {
  const head =
    '--b\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n' +
    "Content-Type: text/csv\r\n\r\n";
  let sent = 0;
  const request = new Request("http://127.0.0.1/import", {
    method: "POST",
    headers: { "content-type": "multipart/form-data; boundary=b" },
    body: new ReadableStream({
      pull(controller) {
        sent += 1;
        controller.enqueue(sent === 1 ? new TextEncoder().encode(head) : new Uint8Array(65_536));
      },
    }),
  });
  const upload = receiveFile(request, "/nowhere/a.csv");
  expect(await upload.catch((error: unknown) => error)).toMatchObject({ code: "ENOENT" });
});

test("a file of the program is kept by the browser, as its path changes with its bytes", () => {
  for (const path of Object.values(assetPaths)) {
    expect(path).toMatch(/^\/assets\/\w+-[0-9a-f]{12}\.\w+$/);
    expect(assetAt(path)?.headers.get("cache-control")).toContain("max-age=31536000, immutable");
  }
  expect(assetAt("/assets/style.css")).toBeUndefined();
});

test("every answer keeps a page to itself: no frame, no stranger's script, no copy", () => {
  const answers = [
    pageAnswer(html`<p></p>`, "ok", {}),
    redirect("/animals"),
    download("", "animals.csv", "text/csv"),
  ];
  for (const { headers } of answers) {
    expect(Object.fromEntries(headers)).toMatchObject({
      "cache-control": "no-store",
      "content-security-policy":
        "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; " +
        "img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; " +
        "require-trusted-types-for 'script'; trusted-types rehome",
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
      "referrer-policy": "same-origin",
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY",
    });
  }
});
