import { describe, expect, test } from "bun:test";
import { decodeHTML } from "entities";
import { createHash } from "node:crypto";
import { gunzipSync } from "node:zlib";
import { parse } from "yaml";
import { jsonText } from "../../../src/domain/exact-json.ts";
import { commonHeaders, documentOf } from "../../../src/features/docs/document.ts";
import { TestClock, testApp } from "../../helpers/app.ts";
import { errorExamples, operationsOf } from "../../helpers/document.ts";

const addresses = { baseUrl: "https://a.example/v1", stagingBaseUrl: "https://b.example/v1" };
const app = await testApp({
  app: addresses,
  flags: { "docs-url": "https://docs.example/rehome" },
});
const answer = await app.send("/docs");
const page = await answer.text();
const document = (await (await app.send("/docs/json")).json()) as {
  components: { schemas: Record<string, object>; headers: Record<string, object> };
  servers: unknown;
};

/** The sources that a policy must name for the elements `name` of a page to have an effect. */
function hashesOf(page: string, name: "style" | "script"): string[] {
  const elements = page.matchAll(new RegExp(`<${name}(?: [^>]*)?>(.*?)</${name}>`, "gs"));
  return [...elements].map(
    ([, text = ""]) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`,
  );
}

/** Every address that a browser would fetch for the page, or that a reader could follow. */
function addressesIn(page: string): string[] {
  const attributes = page.matchAll(/\s(?:href|src|srcset|action|data|poster)="([^"]*)"/g);
  const styles = page.matchAll(/url\(([^)]*)\)|@import\s+([^;]*)/g);
  return [...attributes, ...styles].map(([, first, second]) => first ?? second ?? "");
}

/** From the element with this id to the first `end`. */
const partOf = (id: string, end: string) =>
  page.slice(page.indexOf(`id="${id}"`)).split(end, 1)[0]!;

/** What a reader sees of markup. */
function textOf(markup: string): string {
  const text = decodeHTML(`<i ${markup}`.replaceAll(/<[^>]*>/g, " ")).replaceAll(/\s+/g, " ");
  return text.replaceAll(/ (?=[/.,)])/g, "").trim();
}

test("GET /docs lets nothing run but its own style and script, and speaks to nobody but this service", () => {
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    "content-type": "text/html; charset=utf-8",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
  });
  const policy = answer.headers.get("content-security-policy")?.split("; ");
  expect(policy?.toSorted()).toEqual([
    "base-uri 'none'",
    "connect-src 'self'",
    "default-src 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "img-src data:",
    "require-trusted-types-for 'script'",
    `script-src ${hashesOf(page, "script").join(" ")}`,
    `style-src ${hashesOf(page, "style").join(" ")}`,
    "trusted-types 'none'",
  ]);
  expect(page).not.toMatch(/\s(?:style|on\w+)=/);
  expect(Buffer.byteLength(page)).toBeLessThan(85 * 1024);
});

test("GET /docs is where a slash too many leads", async () => {
  const { status, headers } = await app.send("/docs/");
  expect([status, headers.get("location")]).toEqual([308, "../docs"]);
});

test("GET /docs shows every operation, parameter, status, schema, header and example of the document", () => {
  const common = partOf("responses", "</section>");
  for (const { operationId, path, parameters = [], responses } of operationsOf(document)) {
    const section = partOf(operationId, "</section>");
    expect(section).toContain(path);
    for (const { name } of parameters) expect(section).toContain(`name="${name}"`);
    for (const [status, { headers }] of Object.entries(responses)) {
      expect(section).toContain(`>${status}</span>`);
      for (const header of Object.keys(headers)) {
        const place = header in commonHeaders ? common : section;
        expect(place).toContain(`<code>${header}</code>`);
      }
    }
  }
  for (const { operationId, status, value } of errorExamples(document)) {
    expect(textOf(partOf(`${operationId}-${status}`, "</details>"))).toContain(value.message);
  }
  for (const name of Object.keys(document.components.schemas)) {
    expect(page).toContain(`id="schema-${name}"`);
  }
  for (const address of Object.values(addresses)) expect(page).toContain(address);
  expect(page).toContain("5 December 2030");
  expect(page).toContain('<a href="https://docs.example/rehome">');
});

test("GET /docs has a target for each of its links, no id twice, and needs no other file", () => {
  const ids = [...page.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => `#${id}`);
  expect(ids.length).toBe(new Set(ids).size);
  const others = ["docs/json", "docs/yaml", "https://docs.example/rehome"];
  const found = addressesIn(page).filter((address) => !address.startsWith("data:image/svg"));
  expect(found.length).toBeGreaterThan(20);
  for (const address of found) expect([...ids, ...others]).toContain(address);
  // Each heading can be linked to.
  const headings = page.match(/<h[23]>/g);
  expect(page.match(/<\/h[23]>\s*<a class="anchor" href="#[^"]+"/g)).toHaveLength(
    headings?.length ?? 0,
  );
});

