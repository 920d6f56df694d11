/**
 * The page in a browser, with real keys, on the compiled executable; and for those who see it
 * otherwise: axe on every screen, a keyboard alone, no JavaScript.
 */
import { expect, test } from "bun:test";
import type { BrowserContextOptions, Locator } from "playwright-core";
import { makeKey, perDay, type RunningBinary, serveForAll } from "../../test/helpers/binary.ts";
import { axeFindings, dimText, formOf, send } from "../../test/helpers/docs-page.ts";
import { browserForAll, screens } from "../../test/helpers/browser.ts";

const biggest = "9223372036854775807";

const browser = browserForAll();
let server: RunningBinary;
let folder: string;
serveForAll(
  (running, _key, at) => ([server, folder] = [running, at]),
  ["--staging-base-url", "https://staging.example/v1"],
);

/** The values of the three limit headers. */
const figures = async (result: Locator) =>
  [...(await result.innerText()).matchAll(/^X-RateLimit-\w+: (.*)$/gm)].map(([, value]) => value);

/** The page, with a key in its field. */
async function docs(key = "", options?: BrowserContextOptions) {
  const opened = await browser.open(`${server.origin}/docs`, options);
  await opened.page.fill("#key", key);
  return opened;
}
const newKey = async (...plan: string[]) => (await makeKey(folder, ...plan)).key;

test("the page adds, lists page by page and gets with a key, and shows the limit headers", async () => {
  await using opened = await docs(await newKey(...perDay(1_000)));
  const { page, complaints } = opened;
  // The quick start has the address where it is read.
  const start = await page.locator("#quick-start").textContent();
  expect(start).toContain(`${server.origin}/v1/pets`);
  expect(start).not.toContain("HOST");
  const create = formOf(page, "createPet");
  expect(await create.textContent()).toContain("This adds a real animal.");
  const added = await send(create);
  expect(await added.textContent()).toContain("201 Created");
  expect(await added.locator("pre").textContent()).toBe(
    '{\n  "id": 1,\n  "name": "Rex",\n  "categoryId": 1,\n  "status": "available"\n}',
  );
  const [limit, left, reset] = await figures(added);
  expect([limit, left]).toEqual(["1000", "999"]);
  expect(reset).toMatch(/^\d+ \(\d\d:\d\d:00\)$/);
  await create.locator("textarea").fill(`{"name":"Żółw","categoryId":${biggest}}`);
  expect(await (await send(create)).textContent()).toContain(`"categoryId": ${biggest}`);

  const list = formOf(page, "listPets");
  await list.getByLabel("limit").fill("1");
  const first = await send(list);
  expect(await first.textContent()).toContain('"name": "Rex"');
  expect((await figures(first))[1]).toBe("997");
  await first.getByRole("button", { name: "Next page" }).click();
  await first.getByText('"Żółw"').waitFor();
  expect(await list.getByLabel("after").inputValue()).toBe("1");
  expect(await first.getByRole("button", { name: "Next page" }).count()).toBe(0);

  await list.getByLabel("after").fill("");
  await list.getByLabel("status").selectOption("sold");
  expect(await (await send(list)).locator("pre").textContent()).toBe("[]");

  const got = await send(formOf(page, "getPet"));
  expect(await got.textContent()).toContain("Thu, 05 Dec 2030 00:00:00 GMT");
  expect(await got.textContent()).toContain('rel="successor-version"');
  expect(complaints).toEqual([]);
});

test("the page shows what a refusal says and when to come back", async () => {
  await using opened = await docs();
  const { page, complaints } = opened;
  const list = formOf(page, "listPets");
  const refused = await send(list);
  expect(await refused.textContent()).toContain("401 Unauthorized");
  expect(await refused.textContent()).toContain("WWW-Authenticate");

  await page.fill("#key", await newKey(...perDay(1)));
  await send(list);
  await list.getByLabel("limit").fill("7");
  const limited = await send(list);
  expect(await limited.textContent()).toContain("429 Too Many Requests");
  expect(await limited.textContent()).toContain("Retry-After");
  expect((await figures(limited))[1]).toBe("0");
  expect(complaints).toEqual([]);
});

