/** A desk without a script: what is typed or ticked is kept, and nothing is done twice. */
import { updateAnimals } from "../../../src/features/animals/animals.ts";
import { addCategory } from "../../../src/features/animals/categories.ts";
import { makeChange } from "../../../src/features/animals/changes.ts";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { failJob, type Job, jobsOf, scheduleJob } from "../../../src/features/schedule/jobs.ts";
import { follow, updateSource } from "../../../src/features/sources/pull.ts";
import { consoleHere, type ConsoleHere } from "../../helpers/console-here.ts";
import { open, type Shown } from "../../helpers/plain-browser.ts";

let here: ConsoleHere;

beforeAll(async () => {
  here = await consoleHere();
  await added("First");
});
afterAll(() => here[Symbol.asyncDispose]());

let people = 0;
/** A page of somebody new. */
const at = (path: string, role: "staff" | "operator" = "staff") =>
  here.at(`Somebody ${(people += 1)}`, role, path);

async function added(name: string, fields: Readonly<Record<string, string>> = {}): Promise<string> {
  const form = await at("/animals/new");
  const done = await form.type({ name, category: "Dog", ...fields }).press("Add animal");
  expect(done.words).toContain("Added: ");
  return String((await here.animals.find(everything)).animals[0]?.id);
}
const everything = {
  text: "",
  categoryId: undefined,
  status: undefined,
  before: undefined,
  limit: 1,
};

describe("another language", () => {
  /** Pages with a form, what somebody types and ticks there, and a button that sends it. */
  const forms = [
    ["/animals/new", { name: "Ñandú <b>", category: "Ave", status: "pending" }],
    ["/animals", { q: "Rex", into: "" }],
    ["/categories", { name: "Gatos" }],
    ["/keys/new", { name: "web", plan: "pro", readOnly: true, expires: "90d" }],
    ["/people", { name: "Eva", role: "operator" }],
  ] as const;

  test.each(forms)("on %s keeps what is typed and ticked", async (path, fields) => {
    let page = await at(path, "operator");
    for (const language of ["Español", "English", "Español"]) {
      page = await page.type(fields).press(language);
      const isSpanish = page.text.includes(`<html lang="es"`);
      expect([page.status, isSpanish]).toEqual([200, language === "Español"]);
      for (const [name, value] of Object.entries(fields)) {
        expect([path, name, page.value(name)]).toEqual([path, name, value]);
      }
    }
  });

  test("keeps a box that was unticked, and ticks of animals", async () => {
    const id = await added("Ticked");
    const list = await (await at("/animals")).tick("id", id).press("Español");
    expect(list.value("id", id)).toBe(true);
    expect((await list.tick("id", id, false).press("English")).value("id", id)).toBe(false);

    const key = await at("/keys/new", "operator");
    const typed = await key.type({ readOnly: true }).press("Español");
    expect((await typed.type({ readOnly: false }).press("English")).value("readOnly")).toBe(false);
  });

  test("leads to the page of a form whose address is none", async () => {
    const visitor = await here.joined("Odd");
    for (const back of ["/categories/1/merge", "//evil.example"]) {
      const query = new URLSearchParams({ back }).toString();
      const answer = await visitor.post(`/language/es?${query}`, { name: "typed" });
      const page = await open(visitor, answer.headers.get("location") ?? "");
      expect([back, page.text.includes('lang="es"')]).toEqual([back, true]);
    }
  });

  test("is there for somebody who is signed out", async () => {
    const out = await (await (await at("/animals")).follow("Sign out")).press("Sign out");
    expect([out.status, out.words.includes("You are signed out")]).toEqual([401, true]);
    const spanish = await out.press("Español");
    expect(spanish.status).toBe(401);
    expect(spanish.words).toContain("Se ha cerrado tu sesión");
  });
});

