/** What operators do on the console of the compiled executable, and who may not. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { hostname } from "node:os";
import { join } from "node:path";
import { temporaryFolder } from "../../test/helpers/binary.ts";
import { command } from "../../test/helpers/command.ts";
import { en } from "../../src/features/console/words/en.ts";
import { behindProxy, invite, serveConsole, Visitor } from "../../test/helpers/console.ts";
import { addresses } from "../../test/helpers/console-pages.ts";
import { childrenOf } from "../../test/helpers/family.ts";
import { rehomeAtTerminal } from "../../test/helpers/terminal.ts";
import type { RunningConsole } from "../../test/helpers/console.ts";
import { until } from "../../test/helpers/until.ts";
import { bound, isOnPostgres } from "../../test/helpers/store-under-test.ts";

const folder = temporaryFolder();
const data = ["--data", folder.path];
let server: RunningConsole;
let olga: Visitor;

beforeAll(async () => {
  server = await serveConsole(folder.path, behindProxy);
  olga = await new Visitor(server.console).join(await invite(folder.path, "Olga", "operator"));
});
afterAll(async () => {
  expect(await server.stop()).toBe(0);
  folder[Symbol.dispose]();
});

const free = { plan: "free", perMinute: "", perDay: "", expires: "" };

/** Makes a key on the console, and returns what its page shows. */
async function created(fields: Record<string, string>) {
  const answer = await olga.post("/keys/new", { ...free, ...fields });
  const page = await answer.text();
  expect([answer.status, page]).toEqual([200, expect.stringContaining("The key was created")]);
  return { page, secret: secretIn(page), path: pathIn(page) };
}

const secretIn = (page: string) => /value="(rehome_live_\w+)"/.exec(page)?.[1] ?? "";
const pathIn = (page: string) => /href="(\/keys\/key_\w+)"/.exec(page)?.[1] ?? "";
const textOf = async (path: string) => (await olga.get(path)).text();

