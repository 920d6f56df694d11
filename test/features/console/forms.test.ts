/** What people send on the console's forms, what is wrong with it, and where it leads. */
import { addCategory } from "../../../src/features/animals/categories.ts";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readXlsx } from "hucre/xlsx";
import { type AddedPet, makeChange } from "../../../src/features/animals/changes.ts";
import { sent, type Visitor } from "../../helpers/console.ts";
import { consoleHere, type ConsoleHere } from "../../helpers/console-here.ts";
import { raw } from "../../helpers/raw.ts";

let here: ConsoleHere;

beforeAll(async () => {
  here = await consoleHere();
});
afterAll(() => here[Symbol.asyncDispose]());

const joined: ConsoleHere["joined"] = (name, role) => here.joined(name, role);

/** The id of the animal whose name has this in it. */
async function idOf(visitor: Visitor, name: string): Promise<string> {
  const page = await (await visitor.get(`/animals?q=${name}`)).text();
  return /href="\/animals\/(\d+)">/.exec(page)?.[1] ?? "";
}

test("the address of a form leads to its page, as after a reload, and GET does nothing", async () => {
  const jan = await joined("Jan", "operator");
  for (const [path, page] of [
    ["/animals/1/remove", "/animals/1"],
    ["/keys/key_1/revoke", "/keys/key_1"],
    ["/people/per_1/invite", "/people"],
    ["/import/run", "/import"],
  ] as const) {
    const answer = await jan.get(path);
    expect([path, answer.status, answer.headers.get("location")]).toEqual([path, 303, page]);
  }
  expect((await jan.get("/sign-out")).status).toBe(200);
});

describe("a form with something wrong", () => {
  const dog = { name: "Odd", category: "Dog", status: "available" };

  test.each([
    ["a name that is too long", { ...dog, name: "a".repeat(1_001) }, "at most 1,000 characters"],
    ["a name with NUL", { ...dog, name: "a\0b" }, "characters that cannot be stored"],
    ["a category that is too long", { ...dog, category: "c".repeat(1_001) }, "at most 1,000"],
    ["an unknown status", { ...dog, status: "<script>" }, "Choose a status."],
    ["nothing in it", { name: "", category: "", status: "available" }, "Type a category"],
  ])("with %s is refused beside its field, and nothing is added", async (what, fields, words) => {
    const ned = await joined(`Ned ${what}`);
    const answer = await ned.post("/animals/new", fields);
    expect(answer.status).toBe(400);
    const page = await answer.text();
    expect(page).toContain(words);
    expect(page).not.toContain("<script>alert");
    expect(await (await ned.get("/animals?q=Odd")).text()).toContain("Nothing matches");
  });

  test("of an animal that somebody removed keeps what was typed", async () => {
    const quin = await joined("Quin");
    await quin.submit("/animals/new", { name: "Leaver", category: "Dog", status: "pending" });
    const id = await idOf(quin, "Leaver");
    await quin.submit(`/animals/${id}/remove`);
    const typed = { name: "Leaver the <Great>", category: "Dog", status: "sold" };
    const answer = await quin.post(`/animals/${id}`, typed);
    expect([answer.status, await answer.text()]).toEqual([
      404,
      expect.stringContaining("Leaver the &lt;Great&gt;"),
    ]);
  });

  test("of several says so when somebody removed one of them, and changes none", async () => {
    const pia = await joined("Pia");
    for (const name of ["Staying", "Leaving"]) {
      await pia.submit("/animals/new", { name, category: "Dog", status: "pending" });
    }
    const ids = [await idOf(pia, "Staying"), await idOf(pia, "Leaving")];
    const [staying = "", leaving = ""] = ids;
    await pia.submit(`/animals/${leaving}/remove`, {});
    const answers = [{ set: "sold" }, { remove: "1" }].map(async (what) => {
      const fields = new URLSearchParams(what);
      for (const id of ids) fields.append("id", id);
      return pia.post("/animals", fields);
    });
    for (const answer of await Promise.all(answers)) {
      expect(answer.status).toBe(404);
      expect(await answer.text()).toContain("Somebody removed one of these animals");
    }
    expect(await (await pia.get(`/animals/${staying}`)).text()).toMatch(
      /value="pending"\s+selected/,
    );
  });

  test("leads back to no other place", async () => {
    const pia = await joined("Pia Back");
    await pia.submit("/animals/new", { name: "Backer", category: "Dog", status: "available" });
    const tap = `${await idOf(pia, "Backer")} available pending`;
    for (const back of [
      "https://evil.example/",
      "//",
      "//evil.example/x",
      "/.//evil.example/x",
      "/\\evil.example",
      "/\t/evil.example",
      "/animals\r\nset-cookie: a=b",
    ]) {
      const query = new URLSearchParams({ back }).toString();
      for (const [form, fields] of [
        [`/language/en?${query}`, {}],
        ["/animals", { tap, back }],
      ] as const) {
        const answer = await pia.post(form, fields);
        expect([back, form, answer.status]).toEqual([back, form, 303]);
        const location = answer.headers.get("location") ?? "";
        expect([back, new URL(location, here.origin).origin]).toEqual([back, here.origin]);
        expect(answer.headers.getSetCookie().join()).not.toContain("a=b");
      }
    }
  });
});

