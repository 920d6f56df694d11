/** Lists that a shelter brings, on the console without a script: what it asks, says and does. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { sent, type Visitor } from "../../helpers/console.ts";
import { consoleHere, type ConsoleHere } from "../../helpers/console-here.ts";
import { open, type Shown } from "../../helpers/plain-browser.ts";

let here: ConsoleHere;
let visitors = 0;
const everything = { text: "", categoryId: undefined, status: undefined, before: undefined };

beforeAll(async () => {
  here = await consoleHere();
});
afterAll(() => here[Symbol.asyncDispose]());

const come = (role?: "staff" | "operator") => here.joined(`Visitor ${(visitors += 1)}`, role);

/** The page of Import after somebody has chosen a file and pressed its button. */
async function bring(name: string, text: string, by?: Visitor): Promise<Shown> {
  const visitor = by ?? (await come());
  await (await open(visitor, "/import")).press("Choose another file").catch(() => undefined);
  await sent(visitor, name, text);
  return open(visitor, "/import");
}

/** Presses a button, and waits until what it begins is done. */
async function press(page: Shown, button: string): Promise<Shown> {
  let shown = await page.press(button);
  while (shown.text.includes("data-poll")) {
    await Bun.sleep(20);
    shown = await open(page.visitor, "/import");
  }
  return shown;
}
const look = (page: Shown) => press(page, "Show what would change");
const names = async (text: string) =>
  (await here.animals.find({ ...everything, text, limit: 99 })).animals.map(({ name, status }) =>
    [name, status].join(" "),
  );

describe("a list of every week", () => {
  const head = "Name,Type,Status,Ref\n";
  const week = (...rows: string[]) => `${head}${rows.join("\n")}\n`;
  const first = week(
    "Nala,Cat,Available,R-1",
    "Luna,Cat,Reserved,R-2",
    "Bruno,Cat,Available,R-3",
    "Mogli,Cat,Snoozing,R-4",
    "Bagheera,Cat,Adopted,R-5",
  );

  test("is asked about once, and then is three taps: the file, its button, and Import", async () => {
    const ana = await come();
    const asked = await bring("week1.csv", first, ana);
    expect(asked.words).toContain("What do these words in Status mean?");
    const named = asked.type({ "word-Snoozing": "pending", source: "weekly", complete: true });
    const shown = await look(named);
    expect(shown.words).toContain("5 new");
    expect([shown.value("source"), shown.value("complete")]).toEqual(["weekly", true]);
    const done = await press(shown, "Import");
    expect(done.words).toMatch(/5 added\. +See the animals/);
    expect((await done.follow("See the animals")).words).toContain("Mogli");

    // Somebody adopts Bruno at the desk.
    const list = await open(ana, "/animals?q=Bruno");
    await list.press("adopted: Bruno");
    const next = first
      .replace("Luna,Cat,Reserved", "Luna,Cat,Adopted")
      .replace("Nala", "Nala II")
      .replace(/Bagheera.*\n/, "");
    const page = await bring("week2.csv", next, ana);
    expect(page.words).toContain("Read as the last list with these columns");
    expect(page.words).toContain("Luna pending → adopted");
    expect(page.words).toContain("Name: Nala → Nala II");
    expect(page.words).toContain("Bagheera withdrawn");
    expect(page.words).not.toContain("What do these words");
    const again = await press(page, "Import");
    expect(again.words).toMatch(/1 adopted, 1 changed, 1 withdrawn/);
    expect(await names("Bruno")).toEqual(["Bruno sold"]);
    expect((await press(again, "Undo")).has("Import")).toBe(true);
  });

  test("is imported when all of its animals are adopted", async () => {
    const named = (await bring("one.csv", week("Uno,Cat,Available,U-1"))).type({ source: "one" });
    await press(await look(named), "Import");
    const page = await bring("one.csv", week("Uno,Cat,Adopted,U-1"));
    expect(page.words).toContain("Uno available → adopted");
    expect((await press(page, "Import")).words).toContain("1 adopted");
  });

  test("names who is kept as people changed them, and takes the list's word in one tap", async () => {
    const ana = await come();
    const shown = await look(
      (
        await bring("kept.csv", week("Kept,Cat,Available,K-1", "Other,Cat,Available,K-2"), ana)
      ).type({
        source: "kept",
      }),
    );
    await press(shown, "Import");
    await (await open(ana, "/animals?q=Kept")).press("adopted: Kept");
    // The list says something new of him, nearer to adoption than the desk.
    const page = await bring(
      "kept.csv",
      week("Kept,Cat,Reserved,K-1", "Other,Cat,Available,K-2"),
      ana,
    );
    expect(page.words).toContain("1 kept as people changed them");
    expect(page.words).toMatch(/Kept adopted; the list says pending \(changed by Visitor \d+\)/);
    expect((await press(page, "Import")).words).toContain("1 kept");
    expect(await names("Kept")).toEqual(["Kept sold"]);
    const { words: changes } = await open(ana, "/changes");
    expect(changes).toMatch(/Kept \(changed by Visitor \d+\) kept as people changed them\./);
    const animal = await (await open(ana, "/animals?q=Kept")).follow("Kept");
    expect(animal.words).toContain("The list says: pending");
    await animal.press("Use that status");
    expect(await names("Kept")).toEqual(["Kept pending"]);
  });

  test("that lacks more than half withdraws nobody before a box is ticked", async () => {
    const rows = ["A,Cat,Available,H-1", "B,Cat,Available,H-2", "C,Cat,Available,H-3"];
    const whole = (await bring("half.csv", week(...rows))).type({
      source: "half",
      complete: true,
    });
    await press(await look(whole), "Import");
    const page = await bring("half.csv", week(rows[0] ?? ""));
    expect(page.words).toContain("More than half is missing: 2 animals of half");
    expect(page.value("mostMissing")).toBe(false);
    const refused = await press(page, "Import");
    expect([refused.status, refused.words.includes("Tick the box first.")]).toEqual([400, true]);
    const done = await press(refused.type({ mostMissing: true }), "Import");
    expect(done.words).toContain("2 withdrawn");
    // Nobody ticked it for the next week.
    expect((await bring("half.csv", week(...rows))).words).not.toContain("More than half");
  });
});

