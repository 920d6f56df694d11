/** What the pages of animals, categories and keys do with what people send them. */
import { addAnimal, updateAnimals } from "../../../src/features/animals/animals.ts";
import { describe, expect, test } from "bun:test";
import { randomBytes } from "../../../src/cli/open.ts";
import { AnimalActions, named } from "../../../src/features/console/animals.ts";
import type { Imports } from "../../../src/features/console/imports.ts";
import { PeopleService } from "../../../src/features/console/people.ts";
import { languages } from "../../../src/features/console/words/index.ts";
import { sourceActions } from "../../../src/features/console/pages/sources.ts";
import { follow } from "../../../src/features/sources/pull.ts";
import type { Store } from "../../../src/storage/contract.ts";
import { hourMs } from "../../../src/domain/clock.ts";
import { addresses, asking, cookieOf, type Ask } from "../../helpers/console-pages.ts";
import { servicesOn, type TestServices } from "../../helpers/services.ts";
import { openForEach } from "../../helpers/stores.ts";

const { words: en } = languages.en;

let store: Store;
let services: TestServices;
let animals: AnimalActions;
let people: PeopleService;
let ask: Ask;
let headers: Readonly<Record<string, string>>;

openForEach(async (opened) => {
  store = opened;
  services = servicesOn(store);
  animals = new AnimalActions(services);
  const sources = sourceActions(services, {});
  people = new PeopleService(store.db, Date.now, randomBytes);
  ask = asking({
    actions: { services, animals, people, imports, sources, clock: Date.now },
    refused: (text) => expect(text).toBeUndefined(),
  });
  const { token } = await people.invite("Olga", "operator", "tester");
  headers = { cookie: cookieOf(await ask(`/join/${token}`, { method: "POST" })) };
  return services.close;
});

/** Somebody's file while it is imported: nothing else may be done with it. */
const job = { name: "a.csv", state: { is: "working", step: { phase: "storing", done: 1 } } };
const imports = { job: () => job } as unknown as Imports;

const get = async (path: string) => (await ask(path, { headers })).text();
/** Sends a form, and returns the status, and where it leads to or the page. */
async function post(path: string, fields: Readonly<Record<string, string>> | URLSearchParams = {}) {
  const answer = await ask(path, { headers, fields });
  return {
    status: answer.status,
    location: answer.headers.get("location"),
    page: await answer.text(),
  };
}
const added = (name: string, category = "Dog") =>
  animals.change("Ana", (by) =>
    addAnimal(by, { name, category: named(category), status: "pending" }),
  );

test("a change says what it was, and of which animals", async () => {
  for (const name of ["Luna", "Toby"]) await added(name);
  const done = async (path: string, fields: Record<string, string> | URLSearchParams) =>
    get((await post(path, fields)).location ?? "");
  expect(await done("/animals", { tap: "1 pending sold" })).toContain("Luna: pending → adopted.");
  expect(await done("/animals/1", { name: "Lunita", category: "Dog", status: "sold" })).toContain(
    "Lunita: Name: Luna → Lunita.",
  );
  const both = new URLSearchParams("id=1&id=2&set=available");
  expect(await done("/animals", both)).toContain("Lunita, Toby: now available.");
  expect(await get("/changes")).toContain("Luna: pending → adopted.");
});

test("somebody who was removed changes nothing any more, whatever was on its way", async () => {
  const { person } = await people.invite("Rita", "staff", "tester");
  await animals.change("Rita", (by) =>
    addAnimal(by, { name: "Rex", category: named("Dog"), status: "pending" }),
  );
  await people.remove(person.id);
  const late = animals.change("Rita", (by) => updateAnimals(by, [1n], { status: "sold" }));
  expect(await late.catch((error: unknown) => error)).toMatchObject({ kind: "forbidden" });
  expect(await animals.byId(1n)).toMatchObject({ status: "pending" });
  // Another person of the name may.
  await people.invite("Rita", "staff", "tester");
  await animals.change("Rita", (by) => updateAnimals(by, [1n], { status: "sold" }));
  expect(await animals.byId(1n)).toMatchObject({ status: "sold" });
});

