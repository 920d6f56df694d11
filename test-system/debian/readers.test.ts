/** Readers with large letters, long names, a printer, or a keyboard alone, in a browser. */
import { beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { makeKey, roomy } from "../../test/helpers/binary.ts";
import { browserForAll, screens } from "../../test/helpers/browser.ts";
import { command } from "../../test/helpers/command.ts";
import { consoleForAll, invite } from "../../test/helpers/console.ts";

const own = consoleForAll(["--public", "on"]);
const browsers = [browserForAll(), browserForAll(["--blink-settings=defaultFontSize=32"])] as const;
const long = "W".repeat(300);
let key: string;

beforeAll(async () => {
  key = (await makeKey(own.path, ...roomy, "--name", long)).key;
  const rows = Array.from({ length: 9 }, (_, at) => `Rex ${at},Dog,pending,r${at}\n`);
  const stdin = `Name,Category,Status,Ref\n${long},Dog,pending,1\n${rows.join("")}`;
  const names = ["--source", long.slice(0, 40), "--accept-guess", "--data", own.path];
  await command(["pets", "import", "-", ...names], { stdin });
  await command(["categories", "add", long, "--data", own.path]);
}, 60_000);

let people = 0;

async function joined(at: 0 | 1, options: object) {
  const name = `${"V".repeat(40)} ${(people += 1)}`;
  const link = await invite(own.path, name, "operator");
  const opened = await browsers[at].open(link, options);
  await opened.page.locator("main button").click();
  await opened.page.waitForURL("**/animals");
  return opened;
}

/** The pixels by which a page, or what the statuses of an animal need, is wider than its place. */
const overflowOf = (page: Page) =>
  page.evaluate<number>(`Math.max(...[document.documentElement,
    ...document.querySelectorAll(".segments")].map((each) => each.scrollWidth - each.clientWidth))`);

test.each([0, 1] as const)(
  "pages fit a phone with long names, and letters of size %i",
  async (at) => {
    await using opened = await joined(at, { ...screens.phone, locale: "es" });
    const { page } = opened;
    const { console, origin } = own.server;
    const pages =
      "animals animals?list=all animals?list=ticked animals/1 animals/new animals/merge?id=1&id=2 categories categories/2 import keys keys/new health people changes sign-out";
    const addresses = pages.split(" ").map((path) => `${console}/${path}`);
    for (const address of [...addresses, `${origin}/animals`, `${origin}/docs`]) {
      await page.goto(address);
      expect([address, await overflowOf(page)]).toEqual([address, 0]);
    }
  },
);

/** Tabs to a place; what has the focus on the way is in sight. */
async function reach(page: Page, selector: string) {
  for (let tabs = 0; !(await page.locator(`${selector}:focus`).count()); tabs += 1) {
    expect(tabs).toBeLessThan(200);
    await page.keyboard.press("Tab");
    const isHidden = `(({ x, y, width, height }) => !document.activeElement.contains(
      document.elementFromPoint(x + width / 2, y + height / 2)
    ) && document.activeElement.outerHTML)(document.activeElement.getBoundingClientRect())`;
    expect(await page.evaluate(isHidden)).toBe(false);
  }
}

test("the console's sections hide nothing that has the focus", async () => {
  await using opened = await joined(0, { ...screens.phone, reducedMotion: "reduce" });
  const { page } = opened;
  for (const isChosen of [false, true]) {
    await page.getByLabel("Search").focus();
    if (isChosen) await page.getByLabel("Select Rex 8").check();
    await reach(page, 'a[href="/animals/2"]');
  }
});

test("a list and a page of an animal fit A4, Letter and A5 with the status, and a link fits A4", async () => {
  await using opened = await joined(0, screens.light);
  const { page } = opened;
  await page.emulateMedia({ media: "print" });
  for (const [path, shown] of [
    ["animals?list=all", ".animals >> text=pending"],
    ["animals", ".animals [aria-pressed=true]"],
    ["animals/1", "#status"],
  ] as const) {
    await page.goto(`${own.server.console}/${path}`);
    expect([path, await page.locator(shown).first().isVisible()]).toEqual([path, true]);
    for (const width of [794, 816, 559]) {
      await page.setViewportSize({ width, height: 1000 });
      expect([path, width, await overflowOf(page)]).toEqual([path, width, 0]);
    }
  }
  await page.goto(`${own.server.console}/animals?list=all&q=Rex`);
  for (const name of ["Import", "Add animal"]) {
    expect(await page.getByRole("link", { name }).isVisible()).toBe(false);
  }
  const row = page.getByRole("listitem").filter({ hasText: "Rex 0" });
  expect((await row.boundingBox())?.height).toBeLessThan(60);
  expect(await row.textContent()).toContain("pending");
  await page.emulateMedia({ media: "screen" });
  await page.setViewportSize({ width: 794, height: 1123 });
  await page.goto(`${own.server.console}/people`);
  await page.getByLabel("Name").fill("Pia");
  await page.getByRole("button", { name: "Invite" }).click();
  // It is read and scanned whole.
  await page.locator("#link").waitFor();
  await page.emulateMedia({ media: "print" });
  expect(await page.locator("#link").isVisible()).toBe(true);
  const cut = "(field => field.scrollWidth - field.clientWidth)(document.querySelector('#link'))";
  expect(await page.evaluate<number>(cut)).toBe(0);
});

test("the documentation is tried by the keyboard alone", async () => {
  await using opened = await browsers[0].open(`${own.server.origin}/docs`);
  const { page } = opened;
  await reach(page, ".skip");
  await reach(page, "#key");
  await page.keyboard.type(key);
  await reach(page, "#listPets form button[type=submit]");
  await page.keyboard.press("Enter");
  await page.locator("#listPets .result").getByText("200 OK").waitFor();
});
