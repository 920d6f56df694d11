/**
 * The staff's console of the compiled executable: who gets in, what they may do, and what attacks
 * come to.
 */
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { readXlsx } from "hucre/xlsx";
import { rehome, serve, temporaryFolder } from "../helpers/binary.ts";
import {
  behindProxy,
  invite,
  serveConsole,
  Visitor,
  type RunningConsole,
} from "../helpers/console.ts";
import { childrenOf } from "../helpers/family.ts";
import { raw } from "../helpers/raw.ts";
import { until } from "../helpers/until.ts";

const folder = temporaryFolder();
let server: RunningConsole;

beforeAll(async () => {
  server = await serveConsole(folder.path, behindProxy);
});
afterAll(async () => {
  expect(await server.stop()).toBe(0);
  folder[Symbol.dispose]();
});

const visitor = () => new Visitor(server.console);

async function joined(name: string, role: "staff" | "operator" = "staff"): Promise<Visitor> {
  return visitor().join(await invite(folder.path, name, role));
}

describe("two people at one animal", () => {
  /** The fields of the animal's form as a browser has them. */
  async function formOf(person: Visitor, path: string): Promise<Record<string, string>> {
    const page = await (await person.get(path)).text();
    const inputs = [...page.matchAll(/<input\b[^>]*>/g)].map(([tag]) => ({
      name: /\bname="([^"]*)"/.exec(tag)?.[1] ?? "",
      value: /\bvalue="([^"]*)"/.exec(tag)?.[1] ?? "",
    }));
    const status = /<option value="([^"]*)" selected/.exec(page)?.[1] ?? "";
    return { ...Object.fromEntries(inputs.map(({ name, value }) => [name, value])), status };
  }

  test("keep each other's changes; the same field is asked for again", async () => {
    const [mia, leo] = await Promise.all([joined("Mia"), joined("Leo")]);
    const given = ["--category", "Dog", "--create-category", "--status", "available", "--json"];
    const place = ["--data", folder.path];
    const { stdout } = await rehome(["pets", "add", "--name", "Rex", ...given, ...place]);
    const { id } = JSON.parse(stdout) as { id: number };
    const path = `/animals/${id}`;
    const pet = async () =>
      JSON.parse((await rehome(["pets", "show", `${id}`, "--json", ...place])).stdout);
    const seen = await formOf(leo, path);
    await mia.post(path, { ...(await formOf(mia, path)), name: "Rexona" });
    await leo.post(path, { ...seen, status: "sold" });
    expect(await pet()).toMatchObject({ name: "Rexona", status: "sold" });

    const late = await leo.post(path, { ...seen, name: "Rexi" });
    expect(late.status).toBe(400);
    const page = await late.text();
    expect(page).toContain("Someone else has since changed this to “Rexona”.");
    expect(page).toContain('value="Rexi"');
    expect(await pet()).toMatchObject({ name: "Rexona", status: "sold" });
    await leo.post(path, { ...seen, "was-name": "Rexona", name: "Rexi" });
    expect(await pet()).toMatchObject({ name: "Rexi", status: "sold" });

    // The first change's undo has nothing left to take back.
    const list = await (await mia.get("/changes")).text();
    const [, undo = ""] = /Rexona[^]*?action="(\/changes\/\d+\/undo)"/.exec(list) ?? [];
    const undone = await mia.submit(undo, { back: path });
    expect(undone).toContain("Nothing was undone.");
    expect(undone).toContain("Changed since, and left as it is: 1 animal.");
    expect(undone).not.toContain("as before");
  });
});

