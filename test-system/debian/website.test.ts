/**
 * The animals on a shelter's own pages, in a browser beside the compiled executable on another
 * origin: the public page, the one line in three kinds of pages, and the snippet with a key.
 */
import { afterAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { makeKey, roomy, type RunningBinary, serveForAll } from "../../test/helpers/binary.ts";
import { command } from "../../test/helpers/command.ts";
import { browserForAll, screens } from "../../test/helpers/browser.ts";
import { axeFindings, dimText } from "../../test/helpers/docs-page.ts";

const guide = await Bun.file(join(import.meta.dir, "../../docs/website.md")).text();
const snippets = [...guide.matchAll(/^```html\n(.*?)^```/gms)].map(([, text = ""]) => text);
const animalsCount = 130;
let html = "";
let headers: Record<string, string> = {};
const site = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: () =>
    new Response(`<!doctype html><html lang="en"><title>Shelter</title>${html}`, {
      headers: { "content-type": "text/html", ...headers },
    }),
});
const browser = browserForAll();
let server: RunningBinary;
let folder: string;
const flags = ["--cors-origin", site.url.origin, "--public", "on"];
serveForAll(
  async (running, _key, at) => {
    [server, folder] = [running, at];
    const animals = Array.from({ length: animalsCount }, (_, at) =>
      JSON.stringify({
        name: ["<b>Rex</b>", "Pet 1", "Unnamed"][at] ?? `Pet ${at}`,
        categoryId: 1 + (at % 2),
        status: at === 1 ? "pending" : "available",
      }),
    );
    const sold = JSON.stringify({ name: "Gone", categoryId: 1, status: "sold" });
    const imported = await command(["pets", "import", "-", "--data", folder], {
      stdin: [...animals, sold].join("\n"),
    });
    expect(imported.exitCode).toBe(0);
  },
  [...flags, "--public-contact", "Call us: 555 0100"],
);
afterAll(() => site.stop(true));

/** What a page with `text` shows once there is a list or a complaint, and what its console says. */
async function shown(text: string, more: Record<string, string> = {}) {
  html = text;
  headers = more;
  const page = await browser.newPage();
  const said: string[] = [];
  page.on("console", (message) => void (message.type() === "error" && said.push(message.text())));
  page.on("pageerror", (error) => void said.push(error.message));
  await page.goto(site.url.href);
  const items = page.locator("[role=list] > li[data-status], ul#animals > li:not(.fallback)");
  const notes = page.locator("[role=status]");
  const isDone = async () => (await items.count()) + (await notes.count()) + said.length > 0;
  for (let tries = 0; tries < 500 && !(await isDone()); tries += 1) await Bun.sleep(20);
  const found = {
    items: await items.allTextContents(),
    notes: await notes.allTextContents(),
    body: (await page.locator("body").textContent()) ?? "",
    said: said.filter((line) => line.includes("rehome:")),
  };
  await page.close();
  return found;
}

const line = () => (snippets[0] ?? "").replace("https://pets.example.org", server.origin);

test("the one line shows the animals on a plain page, newest first, their names as text", async () => {
  const { items, said } = await shown(line());
  expect(items).toHaveLength(animalsCount);
  expect(items.at(-1)).toBe("<b>Rex</b>");
  expect(items.at(-2)).toBe("Pet 1 (adoption pending)");
  expect(items).not.toContain("Gone");
  expect(said).toEqual([]);
});

test("the one line works where the host is allowed and nothing inline runs, and as a module", async () => {
  const policy = `default-src 'none'; script-src ${server.origin}; connect-src ${server.origin}`;
  const module = line().replace("<script", '<script type="module"');
  const { items } = await shown(module, { "content-security-policy": policy });
  expect(items).toHaveLength(animalsCount);
});

test("the one line works where only a script tag is allowed, of one category, up to a number", async () => {
  const tag = `<script src="${server.origin}/animals.js" data-category="1" data-max="7"></script>`;
  const post = `<div class="entry-content wp-block-post-content"><p>Our animals</p><figure class="wp-block-html">${tag}</figure></div>`;
  const { items, body } = await shown(post);
  expect(items).toHaveLength(7);
  expect(body.indexOf("Our animals")).toBeLessThan(body.indexOf(items[0] ?? "?"));
});

test("the one line calls an animal without a name so in the language of its page", async () => {
  const spanish = `<script>document.documentElement.lang = "es"</script>`;
  const { items } = await shown(spanish + line());
  expect(items.slice(-3)).toEqual(["Sin nombre", "Pet 1 (adopción en trámite)", "<b>Rex</b>"]);
});

test("the one line says on the page and in the console when something is wrong", async () => {
  const { notes, said } = await shown(line().replace("#animals", "#nowhere"));
  expect(notes).toEqual(["The list of animals could not be loaded."]);
  expect(said[0]).toContain('No element matches data-list="#nowhere".');
});

describe("the snippet with a read-only key", () => {
  const withKey = (key: string) =>
    (snippets[1] ?? "")
      .replace("https://pets.example.org", server.origin)
      .replace("rehome_live_...", key)
      .replace("<li>", '<li class="fallback">');

  test("lists the available animals of all pages, their names as text", async () => {
    const { key } = await makeKey(folder, ...roomy, "--read-only");
    const { items, said } = await shown(withKey(key));
    expect(items).toHaveLength(animalsCount - 1);
    expect(items[0]).toBe("<b>Rex</b>");
    expect(said).toEqual([]);
  });

  test("leaves what stood there where the key is refused", async () => {
    const { items, body, said } = await shown(withKey("rehome_live_nonsense"));
    expect(items).toEqual([]);
    expect(body).toContain("Please call us");
    expect(said[0]).toContain("The API key is not valid");
  });
});

test.each(Object.entries(screens))("the public page can be read: %s", async (name, screen) => {
  await using opened = await browser.open(`${server.origin}/animals`, screen);
  const { page, complaints } = opened;
  expect(await page.locator("body").textContent()).toContain("Call us: 555 0100");
  expect(await page.getByText("Pet 7", { exact: true }).count()).toBe(1);
  expect(complaints).toEqual([]);
  // In the dark only colours differ.
  const findings = name.includes("dark") ? dimText(page) : axeFindings(page);
  expect(await findings).toEqual([]);
  const overEdge = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
  expect(await page.evaluate<number>(overEdge)).toBe(0);
});
