/** What the console shows in a browser, on the compiled executable, to the people of a shelter. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { temporaryFolder } from "../../test/helpers/binary.ts";
import { command } from "../../test/helpers/command.ts";
import { dimText, openPage, screens, startBrowser } from "../../test/helpers/browser.ts";
import { invite, serveConsole, Visitor, type RunningConsole } from "../../test/helpers/console.ts";
import {
  button,
  consoleInBrowser,
  consoleOfList,
  link,
} from "../../test/helpers/console-in-browser.ts";
import { axeFindings } from "../../test/helpers/docs-page.ts";
import { countWord, languages } from "../../src/features/console/words/index.ts";

const shown = consoleInBrowser();
const { folder, joined } = shown;
/** Written anew with UPDATE_IMAGES=1. */
const images = join(import.meta.dir, "../../docs/images");
const updatesImages = Bun.env["UPDATE_IMAGES"] === "1";

/** Every page that needs no id. */
const pages =
  "animals animals?list=all animals/new animals/1 categories import keys keys/new health people changes sign-out"
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

/** Of each two of these each pair: a fault of one language on one screen shows in one of them. */
const stories = [
  { javaScriptEnabled: false, language: "en", screen: "phone" },
  { javaScriptEnabled: true, language: "en", screen: "light" },
  { javaScriptEnabled: true, language: "es", screen: "phone" },
  { javaScriptEnabled: false, language: "es", screen: "light" },
] as const;

