/** What operators do on the console of the compiled executable, and who may not. */
import { beforeAll, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { callerOf } from "../../test/helpers/ask.ts";
import { command } from "../../test/helpers/command.ts";
import { languages } from "../../src/features/console/words/index.ts";
import { consoleForAll, type Visitor } from "../../test/helpers/console.ts";
import { addresses } from "../../test/helpers/console-pages.ts";
import { until } from "../../test/helpers/until.ts";

const { words: en } = languages.en;

const own = consoleForAll();
const data = ["--data", own.path];
let olga: Visitor;
beforeAll(async () => void (olga = await own.joined("Olga", "operator")));

const free = { plan: "free", perMinute: "", perDay: "", expires: "" };

const secretIn = (page: string) => /value="(rehome_live_\w+)"/.exec(page)?.[1] ?? "";
const pathIn = (page: string) => /href="(\/keys\/key_\w+)"/.exec(page)?.[1] ?? "";
const textOf = async (path: string) => (await olga.get(path)).text();

/** The status that a request with the secret is answered with. */
async function asked(secret: string, isCreate = false): Promise<number> {
  const { get, create } = callerOf(own.server, secret);
  return (await (isCreate ? create() : get())).status;
}

/** The key as the command line knows it. */
async function shown(path: string) {
  const { stdout } = await command(["keys", "show", path.replace("/keys/", ""), ...data, "--json"]);
  return JSON.parse(stdout) as { readonly state: string };
}

test("a key is made, its secret shown this once, moved to another plan, given another secret and revoked", async () => {
  const made = await (
    await olga.post("/keys/new", { ...free, name: "reader", readOnly: "yes" })
  ).text();
  const [first, path] = [secretIn(made), pathIn(made)];
  // The answer to a choice of the language would be another page.
  expect(made).not.toContain('action="/language');
  expect([await asked(first), await asked(first, true)]).toEqual([200, 403]);
  for (const each of ["/keys", path, "/health"]) {
    expect([each, (await textOf(each)).includes(first)]).toEqual([each, false]);
  }
  expect(await textOf("/keys")).toContain("read-only");
  expect(`${own.server.stdout()}${own.server.stderr()}`).not.toContain(first);

  const numbers = { plan: "enterprise", perMinute: "70", perDay: "700" };
  expect(await olga.submit(path, numbers)).toContain("Saved.");
  expect(await shown(path)).toMatchObject({ name: "reader", limits: { perMinute: 70 } });

  const rotation = await olga.post(`${path}/rotate`, { grace: "0" });
  const second = secretIn(await rotation.text());
  expect([await asked(first), await asked(second)]).toEqual([401, 200]);
  expect((await olga.post(`${path}/revoke`)).status).toBe(400);
  expect(await asked(second)).toBe(200);
  expect(await olga.submit(`${path}/revoke`, { sure: "yes" })).toContain("revoked");
  expect([await asked(second), (await shown(path)).state]).toEqual([401, "revoked"]);
});

test("Health tells what doctor finds", async () => {
  const page = await textOf("/health");
  const { stdout } = await command(["doctor", ...data, "--port", "1", "--json"]);
  const { checks } = JSON.parse(stdout) as { checks: { check: string }[] };
  expect(checks.length).toBeGreaterThan(3);
  for (const { check } of checks) {
    const [title] = en.health.checks[check] ?? [check];
    expect(page).toContain(`<strong>${title}</strong>`);
  }
});

describe("People", () => {
  const pathOf = async (name: string) => {
    const { stdout } = await command(["people", "list", ...data, "--json"]);
    const all = JSON.parse(stdout) as { id: string; name: string }[];
    return `/people/${all.find((each) => each.name === name)?.id}`;
  };

  test("get a link that is shown this once, with a code where other devices can open it", async () => {
    const page = await (await olga.post("/people", { name: "Uma", role: "staff" })).text();
    expect(page).toContain("Only this computer can open this link.");
    expect(page).not.toContain("The link as a QR code");
    expect(page).not.toContain('action="/language');
    const [, secret = "-"] = /\/join\/([\w-]{43})"/.exec(page) ?? [];
    expect(await textOf("/people")).not.toContain(secret);
    const host = hostname().toLowerCase();
    const elsewhere = await olga.post("/link", {}, { host, origin: `http://${host}` });
    expect(await elsewhere.text()).toContain('aria-label="The link as a QR code"');
  });

  test.each(["the console", "a command"])("removes with somebody their list: by %s", async (by) => {
    const place = own.path;
    const uploads = () =>
      readdirSync(place).filter((name) => name.startsWith("rehome-console-upload-"));
    const others = uploads();
    const upa = await own.joined("Upa");
    const form = new FormData();
    form.set("file", new File(["name,categoryId,status\nRex,1,sold\n"], "a.csv"));
    await upa.submit("/import", form);
    const [theirs = ""] = uploads().filter((each) => !others.includes(each));
    expect(readdirSync(join(place, theirs))).toContain("list");
    if (by === "a command") await command(["people", "remove", "Upa", ...data]);
    else await olga.submit(`${await pathOf("Upa")}/remove`);
    await until(() => !uploads().includes(theirs));
  });

  test("lets nobody remove themselves", async () => {
    expect((await olga.post(`${await pathOf("Olga")}/remove`)).status).toBe(404);
    expect((await olga.get("/people")).status).toBe(200);
  });
});

test("staff are refused at each of the operators' addresses, and nothing is done", async () => {
  const stan = await own.joined("Stan");
  const path = pathIn(
    await (await olga.post("/keys/new", { ...free, name: "out of reach" })).text(),
  );
  const mine = addresses().operators;
  expect(mine.length).toBeGreaterThan(10);
  for (const route of mine) {
    const at = route.path.replace(":id", path.slice(6));
    const fields = { ...free, name: "Mallory", role: "operator", sure: "yes", for: "1h" };
    const answer = await (route.method === "GET" ? stan.get(at) : stan.post(at, fields));
    expect([route.method, at, answer.status]).toEqual([route.method, at, 403]);
    const page = await answer.text();
    expect(page).toContain("Only operators may see this.");
    expect(page).not.toContain('href="/keys"');
  }
  expect(await shown(path)).toMatchObject({ name: "out of reach", state: "active" });
  const { stdout } = await command(["people", "list", ...data, "--json"]);
  expect(stdout).not.toContain("Mallory");
});
