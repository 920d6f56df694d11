/** The page in a browser, with real keys, on the compiled executable. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { Browser, Locator, Page } from "playwright-core";
import { makeKey, serve, temporaryFolder, type RunningBinary } from "../helpers/binary.ts";
import { dimText, openPage, screens, startBrowser } from "../helpers/browser.ts";

const folder = temporaryFolder();
/** Written anew with UPDATE_IMAGES=1. */
const images = join(import.meta.dir, "../../docs/images");
const updatesImages = Bun.env["UPDATE_IMAGES"] === "1";
const biggest = "9223372036854775807";

let server: RunningBinary;
let browser: Browser;

beforeAll(async () => {
  server = await serve(folder.path);
  browser = await startBrowser();
});
afterAll(async () => {
  await browser.close();
  await server.stop();
  folder[Symbol.dispose]();
});

const formOf = (page: Page, operation: string) => page.locator(`#${operation} form`);

/** Sends the form and returns the panel with the answer to it. */
async function send(form: Locator): Promise<Locator> {
  const result = form.locator(".result");
  const before = await result.textContent();
  const answered = form.page().waitForResponse((answer) => answer.url().includes("/v1/"));
  await form.getByRole("button", { name: "Send" }).click();
  await answered;
  await form.page().waitForFunction(
    ([id, text]) => {
      const { document } = globalThis as unknown as {
        document: { querySelector(selector: string): { textContent: string } };
      };
      return document.querySelector(`#${id} .result`).textContent !== text;
    },
    [await form.locator("xpath=ancestor::section").getAttribute("id"), before] as const,
  );
  return result;
}

const figures = (result: Locator) =>
  result
    .locator(".limits dd")
    .evaluateAll((cells) =>
      cells.map(
        (cell) =>
          (cell as unknown as { firstChild: { textContent: string } }).firstChild.textContent,
      ),
    );

describe("the page", () => {
  test("adds, lists page by page and gets with a key, and shows the limit headers", async () => {
    await using opened = await openPage(browser, `${server.origin}/docs`);
    const { page, complaints } = opened;
    const { key } = await makeKey(folder.path);
    await page.fill("#key", key);

    const create = formOf(page, "createPet");
    const added = await send(create);
    expect(await added.textContent()).toContain("201 Created");
    expect(await added.locator("pre").textContent()).toBe(
      '{\n  "id": 1,\n  "name": "Rex",\n  "categoryId": 1,\n  "status": "available"\n}',
    );
    const [limit, left, reset] = await figures(added);
    expect([limit, left]).toEqual(["1000", "999"]);
    expect(reset).toMatch(/^\d\d:\d\d:00$/);
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

  test("shows what a refusal says and when to come back", async () => {
    await using opened = await openPage(browser, `${server.origin}/docs`);
    const { page, complaints } = opened;
    const list = formOf(page, "listPets");
    const refused = await send(list);
    expect(await refused.textContent()).toContain("401 Unauthorized");
    expect(await refused.textContent()).toContain("WWW-Authenticate");

    const { key } = await makeKey(
      folder.path,
      "--plan",
      "enterprise",
      "--per-minute",
      "1",
      "--per-day",
      "9",
    );
    await page.fill("#key", key);
    await send(list);
    await list.getByLabel("limit").fill("7");
    const limited = await send(list);
    expect(await limited.textContent()).toContain("429 Too Many Requests");
    expect(await limited.textContent()).toContain("Retry-After");
    expect((await figures(limited))[1]).toBe("0");
    expect(complaints).toEqual([]);
  });

  test("writes the request for curl as it is sent, and keeps the key out of it", async () => {
    await using opened = await openPage(browser, `${server.origin}/docs`);
    const { page } = opened;
    const { key } = await makeKey(folder.path);
    await page.fill("#key", key);
    const create = formOf(page, "createPet");
    await create.locator("textarea").fill('{"name":"Rex\'s friend","categoryId":1}');
    const command = (await create.locator(".curl").textContent()) ?? "";
    expect(command).not.toContain(key);
    const shell = Bun.spawn(["sh", "-c", command], {
      env: { ...Bun.env, API_KEY: key },
      stderr: "ignore",
    });
    const answer = await shell.stdout.text();
    expect(answer).toStartWith("HTTP/1.1 201");
    expect(answer).toContain('"name":"Rex\'s friend"');
  });

  test("hides the key until it is asked to show it, and forgets it", async () => {
    await using opened = await openPage(browser, `${server.origin}/docs`);
    const { page } = opened;
    await page.fill("#key", "secret");
    expect(await page.getAttribute("#key", "type")).toBe("password");
    await page.getByRole("button", { name: "Show" }).click();
    expect(await page.getAttribute("#key", "type")).toBe("text");
    await page.reload();
    expect(await page.inputValue("#key")).toBe("");
  });

  test("can be read without JavaScript", async () => {
    await using opened = await openPage(browser, `${server.origin}/docs`, {
      javaScriptEnabled: false,
    });
    const { page } = opened;
    expect(await page.getByRole("heading", { name: "Add an animal" }).isVisible()).toBe(true);
    await page.locator("#createPet summary", { hasText: "413" }).click();
    expect(await page.getByText("payload_too_large").first().isVisible()).toBe(true);
  });
});

describe.each(Object.entries(screens))("on a screen that is %s", (name, screen) => {
  test("everything can be read, and nothing reaches over the edge", async () => {
    await using opened = await openPage(browser, `${server.origin}/docs`, screen);
    const { page, complaints } = opened;
    const { key } = await makeKey(folder.path);
    await page.fill("#key", key);
    await send(formOf(page, "createPet"));
    const list = formOf(page, "listPets");
    await list.getByLabel("limit").fill("2");
    await send(list);
    if (updatesImages && !name.includes(" ")) {
      const shown = name === "phone" ? "#listPets form" : "#listPets";
      await page.evaluate(
        `document.querySelector("${shown}").scrollIntoView({ behavior: "instant" })`,
      );
      await page.screenshot({ path: join(images, `docs-${name}.png`) });
    }
    for (const summary of await page.locator("summary").all()) await summary.click();
    expect(await dimText(page)).toEqual([]);
    const overEdge = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
    expect(await page.evaluate<number>(overEdge)).toBe(0);
    expect(complaints).toEqual([]);
  });

  test("the landing leads to the page", async () => {
    await using opened = await openPage(browser, `${server.origin}/`, screen);
    const { page, complaints } = opened;
    expect(await dimText(page)).toEqual([]);
    if (updatesImages && name === "light") {
      await page.setViewportSize({ width: 760, height: 560 });
      await page.screenshot({ path: join(images, "landing.png") });
    }
    await page.getByRole("link", { name: "Documentation" }).click();
    await page.getByRole("heading", { name: "List animals" }).waitFor();
    expect(complaints).toEqual([]);
  });
});