test("a category has no name of another one, and keeps its own in other letters", async () => {
  for (const name of ["Dog", "Cat"]) await added("Rex", name);
  const taken = "This name is taken.";
  for (const path of ["/categories", "/categories/2"]) {
    const { status, page } = await post(path, { name: " dog " });
    expect([path, status, page.includes(taken)]).toEqual([path, 400, true]);
    expect((await post(path, { name: " " })).page).toContain("Type a name.");
  }
  // One slip away is asked for.
  const alike = await post("/categories", { name: "Catt" });
  expect(alike.page).toContain("There is a category Cat.");
  expect((await post("/categories", { name: "Catt", new: "Catt" })).status).toBe(303);
  await post("/categories/3/merge", { into: "2" });
  const { location } = await post("/categories/2", { name: "CAT" });
  expect(await get(location ?? "")).toContain("Category renamed: CAT.");
  expect(await animals.categories()).toMatchObject([{ name: "CAT" }, { name: "Dog" }]);
});

test("a followed list that was not read for three intervals is named above the animals", async () => {
  for (const [name, ageMs] of [
    ["late", 4 * hourMs],
    ["young", 2 * hourMs],
  ] as const) {
    const createdAtMs = Date.now() - ageMs;
    const source = { name, reading: {}, createdBy: "Ana", createdAtMs };
    await store.db.transaction((tx) => follow(tx, source, hourMs, 0));
  }
  expect(await get("/animals")).toContain("Not read for a long time: late.");
});

test("an animal keeps a name and a category that no form takes, when something else is saved", async () => {
  // As an older version, an import or a program brought them.
  const unseen = { id: 7n, name: "\u2800", nameKey: "\u2800" };
  await store.db.transaction((tx) => tx.insert(tx.t.categories).values(unseen));
  const id = await store.pets.create({ name: "", categoryId: 7n, status: "pending" });
  const fields = { name: "", category: "\u2800", status: "sold" };
  const { status, location } = await post(`/animals/${id}`, fields);
  expect([status, location]).toEqual([303, `/animals/${id}?change=1`]);
  expect(await animals.byId(id)).toMatchObject({ name: "", categoryId: 7n, status: "sold" });
  const page = await get("/animals");
  expect(page).toMatch(/href="\/animals\/1">Unnamed</);
  expect(page).toMatch(/href="\/animals\?category=7"\s*>category 7</);
});

test("a person signs out only after a look at the way back, and makes a link for a phone", async () => {
  expect(await get("/sign-out")).toContain("To come back you need a link");
  const { page } = await post("/link");
  const [, link = ""] = /value="(http[^"]+\/join\/[\w-]{43})"/.exec(page) ?? [];
  const phone = cookieOf(await ask(new URL(link).pathname, { method: "POST" }));
  const shown = await ask("/sign-out", { headers: { cookie: phone } });
  expect(await shown.text()).toContain(">Olga</span>");
  expect((await ask("/sign-out", { headers })).status).toBe(200);
  // It is shown this once, as a picture where other devices can open it.
  expect(await get("/people")).not.toContain(new URL(link).pathname);
  expect([page.includes(en.people.onlyHere), page.includes(en.people.qr)]).toEqual([true, false]);
  const elsewhere = { ...headers, host: "pets.example.org", origin: "http://pets.example.org" };
  const pictured = await ask("http://pets.example.org/link", { headers: elsewhere, fields: {} });
  expect(await pictured.text()).toContain(`aria-label="${en.people.qr}"`);
});

test("a change is told to who made it alone, and undone once", async () => {
  await added("Rex");
  expect(await get("/animals?change=1")).not.toContain("Added: Rex.");
  await post("/animals/new", { name: "Max", category: "Dog", status: "sold" });
  expect(await get("/animals?change=2")).toContain("Added: Max.");
  for (const change of [2, 2, 3]) {
    const { location } = await post(`/changes/${change}/undo`);
    expect(location).toStartWith("/animals?change=");
    expect(await animals.byId(2n)).toBeUndefined();
  }
  for (const change of [2, 3]) expect(await get(`/changes/${change}`)).not.toContain("/undo");
});