test("what is chosen in another language and on a preview is still there", async () => {
  const page = await bring(
    "since.csv",
    "name,category,status\nSince,Dog,snoozing\nAwake,Dog,sold\n",
  );
  const typed = page.type({
    "word-snoozing": "pending",
    source: "since",
    complete: true,
    skipBad: true,
  });
  const spanish = await press(typed, "Español");
  for (const [name, value] of [
    ["word-snoozing", "pending"],
    ["source", "since"],
    ["complete", true],
    ["skipBad", true],
  ] as const) {
    expect([name, spanish.value(name)]).toEqual([name, value]);
  }
  const shown = await look(await press(spanish, "English"));
  expect([shown.value("source"), shown.value("complete")]).toEqual(["since", true]);
  expect(shown.words).toContain("Since Dog pending");
});

test("what is chosen since the preview is shown before it is imported", async () => {
  const page = await bring("later.csv", "name,category,status\nLater,Dog,available\n");
  const asked = await press(page.type({ source: "later" }), "Import");
  expect([asked.status, asked.words.includes("Nothing is imported yet.")]).toEqual([400, true]);
  expect(await names("Later")).toEqual([]);
  expect((await press(asked, "Import")).words).toContain("1 added");
});

test("what is chosen on a page of another tab imports nothing", async () => {
  const first = await bring("one.csv", "name,category,status\nTab one,Dog,available\n");
  await bring("two.csv", "name,category,status\nTab two,Dog,available\n", first.visitor);
  expect((await press(first, "Import")).words).toContain("What two.csv would change");
  expect(await names("Tab")).toEqual([]);
});

