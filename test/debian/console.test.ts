/** The console in a browser, on the compiled executable, as the people of a shelter use it. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, BrowserContextOptions, Locator, Page, Route } from "playwright-core";
import { temporaryFolder } from "../helpers/binary.ts";
import { command } from "../helpers/command.ts";
import { dimText, openPage, screens, startBrowser } from "../helpers/browser.ts";
import { invite, serveConsole, Visitor, type RunningConsole } from "../helpers/console.ts";
import { axeFindings } from "../helpers/docs-page.ts";
import { stores } from "../helpers/stores.ts";
import { until } from "../helpers/until.ts";

const folder = temporaryFolder();
/** Written anew with UPDATE_IMAGES=1. */
const images = join(import.meta.dir, "../../docs/images");
const updatesImages = Bun.env["UPDATE_IMAGES"] === "1";

/** Every page that needs no id. */
const pages = "animals animals/new animals/1 categories import export help keys usage health people"
  .split(" ")
  .map((name) => `/${name}`);
const shots = {
  desktop: { path: "/animals", screen: screens.light, person: "Olga" },
  dark: { path: "/animals", screen: screens.dark, person: "Ana" },
  phone: { path: "/animals", screen: screens.phone, person: "Ben" },
  animal: { path: "/animals/9", screen: screens.light, person: "Maya" },
  import: { path: "/import", screen: screens.light, person: "Tom" },
} as const;
/** The animals of the pictures, the newest last. */
const shelter = `Name,Species,State,Code
Coco,Rabbit,available,R-01
Simba,Cat,sold,C-07
Thor,Dog,available,D-12
Kira,Cat,available,C-08
Toby,Dog,pending,D-13
Nala,Cat,available,C-09
Rocky,Dog,sold,D-14
Olive,Rabbit,available,R-02
Luna,Dog,available,D-15
`;

let server: RunningConsole;
let browser: Browser;

beforeAll(async () => {
  // The first animal, which some pages are about.
  const rex = ["--name", "Rex", "--category", "Dog", "--create-category", "--status", "available"];
  await command(["pets", "add", ...rex, "--data", folder.path]);
  server = await serveConsole(folder.path);
  browser = await startBrowser();
});
afterAll(async () => {
  await browser.close();
  await server.stop();
  folder[Symbol.dispose]();
});

/** The list of animals in a window of somebody new, who has joined with a link of their own. */
async function joined(
  name: string,
  role: "staff" | "operator",
  options: BrowserContextOptions,
  place: string | readonly string[] = folder.path,
) {
  const link = await invite(place, name, role);
  const { origin } = new URL(link);
  const { cookies } = await new Visitor(origin).join(link);
  const kept = { domain: "127.0.0.1", path: "/", expires: -1, httpOnly: true, secure: false };
  return openPage(browser, `${origin}/animals`, {
    locale: "en-GB",
    ...options,
    storageState: {
      cookies: [...cookies].map(([name, value]) => ({
        ...kept,
        name,
        value,
        sameSite: "Strict" as const,
      })),
      origins: [],
    },
  });
}

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

const link = (page: Page, name: string) => page.getByRole("link", { name, exact: true });
const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

/** Adds a dog by the form on the list. */
async function add(page: Page, name: string, status?: string): Promise<void> {
  await page.getByLabel("Name").fill(name);
  await page.getByLabel("Category").fill("Dog");
  if (status !== undefined) await page.getByLabel("Status").selectOption({ label: status });
  await button(page, "Add animal").click();
  await page.getByText(`${name} was added`).waitFor();
}

/** Finds an animal by a part of its name and opens it. */
async function open(page: Page, part: string, name: string): Promise<void> {
  await link(page, "Animals").click();
  await page.getByLabel("Search").fill(part);
  await page.getByLabel("Search").press("Enter");
  await link(page, name).click();
  await page.getByRole("heading", { name, level: 1 }).waitFor();
}

/** The pixels by which the page is wider than its screen. */
function overflowOf(page: Page): Promise<number> {
  return page.evaluate<number>(
    "document.documentElement.scrollWidth - document.documentElement.clientWidth",
  );
}

/** Text that is smaller than 11 pixels as it is shown, also within a picture that was scaled. */
function smallTextOn(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`[...document.querySelectorAll("body *:not(title)")]
    .filter((element) => element.checkVisibility()
      && [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== "")
      && parseFloat(getComputedStyle(element).fontSize) * (element.getScreenCTM?.().a ?? 1) < 11)
    .map((element) => element.textContent)`);
}