/** The status that a request with the secret is answered with. */
async function asked(secret: string, body?: object): Promise<number> {
  await bound();
  const { status } = await fetch(`${server.origin}/v1/pets`, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return status;
}

interface ShownKey {
  readonly plan: string;
  readonly limits: { readonly perMinute: number };
  readonly access: string;
  readonly expiresAt: string | null;
  readonly state: string;
  readonly events: readonly { readonly actor: string; readonly action: string }[];
}

/** The key as the command line knows it. */
async function shown(path: string): Promise<ShownKey> {
  const { stdout } = await command(["keys", "show", path.replace("/keys/", ""), ...data, "--json"]);
  return JSON.parse(stdout) as ShownKey;
}

describe("a key", () => {
  test("is made, and its secret is shown this once", async () => {
    const { page, secret, path } = await created({ name: "the website" });
    // The answer to a choice of the language would be another page.
    expect(page).not.toContain('action="/language');
    expect(await asked(secret)).toBe(200);
    for (const each of ["/keys", path, "/health"]) {
      expect([each, (await textOf(each)).includes(secret)]).toEqual([each, false]);
    }
    expect(await textOf("/keys")).toContain("the website");
    expect((await shown(path)).events).toMatchObject([{ actor: "Olga", action: "create" }]);
    expect(`${server.stdout()}${server.stderr()}`).not.toContain(secret);
  });

  test("with the name of another key is not made, and says it beside the field", async () => {
    await created({ name: "only one" });
    const answer = await olga.post("/keys/new", { ...free, name: "only one" });
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain("This name is taken.");
    const { path } = await created({ name: "another one" });
    const renamed = await olga.post(path, { ...free, name: "only one" });
    expect(renamed.status).toBe(400);
    expect(await renamed.text()).toContain("This name is taken.");
  });

  test("whose name cannot be seen is found by its id", async () => {
    const args = ["keys", "create", "--plan", "free", "--name", "\u200B", ...data, "--json"];
    const { id } = JSON.parse((await command(args)).stdout) as { id: string };
    expect(await textOf("/keys")).toMatch(new RegExp(`<a href="[^"]*${id}">${id}</a>`));
    expect(await textOf(`/keys/${id}`)).toContain(`<h1>${id} `);
  });

  test("that is read-only says so, adds nothing, and is opened and closed again", async () => {
    const { secret, path } = await created({ name: "a reader", readOnly: "yes" });
    const add = () => asked(secret, { name: "Rex", categoryId: 1 });
    expect([await asked(secret), await add()]).toEqual([200, 403]);
    expect(await textOf("/keys")).toContain("read-only");
    expect(await textOf(path)).toMatch(/name="readOnly"\s+value="yes"\s+checked/);
    const fields = { ...free, name: "a reader" };
    expect(await olga.submit(path, fields)).toContain("Saved.");
    expect(await textOf(path)).not.toMatch(/name="readOnly"\s+value="yes"\s+checked/);
    expect([(await shown(path)).access, await add()]).toEqual(["read-write", 201]);
    await olga.submit(path, { ...fields, readOnly: "yes" });
    expect([(await shown(path)).access, await add()]).toEqual(["read-only", 403]);
  });

  test("gets another name, plan and end, and none again", async () => {
    const { path } = await created({ name: "for now" });
    const numbers = { plan: "enterprise", perMinute: "7", perDay: "70" };
    await olga.submit(path, { name: "for long", ...numbers, expires: "90d" });
    const changed = await shown(path);
    expect(changed).toMatchObject({ name: "for long", plan: "enterprise" });
    expect(changed.limits.perMinute).toBe(7);
    const days = (Date.parse(changed.expiresAt ?? "") - Date.now()) / 86_400_000;
    expect(days).toBeWithin(89.9, 90.1);
    const kept = { name: "for long", ...numbers };
    await olga.submit(path, { ...kept, expires: "" });
    expect((await shown(path)).expiresAt).toBe(changed.expiresAt);
    await olga.submit(path, { ...kept, expires: "never" });
    expect((await shown(path)).expiresAt).toBeNull();
    expect((await olga.post(path, { ...kept, expires: "someday" })).status).toBe(400);
  });

  test("gets a new secret, and the old one goes on for its grace", async () => {
    const { secret, path } = await created({ name: "turning" });
    const first = await (await olga.post(`${path}/rotate`, { grace: "1h" })).text();
    const second = secretIn(first);
    expect([await asked(secret), await asked(second)]).toEqual([200, 200]);
    const third = secretIn(await (await olga.post(`${path}/rotate`, { grace: "0" })).text());
    expect(await Promise.all([secret, second, third].map((each) => asked(each)))).toEqual([
      401, 401, 200,
    ]);
    expect((await olga.post(`${path}/rotate`, { grace: "long" })).status).toBe(400);
  });

  test("is revoked for good", async () => {
    const { secret, path } = await created({ name: "noisy" });
    expect(await asked(secret)).toBe(200);
    expect((await olga.post(`${path}/revoke`)).status).toBe(400);
    expect(await asked(secret)).toBe(200);
    expect(await olga.submit(`${path}/revoke`, { sure: "yes" })).toContain("revoked");
    expect(await asked(secret)).toBe(401);
    expect((await shown(path)).state).toBe("revoked");
    const page = await textOf(path);
    expect(page).not.toContain("Secrets");
  });

  test("is found by a part of its name or by its id, among many that come a page at a time", async () => {
    const all = Array.from({ length: 51 }, (_, at) => `Crówd ${at}`);
    for (const name of all) await created({ name });
    const names = (page: string) =>
      [...page.matchAll(/>(Crówd \d+)</g)].map(([, name = ""]) => name);
    const first = await textOf("/keys?q=crowd");
    expect(names(first)).toHaveLength(50);
    expect(first).toContain("51 of ");
    const [, older = ""] = /href="([^"]*)"\s*>Older</.exec(first) ?? [];
    const last = await textOf(older.replaceAll("&amp;", "&"));
    // Those of the same millisecond have no order of their own.
    expect([...names(first), ...names(last)].toSorted()).toEqual(all.toSorted());
    expect(names(last)).not.toEqual(["Crówd 50"]);
    expect(last).not.toContain(">Older<");
    expect(last).toMatch(/href="\/keys\?q=crowd"\s*>Newest</);
    const [id = ""] = /key_\w+/.exec(last) ?? [];
    expect(names(await textOf(`/keys?q=${id}`))).toEqual(names(last));
    expect(names(await textOf("/keys?q=nobody"))).toEqual([]);
    expect(names(await textOf("/keys"))).toHaveLength(50);
  });
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

test("Health makes a backup that can be downloaded, where the data are in a folder", async () => {
  const press = () => olga.post("/health/backup");
  // At once and right behind one another: names that tell seconds do not collide.
  const [made, ...others] = [
    ...(await Promise.all([press(), press()])),
    await press(),
    await press(),
  ];
  const statuses = [made, ...others].map((each) => each?.status);
  expect(statuses).toEqual(statuses.map(() => (isOnPostgres ? 404 : 303)));
  if (isOnPostgres) return;
  const page = await textOf(made?.headers.get("location") ?? "");
  expect(page).toContain("The backup was made.");
  const paths = page.match(/\/health\/backup\/rehome-[\w-]*\d{8}T\d{6}Z(?:-\d)?\.db/g) ?? [];
  expect(paths).toHaveLength(3);
  const [path = ""] = paths;
  const file = await olga.get(path);
  expect(file.headers.get("content-disposition")).toContain("attachment");
  expect((await file.text()).slice(0, 15)).toBe("SQLite format 3");
  for (const name of ["..%2Frehome.db", "rehome.db", "rehome-2026.db%00"]) {
    expect((await olga.get(`/health/backup/${name}`)).status).toBe(404);
  }
});

describe("People", () => {
  const linkIn = (page: string) => /value="(http[^"]+\/join\/[\w-]{43})"/.exec(page)?.[1] ?? "";
  const pathOf = async (name: string) => {
    const { stdout } = await command(["people", "list", ...data, "--json"]);
    const all = JSON.parse(stdout) as { id: string; name: string }[];
    return `/people/${all.find((each) => each.name === name)?.id}`;
  };

  test("are listed with whole ids on a terminal of 50 cells", async () => {
    const { screen } = await rehomeAtTerminal(["people", "list", ...data], { columns: 50 });
    expect(screen).toMatch(/^per_[a-z0-9]{12} {2}/m);
    for (const line of screen.split(/\r?\n/)) {
      expect(Bun.stringWidth(Bun.stripANSI(line))).toBeLessThanOrEqual(50);
    }
  });

  test("invites, shows the link this once, and removes at once", async () => {
    const page = await (await olga.post("/people", { name: "Uma", role: "staff" })).text();
    // Another device cannot open this address, nor scan it.
    expect(page).toContain("Only this computer can open this link.");
    expect(page).not.toContain("The link as a QR code");
    const host = hostname().toLowerCase();
    const elsewhere = await olga.post("/link", {}, { host, origin: `http://${host}` });
    expect(await elsewhere.text()).toContain('aria-label="The link as a QR code"');
    expect(page).not.toContain('action="/language');
    const link = linkIn(page);
    const people = await textOf("/people");
    expect(people).not.toContain(link.slice(-43));
    for (const name of ["New link: Uma", "Remove: Uma"]) {
      expect(people).toContain(`aria-label="${name}"`);
    }
    const uma = await new Visitor(server.console).join(link);
    expect((await uma.get("/animals")).status).toBe(200);

    const path = await pathOf("Uma");
    const second = linkIn(await (await olga.post(`${path}/invite`)).text());
    const phone = await new Visitor(server.console).join(second);
    expect(await olga.submit(`${path}/remove`)).toContain("This person was removed");
    expect((await uma.get("/animals")).status).toBe(401);
    expect((await phone.get("/animals")).status).toBe(401);
    expect((await olga.post(`${path}/invite`)).status).toBe(404);
  });

  test.each(["the console", "a command"])("removes with somebody their list: by %s", async (by) => {
    const [pid] = childrenOf(server);
    const place = isOnPostgres ? tmpdir() : folder.path;
    const isOurs = (name: string) =>
      name.startsWith("rehome-console-uploads-") && name.includes(`-${pid}-`);
    const uploads = join(place, readdirSync(place).find(isOurs) ?? "");
    const upa = await new Visitor(server.console).join(await invite(folder.path, "Upa", "staff"));
    const form = new FormData();
    form.set("file", new File(["name,categoryId,status\nRex,1,sold\n"], "a.csv"));
    await upa.submit("/import", form);
    expect(readdirSync(uploads)).not.toEqual([]);
    if (by === "a command") await command(["people", "remove", "Upa", ...data]);
    else await olga.submit(`${await pathOf("Upa")}/remove`);
    await until(() => readdirSync(uploads).length === 0);
  });

  test("lets nobody remove themselves", async () => {
    expect((await olga.post(`${await pathOf("Olga")}/remove`)).status).toBe(404);
    expect((await olga.get("/people")).status).toBe(200);
  });
});

test("staff are refused at each of the operators' addresses, and nothing is done", async () => {
  const link = await invite(folder.path, "Stan", "staff");
  const stan = await new Visitor(server.console).join(link);
  const { path } = await created({ name: "out of reach" });
  const mine = addresses().operators;
  expect(mine.length).toBeGreaterThan(12);
  for (const route of mine) {
    const own = route.path.replace(":id", path.slice(6)).replace(":name", "rehome-2026.db");
    const fields = { ...free, name: "Mallory", role: "operator", sure: "yes", for: "1h" };
    const answer = await (route.method === "GET" ? stan.get(own) : stan.post(own, fields));
    expect([route.method, own, answer.status]).toEqual([route.method, own, 403]);
    const page = await answer.text();
    expect(page).toContain("Only operators may see this.");
    expect(page).not.toContain('href="/keys"');
  }
  expect(await shown(path)).toMatchObject({ name: "out of reach", state: "active" });
  const { stdout } = await command(["people", "list", ...data, "--json"]);
  expect(stdout).not.toContain("Mallory");
});
