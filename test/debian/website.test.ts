/** A shelter's own page with examples/animals.js in it, in a browser, beside the compiled executable on another origin. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import {
  makeKey,
  rehome,
  roomy,
  serve,
  temporaryFolder,
  type RunningBinary,
} from "../helpers/binary.ts";
import { startBrowser } from "../helpers/browser.ts";

const script = Bun.file(join(import.meta.dir, "../../examples/animals.js"));
const folder = temporaryFolder();
const animalsCount = 130;
let tag = "";
const site = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: ({ url }) =>
    new URL(url).pathname === "/animals.js"
      ? new Response(script)
      : new Response(`<!doctype html><title>Shelter</title><ul id="animals">Call us.</ul>${tag}`, {
          headers: { "content-type": "text/html" },
        }),
});
let server: RunningBinary;
let browser: Browser;

beforeAll(async () => {
  server = await serve(folder.path, ["--cors-origin", site.url.origin]);
  browser = await startBrowser();
  const animals = Array.from({ length: animalsCount }, (_, at) =>
    JSON.stringify({
      name: at === 0 ? "<b>Rex</b>" : `Pet ${at}`,
      categoryId: 1,
      status: "available",
    }),
  );
  const sold = JSON.stringify({ name: "Gone", categoryId: 1, status: "sold" });
  const imported = await rehome(["pets", "import", "-", "--data", folder.path], {
    stdin: [...animals, sold].join("\n"),
  });
  expect(imported.exitCode).toBe(0);
});
afterAll(async () => {
  await browser.close();
  await server.stop();
  await site.stop(true);
  folder[Symbol.dispose]();
});

/** What the list of the page shows once the script has come to its end. */
async function shown(api: string, key: string): Promise<{ items: string[]; said: string[] }> {
  tag = `<script src="animals.js" data-api="${api}" data-key="${key}" async></script>`;
  const page = await browser.newPage();
  const said: string[] = [];
  page.on("console", (message) => void (message.type() === "error" && said.push(message.text())));
  await page.goto(site.url.href);
  const items = page.locator("#animals li");
  const ended = () => said.some((line) => line.startsWith("rehome:"));
  while ((await items.count()) === 0 && !ended()) await Bun.sleep(20);
  const texts = await items.allTextContents();
  await page.close();
  return { items: texts, said: said.filter((line) => line.startsWith("rehome:")) };
}

test("lists the available animals of all pages, their names as text", async () => {
  const { key } = await makeKey(folder.path, ...roomy);
  const { items, said } = await shown(`${server.origin}/v1`, key);
  expect(items).toHaveLength(animalsCount);
  expect(items[0]).toBe("<b>Rex</b>");
  expect(items).not.toContain("Gone");
  expect(said).toEqual([]);
});

test("leaves what stood there where the key is refused", async () => {
  const { items, said } = await shown(`${server.origin}/v1`, "rehome_live_nonsense");
  expect(items).toEqual([]);
  expect(said).toEqual(["rehome: The API key is not valid."]);
});

test("a page of an origin that was not named reads nothing", async () => {
  const { key } = await makeKey(folder.path, ...roomy);
  const closed = await serve(folder.path, ["--cors-origin", "https://shelter.example.org"]);
  const { items, said } = await shown(`${closed.origin}/v1`, key);
  expect(items).toEqual([]);
  expect(said).toHaveLength(1);
  await closed.stop();
});

test("the proxy's rule of docs/website.md lets the key of the page read, and nothing else", async () => {
  const { key } = await makeKey(folder.path, ...roomy);
  const { key: other } = await makeKey(folder.path, ...roomy);
  const page = readFileSync(join(import.meta.dir, "../../docs/website.md"), "utf8");
  const [rule = ""] = /^@page \{[^]*?^respond .*$/m.exec(page) ?? [];
  const listener = Bun.serve({ port: 0, fetch: () => new Response() });
  const { port } = listener;
  await listener.stop(true);
  const file = join(folder.path, "Caddyfile");
  writeFileSync(
    file,
    `{\n\tadmin off\n}\nhttp://127.0.0.1:${port} {\n${rule.replace("THE_SECRET_OF_THE_PAGE", key)}\nreverse_proxy ${new URL(server.origin).host}\n}\n`,
  );
  const caddy = Bun.spawn(["caddy", "run", "--config", file, "--adapter", "caddyfile"], {
    env: { PATH: process.env["PATH"] ?? "", HOME: folder.path },
    stdout: "ignore",
    stderr: "ignore",
  });
  const ask = async (method: string, authorization: string) => {
    const body = method === "POST" ? '{"name":"a","categoryId":1}' : null;
    const headers = { authorization, "content-type": "application/json" };
    const init = { method, headers, body };
    for (;;) {
      const answer = await fetch(`http://127.0.0.1:${port}/v1/pets?limit=1`, init).catch(
        () => undefined,
      );
      if (answer !== undefined) return answer.status;
      await Bun.sleep(20);
    }
  };
  expect(await ask("GET", `Bearer ${key}`)).toBe(200);
  expect(await ask("POST", `Bearer ${key}`)).toBe(403);
  expect(await ask("POST", `bearer  ${key}`)).toBe(403);
  expect(await ask("POST", `Bearer ${other}`)).not.toBe(403);
  caddy.kill();
  await caddy.exited;
});