describe("a form that is sent again", () => {
  const fields = { name: "Twice", category: "Dog" };
  const count = async (name: string) =>
    (await here.animals.find({ ...everything, text: name, limit: 9 })).animals.length;

  test("with the same fields adds one animal, and with others two", async () => {
    const form = (await at("/animals/new")).type(fields);
    const answers = await Promise.all([form.press("Add animal"), form.press("Add animal")]);
    for (const each of answers) expect(each.words).toContain("Added: Twice.");
    expect(await count("Twice")).toBe(1);
    // The answer was lost, and somebody types the next one over it.
    const next = await form.type({ name: "Thrice" }).press("Add animal");
    expect(next.words).toContain("Added: Thrice.");
    expect([await count("Twice"), await count("Thrice")]).toEqual([1, 1]);
  });

  test("from a new page asks whether the animal that is there is another one", async () => {
    const asked = await (await at("/animals/new")).type(fields).press("Add animal");
    expect([asked.status, asked.value("name")]).toEqual([409, "Twice"]);
    expect(asked.words).toContain("Twice (Dog) exists already");
    expect((await asked.follow("Open it")).words).toContain("Twice");
    const made = await asked.press("Add anyway");
    expect([made.words.includes("Added: Twice."), await count("Twice")]).toEqual([true, 2]);
    await asked.press("Add anyway");
    expect(await count("Twice")).toBe(2);
  });
});

describe("a page that is old", () => {
  test("changes only what its person changed", async () => {
    const id = await added("Old");
    const page = await at(`/animals/${id}`);
    await (await at(`/animals/${id}`)).type({ status: "sold" }).press("Save");
    const saved = await page.type({ name: "Older" }).press("Save");
    expect([saved.value("name"), saved.value("status")]).toEqual(["Older", "sold"]);
  });

  test.each([
    ["pending", "sold", "a tap"],
    ["pending", "sold", "a form"],
  ] as const)("replaces %s by %s, and says whose that was: %s", async (theirs, own, how) => {
    const id = await added(`Replaced by ${how}`);
    const path = how === "a tap" ? `/animals?q=Replaced by ${how}` : `/animals/${id}`;
    const [page, other] = [
      await at(path),
      await here.at(`Ben of ${how}`, "staff", `/animals/${id}`),
    ];
    await other.type({ status: theirs }).press("Save");
    const done = await change(page, `Replaced by ${how}`, own);
    expect(done.words).toContain(`This replaced what Ben of ${how} did`);
    expect(await here.animals.byId(BigInt(id))).toMatchObject({ status: own });
    await done.press("Undo");
    expect(await here.animals.byId(BigInt(id))).toMatchObject({ status: theirs });
  });

  test.each([
    ["sold", "pending", "tap"],
    ["none", "available", "form"],
    ["pending", "available", "tap"],
  ] as const)("asks before it replaces %s by %s with a %s", async (theirs, own, how) => {
    const name = `Asked ${theirs} ${own} ${how}`;
    const id = await added(name, { status: own === "available" ? "pending" : "available" });
    if (theirs === "pending")
      await (await at(`/animals/${id}`)).type({ status: "sold" }).press("Save");
    const page = await at(how === "tap" ? `/animals?q=${name}` : `/animals/${id}`);
    const other = await here.at(`Ben ${name}`, "staff", `/animals/${id}`);
    await other.type({ status: theirs }).press("Save");
    const asked = await change(page, name, own);
    expect(asked.words).toContain(`Ben ${name} has since changed this`);
    const now = async () => (await here.animals.byId(BigInt(id)))?.status ?? "none";
    expect(await now()).toBe(theirs);
    await asked.press(how === "tap" ? `Change it to “${own}”` : "Save");
    expect(await now()).toBe(own);
  });

  /** Gives the animal of a page a status, in the way of the page. */
  const change = (page: Shown, name: string, status: string): Promise<Shown> =>
    page.path.startsWith("/animals?")
      ? page.press(`${status === "sold" ? "adopted" : status}: ${name}`)
      : page.type({ status }).press("Save");
});

