/** Lists that a shelter has, on the console: what it asks and says. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { previewOf, sent, settled, type Visitor } from "../../helpers/console.ts";
import { consoleHere, type ConsoleHere } from "../../helpers/console-here.ts";

let here: ConsoleHere;
let visitors = 0;
const everything = { text: "", categoryId: undefined, status: undefined, before: undefined };

beforeAll(async () => {
  here = await consoleHere();
});
afterAll(() => here[Symbol.asyncDispose]());

const come = (role?: "staff" | "operator") => here.joined(`Visitor ${(visitors += 1)}`, role);

async function chosen(visitor: Visitor, fields: Record<string, string>): Promise<string> {
  await visitor.submit("/import/examine", fields);
  return settled(visitor);
}

test("a preview does not import the file that another tab chose since", async () => {
  const ana = await come();
  await sent(ana, "one.csv", "name,categoryId,status\nTab one,1,available\n");
  const first = await previewOf(ana);
  await sent(ana, "two.csv", "name,categoryId,status\nTab two,1,available\n");
  expect(await ana.submit("/import/run", first)).toContain("What two.csv would change");
  const second = await previewOf(ana);
  await chosen(ana, { source: "tabs", complete: "yes" });
  expect(await ana.submit("/import/run", second)).toContain("What two.csv would change");
  await ana.submit("/import/run", await previewOf(ana));
  expect(await settled(ana)).toContain("Imported: two.csv");
  expect(await (await ana.get("/animals?q=Tab+one")).text()).toContain("Nothing matches");
});

test("a list is read as the last one with its columns, and adds nobody who is here", async () => {
  const ana = await come();
  await ana.submit("/animals/new", { name: "Nala", category: "Cat", status: "available" });
  const week = (statuses: string, ids = "R-1 R-2 R-3 R-4 R-5") => {
    const [rows, ref] = [statuses.split(" "), ids.split(" ")];
    const names = ["Nala", "Rolf", "Idefix", "Mogli", "Bagheera"];
    const lines = names.map((name, at) => `${name},Cat,${rows[at]},${ref[at]}`);
    return `Name,Type,Status,Ref\n${lines.join("\n")}\n`;
  };
  const asked = await sent(ana, "week1.csv", week("Available Snoozing Adopted Adopted Adopted"));
  expect(asked).toContain("Are these here already?");
  expect(asked).toMatch(/name="same"\s+value="2"\s+checked/);
  const answers = { "word-0": "pending", source: "north", lookalike: "2", same: "2" };
  await chosen(ana, answers);
  await ana.submit("/import/run", { ...(await previewOf(ana)), ...answers });
  expect(await settled(ana)).toContain("Imported: week1.csv");
  const nalas = async () =>
    (await (await ana.get("/animals?q=Nala")).text()).match(/>Nala</g)?.length;
  expect(await nalas()).toBe(1);

  const again = await sent(ana, "week2.csv", week("Adopted Snoozing Dead Adopted Adopted"));
  expect(again).toContain("Read as the last list with these columns");
  expect(again).toContain("Snoozing → pending");
  expect(again).toMatch(/name="source"\s+value="north"/);
  expect(again).toMatch(/Changed 1:<\/strong> Nala/);
  expect(again).toMatch(/Left out 1:<\/strong> Idefix \(Status &quot;Dead&quot;\)/);
  expect(again).not.toContain("Are these here already?");

  // Without its source the same ids are nobody's: their animals are recognised by name.
  const bare = { source: "" };
  expect(await chosen(ana, bare)).toMatch(/name="same"\s+value="2"\s+checked/);
  expect(await chosen(ana, { ...bare, sameNone: "yes" })).not.toMatch(/name="same"[^>]*checked/);
});

test("one of several sheets or lists is chosen", async () => {
  const ana = await come();
  const lists = { dogs: [{ name: "Wuff", species: "Dog", status: "available" }] };
  const cats = [{ name: "Miau", species: "Cat", status: "available" }];
  const page = await sent(ana, "two.json", JSON.stringify({ ...lists, other: { cats } }));
  expect(page).toContain('value="other.cats"');
  expect(await chosen(ana, { part: "other.cats" })).toMatch(/<td>Miau<\/td>/);
});

test("what was chosen since the preview is shown before it is imported", async () => {
  const ana = await come();
  /** The preview that Import leads to once more. */
  const again = async (choices: Record<string, string>) => {
    const answer = await ana.post("/import/run", { ...(await previewOf(ana)), ...choices });
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain("Nothing is imported yet.");
    return settled(ana);
  };
  await sent(ana, "since.csv", "name,categoryId,status\nSince,1,snoozing\nAwake,1,sold\n");
  expect(await again({ "word-0": "pending", skipBad: "yes" })).toMatch(
    /Since<\/td>[^]*pending<\/td>/i,
  );
  const whole = { source: "since", complete: "yes" };
  await again(whole);
  expect(await (await ana.get("/animals?q=Since")).text()).toContain("Nothing matches");
  // The buttons beside the choices send the same form.
  const seen = { ...(await previewOf(ana)), ...whole, look: "yes" };
  await ana.submit("/import/run", seen);
  expect(await settled(ana)).toContain("What since.csv would change");
  await ana.submit("/import/run", { ...(await previewOf(ana)), ...whole });
  expect(await settled(ana)).toContain("Imported: since.csv");
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