test("several animals get a status, or go, and what is no id counts for none", async () => {
  for (const name of ["One", "Two", "Three"]) await added(name);
  const chosen = (what: string) => new URLSearchParams(`id=1&id=2&id=x&${what}`);
  const back = "/animals?q=o&change=9";
  const sold = await post("/animals", chosen(`set=sold&back=${escape(back)}`));
  expect(sold.location).toBe("/animals?q=o&change=4");
  const statuses = async () =>
    Promise.all([1n, 2n, 3n].map(async (id) => (await animals.byId(id))?.status));
  expect(await statuses()).toEqual(["sold", "sold", "pending"]);
  await post("/animals", chosen("remove=yes"));
  expect(await statuses()).toEqual([undefined, undefined, "pending"]);
  const none = await post("/animals", { set: "sold" });
  expect([none.status, none.page.includes(en.animals.chooseFirst)]).toEqual([400, true]);
  const unknown = await post("/animals", { id: "3", set: "gone", back: "/animals?q=o" });
  expect([unknown.status, unknown.location]).toEqual([303, "/animals?q=o"]);
  expect(await statuses()).toEqual([undefined, undefined, "pending"]);
});

test("several animals that somebody else changed since the list was loaded are asked for again", async () => {
  for (const name of ["One", "Two"]) await added(name);
  await animals.change("Ana", (by) => updateAnimals(by, [2n], { status: "sold" }));
  const seen = "id=1+pending&id=2+pending";
  const asked = await post("/animals", new URLSearchParams(`${seen}&set=available`));
  expect(asked.status).toBe(409);
  expect(asked.page).toMatch(/Two:\s+Ana has since changed this to “adopted”/);
  expect(asked.page).not.toContain("One:");
  expect(await animals.byId(1n)).toMatchObject({ status: "pending" });
  // It is that already.
  const same = await post("/animals", new URLSearchParams(`${seen}&set=sold`));
  expect(same.status).toBe(303);
});

test("a list keeps its filters from page to page, in a search and in the export", async () => {
  for (let at = 0; at < 26; at += 1) await added(`Rex ${at}`);
  const first = await get("/animals?q=rex&category=1&status=pending");
  const [, older = ""] = /href="([^"]*)"\s*>More</.exec(first) ?? [];
  expect(older).toBe("/animals?q=rex&amp;category=1&amp;status=pending&amp;before=2");
  expect(first).toContain('href="/export/xlsx?q=rex&amp;category=1&amp;status=pending"');
  for (const [name, value] of [
    ["category", "1"],
    ["status", "pending"],
  ]) {
    expect(first).toContain(`<input type="hidden" name="${name}" value="${value}" />`);
  }
  const last = await get(older.replaceAll("&amp;", "&"));
  expect(last).toContain(">Rex 0</a");
  // So does another language.
  const [, back = ""] = /formaction="\/language\/es\?back=([^"]*)"/.exec(last) ?? [];
  expect(decodeURIComponent(back)).toBe(older.replaceAll("&amp;", "&"));
  expect(last).not.toContain(">More<");
  expect(last).toMatch(
    /href="\/animals\?q=rex&amp;category=1&amp;status=pending"\s*>From the start</,
  );
  expect(last).toMatch(/class="chip" href="\/animals\?q=rex&amp;category=1&amp;status=sold"/);
});