describe("columns", () => {
  const list = "Rufname;Tierart;Stand\nMilo;Hund;sold\nRex;Hase;\n";
  const columns = { "column-name": "Rufname", "column-categoryId": "Tierart" };

  test("are chosen where nobody knows them, keep what was chosen, and are never half guessed", async () => {
    const page = await press(await bring("list.csv", list), "Choose the columns");
    expect(page.words).toContain("What do the columns hold?");
    const none = { "column-categoryId": "", "column-status": "" };
    const wrong = await look(page.type({ "column-name": "Rufname", ...none }));
    expect([wrong.status, wrong.value("column-name")]).toEqual([400, "Rufname"]);
    const status = await look(wrong.type({ ...columns, "column-status": "" }));
    expect(status.words).toContain("Are these animals for adoption?");
    const unanswered = await look(status);
    expect([unanswered.status, unanswered.words.includes("Choose a status.")]).toEqual([400, true]);
    const shown = await look(unanswered.type({ every: "pending" }));
    expect(shown.words).toContain("Milo Hund pending");
    await press(shown, "Import");

    // The next list is read the same way, and its columns can be corrected.
    const again = await bring("list2.csv", list.replace("Milo", "Mila"));
    const corrected = await press(again, "Choose the columns");
    expect(corrected.value("column-name")).toBe("Rufname");
    const other = await look(corrected.type({ ...columns, "column-status": "Stand" }));
    expect(other.words).toContain("Mila Hund adopted");
    // What was remembered is forgotten.
    const third = await bring("list3.csv", list);
    expect(third.words).toContain("Read as the last list");
    const forgotten = await press(third, "Forget how this list was read");
    expect(forgotten.words).not.toContain("Read as the last list");
  });

  test("are not asked where the kind of all is all that is missing", async () => {
    const page = await bring("list.csv", "id,name,status\n1,Solo,available\n");
    expect(page.words).toContain("What kind of animals are these?");
    expect((await look(page)).status).toBe(400);
    expect((await look(page.type({ kind: "Cat" }))).words).toContain("Solo Cat available");
    // A file that is named after a kind says it.
    const named = await bring("our dogs.csv", "id,name,status\n1,Sola,available\n");
    expect(named.words).toContain("Sola dogs available");
  });

  test("that take most of the available are asked about", async () => {
    const rows = ["A", "B", "C", "D"].map((name) => `${name},Dog,Available,Yes`).join("\n");
    const page = await bring(
      "taker.csv",
      `Name,Species,Status,Adopted\n${rows}\nE,Dog,Available,No\n`,
    );
    expect(page.words).toContain("What does the column Adopted mean?");
    expect((await look(page.type({ "taker-Adopted": "yes" }))).words).toContain("A Dog adopted");
  });
});

test("one of several sheets or lists is chosen", async () => {
  const lists = { strays: [{ name: "Wuff", species: "Dog", status: "available" }] };
  const cats = [{ name: "Miau", species: "Cat", status: "available" }];
  const page = await bring("two.json", JSON.stringify({ ...lists, other: { cats } }));
  expect((await look(page.type({ part: "other.cats" }))).words).toContain("Miau Cat");
});

test("animals that may be here already are asked about, and none is added twice", async () => {
  const ana = await come();
  const form = (await open(ana, "/animals/new")).type({ name: "Doubled", category: "Cat" });
  await form.press("Add animal");
  const page = await bring("double.csv", "name,category,status\nDoubled,Cat,pending\n", ana);
  expect(page.words).toContain("Are these here already?");
  expect(page.value("same", "2")).toBe(true);
  const others = await press(page, "None is the same");
  expect(others.value("same", "2")).toBe(false);
  expect((await press(others.tick("same", "2"), "Import")).status).toBe(400);
  await press(await open(ana, "/import"), "Import");
  expect(await names("Doubled")).toEqual(["Doubled pending"]);
});

describe("a new category one slip away from one that is here", () => {
  const rows = (kind: string, name: string) => `name,category,status\n${name},${kind},available\n`;
  const kinds = async () => (await here.animals.categories()).map(({ name }) => name);

  test.each([
    ["same", "Ferret", "Ferrte"],
    ["new", "Weasel", "Wesel"],
  ])("is asked about once, before anything is imported: %s", async (answer, kind, slip) => {
    await press(await bring("right.csv", rows(kind, `${kind} one`)), "Import");
    const page = await bring("slip.csv", rows(slip, `${slip} two`));
    expect(page.words).toContain(`Is ${slip} a new category?`);
    const refused = await press(page, "Import");
    expect(refused.status).toBe(400);
    expect(refused.words).toContain("Choose the category first.");
    const shown = await look(refused.type({ [`kind-${slip}`]: answer }));
    expect(shown.value(`kind-${slip}`)).toBe(answer);
    const done = await press(shown, "Import");
    expect(done.words).toContain("1 added");
    expect((await kinds()).includes(slip)).toBe(answer === "new");
    const [animal] = (await here.animals.find({ ...everything, text: slip, limit: 1 })).animals;
    const [own] = (await here.animals.categories()).filter(({ id }) => id === animal?.categoryId);
    expect(own?.name).toBe(answer === "same" ? kind : slip);
    // Nobody named its list.
    expect((await open(page.visitor, `/animals/${animal?.id}`)).text).not.toContain(
      "<dt>List</dt>",
    );
    // The next list is three taps again.
    const next = await bring("next.csv", rows(slip, `${slip} three`));
    expect(next.words).not.toContain(`Is ${slip} a new category?`);
    expect((await press(next, "Import")).words).toContain("1 added");
    // What was answered goes with the import that it was answered for.
    await done.press("Undo");
    const again = await bring("again.csv", rows(slip, `${slip} four`));
    expect(again.words.includes(`Is ${slip} a new category?`)).toBe(answer === "same");
  });
});