test("a list with errors says beside the box what to do", async () => {
  const ana = await come();
  await sent(ana, "errors.csv", "name,categoryId,status\nRex,1,available\nMilo,one,available\n");
  const answer = await ana.post("/import/run", await previewOf(ana));
  expect(answer.status).toBe(400);
  const page = await answer.text();
  expect(page).toMatch(/name="skipBad"[^>]*aria-describedby="skipBad-error"\s+aria-invalid="true"/);
  expect(page).toMatch(/id="skipBad-error">Some rows have errors\./);
});

describe("a list that does not say whether its animals are for adoption", () => {
  const columns = { "column-name": "Rufname", "column-category": "Tierart" };

  test("is asked for it, and is not available to all because nobody was asked", async () => {
    const ana = await come();
    expect(await sent(ana, "list.csv", "Rufname;Tierart\nMilo;Hund\nNemo;Fisch\n")).toContain(
      "This kind of file is not known yet",
    );
    const question = await chosen(ana, columns);
    expect(question).toContain("Are these animals for adoption?");
    await ana.submit("/import/run", await previewOf(ana));
    expect(await settled(ana)).toContain("Are these animals for adoption?");
    expect(await (await ana.get("/animals?q=Nemo")).text()).toContain("Nothing matches");
    const unanswered = await ana.post("/import/examine", { every: "" });
    expect(unanswered.status).toBe(400);
    expect(await unanswered.text()).toContain("Choose a status.");
    const preview = await chosen(ana, { every: "pending" });
    expect(preview).toContain("What list.csv would change");
    expect(preview).toContain("Kind of file: by your columns");
    expect(preview).toMatch(/<td>Milo<\/td>\s*<td>Hund<\/td>\s*<td>pending<\/td>/);
  });

  test("has its columns chosen again, with one for the status after all", async () => {
    const dia = await come();
    await sent(dia, "list.csv", "Rufname;Tierart;Stand\nMilo;Hund;sold\nRex;Hase;\n");
    await chosen(dia, { "column-name": "Tierart", "column-category": "Rufname" });
    const swapped = await chosen(dia, { every: "pending" });
    expect(swapped).toMatch(/<td>Rex<\/td>\s*<td>pending/);
    expect(swapped).toContain("Choose the columns");
    const again = await chosen(dia, { columns: "again" });
    expect(again).toContain("This kind of file is not known yet");
    const preview = await chosen(dia, { ...columns, "column-status": "Stand" });
    expect(preview).toMatch(/<td>Hund<\/td>\s*<td>adopted/);
    expect(preview).toMatch(/<td>Hase<\/td>\s*<td>no status/);
  });
});

test("a list whose columns were guessed has its columns chosen by a person", async () => {
  const ana = await come();
  const list = "name,category,status,id\nTess,Dog,available,R-01\n";
  const guessed = "Kind of file: by its columns: name → Name, category → Category, status → Status";
  expect(await sent(ana, "own.csv", list)).toContain(guessed);
  const question = await chosen(ana, { columns: "again" });
  expect(question).toContain("This kind of file is not known yet");
  const preview = await chosen(ana, {
    "column-name": "name",
    "column-category": "category",
    "column-status": "status",
    "column-id": "id",
  });
  expect(preview).toMatch(/<td>Tess<\/td>\s*<td>Dog<\/td>\s*<td>available<\/td>\s*<td>R-01/);
  await ana.submit("/import/run", await previewOf(ana));
  const done = await settled(ana);
  expect(done).toContain("Imported: own.csv");
  // Once it is undone, there is room for another file.
  const [, undo = ""] = /action="(\/changes\/\d+\/undo)"/.exec(done) ?? [];
  expect(await ana.submit(undo, { back: "/import" })).toContain('type="file"');
});