describe("an invitation", () => {
  test("is good once, and opening its link takes nothing", async () => {
    const link = await invite(folder.path, "Ana", "staff");
    const { pathname, origin } = new URL(link);
    expect(origin).toBe(server.console);
    for (let i = 0; i < 3; i += 1) {
      const page = await visitor().get(pathname);
      expect(page.status).toBe(200);
      expect(await page.text()).toContain("Welcome, Ana");
    }
    const ana = await visitor().join(link);
    expect(await (await ana.get("/animals")).text()).toContain("Animals");
    const second = await visitor().post(pathname);
    expect(second.status).toBe(404);
    expect(second.headers.getSetCookie()).toEqual([]);
    // Ana opens her link once more: her session goes on, and leads to the animals.
    expect(await (await ana.get(pathname)).text()).toContain(
      '<a href="/animals">I am signed in: open the page</a>',
    );
  });

  test("of somebody who has one ends the earlier one", async () => {
    const first = await invite(folder.path, "Bea", "staff");
    const { stdout } = await rehome(["people", "link", "Bea", "--data", folder.path, "--json"]);
    const { url } = JSON.parse(stdout) as { url: string };
    expect((await visitor().post(new URL(first).pathname)).status).toBe(404);
    await visitor().join(url);
  });

  test("of a name that is there is refused in words", async () => {
    await invite(folder.path, "Cid", "staff");
    const { exitCode, stderr } = await rehome([
      "people",
      "invite",
      "Cid",
      "--role",
      "staff",
      "--data",
      folder.path,
    ]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('Error: There is a person named "Cid".');
  });
});

describe("a session", () => {
  test("is a cookie that no script reads and no other site sends", async () => {
    const answer = await visitor().post(
      new URL(await invite(folder.path, "Dan", "staff")).pathname,
    );
    const [cookie = ""] = answer.headers.getSetCookie();
    expect(cookie).toMatch(
      /^rehome_console=[\w-]{43}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Strict$/,
    );
  });

  test("is never one that the browser brought: joining makes a new one", async () => {
    const mallory = visitor();
    const fixed = "A".repeat(43);
    mallory.cookies.set("rehome_console", fixed);
    await mallory.join(await invite(folder.path, "Eva", "staff"));
    expect(mallory.cookies.get("rehome_console")).not.toBe(fixed);
    const stranger = visitor();
    stranger.cookies.set("rehome_console", fixed);
    expect((await stranger.get("/animals")).status).toBe(401);
  });

  test("ends with its person, at once and everywhere", async () => {
    const fay = await joined("Fay");
    const stolen = visitor();
    for (const [name, value] of fay.cookies) stolen.cookies.set(name, value);
    expect((await stolen.get("/animals")).status).toBe(200);
    await rehome(["people", "remove", "Fay", "--data", folder.path]);
    expect((await fay.get("/animals")).status).toBe(401);
    expect((await stolen.get("/animals")).status).toBe(401);
  });

  test("stays when a link on another site leads here, with which no browser sends it", async () => {
    const unsent = await visitor().get("/animals");
    expect(unsent.status).toBe(401);
    expect(unsent.headers.getSetCookie()).toEqual([]);
    const ended = visitor();
    ended.cookies.set("rehome_console", "B".repeat(43));
    await ended.get("/animals");
    expect(ended.cookies.has("rehome_console")).toBe(false);
  });

  test("ends at Sign out", async () => {
    const hal = await joined("Hal");
    const copy = visitor();
    for (const [name, value] of hal.cookies) copy.cookies.set(name, value);
    expect((await hal.post("/sign-out")).status).toBe(303);
    expect(hal.cookies.has("rehome_console")).toBe(false);
    expect((await copy.get("/animals")).status).toBe(401);
    // Somebody who was here did not let a link expire.
    const ivy = await joined("Ivy", "operator");
    const page = await (await ivy.get("/people")).text();
    const [, state] = /Hal<\/strong>(?:<\/span>)?\s*<span[^>]*>([^<]*)/.exec(page) ?? [];
    expect(state).toContain("last here");
  });

  test("says the day of a visit as clocks in the shelter show it", async () => {
    using place = temporaryFolder();
    // Where it is another day than in UTC.
    const TZ = new Date().getUTCHours() < 11 ? "Etc/GMT+12" : "Etc/GMT-14";
    await using shelter = await serveConsole(place.path, [], { env: { TZ } });
    const link = await invite(place.path, "Ina", "operator");
    const ina = await new Visitor(shelter.console).join(link);
    const page = await (await ina.get("/people")).text();
    const [, shown] = /last here <time[^>]*>([^<]*)/.exec(page) ?? [];
    const today = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeZone: TZ });
    expect(shown).toBe(today.format());
  });
});