/** Without a script on one store, with one on the other. */
test.each(stores.map((kind, at) => ({ ...kind, javaScriptEnabled: at > 0 })))(
  "a volunteer's day on $name, with a script: $javaScriptEnabled",
  async ({ place: placeOf, javaScriptEnabled }) => {
    await using place = await placeOf();
    await using _own = await serveConsole(undefined, place.flags);
    const dog = javaScriptEnabled ? "Rex" : "Luna";
    const screen = { ...screens.phone, javaScriptEnabled };
    const invitation = await invite(place.flags, "Ana of the day", "staff");
    await using opened = await openPage(browser, invitation, { locale: "en-GB", ...screen });
    const { page, complaints } = opened;
    await button(page, "Join").click();
    await page.waitForURL("**/animals");

    await add(page, `${dog}x the dog`, "available");

    await open(page, "x the d", `${dog}x the dog`);
    await page.getByLabel("Name").fill(`${dog} the dog`);
    await page.getByLabel("Status").selectOption({ label: "pending" });
    await button(page, "Save").click();
    await page.getByRole("heading", { name: `${dog} the dog`, level: 1 }).waitFor();
    await page.getByText(`Name: ${dog}x the dog → ${dog} the dog`).first().waitFor();

    await link(page, "Animals").click();
    const row = page.getByRole("listitem").filter({ hasText: `${dog} the dog` });
    await row.getByRole("button", { name: "adopted" }).click();
    const sold = row.getByRole("button", { name: "adopted", pressed: true });
    await sold.waitFor();

    await open(page, dog.toLowerCase(), `${dog} the dog`);
    expect(await page.getByLabel("Status").inputValue()).toBe("sold");
    await button(page, "Remove").click();
    await page.getByText(`${dog} the dog was removed`).waitFor();
    expect(await link(page, `${dog} the dog`).count()).toBe(0);
    await button(page, "Undo").click();
    await link(page, `${dog} the dog`).waitFor();

    const list = join(folder.path, `${dog}.csv`);
    const rows = ["name,categoryId,status", `${dog} junior,1,available`, "Bad,one,available"];
    writeFileSync(list, `${rows.join("\n")}\n`);
    await link(page, "Import").click();
    await page.getByLabel("File", { exact: true }).setInputFiles(list);
    await button(page, "Import").click();
    await page.getByRole("heading", { name: `What ${dog}.csv would change` }).waitFor();
    await page.getByText("Rows that cannot be imported").waitFor();
    await page.getByLabel("Import the good rows").check();
    await button(page, "Import").click();
    await page.getByRole("heading", { name: `Imported: ${dog}.csv` }).waitFor();
    await link(page, "Animals").click();
    await link(page, `${dog} junior`).waitFor();
    expect(await link(page, "Bad").count()).toBe(0);
    await link(page, "Import").click();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText("Undone").waitFor();
    await link(page, "Animals").click();
    await page.getByLabel("Search").waitFor();
    expect(await link(page, `${dog} junior`).count()).toBe(0);
    await link(page, `${dog} the dog`).waitFor();
    expect(complaints).toEqual([]);
  },
  120_000,
);

