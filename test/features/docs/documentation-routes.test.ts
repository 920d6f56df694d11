/** The page and the document, as caches and pages on other origins get them. */
import { expect, test } from "bun:test";
import { gunzipSync } from "node:zlib";
import { docsRoutes } from "../../../src/features/docs/routes.ts";
import { testApp } from "../../helpers/app.ts";

const paths = ["/docs", "/docs/json"];

test("a cache may keep the page and the document, and no refusal of their addresses", async () => {
  const app = await testApp();
  const kept = async (path: string, method = "GET") =>
    (await app.send(path, { method })).headers.get("cache-control");
  for (const path of paths) expect(await kept(path)).not.toBe("no-store");
  expect(await kept("/docs", "POST")).toBe("no-store");
});

test("a page on an allowed origin may read them", async () => {
  const origin = "https://a.example";
  const app = await testApp({ app: { corsOrigins: [origin] } });
  for (const path of paths) {
    const answer = await app.send(path, { headers: { origin } });
    expect(answer.headers.get("access-control-allow-origin")).toBe(origin);
    expect(answer.headers.get("vary")).toContain("Origin");
  }
  const preflight = { origin, "access-control-request-method": "GET" };
  const asked = await app.send("/docs/json", { method: "OPTIONS", headers: preflight });
  expect(asked.status).toBe(204);
  expect(asked.headers.get("access-control-allow-methods")).toBe("GET, HEAD");
});

test("a client that has them gets 304 until they change", async () => {
  const app = await testApp();
  for (const path of [...paths, "/docs/yaml"]) {
    const first = await app.send(path);
    const text = await first.text();
    const tag = first.headers.get("etag") ?? "";
    expect(tag).toMatch(/^"[\w-]{22}"$/);
    const ask = (known: string) => app.send(path, { headers: { "if-none-match": known } });
    for (const known of [tag, `W/${tag}`, `"other", ${tag}`, "*"]) {
      const again = await ask(known);
      expect([known, again.status, await again.text()]).toEqual([known, 304, ""]);
      expect(again.headers.get("etag")).toBe(tag);
      expect(again.headers.get("cache-control")).toBe("no-cache");
    }
    const other = await ask('"other"');
    expect([other.status, await other.text()]).toEqual([200, text]);
  }
  const before = (await app.send("/docs/json")).headers.get("etag") ?? "";
  // getPet is gone from the document.
  app.clock.nowMs = Date.UTC(2030, 11, 6);
  const after = await app.send("/docs/json", { headers: { "if-none-match": before } });
  expect(after.status).toBe(200);
});

test("they are sent compressed to whom takes it, with a tag of each form", async () => {
  const app = await testApp();
  for (const path of [...paths, "/docs/yaml"]) {
    const plain = await app.send(path);
    const text = await plain.text();
    const tags = new Set([plain.headers.get("etag")]);
    const headers = { "accept-encoding": "deflate, gzip;q=0.9" };
    const answer = await app.send(path, { headers });
    expect(answer.headers.get("content-encoding")).toBe("gzip");
    expect(answer.headers.get("vary")).toContain("Accept-Encoding");
    const bytes = await answer.bytes();
    expect(bytes.length).toBeLessThan(text.length / 2);
    expect(new TextDecoder().decode(gunzipSync(bytes))).toBe(text);
    tags.add(answer.headers.get("etag"));
    expect(tags.size).toBe(2);
    const refused = await app.send(path, { headers: { "accept-encoding": "gzip;q=0.0, br" } });
    expect(refused.headers.has("content-encoding")).toBe(false);
  }
});

test("the page leads to the guides of an operator who has some", async () => {
  const routes = docsRoutes({
    baseUrl: undefined,
    stagingBaseUrl: undefined,
    clock: Date.now,
    guides: "https://docs.example/rehome",
  });
  const page = await (await testApp({ app: { routes: [() => [routes]] } })).send("/docs");
  expect(await page.text()).toContain('<a href="https://docs.example/rehome">');
});
