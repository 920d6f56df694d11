/** What the console's script does with what people type and tap, in a browser. */
import { describe, expect, test } from "bun:test";
import type { Locator, Page, Route } from "playwright-core";
import { screens } from "../../test/helpers/browser.ts";
import {
  add,
  button,
  consoleInBrowser,
  consoleOfList,
  link,
} from "../../test/helpers/console-in-browser.ts";
import { until } from "../../test/helpers/until.ts";

const shown = consoleInBrowser();
const { joined } = shown;

/** Requests to `pattern` wait until they are released. One that gets lost is the next one alone. */
async function hold(page: Page, pattern: string, isLost = false) {
  const asked = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const sent: string[] = [];
  const wait = async (route: Route) => {
    sent.push(route.request().url());
    asked.resolve();
    await released.promise;
    await (isLost ? route.abort() : route.continue());
  };
  await page.route(pattern, wait, isLost ? { times: 1 } : {});
  return { asked: asked.promise, release: () => released.resolve(), sent };
}

/** Longer than a page takes for what it does with an answer. */
const aMoment = (page: Page) => page.evaluate("new Promise((resolve) => setTimeout(resolve, 100))");

describe("the console", () => {
  test("changes nothing when somebody presses Enter in a box of an animal", async () => {
    await using opened = await joined("Eva", "staff", screens.light);
    const { page } = opened;
    await add(page, "Boxed", "adopted");
    await page.getByLabel("Select Boxed").check();
    await page.getByLabel("Select Boxed").press("Enter");
    await page.reload();
    await page.getByRole("button", { name: "adopted: Boxed", pressed: true }).waitFor();
    await page.getByLabel("Select Boxed").check();
    await page.locator("#several").getByRole("button", { name: "pending" }).click();
    await page.getByRole("button", { name: "pending: Boxed", pressed: true }).waitFor();
  });

  test("leaves Search by Escape with its text, and leads from any page to a new name by n", async () => {
    await using opened = await joined("Nia", "staff", screens.light);
    const { page } = opened;
    await page.goto(`${shown.server.console}/animals?q=Nobody`);
    await page.getByLabel("Search").press("Escape");
    expect(await page.locator(":focus").count()).toBe(0);
    expect(await page.getByLabel("Search").inputValue()).toBe("Nobody");
    for (const path of ["/animals", "/help"]) {
      await page.goto(`${shown.server.console}${path}`);
      await page.keyboard.press("n");
      await page.locator("#name:focus").waitFor();
      await page.keyboard.type("Gaia");
      expect(await page.getByLabel("Name").inputValue()).toBe("Gaia");
    }
  });

  test("keeps what is typed into Search where a filter or a tap is faster than it", async () => {
    await using opened = await joined("Sia", "staff", screens.light);
    const { page } = opened;
    await add(page, "Sought one", "adopted");
    await add(page, "Other one", "adopted");
    const tick = page.getByLabel("Select Sought one");
    for (const faster of [
      () => link(page, "adopted").click(),
      () => button(page, "pending: Sought one").click(),
    ]) {
      await page.goto(`${shown.server.console}/animals`);
      await tick.check();
      const search = await hold(page, "**/animals?q=Sought", true);
      await page.getByLabel("Search").fill("Sought");
      await search.asked;
      await faster();
      await link(page, "Other one").waitFor({ state: "detached" });
      expect(await page.getByLabel("Search").inputValue()).toBe("Sought");
      expect(new URL(page.url()).searchParams.get("q")).toBe("Sought");
      expect(await tick.isChecked()).toBe(true);
      search.release();
    }
    await link(page, "Animals").click();
    await link(page, "Other one").waitFor();
    expect(await page.getByLabel("Search").inputValue()).toBe("");
  });

  test("keeps the ticks of animals that stay in the list, until they were sent", async () => {
    await using opened = await joined("Tix", "staff", screens.light);
    const { page } = opened;
    for (const name of ["Tick one", "Tick two", "Tack"]) {
      await add(page, name);
    }
    const tick = page.getByLabel("Select Tick one");
    await tick.check();
    await button(page, "adopted: Tick two").click();
    await page.getByRole("button", { name: "adopted: Tick two", pressed: true }).waitFor();
    expect(await tick.isChecked()).toBe(true);
    await page.getByLabel("Search").fill("Tick");
    await link(page, "Tack").waitFor({ state: "detached" });
    await page.getByText("Selected: 1").waitFor();
    expect(await tick.isChecked()).toBe(true);
    await page.locator("#several").getByRole("button", { name: "pending" }).click();
    await page.getByRole("button", { name: "pending: Tick one", pressed: true }).waitFor();
    expect(await tick.isChecked()).toBe(false);
  });

  test("reads from the left around names that are read from the right", async () => {
    await using opened = await joined("עומר", "staff", screens.light);
    const { page } = opened;
    await page.getByLabel("Name").fill("שלום");
    await page.getByLabel("Category").fill("כלב");
    await button(page, "Add animal").click();
    const row = page.locator(".what").filter({ has: link(page, "שלום") });
    const leftOf = async (element: Locator) => (await element.boundingBox())?.x ?? NaN;
    expect(await leftOf(row.locator("bdi"))).toBeGreaterThan(await leftOf(row));
    await link(page, "שלום").click();
    await button(page, "Save").waitFor();
    await page.getByLabel("Name").fill("מקס");
    await button(page, "Save").click();
    const [before, after] = ["שלום", "מקס"].map((name) => page.locator("bdi", { hasText: name }));
    await after?.waitFor();
    const places = [before, after].map(async (value) => value && leftOf(value));
    const [left, right] = await Promise.all(places);
    expect(left).toBeLessThan(right ?? 0);
    const parts = [page.locator("h1"), page.locator("h1 small")];
    const [heading, id] = await Promise.all(parts.map(leftOf));
    expect(heading).toBeLessThan(id ?? 0);
    const line = page.locator(".lines .soft:has(time)").first();
    expect(await leftOf(line.locator("time"))).toBeGreaterThan(await leftOf(line));
  });

  test("leaves a row where it is when a notice comes above it", async () => {
    const rows = Array.from({ length: 20 }, (_, at) => `,Rex ${at},Dog,available\n`);
    const list = `id,name,category,status\n${rows.join("")}`;
    await using own = await consoleOfList(list, "--accept-guess");
    await using opened = await joined("Ray", "staff", screens.light, own.path);
    const { page } = opened;
    const tapped = button(page, "pending: Rex 17");
    const before = await tapped.boundingBox();
    await tapped.click();
    await page.getByText("Rex 17: available → pending").waitFor();
    const after = await tapped.boundingBox();
    expect(Math.round(after?.y ?? 0)).toBe(Math.round(before?.y ?? 0));
  });

  test("takes each of several taps where answers are slow, and a double tap once", async () => {
    await using opened = await joined("Tea", "staff", screens.phone);
    const { page } = opened;
    const names = ["Tap one", "Tap two", "Tap three"];
    for (const name of names) {
      await add(page, name);
    }
    const statuses = await hold(page, "**/animals/*/status");
    const tap = (name: string) => button(page, `adopted: ${name}`).click();
    await tap("Tap one");
    for (const name of names) await tap(name);
    statuses.release();
    for (const name of names) {
      await page.getByRole("button", { name: `adopted: ${name}`, pressed: true }).waitFor();
    }
    expect(statuses.sent).toHaveLength(names.length);
  });

  test("keeps what is typed while an earlier tap or form is answered, and empties what was sent", async () => {
    await using opened = await joined("Teo", "staff", screens.phone);
    const { page } = opened;
    await add(page, "Tapped");
    const { release } = await hold(page, "**/animals/*/status");
    await button(page, "adopted: Tapped").click();
    await page.getByLabel("Name").fill("Half");
    await page.getByLabel("Status").selectOption({ label: "pending" });
    release();
    await page.getByRole("button", { name: "adopted: Tapped", pressed: true }).waitFor();
    expect(await page.getByLabel("Name").inputValue()).toBe("Half");
    expect(await page.getByLabel("Status").inputValue()).toBe("pending");
    await add(page, "Half typed");
    expect(await page.getByLabel("Name").inputValue()).toBe("");
    const form = await hold(page, "**/animals");
    await page.getByLabel("Name").fill("Sent first");
    await page.getByLabel("Category").fill("Dog");
    await button(page, "Add animal").click();
    await page.getByLabel("Name").fill("Typed next");
    form.release();
    await page.getByText("Sent first was added").waitFor();
    expect(await page.getByLabel("Name").inputValue()).toBe("Typed next");
  });

  test("keeps what is typed into any form while another one is answered", async () => {
    await using opened = await joined("Tim", "staff", screens.light);
    const { page } = opened;
    await page.getByLabel("Name").fill("Edited");
    await page.getByLabel("Category").fill("Dog");
    await button(page, "Add animal").click();
    await link(page, "Edited").click();
    await button(page, "Save").waitFor();
    await page.getByLabel("Status").selectOption({ label: "adopted" });
    await button(page, "Save").click();
    await page.getByText("Edited: available → adopted").waitFor();
    await page.getByLabel("Name").fill("Half");
    await button(page, "Undo").click();
    await page.getByText("Edited is as before").waitFor();
    expect(await page.getByLabel("Name").inputValue()).toBe("Half");
    expect(await page.getByLabel("Status").inputValue()).toBe("available");
    await page.getByLabel("Status").selectOption({ label: "pending" });
    await button(page, "Español").click();
    await button(page, "Guardar").waitFor();
    expect(await page.getByLabel("Nombre").inputValue()).toBe("Half");
    expect(await page.getByLabel("Estado").inputValue()).toBe("pending");
    await button(page, "Guardar").click();
    await page.getByText("Half").first().waitFor();
    await link(page, "Importar").click();
    const file = { name: "a.csv", mimeType: "text/csv", buffer: Buffer.from("Name\nRex\n") };
    await page.locator("input[type=file]").setInputFiles(file);
    await button(page, "English").click();
    await page.getByRole("heading", { name: "Import a list" }).waitFor();
    expect(opened.complaints).toEqual([]);
  });

  test("brings what is wrong into sight, also far down on a page", async () => {
    const screen = { ...screens.light, viewport: { width: 900, height: 600 } };
    await using opened = await joined("Bob", "operator", { ...screen, reducedMotion: "reduce" });
    const { page } = opened;
    await page.goto(`${shown.server.console}/keys`);
    await page.getByLabel("Name").fill("Far down");
    await button(page, "Create key").click();
    await page.getByText("Copy it now").waitFor();
    await page.goto(`${shown.server.console}/keys`);
    await link(page, "Far down").click();
    await button(page, "Revoke").click();
    await page.getByText("Tick the box first.").waitFor();
    const box = page.getByLabel("Revoke for good");
    const { y } = (await box.boundingBox()) ?? { y: NaN };
    expect(y).toBeWithin(0, 600);
  });

  test("keeps what is typed when the service answers that it failed", async () => {
    await using opened = await joined("Tom", "staff", screens.phone);
    const { page } = opened;
    // As a page of the console, and as a proxy in front of it says it.
    const answers = [
      { body: "<h1>That did not work</h1> <p>Disk full</p>", said: "Disk full" },
      { body: "", said: "The service cannot be reached" },
    ];
    for (const { body, said } of answers) {
      await page.goto(`${shown.server.console}/animals/1`);
      await page.getByLabel("Name").fill("Not lost");
      await page.route("**/animals/1", (route) =>
        route.fulfill({ status: 503, contentType: "text/html", body: `<main>${body}</main>` }),
      );
      await button(page, "Save").click();
      await page.getByRole("alert").filter({ hasText: said }).waitFor();
      expect(await page.getByLabel("Name").inputValue()).toBe("Not lost");
      await page.unroute("**/animals/1");
    }
  });

  test("brings a refused form back to somebody who went on meanwhile", async () => {
    await using opened = await joined("Tua", "staff", screens.phone);
    const { page } = opened;
    await page.goto(`${shown.server.console}/animals/1`);
    const form = await hold(page, "**/animals/1");
    const gone = await hold(page, "**/categories");
    await page.getByLabel("Name").fill("");
    await page.getByLabel("Category").fill("Not lost");
    await button(page, "Save").click();
    await link(page, "Categories").click();
    form.release();
    await page.getByText("Type a name.").waitFor();
    const left = page.waitForResponse("**/categories");
    gone.release();
    await left;
    await aMoment(page);
    expect(await page.getByLabel("Category").inputValue()).toBe("Not lost");
  });

  test("sends a form behind another one though a search is lost meanwhile", async () => {
    await using opened = await joined("Uma", "staff", screens.phone);
    const { page } = opened;
    for (const name of ["First tap", "Second tap"]) {
      await add(page, name);
    }
    const taps = await hold(page, "**/animals/*/status");
    const search = await hold(page, "**/animals?q=*", true);
    await button(page, "adopted: First tap").click();
    await page.getByLabel("Search").fill("tap");
    await search.asked;
    await button(page, "adopted: Second tap").click();
    const failed = page.waitForEvent("requestfailed");
    search.release();
    await failed;
    taps.release();
    await page.getByRole("button", { name: "adopted: Second tap", pressed: true }).waitFor();
  });

  test("takes a double tap for one where the page changed in between", async () => {
    await using opened = await joined("Uli", "staff", screens.phone);
    const { page } = opened;
    await add(page, "Tapped twice");
    await link(page, "Tapped twice").click();
    await button(page, "Remove").waitFor();
    const asked: string[] = [];
    page.on("request", (request) => asked.push(new URL(request.url()).pathname));
    // The second half comes as soon as the page has something else at this place. Both have their
    // time from the beginning: a busy machine may let the page wait.
    await page.evaluate(`{
      const half = () => new MouseEvent("click", { bubbles: true, cancelable: true, detail: 1 });
      const [first, second] = [half(), half()];
      new MutationObserver((_, observer) => {
        observer.disconnect();
        document.querySelector('a[href="/import"]').dispatchEvent(second);
      }).observe(document.body, { childList: true });
      document.querySelector('form[action$="/remove"] button').dispatchEvent(first);
    }`);
    await page.getByText("Tapped twice was removed").waitFor();
    expect(asked).not.toContain("/import");
  });

  test("stays where somebody went while a file was sent", async () => {
    await using opened = await joined("Uwe", "staff", screens.phone);
    const { page } = opened;
    await link(page, "Import").click();
    const file = { name: "a.csv", mimeType: "text/csv", buffer: Buffer.from("Name\nRex\n") };
    await page.getByLabel("File", { exact: true }).setInputFiles(file);
    const released = Promise.withResolvers<void>();
    await page.route("**/import", async (route) => {
      if (route.request().method() === "POST") await released.promise;
      await route.continue();
    });
    await page.locator("main").getByRole("button", { name: "Import" }).click();
    await link(page, "Animals").click();
    await page.getByLabel("Name", { exact: true }).fill("Not lost");
    const taken = page.waitForEvent("requestfinished", (request) => request.method() === "GET");
    released.resolve();
    await taken;
    await aMoment(page);
    expect(await page.getByLabel("Name").inputValue()).toBe("Not lost");
  });

  test("leads back to where somebody was in a list, and stays there when it is lost", async () => {
    const dogs = Array.from({ length: 30 }, (_, at) => `Rex ${at},Dog,sold,D-${at}\n`);
    const list = `Name,Species,State,Code\n${dogs.join("")}`;
    const map = "name=Name,categoryId=Species,status=State,externalId=Code";
    await using many = await consoleOfList(list, "--create-categories", "--map", map);
    await using opened = await joined("Bea", "staff", screens.phone, many.path);
    const { page } = opened;
    expect(page.url()).toBe(`${many.console}/animals`);
    // Further down than the page of an animal is long.
    await link(page, "Rex 5").scrollIntoViewIfNeeded();
    const top = await page.evaluate<number>("scrollY");
    await page.context().setOffline(true);
    await link(page, "Rex 5").dispatchEvent("click");
    await page.getByRole("alert").waitFor();
    await page.evaluate("new Promise((resolve) => setTimeout(resolve, 300))");
    expect(await page.evaluate<number>("scrollY")).toBe(top);
    await page.context().setOffline(false);
    // A click of the browser's tools may scroll.
    await link(page, "Rex 5").dispatchEvent("click");
    await button(page, "Save").waitFor();
    await until(async () => (await page.evaluate<number>("scrollY")) === 0);
    await page.goBack();
    await link(page, "Rex 5").waitFor();
    // The browser moves it by some pixels, as it keeps an element in its place.
    await until(async () => Math.abs((await page.evaluate<number>("scrollY")) - top) < 50);
  });

  test("goes where somebody tapped while it waits for an import", async () => {
    await using opened = await joined("Ivo", "staff", screens.phone);
    const { page } = opened;
    const [asked, told] = [1, 2].map(() => Promise.withResolvers<void>());
    let visits = 0;
    await page.route("**/import", async (route) => {
      const answer = await route.fetch();
      const body = (await answer.text()).replace("<h1>", '<div data-poll="50"></div><h1>');
      visits += 1;
      if (visits === 2) {
        asked?.resolve();
        await told?.promise;
      }
      await route.fulfill({ response: answer, body });
    });
    const categories = await hold(page, "**/categories");
    await link(page, "Import").click();
    await page.getByRole("heading", { name: "Import a list" }).waitFor();
    // The tap comes while a look at the import is under way, which ends before the tap is answered.
    await asked?.promise;
    await link(page, "Categories").click();
    const seen = page.waitForResponse("**/import");
    told?.resolve();
    await seen;
    // Set later and for longer than the timer that asks again, so that it fires after it.
    await aMoment(page);
    categories.release();
    await page.getByRole("heading", { name: "Categories", level: 1 }).waitFor();
  });

  test("says that no answer comes, keeps what is typed, and sends it again when asked to", async () => {
    await using opened = await joined("Lea", "staff", screens.phone);
    const { page } = opened;
    await page.clock.install();
    await button(page, "Español").click();
    const add = button(page, "Añadir animal");
    await add.waitFor();
    let asked = 0;
    const released = Promise.withResolvers<void>();
    await page.route("**/animals", async (route) => {
      asked += 1;
      if (asked === 1) await released.promise;
      await route.continue();
    });
    await page.getByLabel("Nombre").fill("Slow");
    await page.getByLabel("Categoría").fill("Dog");
    await add.click();
    await until(() => asked === 1);
    await page.clock.fastForward(9_000);
    expect(await page.getByRole("alert").count()).toBe(0);
    await page.clock.fastForward(60_000);
    const said = "El servicio todavía no ha respondido";
    await page.getByRole("alert").filter({ hasText: said }).waitFor();
    expect(await page.getByLabel("Nombre").inputValue()).toBe("Slow");
    expect(asked).toBe(1);
    // Pressed again, it does not wait for the answer that does not come.
    await add.click();
    await page.locator("#notices").getByText("Slow").waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
    released.resolve();
  });

  test("says that no answer comes to a file, and sends it anew when asked to", async () => {
    await using opened = await joined("Lev", "staff", screens.phone);
    const { page } = opened;
    await page.clock.install();
    await link(page, "Import").click();
    const file = { name: "late.csv", mimeType: "text/csv", buffer: Buffer.from("Name\nRex\n") };
    await page.getByLabel("File", { exact: true }).setInputFiles(file);
    let asked = 0;
    await page.route("**/import", async (route) => {
      if (route.request().method() === "POST" && (asked += 1) === 1) return;
      await route.continue();
    });
    const send = page.locator("main").getByRole("button", { name: "Import" });
    await send.click();
    await until(() => asked === 1);
    await page.clock.fastForward(60_000);
    await page.getByRole("alert").filter({ hasText: "has not answered yet" }).waitFor();
    await send.click();
    await page.getByRole("heading", { name: "This kind of file is not known yet" }).waitFor();
    expect(asked).toBe(2);
  });

  test("keeps what is typed while the service cannot be reached", async () => {
    await using opened = await joined("Rosa", "staff", screens.phone);
    const { page } = opened;
    await page.getByLabel("Name").fill("Not lost");
    await page.getByLabel("Category").fill("Cat");
    await page.context().setOffline(true);
    await button(page, "Add animal").click();
    await page.getByRole("alert").waitFor();
    expect(await page.getByLabel("Name").inputValue()).toBe("Not lost");
    await page.context().setOffline(false);
    // Another page of the list takes its place meanwhile.
    await link(page, "available").click();
    await page.waitForURL("**/animals?status=available");
    expect(await page.getByLabel("Name").inputValue()).toBe("Not lost");
    await button(page, "Add animal").click();
    await page.getByText("Not lost was added").waitFor();
  });
});

test("keeps what is typed when the session has ended, for after the next link", async () => {
  await using opened = await joined("Sol", "staff", screens.phone);
  const { page } = opened;
  await page.getByLabel("Name").fill("Not forgotten");
  await page.getByLabel("Category").fill("Cat");
  const cookies = await page.context().cookies();
  await page.context().clearCookies();
  await button(page, "Add animal").click();
  await page.getByRole("alert").filter({ hasText: "You are signed out." }).waitFor();
  expect(await page.getByLabel("Name").inputValue()).toBe("Not forgotten");
  await page.context().addCookies(cookies);
  await button(page, "Add animal").click();
  await page.getByText("Not forgotten was added").waitFor();
});
