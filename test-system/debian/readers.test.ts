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
  const stdin = `Name,Category,Status,Ref\n${long},Dog,pending,1\nRex,Dog,pending,2\n`;
  const names = ["--source", long.slice(0, 40), "--accept-guess", "--data", own.path];
  await command(["pets", "import", "-", ...names], { stdin });
  await command(["categories", "add", long, "--data", own.path]);
}, 60_000);

async function joined(at: 0 | 1, options: object) {
  const link = await invite(
    own.path,
    `${"V".repeat(40)} ${at} ${Object.keys(options).length}`,
    "operator",
  );
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

test("a list and a page of an animal fit A4, Letter and A5, with the status", async () => {
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
});

test("the documentation is tried by the keyboard alone", async () => {
  await using opened = await browsers[0].open(`${own.server.origin}/docs`);
  const { page } = opened;
  /** Tabs to a place; what has the focus on the way is in sight. */
  const reach = async (selector: string) => {
    for (let tabs = 0; !(await page.locator(`${selector}:focus`).count()); tabs += 1) {
      expect(tabs).toBeLessThan(200);
      await page.keyboard.press("Tab");
      const isHidden = `(({ x, y, width, height }) => !document.activeElement.contains(
        document.elementFromPoint(x + width / 2, y + height / 2)
      ) && document.activeElement.outerHTML)(document.activeElement.getBoundingClientRect())`;
      expect(await page.evaluate(isHidden)).toBe(false);
    }
  };
  await reach(".skip");
  await reach("#key");
  await page.keyboard.type(key);
  await reach("#listPets form button[type=submit]");
  await page.keyboard.press("Enter");
  await page.locator("#listPets .result").getByText("200 OK").waitFor();
});