test("a path that looks like another origin gets no link there, and invites nobody", async () => {
  const { host } = new URL(here.origin);
  const oro = await joined("Oro", "operator");
  const cookie = [...oro.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  const body = "name=Mallory&role=operator";
  const form = `Origin: http://evil.example\r\nCookie: ${cookie}\r\nContent-Length: ${body.length}\r\nContent-Type: application/x-www-form-urlencoded\r\n`;
  const ask = (line: string, more = "", rest = "") =>
    raw(
      here.origin,
      `${line} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n${more}\r\n${rest}`,
    );
  expect((await ask("POST //evil.example/people", form, body)).status).toBe(403);
  expect(await (await oro.get("/people")).text()).not.toContain("Mallory");
  for (const path of [
    "//evil.example/x",
    "///evil.example",
    "/\\evil.example",
    "/%09/evil.example",
  ]) {
    const page = await ask(`GET ${path}`);
    for (const [, to = ""] of page.body.matchAll(/(?:href|action|formaction)="([^"]*)"/g)) {
      expect([path, to, new URL(to, here.origin).origin]).toEqual([path, to, here.origin]);
    }
  }
  for (const line of [
    "CONNECT evil.example:443",
    "CONNECT /",
    "TRACE /",
    "GET //",
    "OPTIONS /animals",
  ]) {
    const { status } = await ask(line);
    expect([line, status >= 400 && status < 500]).toEqual([line, true]);
  }
});

describe("an export", () => {
  const languages = {
    en: [
      ["Number", "Name", "Category", "Status", "Number at the source", "Source"],
      ["1", "Max", "Dog", "available", "X1", "north"],
      ["2", "=Mia, the", "Dog", "adopted", "X2", "north"],
    ],
    es: [
      ["Número", "Nombre", "Categoría", "Estado", "Número en la fuente", "Fuente"],
      ["1", "Max", "Dog", "disponible", "X1", "north"],
      ["2", "=Mia, the", "Dog", "adoptado", "X2", "north"],
    ],
  } as const;

  /** A console whose animals came with a list. */
  async function withList(pets: readonly Omit<AddedPet, "categoryId">[]) {
    const own = await consoleHere();
    const eve = await own.joined("Eve");
    await own.animals.change("Eve", (by) => addCategory(by, "Dog"));
    const editing = { db: own.store.db, clock: Date.now, actor: "Eve" };
    const added = pets.map((pet) => ({ categoryId: 1n, ...pet }));
    await makeChange(editing, "import", (change) => change.add(added));
    return { eve, [Symbol.asyncDispose]: () => own[Symbol.asyncDispose]() };
  }
  const workbookOf = async (visitor: Visitor) =>
    new Uint8Array(await (await visitor.get("/export/xlsx")).arrayBuffer());

  test("is a workbook in the language of its reader", async () => {
    await using listed = await withList([
      { name: "Max", status: "available", externalId: "X1", source: "north" },
      { name: "=Mia, the", status: "sold", externalId: "X2", source: "north" },
    ]);
    const { eve } = listed;
    for (const [language, rows] of Object.entries(languages)) {
      await eve.post(`/language/${language}`);
      const book = await readXlsx(await workbookOf(eve));
      expect(book.sheets[0]?.rows.map((row) => row.map(String))).toEqual(
        rows.map((row) => [...row]),
      );
    }
    expect((await eve.get("/export/csv")).status).toBe(404);
  });

  test("changes nothing when it is imported again, whatever the names", async () => {
    const names = ["'=x", "=x", "_x0041_", " a\r\nb ", "007", "", "Luna", "Luna", "sin estado"];
    await using listed = await withList(
      names.map((name, at) => ({ name, ...(at > 2 && { status: "sold" as const }) })),
    );
    const { eve } = listed;
    for (const language of ["en", "es"]) {
      await eve.post(`/language/${language}`);
      const bytes = await workbookOf(eve);
      await eve.post("/language/en");
      expect(await sent(eve, `${language}.xlsx`, bytes)).toContain("<h2>9 unchanged</h2>");
    }
  });
});