describe("a change", () => {
  test.each([
    ["from another origin", { origin: "http://evil.example" }],
    ["from nowhere", { origin: "null" }],
    ["that a browser calls cross-site", { "sec-fetch-site": "cross-site" }],
  ])("%s is refused", async (what, headers) => {
    const ida = await joined(`Ida ${what}`);
    const answer = await ida.post("/animals", { name: "Spy", category: "Dog" }, headers);
    expect(answer.status).toBe(403);
    expect(await (await ida.get("/animals?q=Spy")).text()).toContain("Nothing matches");
  });

  test("is nothing that GET does", async () => {
    const jan = await joined("Jan", "operator");
    await jan.submit("/animals", { name: "Stay", category: "Dog", status: "available" });
    for (const path of ["/animals/1/remove", "/animals/several", "/sign-out", "/people/x/remove"]) {
      const answer = await jan.get(path);
      expect([200, 303, 404]).toContain(answer.status);
    }
    expect((await jan.get("/animals/1")).status).toBe(200);
  });
});

describe("the address of a form", () => {
  test.each([
    ["/animals/1/status", "/animals/1"],
    ["/categories/1/merge", "/categories/1"],
    ["/keys/key_1/ban", "/keys/key_1"],
    ["/people/per_1/invite", "/people"],
    ["/import/run", "/import"],
  ])("%s leads to its page, as after a reload", async (path, page) => {
    const kim = await joined(`Kim ${path}`, "operator");
    const answer = await kim.get(path);
    expect([answer.status, answer.headers.get("location")]).toEqual([303, page]);
  });
});

test("a merge of categories says that, and which animal it moved", async () => {
  const mel = await joined("Mel");
  await mel.submit("/animals", { name: "Mover", category: "Old", status: "sold" });
  await mel.submit("/animals", { name: "Stayer", category: "New", status: "sold" });
  const page = await (await mel.get("/categories")).text();
  const [from, into] = ["Old", "New"].map(
    (name) => new RegExp(`/categories/(\\d+)">${name}<`).exec(page)?.[1] ?? "",
  );
  const merged = await mel.submit(`/categories/${from}/merge`, { into: into ?? "" });
  expect(merged).toContain("The categories were merged. Moved: Mover.");
});

describe("a list", () => {
  test("leads on from a page whose animals are gone", async () => {
    const lia = await joined("Lia");
    await lia.submit("/animals", { name: "Lone", category: "Dog", status: "sold" });
    const page = await (await lia.get("/animals?before=1")).text();
    expect(page).toContain("Nothing matches.");
    expect(page).toContain("All animals");
  });

  test("is searched without the blank that a phone's keyboard adds behind a word", async () => {
    const lu = await joined("Lu");
    await lu.submit("/animals", { name: "Blanco", category: "Dog", status: "sold" });
    expect(await (await lu.get("/animals?q=blanco+")).text()).toContain(">Blanco</a");
  });

  test("names each category, also one whose name cannot be seen", async () => {
    const mo = await joined("Mo");
    // Earlier versions took such a name.
    using db = new Database(join(folder.path, "rehome.db"));
    db.run("INSERT INTO categories (id, name, name_key) VALUES (77, '\u2800', '\u2800')");
    const chip = ["--name", "Chip", "--category", "77", "--status", "sold"];
    expect((await rehome(["pets", "add", ...chip, "--data", folder.path])).exitCode).toBe(0);
    expect(await (await mo.get("/animals")).text()).toMatch(
      new RegExp(`<a class="chip" href="/animals\\?category=77" *>category 77</a>`),
    );
  });
});