describe("a key", () => {
  const free = { plan: "free", perMinute: "", perDay: "", expires: "" };
  const enterprise = { ...free, name: "big", plan: "enterprise", perMinute: "7", perDay: "70" };

  test("shows its own numbers again, and is saved under the name that it has", async () => {
    const { key } = await services.keys.create({
      ...enterprise,
      plan: "enterprise",
      perMinute: 7,
      perDay: 70,
    });
    const page = await get(`/keys/${key.id}`);
    for (const value of ["7", "70"])
      expect(page).toMatch(new RegExp(`name="per[^>]*value="${value}"`));
    const path = `/keys/${key.id}`;
    const wrong = await post(path, { ...enterprise, perMinute: "8", perDay: "0" });
    expect([wrong.status, wrong.page.includes('value="8"')]).toEqual([400, true]);
    expect((await post(path, { ...enterprise, name: "no", perDay: "80" })).status).toBe(303);
    const [saved] = await services.keys.list();
    expect(saved).toMatchObject({ name: "big", limits: { perMinute: 7, perDay: 80 } });
  });

  test("is made with the plan, the numbers and the end that were typed, or not at all", async () => {
    for (const [wrong, field] of [
      [{ name: " " }, "name"],
      [{ name: "\u200B" }, "name"],
      [{ plan: "gold" }, "plan"],
      [{ expires: "soon" }, "expires"],
      [{ perMinute: "0" }, "perMinute"],
      [{ perDay: "" }, "perDay"],
      [{ expires: "0" }, "expires"],
    ] as const) {
      const { status, page } = await post("/keys/new", { ...enterprise, ...wrong });
      expect([status, page.match(/id="(\w+)-error"/g)]).toEqual([400, [`id="${field}-error"`]]);
    }
    expect((await post("/keys/new", { ...free, name: "small", plan: "pro" })).status).toBe(200);
    expect(await services.keys.list()).toMatchObject([{ name: "small", plan: "pro" }]);
  });

  test("has its secret shown this once, and ends when somebody is sure", async () => {
    const made = await post("/keys/new", { ...free, name: "reader", readOnly: "yes" });
    const [{ id } = { id: "" }] = await services.keys.list();
    const rotated = await post(`/keys/${id}/rotate`, { grace: "0" });
    const shown = [await get("/keys"), await get(`/keys/${id}`)];
    for (const { page } of [made, rotated]) {
      const [, secret = "-"] = /value="(rehome_live_\w+)"/.exec(page) ?? [];
      expect(shown.join()).not.toContain(secret);
      // The answer to a choice of the language would be another page.
      expect(page).not.toContain('action="/language');
    }
    expect((await post(`/keys/${id}/revoke`)).status).toBe(400);
    const kept = { readOnly: true, revokedAtMs: undefined };
    expect(await services.keys.list()).toMatchObject([kept]);
    const { location } = await post(`/keys/${id}/revoke`, { sure: "yes" });
    expect(await get(location ?? "")).toContain("revoked");
    expect(await services.keys.list()).toMatchObject([{ revokedAtMs: expect.any(Number) }]);
  });

  test("is changed by the person, under its id alone", async () => {
    const { key } = await services.keys.create({ name: "web", plan: "free" });
    for (const what of ["web", key.id.slice(0, -1)]) {
      expect((await post(`/keys/${what}/revoke`, { sure: "yes" })).status).toBe(404);
    }
    await post(`/keys/${key.id}/rotate`, { grace: "0" });
    const { events } = await services.keys.details(key.id);
    const did = events.map(({ actor, action }) => `${actor} ${action}`);
    expect(did).toEqual(["tester create", "Olga rotate"]);
  });

  test("that is revoked is only looked at", async () => {
    const { key } = await services.keys.create({ name: "web", plan: "free" });
    await services.keys.revoke(key.id);
    const page = await get(`/keys/${key.id}`);
    expect(page).not.toContain('id="form"');
    expect((await post(`/keys/${key.id}/rotate`, { grace: "0" })).status).toBe(400);
  });
});

test.each([
  ["", "staff", en.errors.nameMissing],
  ["Ana\u202Etoor", "staff", en.errors.name],
  ["Olga", "staff", en.people.taken],
  ["Ben", "owner", en.errors.role],
])("%j is not invited as %s, and the page says why", async (name, role, words) => {
  const { status, page } = await post("/people", { name, role });
  expect([status, page.includes(words)]).toEqual([400, true]);
  expect(await people.list()).toHaveLength(1);
});

test("staff are refused at each of the operators' addresses, operators at their own removal", async () => {
  const { key } = await services.keys.create({ name: "out of reach", plan: "free" });
  const { token, person } = await people.invite("Stan", "staff", "tester");
  const stan = { cookie: cookieOf(await ask(`/join/${token}`, { method: "POST" })) };
  const { operators } = addresses();
  expect(operators.length).toBeGreaterThan(10);
  const fields = { name: "Mallory", role: "operator", plan: "pro", sure: "yes" };
  for (const { method, path } of operators) {
    const at = path.replace(":id", path.startsWith("/people") ? person.id : key.id);
    const asked = { headers: stan, ...(method === "POST" && { fields }) };
    const answer = await ask(at, asked);
    expect([method, at, answer.status]).toEqual([method, at, 403]);
    const page = await answer.text();
    expect([page.includes("Only operators"), page.includes('href="/keys"')]).toEqual([true, false]);
  }
  const { id } = await people.resolve("Olga");
  expect((await post(`/people/${id}/remove`)).status).toBe(404);
  expect(await services.keys.list()).toEqual([key]);
  expect((await people.list()).map(({ name }) => name).toSorted()).toEqual(["Olga", "Stan"]);
});

test("a file that is imported is not read again, taken away or replaced", async () => {
  expect(await post("/import/run", { columns: "yes" })).toMatchObject({ status: 303 });
  const { status, page } = await post("/import");
  expect([status, page.includes(en.import.busy)]).toEqual([400, true]);
  expect(await get("/import")).toContain("data-poll");
});
