/**
 * The page for those who see it otherwise: axe on every screen, a keyboard alone, no JavaScript.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { makeKey, serve, temporaryFolder, type RunningBinary } from "../../test/helpers/binary.ts";
import { dimText, openPage, screens, startBrowser } from "../../test/helpers/browser.ts";
import { axeFindings, formOf, send } from "../../test/helpers/docs-page.ts";

const folder = temporaryFolder();
let server: RunningBinary;
let browser: Browser;
let key: string;

beforeAll(async () => {
  server = await serve(folder.path, ["--staging-base-url", "https://staging.example/v1"]);
  browser = await startBrowser();
  ({ key } = await makeKey(folder.path));
});
afterAll(async () => {
  await browser.close();
  await server.stop();
  folder[Symbol.dispose]();
});

/** A browser that zooms has a smaller screen to fill. In the dark only colours differ. */
const others: Record<
  string,
  { screen: BrowserContextOptions; findings: (page: Page) => Promise<string[]> }
> = {
  light: { screen: screens.light, findings: axeFindings },
  dark: { screen: screens.dark, findings: dimText },
  phone: { screen: screens.phone, findings: axeFindings },
  "zoomed to 400 %": {
    screen: { viewport: { width: 320, height: 256 }, colorScheme: "dark" },
    findings: dimText,
  },
  "in forced colours": {
    screen: { ...screens.light, forcedColors: "active" },
    findings: axeFindings,
  },
};

describe.each(Object.entries(others))("%s", (_name, { screen, findings }) => {
  test("nothing is wrong with the page when all of it is open, and nothing reaches over the edge", async () => {
    await using opened = await openPage(browser, `${server.origin}/docs`, screen);
    const { page, complaints } = opened;
    await send(formOf(page, "getPet"));
    await page.fill("#key", key);
    await send(formOf(page, "createPet"));
    await send(formOf(page, "listPets"));
    await page.evaluate(
      "for (const each of document.querySelectorAll('details')) each.open = true",
    );
    expect(await findings(page)).toEqual([]);
    const overEdge = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
    expect(await page.evaluate<number>(overEdge)).toBe(0);
    expect(complaints).toEqual([]);
  });
});

test("axe does find what is wrong", async () => {
  await using opened = await openPage(browser, `${server.origin}/docs`);
  await opened.page.evaluate('document.querySelector("label[for=key]").remove()');
  await opened.page.evaluate('document.querySelector("#key").removeAttribute("title")');
  await opened.page.evaluate('document.querySelector("#key").removeAttribute("placeholder")');
  expect((await axeFindings(opened.page)).join()).toContain("label");
});

test("a keyboard is enough", async () => {
  await using opened = await openPage(browser, `${server.origin}/docs`);
  const { page, complaints } = opened;
  const { keyboard } = page;
  const focused = () => page.evaluate<string>("document.activeElement.id");
  await keyboard.press("Tab");
  expect(await page.evaluate<string>("document.activeElement.textContent")).toBe("Skip to content");
  await page.locator("#key").focus();
  await keyboard.insertText(key);
  // From the field in the header forward to the form: what lies between takes the focus where it
  // can be seen.
  const path: string[] = [];
  for (let steps = 0; steps < 120; steps++) {
    await keyboard.press("Tab");
    path.push(await focused());
    if (path.at(-1) === "createPet-body") break;
  }
  expect(path.at(-1)).toBe("createPet-body");
  // Fields that need not be filled in lie between the body and Send.
  const isAtSend = () => page.evaluate<boolean>("document.activeElement.type === 'submit'");
  for (let steps = 0; steps < 5 && !(await isAtSend()); steps++) await keyboard.press("Tab");
  await keyboard.press("Space");
  // A second press while the first request is under way sends nothing.
  await page.locator("#createPet button[type=submit]:not([aria-busy])").waitFor();
  const created = page.locator("#createPet .result pre").filter({ hasText: /"id": \d+/ });
  const id = Number(/"id": (\d+)/.exec(await created.first().innerText())?.[1]);
  // The focus stays at Send, so that it can be sent again.
  await keyboard.press("Enter");
  await created.filter({ hasText: new RegExp(`"id": ${id + 1}\\b`) }).waitFor();
  const language = formOf(page, "createPet").locator(".languages input:checked");
  await language.focus();
  await keyboard.press("ArrowRight");
  expect(await formOf(page, "createPet").locator(".code pre:visible").textContent()).toContain(
    "fetch(",
  );
  const summary = page.locator("details:has(#createPet-400) summary");
  await summary.focus();
  await keyboard.press("Enter");
  await page.locator("#createPet-400 pre").first().waitFor();
  expect(complaints).toEqual([]);
});

describe("without JavaScript", () => {
  test("the page is whole and offers nothing that does not work", async () => {
    const options = { javaScriptEnabled: false };
    await using opened = await openPage(browser, `${server.origin}/docs`, options);
    const { page } = opened;
    for (const heading of [
      "Quick start",
      "Rate limits",
      "List animals",
      "Add an animal",
      "Pagination",
    ]) {
      await page.getByRole("heading", { name: heading }).waitFor();
    }
    expect(await page.locator("button:visible").count()).toBe(0);
    const fields = page.locator("input:visible, select:visible, textarea:visible");
    const kinds = await fields.evaluateAll((all) =>
      all.map((each) => (each as unknown as { type: string }).type),
    );
    expect(new Set(kinds)).toEqual(new Set(["radio"]));
    await page.locator("#createPet summary", { hasText: "413" }).click();
    await page.getByText("payload_too_large").first().waitFor();
    expect(await page.locator("#listPets .result pre").textContent()).toContain('"name": "Rex"');
    const code = page.locator("#listPets .code");
    expect(await code.locator("pre:visible").textContent()).toContain("/v1/pets");
    await code.getByLabel("Python").check();
    expect(await code.locator("pre:visible").textContent()).toContain("requests.get");
  });
});