describe("the console", () => {
  test.each(["light", "dark", "phone"] as const)(
    "is legible, fits its screen and asks nobody else, on each page: %s",
    async (name) => {
      await using opened = await joined(`Olga ${name}`, "operator", screens[name]);
      const { page, complaints } = opened;
      for (const path of pages) {
        await page.goto(`${server.console}${path}`);
        // In the dark only colours differ.
        const findings = name === "dark" ? dimText(page) : axeFindings(page);
        expect([path, await findings]).toEqual([path, []]);
        expect([path, await overflowOf(page)]).toEqual([path, 0]);
        expect([path, await smallTextOn(page)]).toEqual([path, []]);
      }
      expect(complaints).toEqual([]);
    },
    120_000,
  );

  test("fits a phone with letters of twice the size, with each status in sight", async () => {
    await using large = await startBrowser(["--blink-settings=defaultFontSize=32"]);
    const link = await invite(folder.path, "Opal of the large letters", "operator");
    await using opened = await openPage(large, link, { ...screens.phone, locale: "es-ES" });
    const { page } = opened;
    await button(page, "Entrar").click();
    await page.waitForURL("**/animals");
    for (const path of [...pages, "/changes"]) {
      await page.goto(`${server.console}${path}`);
      expect([path, await overflowOf(page)]).toEqual([path, 0]);
    }
    await page.goto(`${server.console}/animals`);
    const cut = `[...document.querySelectorAll(".segments")]
      .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth).length`;
    expect(await page.evaluate<number>(cut)).toBe(0);
    // The smallest phone, with letters of the usual size.
    await page.setViewportSize({ width: 640, height: 1136 });
    expect(await page.evaluate<number>(cut)).toBe(0);
  });

  test("hides nothing that has the focus below its sections", async () => {
    using own = temporaryFolder();
    const list = join(own.path, "dogs.csv");
    const rows = Array.from({ length: 9 }, (_, at) => `,Rex ${at},Dog,available\n`);
    writeFileSync(list, `id,name,category,status\n${rows.join("")}`);
    await command(["pets", "import", list, "--accept-guess", "--data", own.path]);
    await using _server = await serveConsole(own.path);
    const screen = { ...screens.phone, reducedMotion: "reduce" } as const;
    await using opened = await joined("Kim", "staff", screen, own.path);
    const { page } = opened;
    const covered = `{
      const focused = document.activeElement;
      const { x, y, width, height } = focused.getBoundingClientRect();
      const top = document.elementFromPoint(x + width / 2, y + height / 2);
      focused.contains(top) ? "" : focused.getAttribute("aria-label") ?? focused.textContent;
    }`;
    const link = page.getByRole("link", { name: "Rex 0", exact: true });
    for (const isChosen of [false, true]) {
      await page.getByLabel("Search").focus();
      if (isChosen) await page.getByLabel("Select Rex 8").check();
      while (!(await link.evaluate((element) => element.matches(":focus")))) {
        await page.keyboard.press("Tab");
        expect(await page.evaluate<string>(covered)).toBe("");
      }
    }
    // Nor below the notice of a change, on the way back.
    await page.getByRole("button", { name: "pending: Rex 8" }).click();
    await page.getByText("Rex 8: available → pending").waitFor();
    await link.focus();
    while (!(await page.getByLabel("Search").evaluate((field) => field.matches(":focus")))) {
      await page.keyboard.press("Shift+Tab");
      expect(await page.evaluate<string>(covered)).toBe("");
    }
  });

  test("fits a phone with names of 300 letters without a blank", async () => {
    using own = temporaryFolder();
    const long = "W".repeat(300);
    const data = ["--data", own.path];
    const kind = ["--category", long, "--create-category", "--status", "sold"];
    await command(["pets", "add", "--name", long, ...kind, ...data]);
    await command(["categories", "add", "Dog", ...data]);
    const made = await command([
      "keys",
      "create",
      "--plan",
      "free",
      "--name",
      long,
      ...data,
      "--json",
    ]);
    const { id } = JSON.parse(made.stdout) as { id: string };
    await using wide = await serveConsole(own.path);
    await using opened = await joined(long, "operator", screens.phone, own.path);
    const { page } = opened;
    for (const path of [
      ...pages,
      "/animals/1",
      "/categories/1",
      "/categories/2",
      `/keys/${id}`,
      `/usage?key=${id}`,
    ]) {
      await page.goto(`${wide.console}${path}`);
      expect([path, await overflowOf(page)]).toEqual([path, 0]);
    }
  }, 120_000);

  test("is legible in what comes of a person's work too", async () => {
    await using opened = await joined("Olga at work", "operator", screens.phone);
    const { page, complaints } = opened;
    const seen = async (what: string) => {
      await page.waitForLoadState();
      // What has just been scrolled below the bar is not hidden for good.
      await page.evaluate("scrollTo({ top: 0, behavior: 'instant' })");
      expect([what, await axeFindings(page)]).toEqual([what, []]);
    };
    await page.getByLabel("Name").fill("Rex");
    await button(page, "Add animal").click();
    await page.getByText("Type a category, such as Dog.").waitFor();
    await seen("an error beside its field");
    await page.getByLabel("Category").fill("Dog");
    await button(page, "Save").click();
    await button(page, "Undo").waitFor();
    await seen("a change with Undo");
    await page.getByLabel("Select Rex").first().check();
    await seen("several chosen");
    await page.goto(`${server.console}/categories/1`);
    await seen("a category");
    const section = async (name: string) => {
      await link(page, name).click();
      await page.getByRole("heading", { name, level: 1 }).waitFor();
    };
    await section("Keys");
    await page.getByLabel("Name").fill("the website");
    await page.getByLabel("Read-only").check();
    await button(page, "Create key").click();
    await page.getByLabel("Secret of the website").waitFor();
    await seen("a secret");
    await link(page, "the website").click();
    await page.getByRole("heading", { name: "the website" }).waitFor();
    await seen("a key");
    await page.getByRole("link", { name: "Requests in the last 30 days" }).click();
    await page.getByRole("heading", { name: "Usage of the website" }).waitFor();
    await seen("the use of a key");
    await section("People");
    await page.getByLabel("Name").fill("Vera");
    await button(page, "Invite").click();
    const invitation = await page.getByLabel("Link", { exact: true }).inputValue();
    await seen("a link");
    await section("Health");
    await button(page, "Make a backup").click();
    await page.getByText("The backup was made.").waitFor();
    await seen("Health with a backup");
    await page.goto(`${server.console}/nothing`);
    await seen("nothing here");
    await page.goto(invitation);
    await seen("an invitation");
    await page.goto(`${server.console}/join/${"A".repeat(43)}`);
    await seen("a wrong link");
    await page.context().clearCookies();
    await page.goto(`${server.console}/animals`);
    await seen("signed out");
    expect(complaints).toEqual([]);
  }, 240_000);

  test("is legible where a file of a kind that nobody knows is mapped", async () => {
    await using opened = await joined("Mia", "staff", screens.phone);
    const { page, complaints } = opened;
    await link(page, "Import").click();
    const text = "Rufname;Tierart;Stand;Nr\nMilo;Hund;blau;A1\nMilo II;Katze;rot;A2\n";
    const file = { name: "milo.csv", mimeType: "text/csv", buffer: Buffer.from(text) };
    await page.getByLabel("File", { exact: true }).setInputFiles(file);
    await button(page, "Import").click();
    await page.getByRole("heading", { name: "This kind of file is not known yet" }).waitFor();
    await page.getByRole("cell", { name: "Milo II" }).waitFor();
    const columns = { Name: "Rufname", Category: "Tierart", Status: "Stand" };
    for (const [label, column] of Object.entries(columns)) {
      await page.getByLabel(label, { exact: true }).selectOption(column);
    }
    expect(await axeFindings(page)).toEqual([]);
    await button(page, "Show what would change").click();
    await page.getByText("What the words for the status mean").waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByLabel("blau", { exact: true }).selectOption({ label: "available" });
    await page.getByLabel("rot", { exact: true }).selectOption({ label: "adopted" });
    await button(page, "Show what would change").first().click();
    await page.getByRole("cell", { name: "adopted" }).waitFor();
    expect(complaints).toEqual([]);
  }, 120_000);

  test("is smaller than 150 KiB with all that it loads", async () => {
    const petra = await new Visitor(server.console).join(
      await invite(folder.path, "Petra", "staff"),
    );
    const text = await (await petra.get("/animals")).text();
    const assets = [...text.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(
      ([, path]) => path ?? "",
    );
    expect(assets).toHaveLength(3);
    const loaded = await Promise.all(assets.map(async (path) => (await petra.get(path)).text()));
    const bytes = [text, ...loaded].reduce((sum, each) => sum + Buffer.byteLength(each), 0);
    expect(bytes).toBeLessThan(150 * 1024);
  });

  test("runs no script that somebody typed as a name", async () => {
    await using opened = await joined("<script>alert(1)</script>", "staff", screens.light);
    const { page, complaints } = opened;
    const name = `"><img src=x onerror=alert(2)><script>alert(3)</script>`;
    page.on("dialog", () => expect("a dialog").toBe("none"));
    await page.getByLabel("Name").fill(name);
    await page.getByLabel("Category").fill("<b>Dog</b>");
    await button(page, "Add animal").click();
    await link(page, name).click();
    await page.getByRole("heading", { name, level: 1 }).waitFor();
    expect(await page.locator("main img, main script").count()).toBe(0);
    await button(page, "Remove").click();
    await button(page, "Undo").waitFor();
    expect(complaints).toEqual([]);
  });

  test("prints a list without what would cover it", async () => {
    await using opened = await joined("Pru", "operator", screens.light);
    const { page } = opened;
    // A sheet of A4.
    await page.setViewportSize({ width: 794, height: 1123 });
    await page.emulateMedia({ media: "print" });
    await link(page, "adopted").waitFor();
    expect(await link(page, "Import").isVisible()).toBe(false);
    expect(await button(page, "Add animal").isVisible()).toBe(false);

    // A4 and Letter, upright and across: a row is one line, also below a name that is long.
    for (const name of ["Bo", "Donaudampfschifffahrtskapitaensgattin".repeat(4)]) {
      await page.request.post(`${server.console}/animals`, {
        headers: { origin: server.console },
        form: { name, category: "Guinea pig", status: "pending" },
      });
    }
    await page.goto(`${server.console}/print?q=o`);
    const row = page.getByRole("row").filter({ has: page.getByRole("cell", { name: "Bo" }) });
    for (const [width, height] of [
      [794, 1123],
      [1123, 794],
      [816, 1056],
      [1056, 816],
    ] as const) {
      await page.setViewportSize({ width, height });
      const box = await row.first().boundingBox();
      expect(box?.height).toBeLessThan(60);
      expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(width);
    }
  });

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
    await page.goto(`${server.console}/animals?q=Nobody`);
    await page.getByLabel("Search").press("Escape");
    expect(await page.locator(":focus").count()).toBe(0);
    expect(await page.getByLabel("Search").inputValue()).toBe("Nobody");
    for (const path of ["/animals", "/help"]) {
      await page.goto(`${server.console}${path}`);
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
      await page.goto(`${server.console}/animals`);
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
    using own = temporaryFolder();
    const list = join(own.path, "dogs.csv");
    const rows = Array.from({ length: 20 }, (_, at) => `,Rex ${at},Dog,available\n`);
    writeFileSync(list, `id,name,category,status\n${rows.join("")}`);
    await command(["pets", "import", list, "--accept-guess", "--data", own.path]);
    await using _server = await serveConsole(own.path);
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
    await page.goto(`${server.console}/keys`);
    await page.getByLabel("Name").fill("Far down");
    await button(page, "Create key").click();
    await page.getByText("Copy it now").waitFor();
    await page.goto(`${server.console}/keys`);
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
      await page.goto(`${server.console}/animals/1`);
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
    await page.goto(`${server.console}/animals/1`);
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
    using own = temporaryFolder();
    const list = join(own.path, "dogs.csv");
    const dogs = Array.from({ length: 30 }, (_, at) => `Rex ${at},Dog,sold,D-${at}\n`);
    writeFileSync(list, `Name,Species,State,Code\n${dogs.join("")}`);
    const map = "name=Name,categoryId=Species,status=State,externalId=Code";
    const options = ["--create-categories", "--map", map];
    await command(["pets", "import", list, ...options, "--data", own.path]);
    await using many = await serveConsole(own.path);
    await using opened = await joined("Bea", "staff", screens.phone, own.path);
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

test("the pictures of the console are in docs/images", () => {
  const files = Object.keys(shots).map((name) => join(images, `console-${name}.png`));
  expect(files.filter((file) => !existsSync(file))).toEqual([]);
});

if (updatesImages) {
  describe("the pictures of the console", () => {
    const data = temporaryFolder();
    let own: RunningConsole;

    beforeAll(async () => {
      const list = join(folder.path, "shelter.csv");
      writeFileSync(list, shelter);
      const map = "name=Name,categoryId=Species,status=State,externalId=Code";
      const options = ["--create-categories", "--map", map, "--source", "shelter"];
      await command(["pets", "import", list, ...options, "--data", data.path]);
      own = await serveConsole(data.path);
    });
    afterAll(async () => {
      await own.stop();
      data[Symbol.dispose]();
    });

    test.each(Object.entries(shots))("docs/images/console-%s.png", async (name, shot) => {
      await using opened = await joined(shot.person, "operator", shot.screen, data.path);
      const { page } = opened;
      await page.goto(`${own.console}${shot.path}`);
      if (name === "animal") {
        await page.getByLabel("Status").selectOption({ label: "pending" });
        await button(page, "Save").click();
        await button(page, "Undo").waitFor();
      }
      if (name === "import") await preview(page);
      await page.evaluate("scrollTo({ top: 0, behavior: 'instant' })");
      await page.screenshot({ path: join(images, `console-${name}.png`) });
    });

    /** Shows what tomorrow's list of the same shelter would change. */
    async function preview(page: Page): Promise<void> {
      const list = join(folder.path, "tomorrow.csv");
      const more = "Milo,Dog,available,D-16\nPip,,available,R-03\n";
      writeFileSync(list, shelter.replace("Thor,Dog,available", "Thor,Dog,sold") + more);
      await page.getByLabel("File", { exact: true }).setInputFiles(list);
      await button(page, "Import").click();
      await page.getByRole("heading", { name: "What tomorrow.csv would change" }).waitFor();
      await page.getByLabel("Source of this list").fill("shelter");
      await button(page, "Show what would change").click();
      await page.getByText("1 row (line 12)").waitFor();
    }
  });
}