test.each(stories)(
  "a fortnight at the desk in $language on the screen $screen, with a script: $javaScriptEnabled",
  async ({ javaScriptEnabled, language, screen }) => {
    const { words } = languages[language];
    using place = temporaryFolder();
    await using own = await serveConsole(place.path);
    const invitation = await invite(place.path, "Ana of the day", "staff");
    const options = { locale: language, ...screens[screen], javaScriptEnabled };
    await using opened = await openPage(shown.browser, invitation, options);
    const { page, complaints } = opened;
    const { buttons, sections, fields, status, history } = words;
    const go = async (name: string) => {
      await link(page, name).click();
      await page.getByRole("heading", { name, level: 1 }).waitFor();
    };
    await button(page, buttons.join).click();
    await go(sections.animals);

    // Monday: somebody new, with a slip of the finger, who is adopted before noon.
    await link(page, buttons.addAnimal).click();
    await page.getByLabel(fields.name).fill("Lunax");
    await page.getByLabel(fields.category).fill("Dog");
    await button(page, buttons.addAnimal).click();
    await page.getByText(`${history.actions.add}: Lunax.`).waitFor();
    await go(sections.animals);
    await link(page, "Lunax").click();
    await page.getByLabel(fields.name).fill("Luna");
    await button(page, buttons.save).click();
    await page.getByRole("heading", { name: "Luna", level: 1 }).waitFor();
    await go(sections.animals);
    await button(page, `${status.sold}: Luna`).click();
    await page.getByRole("button", { name: `${status.sold}: Luna`, pressed: true }).waitFor();

    // Tuesday: removed by mistake, and back.
    await link(page, "Luna").click();
    await button(page, buttons.remove).click();
    await page.getByText(`${history.actions.remove}: Luna.`).waitFor();
    await button(page, buttons.undo).click();
    await link(page, "Luna").waitFor();

    // Wednesday, and a week later: the list of the shelter.
    const load = async (name: string, rows: string) => {
      const file = join(folder.path, name);
      writeFileSync(file, `Name,Species,Status,Ref\n${rows}`);
      await go(sections.import).catch(() => page.goto(`${own.console}/import`));
      await page.getByLabel(words.import.file, { exact: true }).setInputFiles(file);
      await button(page, buttons.import).click();
      await page.getByRole("heading", { name: words.import.previewTitle(name) }).waitFor();
    };
    await load("one.csv", "Rex,Dog,Available,1\nMia,Cat,Snoozing,2\n");
    await page.getByLabel("Snoozing (1)").selectOption({ label: status.pending });
    await page.getByLabel(fields.source).fill("shelter");
    await page.getByLabel(fields.complete).check();
    await button(page, words.import.look).click();
    await page.getByRole("heading", { name: `2 ${countWord(language, "new", 2)}` }).waitFor();
    await button(page, buttons.import).click();
    await page.getByText(`2 ${countWord(language, "added", 2)}.`).waitFor();
    await button(page, words.import.cancel).click();
    await load("two.csv", "Rex,Dog,Adopted,1\nMia,Cat,Snoozing,2\n");
    await page.getByRole("cell", { name: `${status.available} → ${status.sold}` }).waitFor();
    await button(page, buttons.import).click();
    await link(page, words.import.see).click();
    await page.getByRole("button", { name: `${status.sold}: Rex`, pressed: true }).waitFor();

    // Friday: two are moved to another category, and looked up under what was done.
    for (const name of ["Rex", "Luna"]) await page.getByLabel(words.animals.choose(name)).check();
    await page.getByLabel(words.animals.toCategory).selectOption({ label: "Cat" });
    await button(page, buttons.move).click();
    await page.locator("#notices").getByText("Luna").waitFor();
    await link(page, words.changes.title).click();
    await page.getByRole("heading", { name: words.changes.title, level: 1 }).waitFor();
    await link(page, words.layout.signOut).click();
    await page.locator("main").getByRole("button", { name: words.layout.signOut }).click();
    await page.getByRole("heading", { name: words.signedOut.title }).waitFor();
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
        await page.goto(`${shown.server.console}${path}`);
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
    for (const path of pages) {
      await page.goto(`${shown.server.console}${path}`);
      expect([path, await overflowOf(page)]).toEqual([path, 0]);
    }
    await page.goto(`${shown.server.console}/animals`);
    const cut = `[...document.querySelectorAll(".segments")]
      .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth).length`;
    expect(await page.evaluate<number>(cut)).toBe(0);
    // The smallest phone, with letters of the usual size.
    await page.setViewportSize({ width: 640, height: 1136 });
    expect(await page.evaluate<number>(cut)).toBe(0);
  });

  test("hides nothing that has the focus below its sections", async () => {
    const rows = Array.from({ length: 9 }, (_, at) => `,Rex ${at},Dog,available\n`);
    const list = `id,name,category,status\n${rows.join("")}`;
    await using own = await consoleOfList(list, "--accept-guess");
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
    const key = ["keys", "create", "--plan", "free", "--name", long, "--json"];
    const { id } = JSON.parse((await command([...key, ...data])).stdout) as { id: string };
    await using wide = await serveConsole(own.path);
    await using opened = await joined(long, "operator", screens.phone, own.path);
    const { page } = opened;
    for (const path of [...pages, "/animals/1", "/categories/1", "/categories/2", `/keys/${id}`]) {
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
    await link(page, "Add animal").click();
    await page.getByLabel("Name").fill("Rex");
    await button(page, "Add animal").click();
    await page.getByText("Type a category, such as Dog.").waitFor();
    await seen("an error beside its field");
    await page.getByLabel("Category").fill("Dog");
    await button(page, "Add animal").click();
    await button(page, "Add anyway").waitFor();
    await seen("one that exists already");
    await button(page, "Add anyway").click();
    await button(page, "Undo").waitFor();
    await seen("a change with Undo");
    await link(page, "Animals").click();
    await page.getByLabel("Select Rex").first().check();
    await seen("several chosen");
    await page.goto(`${shown.server.console}/categories/1`);
    await seen("a category");
    const section = async (name: string) => {
      await link(page, name).click();
      await page.getByRole("heading", { name, level: 1 }).waitFor();
    };
    await section("Keys");
    await link(page, "Create key").click();
    await page.getByLabel("Name").fill("the website");
    await page.getByLabel("Read-only").check();
    await button(page, "Create key").click();
    await page.getByLabel("Secret of the website").waitFor();
    await seen("a secret");
    await link(page, "the website").click();
    await page.getByRole("heading", { name: "the website" }).waitFor();
    await seen("a key");
    await section("People");
    await page.getByLabel("Name").fill("Vera");
    await button(page, "Invite").click();
    const invitation = await page.getByLabel("Link", { exact: true }).inputValue();
    await seen("a link");
    await link(page, "People").click();
    await link(page, "Remove: Vera").click();
    await page.getByRole("heading", { name: "Remove Vera?" }).waitFor();
    await seen("a removal");
    await section("Health");
    await seen("Health");
    await page.goto(`${shown.server.console}/nothing`);
    await seen("nothing here");
    await page.goto(invitation);
    await seen("an invitation");
    await page.goto(`${shown.server.console}/join/${"A".repeat(43)}`);
    await seen("a wrong link");
    await page.context().clearCookies();
    await page.goto(`${shown.server.console}/animals`);
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
    await button(page, "Choose the columns").click();
    await page.getByRole("heading", { name: "What do the columns hold?" }).waitFor();
    await page.getByRole("cell", { name: "Milo II" }).waitFor();
    const columns = { Name: "Rufname", Category: "Tierart", Status: "Stand" };
    for (const [label, column] of Object.entries(columns)) {
      await page.getByLabel(label, { exact: true }).selectOption(column);
    }
    expect(await axeFindings(page)).toEqual([]);
    await button(page, "Show what would change").click();
    await page.getByText("What do these words in Stand mean?").waitFor();
    expect(await axeFindings(page)).toEqual([]);
    expect(complaints).toEqual([]);
  }, 120_000);

  test("has pages of less than 60 kB, and less than 100 kB with all that they load", async () => {
    const petra = await new Visitor(shown.server.console).join(
      await invite(folder.path, "Petra", "staff"),
    );
    const text = await (await petra.get("/animals")).text();
    const assets = [...text.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(
      ([, path]) => path ?? "",
    );
    expect(assets).toHaveLength(3);
    const loaded = await Promise.all(assets.map(async (path) => (await petra.get(path)).text()));
    const bytes = [text, ...loaded].reduce((sum, each) => sum + Buffer.byteLength(each), 0);
    expect(bytes).toBeLessThan(100_000);
    const ola = await new Visitor(shown.server.console).join(
      await invite(folder.path, "Ola", "operator"),
    );
    for (const path of pages) {
      expect([path, (await (await ola.get(path)).bytes()).length < 60_000]).toEqual([path, true]);
    }
  });

  test("runs no script that somebody typed as a name", async () => {
    await using opened = await joined("<script>alert(1)</script>", "staff", screens.light);
    const { page, complaints } = opened;
    const name = `"><img src=x onerror=alert(2)><script>alert(3)</script>`;
    page.on("dialog", () => expect("a dialog").toBe("none"));
    await link(page, "Add animal").click();
    await page.getByLabel("Name").fill(name);
    await page.getByLabel("Category").fill("<b>Dog</b>");
    await button(page, "Add animal").click();
    await link(page, "Animals").click();
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
    await link(page, "Rex").first().waitFor();
    expect(await link(page, "Import").isVisible()).toBe(false);
    expect(await link(page, "Add animal").isVisible()).toBe(false);
    // Of the statuses, those that the animals have.
    const statuses = page.locator(".segments button");
    const seen = await Promise.all((await statuses.all()).map((each) => each.isVisible()));
    expect(seen.filter(Boolean)).toHaveLength(await page.locator(".animals li").count());

    // A4 and Letter, upright and across: a row is one line, also below a name that is long.
    for (const name of ["Bo", "Donaudampfschifffahrtskapitaensgattin".repeat(4)]) {
      await page.request.post(`${shown.server.console}/animals/new`, {
        headers: { origin: shown.server.console },
        form: { name, category: "Guinea pig", status: "pending" },
      });
    }
    await page.goto(`${shown.server.console}/animals?list=all&q=o`);
    const row = page.getByRole("listitem").filter({ has: link(page, "Bo") });
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
      await page.getByLabel("Name of this list").fill("shelter");
      await button(page, "Show what would change").click();
      await page.getByText("1 row (line 12)").waitFor();
    }
  });
}
