/** What the console shows in a browser, on the compiled executable, to the people of a shelter. */
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../test/helpers/binary.ts";
import { screens } from "../../test/helpers/browser.ts";
import { invite, serveConsole } from "../../test/helpers/console.ts";
import { button, consoleInBrowser, link } from "../../test/helpers/console-in-browser.ts";
import { axeFindings, dimText } from "../../test/helpers/docs-page.ts";
import { countWord, languages } from "../../src/features/console/words/index.ts";

const shown = consoleInBrowser();
const { joined, path: folder } = shown;

/** Every page that needs no id. */
const pages =
  "animals animals?list=all animals/new animals/1 categories import keys keys/new health people changes sign-out"
    .split(" ")
    .map((name) => `/${name}`);

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
    await using opened = await shown.browser.open(invitation, options);
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
      const file = join(folder, name);
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
);

test.each(["light", "dark", "phone"] as const)(
  "the console is legible and asks nobody else, on each page: %s",
  async (name) => {
    await using opened = await joined(`Olga ${name}`, "operator", screens[name]);
    const { page, complaints } = opened;
    for (const path of pages) {
      await page.goto(`${shown.console}${path}`);
      // In the dark only colours differ.
      const findings = name === "dark" ? dimText(page) : axeFindings(page);
      expect([path, await findings]).toEqual([path, []]);
    }
    expect(complaints).toEqual([]);
  },
);

test("the console is legible in what comes of a person's work too", async () => {
  await using opened = await joined("Olga at work", "operator", screens.phone);
  const { page, complaints } = opened;
  const seen = async (what: string) => {
    await page.getByText(what).first().waitFor();
    // What has just been scrolled below the bar is not hidden for good.
    await page.evaluate("scrollTo({ top: 0, behavior: 'instant' })");
    expect([what, await axeFindings(page)]).toEqual([what, []]);
  };
  const at = (path: string) => page.goto(`${shown.console}${path}`);
  await at("/animals/new");
  await page.getByLabel("Name").fill("Rex");
  await button(page, "Add animal").click();
  await seen("Type a category, such as Dog.");
  await page.getByLabel("Category").fill("Dog");
  await button(page, "Add animal").click();
  await seen("exists already");
  await button(page, "Add anyway").click();
  await seen("Undo");
  await at("/animals");
  await page.getByLabel("Select Rex").first().check();
  await seen("With those ticked:");
  await at("/categories/1");
  await seen("Save");
  await at("/keys/new");
  await page.getByLabel("Name").fill("the website");
  await button(page, "Create key").click();
  await seen("Secret of the website");
  await link(page, "the website").click();
  await seen("Revoke for good");
  await at("/people");
  await page.getByLabel("Name").fill("Vera");
  await button(page, "Invite").click();
  await seen("A link for Vera");
  const invitation = await page.getByLabel("Link", { exact: true }).inputValue();
  await button(page, "Copy").click();
  await seen("Copied");
  await link(page, "People").click();
  await link(page, "Remove: Vera").click();
  await seen("Remove Vera?");
  await at("/nothing");
  await seen("There is nothing here");
  // A file of a kind that nobody knows.
  await at("/import");
  const text = "Rufname;Tierart;Stand;Nr\nMilo;Hund;blau;A1\nMilo II;Katze;rot;A2\n";
  const file = { name: "milo.csv", mimeType: "text/csv", buffer: Buffer.from(text) };
  const press = page.locator("main").getByRole("button", { name: "Import" });
  await press.click();
  await seen("Choose a file first.");
  await page.getByLabel("File", { exact: true }).setInputFiles(file);
  await press.click();
  await button(page, "Choose the columns").click();
  await page.getByRole("cell", { name: "Milo II" }).waitFor();
  const columns = { Name: "Rufname", Category: "Tierart", Status: "Stand" };
  for (const [label, column] of Object.entries(columns)) {
    await page.getByLabel(label, { exact: true }).selectOption(column);
  }
  await seen("What do the columns hold?");
  await button(page, "Show what would change").click();
  await seen("What do these words in Stand mean?");
  await page.goto(invitation);
  await seen("Welcome, Vera");
  await page.context().clearCookies();
  await at("/animals");
  await seen("You are signed out");
  expect(complaints).toEqual([]);
});
