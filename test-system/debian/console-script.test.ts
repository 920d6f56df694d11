/** What the console's script adds to pages that work without it, in a browser. */
import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { screens } from "../../test/helpers/browser.ts";
import { add, button, consoleInBrowser, link } from "../../test/helpers/console-in-browser.ts";
import { until } from "../../test/helpers/ask.ts";

const shown = consoleInBrowser();
const { joined } = shown;
const at = (page: Page, path: string) => page.goto(`${shown.console}${path}`);
const texts = { Name: "Not lost", Category: "Cat" };

async function type(page: Page): Promise<void> {
  for (const [label, text] of Object.entries(texts)) await page.getByLabel(label).fill(text);
  await page.getByLabel("Status").selectOption({ label: "pending" });
}

async function expectTyped(page: Page): Promise<void> {
  for (const [label, text] of Object.entries(texts)) {
    expect(await page.getByLabel(label).inputValue()).toBe(text);
  }
  expect(await page.getByLabel("Status").inputValue()).toBe("pending");
}

test("what is typed is there after a reload, Back, and an answer that was lost", async () => {
  await using opened = await joined("Rosa", "staff", screens.phone);
  const { page } = opened;
  await at(page, "/animals/new");
  await type(page);
  await page.reload();
  await expectTyped(page);
  await link(page, "Categories").click();
  await page.getByRole("heading", { name: "Categories", level: 1 }).waitFor();
  await page.goBack();
  await expectTyped(page);
  // The service stores the animal, and its answer does not come.
  await page.route("**/animals/new?sent", async (route) => {
    await route.fetch({ maxRedirects: 0 });
    await route.abort();
  });
  await button(page, "Add animal").click({ noWaitAfter: true });
  await until(() => page.url().startsWith("chrome-error:"));
  await page.unroute("**/animals/new?sent");
  await page.goBack();
  await expectTyped(page);
  await button(page, "Add animal").click();
  await page.getByText("Added: Not lost.").waitFor();
  expect(await page.getByLabel("Name").inputValue()).toBe("");
  await page.reload();
  expect(await page.getByLabel("Name").inputValue()).toBe("");
  await at(page, "/animals?q=Not+lost");
  expect(await link(page, "Not lost").count()).toBe(1);
});

test("what is typed does not take back what somebody else changed", async () => {
  await using opened = await joined("Tim", "staff", screens.light);
  const { page } = opened;
  await add(page, "Edited");
  await link(page, "Edited").click();
  await page.getByLabel("Name").fill("Edited again");
  const path = new URL(page.url()).pathname;
  const origin = shown.console;
  const form = { status: "sold", "was-name": "Edited", name: "Edited", category: "Dog" };
  await page.request.post(`${origin}${path}`, { headers: { origin }, form });
  await page.reload();
  expect(await page.getByLabel("Name").inputValue()).toBe("Edited again");
  expect(await page.getByLabel("Status").inputValue()).toBe("sold");
});

/** Requests that get no answer, and what the page says meanwhile: a tool would wait for the next. */
async function hang(page: Page, pattern: string) {
  const released = Promise.withResolvers<void>();
  const seen = { asked: 0, said: 0 };
  await page.route("**/said", async (route) => {
    seen.said += 1;
    await route.fulfill({ status: 204 });
  });
  await page.route(pattern, async (route) => {
    seen.asked += 1;
    await released.promise;
    await route.continue();
  });
  await page.evaluate(`new MutationObserver((_, observer) => {
    if (!document.querySelector("[role=alert]")?.textContent.includes("not answered")) return;
    observer.disconnect();
    void fetch("/said");
  }).observe(document.body, { childList: true, subtree: true })`);
  return { seen, release: () => released.resolve() };
}

test("a service that hangs is said within five seconds, and a second tap is no second change", async () => {
  await using opened = await joined("Lev", "staff", screens.phone);
  const { page } = opened;
  await at(page, "/animals/new");
  await page.getByLabel("Name").fill("Slow");
  await page.getByLabel("Category").fill("Dog");
  const { seen, release } = await hang(page, "**/animals/new?sent");
  await page.evaluate(`for (const ms of [0, 300, 5_000]) {
      setTimeout(() => document.querySelector("#form button").click(), ms);
    }`);
  await until(() => seen.said === 1);
  expect(seen.asked).toBe(1);
  await until(() => seen.asked === 2);
  release();
  await page.getByText("Added: Slow.").waitFor();
  await at(page, "/animals?q=Slow");
  expect(await link(page, "Slow").count()).toBe(1);
});

test("the list follows what is typed into Search, with what is ticked", async () => {
  await using opened = await joined("Sia", "staff", screens.light);
  const { page } = opened;
  for (const name of ["Sought one", "Other one"]) await add(page, name, "adopted");
  await page.getByLabel("Select Other one").check();
  await page.getByLabel("Search").fill("Sought");
  await link(page, "Rex").waitFor({ state: "detached" });
  expect(await link(page, "Sought one").count()).toBe(1);
  expect(await page.getByLabel("Select Other one").isChecked()).toBe(true);
  expect(new URL(page.url()).searchParams.get("q")).toBe("Sought");
  // Enter in a box changes nothing.
  await page.getByLabel("Select Other one").press("Enter");
  await page.waitForURL(/[?&]id=/);
  await page.getByRole("listitem").filter({ hasText: "Other one" }).getByText("adopted").waitFor();
  await page.locator("#several").getByRole("button", { name: "pending" }).click();
  await page.getByText("Other one: adopted → pending").waitFor();
});