test("the list is searched by name, id and the id in a list, counted, and ordered by name", async () => {
  const list = await at("/animals?q=twi+");
  expect(list.words).toMatch(/all 2 available 2 ?pending 0 ?adopted 0/);
  const byName = await (await at("/animals")).follow("By name");
  const names = [...byName.text.matchAll(/href="\/animals\/\d+">([^<]*)</g)].map(
    ([, name]) => name,
  );
  expect(names).toEqual(names.toSorted((a = "", b = "") => a.localeCompare(b)));
});

test("the list moves all that were found to another category in four taps", async () => {
  await (await at("/categories")).type({ name: "Puppies" }).press("Add category");
  for (let each = 0; each < 10; each += 1) await added(`Litter ${each}`);
  const found = await (await at("/animals")).type({ q: "litter" }).enter("q");
  const ticked = await found.follow("Tick all found");
  const puppies = [...ticked.text.matchAll(/value="(\d+)"\s*>\s*Puppies/g)].map(([, id]) => id);
  const moved = await ticked.type({ into: puppies[0] ?? "" }).press("Move");
  const page = (await open(moved.visitor, "/animals?q=litter")).words;
  expect(page.match(/Puppies ·/g)).toHaveLength(10);
  expect((await moved.press("Undo")).words).not.toContain("Puppies ·");
});

test("the list is printed and ticked as a whole, in pages of less than 60 kB that lead on", async () => {
  await here.animals.change("Ana", async (by) => {
    const { id } = await addCategory(by, "Guinea pig");
    const name = (at: number) => `Manchas Wholly ${String(at).padStart(3, "0")}`;
    const pets = Array.from(
      { length: 450 },
      (_, at) => ({ name: name(at), status: "sold", categoryId: id }) as const,
    );
    return makeChange(by, "import", (change) => change.add(pets));
  });
  const isSmall = ({ text }: Shown) => Buffer.byteLength(text) < 60_000;
  for (const [button, boxes, pages] of [
    ["Print", 0, 2],
    ["Tick all found", 450, 3],
  ] as const) {
    const shown = [await (await at("/animals?q=wholly&status=sold")).follow(button)];
    for (let page = shown[0]; page?.has("More");) shown.push((page = await page.follow("More")));
    const text = shown.map((each) => each.text).join("");
    expect([button, shown.length, shown.every(isSmall)]).toEqual([button, pages, true]);
    expect(new Set(text.match(/>Manchas Wholly \d+</g)).size).toBe(450);
    expect(text.match(/· adopted</g)).toHaveLength(450);
    expect(text.match(/type="checkbox" [^>]* checked/g) ?? []).toHaveLength(boxes);
  }
});

test("the list that was ticked as a whole stays without those that somebody unticked", async () => {
  const [one, other] = [await added("Whole one"), await added("Whole two")];
  const list = await (await at("/animals?q=Whole+")).follow("Tick all found");
  const spanish = await list.tick("id", one, false).press("Español");
  expect([spanish.value("id", one), spanish.value("id", other)]).toEqual([false, true]);
  const asked = await (await spanish.press("English")).press("Move");
  const again = await asked.follow("← All animals");
  expect([again.value("id", one), again.value("id", other)]).toEqual([false, true]);
});

test("the list keeps ticks through a search and a tap on another animal", async () => {
  const [one, other] = [await added("Kept tick"), await added("Tapped")];
  const found = await (await at("/animals")).tick("id", one).type({ q: "Tapped" }).enter("q");
  expect([found.value("id", one), found.value("id", other)]).toEqual([true, false]);
  const tapped = await found.press("pending: Tapped");
  expect([tapped.value("id", one), tapped.value("id", other)]).toEqual([true, false]);
  expect(tapped.path).toEndWith(`#animal-${other}`);
});