describe("a form with something wrong", () => {
  const dog = { name: "Odd", category: "Dog", status: "available" };

  test.each([
    ["a name that is too long", { ...dog, name: "a".repeat(1_001) }, "at most 1000 characters"],
    ["a name with NUL", { ...dog, name: "a\0b" }, "characters that cannot be stored"],
    ["a category that is too long", { ...dog, category: "c".repeat(1_001) }, "at most 1000"],
    ["an unknown status", { ...dog, status: "<script>" }, "Choose a status."],
    ["nothing in it", { name: "", category: "", status: "available" }, "Type a category"],
  ])("with %s is refused beside its field, and nothing is added", async (what, fields, words) => {
    const ned = await joined(`Ned ${what}`);
    const answer = await ned.post("/animals", fields);
    expect(answer.status).toBe(400);
    const page = await answer.text();
    expect(page).toContain(words);
    expect(page).not.toContain("<script>alert");
    expect(await (await ned.get("/animals?q=Odd")).text()).toContain("Nothing matches");
  });

  test("without a status changes no status of several", async () => {
    const oda = await joined("Oda");
    await oda.submit("/animals", { name: "Kept", category: "Dog", status: "pending" });
    const list = await (await oda.get("/animals?q=Kept")).text();
    const [, id = ""] = /href="\/animals\/(\d+)">Kept/.exec(list) ?? [];
    const back = "/animals?q=Kept";
    for (const fields of [{ back }, { back, id }, { back, id, status: "gone" }]) {
      const answer = await oda.post("/animals/several", fields);
      expect([answer.status, answer.headers.get("location")]).toEqual([303, back]);
    }
    expect(await (await oda.get(`/animals/${id}`)).text()).toMatch(/value="pending"\s+selected/);
  });

  test("of an animal that somebody removed says so, and keeps what was typed", async () => {
    const quin = await joined("Quin");
    await quin.submit("/animals", { name: "Leaver", category: "Dog", status: "pending" });
    const list = await (await quin.get("/animals?q=Leaver")).text();
    const [, id = ""] = /href="\/animals\/(\d+)">Leaver/.exec(list) ?? [];
    await quin.submit(`/animals/${id}/remove`, {});
    const typed = { name: "Leaver the <Great>", category: "Dog", status: "sold" };
    const answer = await quin.post(`/animals/${id}`, typed);
    expect(answer.status).toBe(404);
    const page = await answer.text();
    expect(page).toContain("This animal was removed.");
    expect(page).toContain("Leaver the &lt;Great&gt;");
    const again = await quin.post(`/animals/${id}/remove`, {});
    expect(await again.text()).toContain("This animal was removed.");
  });

  test("of several says so when somebody removed one of them, and changes none", async () => {
    const pia = await joined("Pia");
    const ids: string[] = [];
    for (const name of ["Staying", "Leaving"]) {
      await pia.submit("/animals", { name, category: "Dog", status: "pending" });
      const list = await (await pia.get(`/animals?q=${name}`)).text();
      ids.push(/href="\/animals\/(\d+)">/.exec(list)?.[1] ?? "");
    }
    const [staying = "", leaving = ""] = ids;
    await pia.submit(`/animals/${leaving}/remove`, {});
    const answers = [{ status: "sold" }, { remove: "1" }].map(async (what) => {
      const fields = new URLSearchParams(what);
      for (const id of ids) fields.append("id", id);
      return pia.post("/animals/several", fields);
    });
    for (const answer of await Promise.all(answers)) {
      expect(answer.status).toBe(404);
      expect(await answer.text()).toContain("Somebody removed one of these animals");
    }
    expect(await (await pia.get(`/animals/${staying}`)).text()).toMatch(
      /value="pending"\s+selected/,
    );
  });

  test.each([
    "https://evil.example/",
    "//",
    "//evil.example/x",
    "/.//evil.example/x",
    "/\\evil.example",
    "/\t/evil.example",
    "/animals\r\nset-cookie: a=b",
  ])("leads back to no other place: %j", async (back) => {
    const pia = await joined(`Pia ${JSON.stringify(back)}`);
    await pia.post("/animals", { name: "Stay", category: "Dog", status: "available" });
    const query = new URLSearchParams({ back }).toString();
    for (const path of [`/language/es?${query}`, "/animals/1/status"]) {
      const answer = await pia.post(path, { status: "pending", back });
      expect([path, answer.status]).toEqual([path, 303]);
      const location = answer.headers.get("location") ?? "";
      expect(new URL(location, server.console).origin).toBe(server.console);
      expect(answer.headers.getSetCookie().join()).not.toContain("a=b");
    }
  });

  test.each([
    ["that is too large", 413, "x".repeat(1_100_000), {}],
    ["of another kind", 415, "{}", { "content-type": "application/json" }],
  ] as const)("%s is refused", async (what, status, text, headers) => {
    const rui = await joined(`Rui ${what}`);
    const answer = await rui.post("/animals", new URLSearchParams(text), headers);
    expect(answer.status).toBe(status);
  });
});