describe.each(["/docs", "/docs/json", "/docs/yaml"])("%s", (path) => {
  test("may be kept, and a client that has it gets 304 until it changes", async () => {
    const own = await testApp();
    const first = await own.send(path);
    const text = await first.text();
    const tag = first.headers.get("etag") ?? "";
    expect(tag).toMatch(/^"[\w-]{22}"$/);
    const ask = (known: string) => own.send(path, { headers: { "if-none-match": known } });
    for (const known of [tag, `W/${tag}`, `"other", ${tag}`, "*"]) {
      const again = await ask(known);
      expect([known, again.status, await again.text()]).toEqual([known, 304, ""]);
      expect(again.headers.get("etag")).toBe(tag);
      expect(again.headers.get("cache-control")).toBe("no-cache");
    }
    const other = await ask('"other"');
    expect([other.status, await other.text()]).toEqual([200, text]);
    // getPet is gone from the document.
    own.clock.nowMs = Date.UTC(2030, 11, 6);
    expect((await ask(tag)).status).toBe(200);
    const refused = await own.send(path, { method: "POST" });
    expect(refused.headers.get("cache-control")).toBe("no-store");
  });

  test("is sent compressed to whom takes it, with a tag of each form", async () => {
    const plain = await app.send(path);
    const text = await plain.text();
    const zipped = await app.send(path, { headers: { "accept-encoding": "deflate, gzip;q=0.9" } });
    expect(zipped.headers.get("content-encoding")).toBe("gzip");
    expect(zipped.headers.get("vary")).toContain("Accept-Encoding");
    expect(zipped.headers.get("etag")).not.toBe(plain.headers.get("etag"));
    const bytes = await zipped.bytes();
    expect(bytes.length).toBeLessThan(text.length / 2);
    expect(new TextDecoder().decode(gunzipSync(bytes))).toBe(text);
    const refused = await app.send(path, { headers: { "accept-encoding": "gzip;q=0.0, br" } });
    expect(refused.headers.has("content-encoding")).toBe(false);
  });

  test("depends on no host that a caller makes up", async () => {
    const own = await testApp();
    const bodies = new Set<string>();
    for (const host of ["localhost", "c.example:8443", `a"'&lt;$&.example`]) {
      const made = await own.elysia.handle(new Request(`http://${host}${path}`));
      bodies.add(await made.text());
    }
    expect(bodies.size).toBe(1);
  });
});

test("the document has the servers that the operator named, else a relative one, as YAML too", async () => {
  expect(document.servers).toMatchObject([
    { url: addresses.baseUrl },
    { url: addresses.stagingBaseUrl },
  ]);
  const own = await testApp();
  const [json, yaml] = [await own.send("/docs/json"), await own.send("/docs/yaml")];
  expect(json.headers.get("content-type")).toBe("application/json");
  expect(yaml.headers.get("content-type")).toBe("application/yaml");
  const unnamed = { baseUrl: undefined, stagingBaseUrl: undefined, clock: new TestClock().read };
  const text = await json.text();
  expect(text).toBe(jsonText(await documentOf(unnamed)));
  const value = JSON.parse(text) as { servers: unknown };
  expect(parse(await yaml.text())).toEqual(value);
  expect(value.servers).toEqual([{ url: "/v1", description: "This service" }]);
});
