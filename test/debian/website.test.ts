/**
 * A shelter's own page with examples/animals.js in it, in a browser, beside the compiled executable
 * on another origin.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
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

test("lists the available animals of all pages with a read-only key, their names as text", async () => {
  const { key } = await makeKey(folder.path, ...roomy, "--read-only");
  const { items, said } = await shown(`${server.origin}/v1`, key);
  expect(items).toHaveLength(animalsCount);
  expect(items[0]).toBe("<b>Rex</b>");
  expect(items).not.toContain("Gone");
  expect(said).toEqual([]);
});

test("leaves what stood there where the key is refused", async () => {
  const { items, said } = await shown(`${server.origin}/v1`, "rehome_live_nonsense");
  expect(items).toEqual([]);
  expect(said).toEqual([
    "rehome: The API key is not valid: it may be mistyped, expired, revoked or replaced.",
  ]);
});

test("a page of an origin that was not named reads nothing", async () => {
  const { key } = await makeKey(folder.path, ...roomy);
  const closed = await serve(folder.path, ["--cors-origin", "https://shelter.example.org"]);
  const { items, said } = await shown(`${closed.origin}/v1`, key);
  expect(items).toEqual([]);
  expect(said).toHaveLength(1);
  await closed.stop();
});
