/** The console in a browser, on the compiled executable, and what every test does there. */
import { beforeAll } from "bun:test";
import type { BrowserContextOptions, Page } from "playwright-core";
import { browserForAll } from "./browser.ts";
import { command } from "./command.ts";
import { consoleForAll } from "./console.ts";

/** A console with one dog, and a browser, from before the tests of a file until after them. */
export function consoleInBrowser() {
  const own = consoleForAll([]);
  const browser = browserForAll();
  beforeAll(async () => {
    const rex = ["--name", "Rex", "--category", "Dog", "--create-category", "--status"];
    await command(["pets", "add", ...rex, "available", "--data", own.path]);
  });

  /** The list of animals in a window of somebody new, who has joined with a link of their own. */
  async function joined(name: string, role: "staff" | "operator", options: BrowserContextOptions) {
    const { cookies } = await own.joined(name, role);
    const kept = { domain: "127.0.0.1", path: "/", expires: -1, httpOnly: true, secure: false };
    const sameSite = "Strict";
    return browser.open(`${own.server.console}/animals`, {
      locale: "en-GB",
      ...options,
      storageState: {
        cookies: [...cookies].map(([name, value]) => ({ ...kept, sameSite, name, value })),
        origins: [],
      },
    });
  }

  return {
    path: own.path,
    joined,
    get console() {
      return own.server.console;
    },
    browser,
  };
}

export const link = (page: Page, name: string) => page.getByRole("link", { name, exact: true });
export const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

/** Adds a dog, and is back at the list. */
export async function add(page: Page, name: string, status?: string): Promise<void> {
  await link(page, "Add animal").click();
  await page.getByLabel("Name").fill(name);
  await page.getByLabel("Category").fill("Dog");
  if (status !== undefined) await page.getByLabel("Status").selectOption({ label: status });
  await button(page, "Add animal").click();
  await page.getByText(`Added: ${name}.`).waitFor();
  await link(page, "Animals").click();
  await link(page, name).waitFor();
}