test("the list has each of its pages at an address that can be loaded again", async () => {
  const [one, other] = [await added("Entry"), await added("Entry two")];
  const merge = await (
    await at("/animals?q=Entry")
  )
    .tick("id", one)
    .tick("id", other)
    .press("Merge");
  expect(merge.path).toBe(`/animals/merge?id=${other}&id=${one}`);
  const merged = await (await open(merge.visitor, merge.path)).press("Keep this one");
  expect(merged.words).toContain("Merged: Entry");
  const none = await (await at("/animals")).press("Merge");
  expect([none.status, none.words.includes("Tick the two entries")]).toEqual([400, true]);
});

test("the list says what everybody sees, and leads there", async () => {
  const { words, text } = await at("/animals");
  expect(words).toContain("Everybody sees the available and the pending animals");
  expect(text).toContain('href="https://pets.example.org/animals"');
});

test("a change of long ago is found behind Older", async () => {
  const id = BigInt(await added("Long ago"));
  for (let each = 0; each < 51; each += 1) {
    await here.animals.change("Olga", (by) => updateAnimals(by, [id], { name: `Renamed ${each}` }));
  }
  expect((await (await at("/changes")).follow("Older")).words).toContain("Added: Long ago.");
});

test("removing a person and merging categories ask first", async () => {
  const people = await at("/people", "operator");
  const made = await people.type({ name: "Leaver" }).press("Invite");
  const list = await open(made.visitor, "/people");
  const asked = await list.follow("Remove: Leaver");
  expect(asked.words).toContain("Remove Leaver?");
  expect((await asked.press("Remove")).words).toContain("was removed and signed out");

  const categories = await at("/categories");
  const puppies = await categories.follow("Puppies");
  expect((await puppies.press("Merge …")).status).toBe(400);
  const [, dog = ""] = /value="(\d+)"\s*>\s*Dog\s*</.exec(puppies.text) ?? [];
  const sure = await puppies.type({ into: dog }).press("Merge …");
  expect(sure.words).toContain("Puppies becomes part of Dog: 0 animals");
  expect((await open(sure.visitor, sure.path)).words).toContain("Puppies becomes part of Dog");
  const merged = await sure.press("Merge");
  expect(merged.words).toContain("Puppies is part of Dog now");
  const spanish = await open((await merged.press("Español")).visitor, "/changes");
  expect(spanish.words).toContain("Puppies forma parte ahora de Dog (0 animales)");
});

test("a category one slip away from another is asked for", async () => {
  const add = await at("/animals/new");
  const asked = await add.type({ name: "Turned", category: "Dgo" }).press("Add animal");
  expect([asked.status, asked.words.includes("There is a category Dog.")]).toEqual([400, true]);
  expect((await asked.press("Add animal")).words).toContain("Added: Turned.");
});

test("a backup that failed is marked on the operators' menu, and is what Health begins with", async () => {
  const { db } = here.store;
  const marked = async (role: "staff" | "operator") =>
    (await at("/animals", role)).text.includes('id="mark-health"');
  expect(await marked("operator")).toBe(false);
  const backup = { kind: "backup", target: "", everyMs: 60_000, nextAtMs: 0 } as const;
  await db.transaction((tx) => scheduleJob(tx, backup));
  await failJob(db, (await jobsOf(db))[0] as Job, "The disk is full", 1);
  expect([await marked("operator"), await marked("staff")]).toEqual([true, false]);
  expect((await at("/health", "operator")).words).toMatch(/Backups .* urgent +Disk OK/);
});

test("a followed list that waits for a yes and cannot be read says why, too", async () => {
  const { db } = here.store;
  const nowMs = Date.now();
  await db.transaction(async (tx) => {
    const source = {
      name: "north",
      reading: { statuses: {} },
      createdBy: "Ana",
      createdAtMs: nowMs,
    };
    await follow(tx, source, 60_000, nowMs);
    await updateSource(tx, "north", { held: ["1"] });
  });
  const pull = (await jobsOf(db)).find(({ target }) => target === "north") as Job;
  await failJob(db, pull, "the disk is full", nowMs);
  const { words } = await at("/import");
  expect(words).toContain("cannot be read");
  expect(words).toContain("the disk is full");
  expect(words).toContain("Withdraw 1 animal");
});