describe("a person", () => {
  test.each([
    "Ana\r\nRoot",
    "Ana\u202Etoor",
    "\u0007Ana",
    "Ana\u200B",
    "\u200B",
    "\u00AD",
    "\u0301",
    "\u3164",
  ])("named %j is not invited: lists and histories could not show it as it is", async (name) => {
    const args = ["people", "invite", name, "--data", folder.path];
    const { exitCode, stderr } = await rehome(args);
    expect(exitCode).toBe(2);
    expect(stderr).toContain("Error: A name must have characters that can be seen.");
  });
});

describe("an export", () => {
  const languages = {
    en: [
      ["Number", "Name", "Category", "Status", "Number at the source", "Source"],
      ["1", "Max", "Dog", "available", "X1", "north"],
      ["2", "=Mia, the", "Cat", "adopted", "X2", "north"],
    ],
    es: [
      ["Número", "Nombre", "Categoría", "Estado", "Número en la fuente", "Fuente"],
      ["1", "Max", "Dog", "disponible", "X1", "north"],
      ["2", "=Mia, the", "Cat", "adoptado", "X2", "north"],
    ],
  } as const;

  /** A source may stand before its number. */
  const plain = (value: unknown) => String(value).replace("north:", "");

  test("is in the language of its reader, as a workbook and as CSV that opens as UTF-8", async () => {
    using other = temporaryFolder();
    const list = `${other.path}/list.csv`;
    await Bun.write(list, 'Name,Kind,Tag,State\nMax,Dog,X1,available\n"=Mia, the",Cat,X2,sold\n');
    const map = "name=Name,categoryId=Kind,externalId=Tag,status=State";
    const data = ["--data", `${other.path}/data`];
    const options = ["--map", map, "--source", "north", "--create-categories", ...data];
    expect((await rehome(["pets", "import", list, ...options])).exitCode).toBe(0);
    await using direct = await serveConsole(`${other.path}/data`);
    const link = await invite(`${other.path}/data`, "Eve", "staff");
    const eve = await new Visitor(direct.console).join(link);
    for (const [language, rows] of Object.entries(languages)) {
      await eve.post(`/language/${language}`);
      const book = await readXlsx(await (await eve.get("/export/xlsx")).bytes());
      expect(book.sheets[0]?.rows.map((row) => row.map(plain))).toEqual(
        rows.map((row) => [...row]),
      );
      const csv = new TextDecoder("utf-8", { ignoreBOM: true }).decode(
        await (await eve.get("/export/csv")).bytes(),
      );
      expect(plain(csv).replace("north:", "")).toBe(
        `\uFEFF${rows.map((row) => `${row.join(",").replace("=Mia, the", `"'=Mia, the"`)}\r\n`).join("")}`,
      );
    }
    expect((await eve.get("/export/json")).status).toBe(404);
  });

  test("changes nothing when it is imported again, whatever the names", async () => {
    using other = temporaryFolder();
    const data = ["--data", `${other.path}/data`];
    const names = ["'=x", "=x", "_x0041_", " a\r\nb ", "007", "", "Luna", "Luna", "sin estado"];
    const animals = names.map((name, at) => ({
      name,
      categoryId: 1,
      ...(at > 2 && { status: "sold" }),
    }));
    await Bun.write(`${other.path}/list.json`, JSON.stringify(animals));
    await rehome(["categories", "add", "7", "--id", "1", ...data]);
    const list = await rehome(["pets", "import", `${other.path}/list.json`, ...data]);
    expect(list.exitCode).toBe(0);
    await using direct = await serveConsole(`${other.path}/data`);
    const eve = await new Visitor(direct.console).join(
      await invite(`${other.path}/data`, "Eve", "staff"),
    );
    const imported = async (name: string, bytes: Uint8Array | string) => {
      await Bun.write(`${other.path}/${name}`, bytes);
      const { stdout } = await rehome([
        "pets",
        "import",
        `${other.path}/${name}`,
        "--json",
        ...data,
      ]);
      const { added, updated, unchanged } = JSON.parse(stdout) as Record<string, number>;
      return [added, updated, unchanged];
    };
    for (const format of ["csv", "json"]) {
      const { stdout } = await rehome(["pets", "export", "--format", format, ...data]);
      expect(await imported(`all.${format}`, stdout)).toEqual([0, 0, names.length]);
    }
    for (const language of ["en", "es"]) {
      await eve.post(`/language/${language}`);
      for (const format of ["xlsx", "csv"]) {
        const bytes = await (await eve.get(`/export/${format}`)).bytes();
        expect(await imported(`${language}.${format}`, bytes)).toEqual([0, 0, names.length]);
      }
    }
  });

  test("on paper has each animal in a line, and no button", async () => {
    const pam = await joined("Pam");
    await pam.submit("/animals", { name: "Paper", category: "Dog", status: "sold" });
    const page = await (await pam.get("/print?q=Paper")).text();
    expect(page).toMatch(/<td>Paper<\/td>\s*<td>Dog<\/td>\s*<td>adopted<\/td>/);
    expect(page).toContain("1 of ");
  });
});