test("the page takes a key as people paste it", async () => {
  await using opened = await docs();
  const { page } = opened;
  const key = await newKey();
  await page.getByText("Paste an API key").first().waitFor();
  for (const pasted of [` bearer  ${key}\n`, `Authorization: Bearer ${key}`, `"${key}"`]) {
    await page.fill("#key", pasted);
    const answer = await send(formOf(page, "listPets"));
    expect(await answer.locator(".status").textContent()).toBe("200 OK");
  }
  await page.getByText("Paste an API key").first().waitFor({ state: "hidden" });
});

test("the page copies the body of a response, and code", async () => {
  await using opened = await docs();
  const { page } = opened;
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  const copied = () => page.evaluate<string>("navigator.clipboard.readText()");
  const list = formOf(page, "listPets");
  // What a button says for a moment only is waited for from before the click.
  const copy = (part: Locator) =>
    Promise.all([
      part.getByText("Copied").waitFor(),
      part.getByRole("button", { name: "Copy" }).click(),
    ]);
  await copy(await send(list));
  expect(JSON.parse(await copied())).toMatchObject({ code: "unauthorized", status: 401 });
  await list.getByLabel("PHP").check();
  await copy(list.locator(".code"));
  expect(await copied()).toStartWith("<?php");
});

test("on a phone the answer is in sight after Send", async () => {
  await using opened = await docs("nobody", screens.phone);
  for (const operation of ["createPet", "listPets"]) {
    const result = await send(formOf(opened.page, operation));
    const { y = -1, height = 0 } = (await result.locator(".outcome").boundingBox()) ?? {};
    expect([y >= 0, y + height <= screens.phone.viewport.height]).toEqual([true, true]);
  }
  expect(await opened.page.getByRole("status").textContent()).toMatch(/^401 Unauthorized/);
});

/** A browser that zooms has a smaller screen to fill. In the dark only colours differ. */
const zoomed = { viewport: { width: 320, height: 256 }, colorScheme: "dark" } as const;
const forced = { ...screens.light, forcedColors: "active" } as const;

test.each([
  ["light", screens.light, axeFindings],
  ["dark", screens.dark, dimText],
  ["phone", screens.phone, axeFindings],
  ["zoomed to 400 %", zoomed, dimText],
  ["in forced colours", forced, axeFindings],
] as const)("%s: all of it is legible and on the screen", async (_name, screen, findings) => {
  await using opened = await docs("", screen);
  const { page, complaints } = opened;
  await send(formOf(page, "getPet"));
  await page.fill("#key", await newKey());
  await send(formOf(page, "createPet"));
  await send(formOf(page, "listPets"));
  await page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true");
  expect(await findings(page)).toEqual([]);
  const overEdge = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
  expect(await page.evaluate<number>(overEdge)).toBe(0);
  expect(complaints).toEqual([]);
});

test("without JavaScript the page is whole and offers nothing that does not work", async () => {
  const options = { javaScriptEnabled: false };
  await using opened = await browser.open(`${server.origin}/docs`, options);
  const { page } = opened;
  for (const name of [
    "Quick start",
    "Rate limits",
    "List animals",
    "Add an animal",
    "Pagination",
  ]) {
    await page.getByRole("heading", { name }).waitFor();
  }
  const works = "button:visible, input:not([type=radio]):visible, select:visible, textarea:visible";
  expect(await page.locator(works).count()).toBe(0);
  await page.locator("#createPet summary", { hasText: "413" }).click();
  await page.getByText("payload_too_large").first().waitFor();
  expect(await page.locator("#listPets .result pre").textContent()).toContain('"name": "Rex"');
  const code = page.locator("#listPets .code");
  expect(await code.locator("pre:visible").textContent()).toContain("/v1/pets");
  await code.getByLabel("Python").check();
  expect(await code.locator("pre:visible").textContent()).toContain("requests.get");
});