test("an empty file is called empty, and no file is asked for", async () => {
  const ana = await come();
  expect(await sent(ana, "nothing.csv", "")).toContain("nothing.csv: The file is empty.");
  const form = new FormData();
  form.set("file", new File([], ""));
  const answer = await ana.post("/import", form);
  expect(answer.status).toBe(400);
  expect(await answer.text()).toContain("Choose a file first.");
  const plain = await ana.post("/import", { file: "nothing.csv" });
  expect(plain.status).toBe(415);
  expect(await plain.text()).toContain("The form has no file.");
});

test("rows with errors are named, and left out when somebody says so", async () => {
  const page = await bring("errors.csv", "name,categoryId,status\nGood,7,sold\nBad,one,sold\n");
  expect(page.words).toContain("Rows that cannot be imported");
  const refused = await press(page, "Import");
  expect([refused.status, refused.words.includes("Some rows have errors.")]).toEqual([400, true]);
  expect((await press(refused.type({ skipBad: true }), "Import")).words).toContain("1 added");
});

test("a file that is gone is said, and nothing is imported", async () => {
  const ana = await come();
  const page = await bring("gone.csv", "name,category,status\nGhost,Dog,available\n", ana);
  // As after a restart of the service.
  await (await open(ana, "/import")).press("Choose another file");
  const said = await press(page, "Import");
  expect(said.words).toContain("Your file is not here any more");
  expect(await names("Ghost")).toEqual([]);
});

test("the same ids with other names are another list, which gets a name of its own", async () => {
  const rows = (...all: string[]) => `id,name,category,status\n${all.join("\n")}\n`;
  const dogs = rows("D1,Waldi,Dog,available", "D2,Struppi,Dog,available");
  await press(await bring("dogs.csv", dogs), "Import");
  const cats = await bring("cats.csv", rows("D1,Minka,Cat,available", "D2,Felix,Cat,available"));
  expect(cats.words).toContain("seems to be another list");
  expect((await press(cats, "Import")).status).toBe(400);
  const named = await look(cats.type({ source: "cats" }));
  expect((await press(named, "Import")).words).toContain("2 added");
});

describe("a change", () => {
  const add = async (visitor: Visitor, name: string) =>
    (await open(visitor, "/animals/new")).type({ name, category: "Dog" }).press("Add animal");

  test("is undone by who made it or an operator, and on the page of the animal that is gone", async () => {
    const [ana, ben, olga] = [await come(), await come(), await come("operator")];
    await add(ana, "Gone");
    const animal = await (await open(ana, "/animals?q=Gone")).follow("Gone");
    await animal.press("Remove");
    const gone = await open(ana, animal.path);
    expect([gone.status, gone.words.includes("This animal was removed.")]).toEqual([404, true]);
    const [, undo = ""] = /action="(\/changes\/\d+\/undo)"/.exec(gone.text) ?? [];
    for (const [person, mayUndo] of [
      [ana, true],
      [ben, false],
      [olga, true],
    ] as const) {
      for (const path of ["/changes", animal.path]) {
        const page = await open(person, path);
        expect([path, page.text.includes(`action="${undo}"`)]).toEqual([path, mayUndo]);
      }
    }
    const refused = await ben.post(undo);
    expect([refused.status, await refused.text()]).toEqual([
      403,
      expect.stringContaining("Somebody else made this change."),
    ]);
    await gone.press("Undo");
    expect((await open(ana, animal.path)).words).toMatch(/History Undone: brought back .* Removed/);
  });

  test("of several animals asks before it is undone", async () => {
    const ana = await come();
    for (const name of ["Oneful", "Twoful"]) await add(ana, name);
    const list = await open(ana, "/animals?q=ful&list=ticked");
    const changed = await list.press("adopted");
    expect(changed.words).toContain("Oneful, Twoful: now adopted.");
    const asked = await (await open(ana, "/changes")).follow("Undo …");
    expect(asked.words).toContain("2 animals will be as before");
    expect((await asked.press("Undo")).words).toContain("Undone: ");
    for (const id of ["0", "-1", "x", "9223372036854775807"]) {
      expect((await ana.get(`/changes/${id}`)).status).toBe(404);
      expect((await ana.post(`/changes/${id}/undo`)).status).toBe(404);
    }
  });
});