test("a search for a category offers it", async () => {
  const una = await joined("Una");
  await una.submit("/animals", { name: "Blue", category: "Parrot", status: "available" });
  expect(await (await una.get("/animals?q=parro")).text()).toContain("All animals in Parrot");
});

test("a new category one letter from another is asked for, and made if it is meant", async () => {
  const uma = await joined("Uma");
  await uma.submit("/animals", { name: "One", category: "Ferret", status: "available" });
  const typed = { name: "Two", category: "Feret", status: "available" };
  const asked = await uma.post("/animals", typed);
  expect([asked.status, (await asked.text()).includes("There is a category Ferret.")]).toEqual([
    400,
    true,
  ]);
  expect((await uma.post("/animals", { ...typed, category: "FERRET" })).status).toBe(303);
  expect((await uma.post("/animals", { ...typed, new: "Feret" })).status).toBe(303);
  expect(await (await uma.get("/categories")).text()).toContain(">Feret</a");
});

describe("a stranger", () => {
  test.each(["iframe", "object", "embed", "frame", "image", "script"])(
    "does not load a page as %s into one of theirs",
    async (destination) => {
      const qi = await joined(`Qi ${destination}`);
      const answer = await qi.get("/animals", {
        "sec-fetch-site": "cross-site",
        "sec-fetch-mode": "navigate",
        "sec-fetch-dest": destination,
      });
      expect(answer.status).toBe(403);
      expect(answer.headers.get("x-frame-options")).toBe("DENY");
    },
  );

  test("invites nobody with a path that looks like another origin", async () => {
    const oro = await joined("Oro", "operator");
    const cookie = [...oro.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const body = "name=Mallory&role=operator";
    const answer = await raw(
      server.console,
      `POST //evil.example/people HTTP/1.1\r\nHost: ${new URL(server.console).host}\r\n` +
        `Origin: http://evil.example\r\nCookie: ${cookie}\r\nConnection: close\r\n` +
        "Content-Type: application/x-www-form-urlencoded\r\n" +
        `Content-Length: ${body.length}\r\n\r\n${body}`,
    );
    expect(answer.status).toBe(403);
    expect(await (await oro.get("/people")).text()).not.toContain("Mallory");
  });

  test("who sends a form without HTTPS changes nothing where people use HTTPS", async () => {
    using other = temporaryFolder();
    const probe = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
    const listener = `127.0.0.1:${probe.port}`;
    probe.stop(true);
    const address = ["--console", listener, "--console-url", "https://pets.example.org"];
    await using _running = await serve(other.path, [...behindProxy, ...address]);
    const send = (origin: string) =>
      raw(
        `http://${listener}`,
        `POST /sign-out HTTP/1.1\r\nHost: pets.example.org\r\nOrigin: ${origin}\r\n` +
          "Content-Length: 0\r\nConnection: close\r\n\r\n",
      );
    expect((await send("http://pets.example.org")).status).toBe(403);
    expect((await send("https://pets.example.org")).status).not.toBe(403);
    // Nor does a name that is not the one that people use lead there.
    const stranger = "GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n";
    expect((await raw(`http://${listener}`, stranger)).status).toBe(421);
  });

  test("under another name gets nothing: DNS rebinding", async () => {
    using other = temporaryFolder();
    await using direct = await serveConsole(other.path);
    const ask = (host: string) =>
      raw(direct.console, `GET /join/x HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    expect((await ask("evil.example")).status).toBe(421);
    expect((await ask("evil.example:8090")).status).toBe(421);
    expect((await ask(new URL(direct.console).host)).status).toBe(404);
  });

  test.each(["/../etc/passwd", "/assets/../../package.json", "/%2e%2e/%2e%2e/etc/passwd"])(
    "finds nothing at %s",
    async (path) => {
      const kim = await joined(`Kim ${path}`, "operator");
      const answer = await kim.get(path);
      expect([403, 404]).toContain(answer.status);
    },
  );

  test("sends large forms in vain: none is read, and none comes back", async () => {
    const peakMiB = () => {
      const status = readFileSync(`/proc/${childrenOf(server)[0]}/status`, "utf8");
      return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
    };
    const before = peakMiB();
    const ola = await joined("Ola");
    const type = "application/x-www-form-urlencoded";
    const headers = { origin: server.console, "content-type": type };
    // As text: URLSearchParams would take the test minutes where other work runs.
    const form = { method: "POST", headers, body: "=&".repeat(524_288) };
    const send = async () => {
      const response = await fetch(`${server.console}/animals`, form);
      return { status: response.status, bytes: (await response.arrayBuffer()).byteLength };
    };
    const all = await Promise.all(Array.from({ length: 40 }, send));
    for (const { status, bytes } of all) {
      expect(status).toBe(401);
      expect(bytes).toBeLessThan(64 * 1024);
    }
    expect((await ola.get("/animals")).status).toBe(200);
    expect(peakMiB() - before).toBeLessThan(100);
  });

  test("has eight unfinished bodies at a time, and keeps nobody else from sending", async () => {
    const [rex, tom] = [await joined("Rex"), await joined("Tom")];
    const open = Array.from({ length: 8 }, () => rex.unfinished("/animals"));
    await until(async () => {
      const answer = await rex.post("/animals", { name: "Late", category: "Dog" });
      return answer.status === 503;
    });
    expect((await tom.post("/animals", { name: "On time", category: "Dog" })).status).toBe(400);
    for (const end of open) void end();
    await until(async () => (await rex.post("/animals", {})).status === 400);
  });

  test("changes nothing by a form that was on its way when they were removed", async () => {
    const [xenia, yusuf] = [await joined("Xenia", "operator"), await joined("Yusuf", "operator")];
    const ends = [
      xenia.unfinished("/people", "name=Eve&role=operator"),
      xenia.unfinished("/keys", "name=eve&plan=free"),
    ];
    // All have been let in when there is room for no other one.
    ends.push(...Array.from({ length: 6 }, () => xenia.unfinished("/animals")));
    await until(async () => (await xenia.post("/animals", { name: "Late" })).status === 503);
    expect(await rehome(["people", "remove", "Xenia", "--data", folder.path])).toMatchObject({
      exitCode: 0,
    });
    for (const end of ends) expect((await end()).status).toBe(403);
    for (const path of ["/people", "/keys"]) {
      expect(await (await yusuf.get(path)).text()).not.toMatch(/\beve\b/i);
    }
  });

  test.each(["CONNECT evil.example:443", "CONNECT /", "TRACE /", "GET //", "OPTIONS /animals"])(
    "asks for %s and gets a refusal, in one line of the log",
    async (target) => {
      using other = temporaryFolder();
      await using own = await serveConsole(other.path);
      const { host } = new URL(own.console);
      const answer = await raw(
        own.console,
        `${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
      );
      expect(answer.status).toBeGreaterThanOrEqual(400);
      expect(answer.status).toBeLessThan(500);
      const lines = own.stderr().trim().split("\n").filter(Boolean);
      expect(lines.length).toBeLessThanOrEqual(1);
      expect(own.stderr()).not.toContain("    at ");
    },
  );

  test("with five wrong links in a minute waits, and who is signed in does not", async () => {
    const lea = await joined("Lea");
    const link = await invite(folder.path, "Moe", "staff");
    const mallory = visitor();
    let status = 0;
    // The minute may end in between.
    for (let i = 0; i < 12 && status !== 429; i += 1) {
      const answer = await mallory.post(`/join/${"B".repeat(42)}${i % 10}`);
      ({ status } = answer);
      if (status === 429) expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
    }
    expect(status).toBe(429);
    expect((await mallory.post(new URL(link).pathname)).status).toBe(429);
    await visitor().join(link);
    expect((await lea.get("/animals")).status).toBe(200);
  });
});