describe("a whole list", () => {
  test("without a name of its source is asked for it", async () => {
    const ana = await come();
    await sent(ana, "whole.csv", `Name;Art;Stand\nA;Hund;available\n`);
    await chosen(ana, {
      "column-name": "Name",
      "column-category": "Art",
      "column-status": "Stand",
    });
    const answer = await ana.post("/import/examine", { source: "", complete: "yes" });
    expect(answer.status).toBe(400);
    const page = await answer.text();
    expect(page).toContain("Enter the source of this list.");
    expect(page).toMatch(/name="complete"\s+value="yes"\s+checked/);
  });

  test.each([
    ["bad rows", "1", "", "A whole list must have no rows with errors"],
    ["a damaged id", "01-Jan", "Hund", "no rows with errors and no damaged ids"],
  ])("with %s is not imported: animals would be withdrawn", async (what, id, kind, words) => {
    const ana = await come();
    const columns = {
      "column-name": "Name",
      "column-category": "Art",
      "column-status": "Stand",
      "column-id": "Nr",
    };
    const list = (of: string, first: string) =>
      `Name;Art;Stand;Nr\nX1 ${what};${of};sold;${first}\nX2;Hund;sold;x2\n`;
    await sent(ana, "first.csv", list("Hund", "1-1"));
    await chosen(ana, columns);
    await chosen(ana, { source: what.replaceAll(" ", "-") });
    await ana.submit("/import/run", await previewOf(ana));
    expect(await settled(ana)).toContain("Imported: first.csv");
    await ana.submit("/import/drop");
    await sent(ana, "second.csv", list(kind, id));
    await chosen(ana, columns);
    const whole = { source: what.replaceAll(" ", "-"), complete: "yes" };
    const preview = await chosen(ana, { ...whole, sameNone: "yes" });
    expect(preview).toContain(words);
    expect(preview).not.toContain('action="/import/run"');
    await ana.submit("/import/run", { ...(await previewOf(ana)), skipBad: "yes" });
    const query = new URLSearchParams({ q: `X1 ${what}` }).toString();
    expect(await (await ana.get(`/animals?${query}`)).text()).toContain(`>X1 ${what}</a`);
  });
});

describe("a change", () => {
  const added = async (visitor: Visitor, name: string) => {
    const fields = { name, category: "Dog", status: "available" };
    const answer = await visitor.post("/animals/new", fields);
    return /change=(\d+)/.exec(answer.headers.get("location") ?? "")?.[1] ?? "";
  };
  const isThere = async (visitor: Visitor, name: string) =>
    (await (await visitor.get(`/animals?q=${name}`)).text()).includes(`>${name}</a`);

  test("of somebody else is for an operator to undo, and found under Recent changes", async () => {
    const [ana, ben, olga] = [await come(), await come(), await come("operator")];
    const change = await added(ana, "Standing");
    const undo = `/changes/${change}/undo`;
    for (const [person, mayUndo] of [
      [ana, true],
      [ben, false],
      [olga, true],
    ] as const) {
      const page = await (await person.get("/changes")).text();
      expect(page).toContain("Standing was added.");
      expect(page.includes(`action="${undo}"`)).toBe(mayUndo);
    }
    const refused = await ben.post(undo);
    expect(refused.status).toBe(403);
    expect(await refused.text()).toContain("Somebody else made this change.");
    expect(await isThere(ana, "Standing")).toBe(true);
    expect((await olga.post(undo)).status).toBe(303);
    expect(await isThere(ana, "Standing")).toBe(false);
  });

  test("that removed an animal is undone on the animal's own page too", async () => {
    const [ana, ben] = [await come(), await come()];
    await added(ana, "Gone");
    const list = await (await ana.get("/animals?q=Gone")).text();
    const [, path = ""] = /href="(\/animals\/\d+)">Gone/.exec(list) ?? [];
    await ana.submit(`${path}/remove`);
    const hers = await ana.get(path);
    expect(hers.status).toBe(404);
    const page = await hers.text();
    expect(page).toContain("This animal was removed.");
    const [, undo = ""] = /action="(\/changes\/\d+\/undo)"/.exec(page) ?? [];
    const his = await (await ben.get(path)).text();
    expect(his).toContain("This animal was removed.");
    expect(his).not.toContain("/undo");
    await ana.submit(undo, { back: path });
    const back = await ana.get(path);
    expect(back.status).toBe(200);
    const [, history = ""] = /<ul class="lines">([^]*?)<\/ul>/.exec(await back.text()) ?? [];
    const told = [...history.matchAll(/<span>(.*?)<\/span>/g)].map(([, words]) => words);
    expect(told.slice(0, 2)).toEqual(["Undone: brought back", "Removed"]);
  });

  test.each(["0", "-1", "x", "99999999", "9223372036854775808"])(
    "%s is none, and not found",
    async (id) => {
      const ana = await come();
      expect((await ana.get(`/changes/${id}`)).status).toBe(404);
      expect((await ana.post(`/changes/${id}/undo`)).status).toBe(404);
    },
  );

  test("of several animals asks before it is undone", async () => {
    const ana = await come();
    for (const name of ["One", "Two"]) await added(ana, name);
    const { animals: pets } = await here.animals.find({ ...everything, limit: 100 });
    const chosen = pets.filter(({ name }) => ["One", "Two"].includes(name));
    const fields = new URLSearchParams(
      chosen.map(({ id }): [string, string] => ["id", String(id)]),
    );
    fields.set("set", "sold");
    const answer = await ana.post("/animals", fields);
    const change = /change=(\d+)/.exec(answer.headers.get("location") ?? "")?.[1] ?? "";
    expect(await (await ana.get("/changes")).text()).toContain(`href="/changes/${change}"`);
    const page = await (await ana.get(`/changes/${change}`)).text();
    expect(page).toMatch(/<h1>.+, .+ were changed\.<\/h1>/);
    expect(page).toContain("2 animals will be as before");
    expect(page).toContain(`action="/changes/${change}/undo"`);
  });
});
