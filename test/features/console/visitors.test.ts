/** Who is let in to the console and for how long, what is refused, and what is kept of failures. */
import { beforeEach, expect, test } from "bun:test";
import { randomBytes } from "../../../src/cli/open.ts";
import type { AnimalActions } from "../../../src/features/console/animals.ts";
import { PeopleService, type PersonRole } from "../../../src/features/console/people.ts";
import { failure as failureOf, languages } from "../../../src/features/console/words/index.ts";
import { dayMs, minuteMs } from "../../../src/domain/clock.ts";
import { AppError } from "../../../src/domain/errors.ts";
import type { Store } from "../../../src/storage/contract.ts";
import { asking, cookieOf, site, type Ask } from "../../helpers/console-pages.ts";
import { openForEach } from "../../helpers/stores.ts";

const { words: en } = languages.en;

let nowMs: number;
let people: PeopleService;
let store: Store;
let failure: Error | undefined;
const reported: unknown[] = [];
const warned: string[] = [];

const clock = () => nowMs;
beforeEach(() => void (nowMs = 20_000 * dayMs));
const begin = (opened: Store) => {
  store = opened;
  failure = undefined;
  for (const list of [reported, warned]) list.length = 0;
  people = new PeopleService(store.db, clock, randomBytes);
};
openForEach(begin, clock);

/** A browser of requests, which keeps no cookies. */
function visitor(publicOrigin?: string) {
  const fail = async () => Promise.reject(failure ?? new Error("nothing was to fail"));
  return asking({
    // Pages that need no animals are shown; the others fail as a test wants it.
    actions: {
      clock: () => nowMs,
      people,
      animals: {
        recentChanges: fail,
        recordById: fail,
        categories: async () => [],
        formerCategories: async () => [],
        countedCategories: async () => [],
      } as unknown as AnimalActions,
    },
    publicOrigin,
    report: (error) => reported.push(error),
    refused: (message) => warned.push(message),
  });
}

const join = (ask: Ask, token: string, more: object = {}) =>
  ask(`/join/${token}`, { method: "POST", ...more });
const cookies = (answer: Response) => ({ headers: { cookie: cookieOf(answer) } });
async function joined(ask: Ask, name: string, role: PersonRole = "staff") {
  return cookies(await join(ask, (await people.invite(name, role, "tester")).token));
}
/** Somebody comes in once more, by a new link. */
async function again(ask: Ask, name: string) {
  const answer = await join(ask, await people.link((await people.resolve(name)).id));
  return { ...cookies(answer), to: answer.headers.get("location") ?? "" };
}

test("a session ends 30 days after its last day of use, and its cookie with it", async () => {
  const ask = visitor();
  const ana = await joined(ask, "Ana");
  nowMs += dayMs - 1;
  expect((await ask("/sign-out", ana)).headers.getSetCookie()).toEqual([]);
  nowMs += 1;
  const renewed = await ask("/sign-out", ana);
  expect(cookieOf(renewed)).toBe(ana.headers.cookie);
  expect(renewed.headers.getSetCookie()).toEqual([
    expect.stringMatching(/; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Strict$/),
  ]);
  nowMs += 30 * dayMs - 1;
  expect((await ask("/sign-out", ana)).status).toBe(200);
  const seenAtMs = nowMs;
  nowMs += 30 * dayMs;
  expect((await ask("/sign-out", ana)).status).toBe(401);
  // What was refused is no visit.
  await joined(ask, "Ben");
  expect(await people.list()).toMatchObject([{ name: "Ana", seenAtMs }, { name: "Ben" }]);
});

test("a session that ended lately keeps the form for its person's next link; no other one does", async () => {
  const ask = visitor();
  const ana = await joined(ask, "Ana");
  const fields = { name: 'Gatos "<b>"' };
  const send = async (headers: Readonly<Record<string, string>>) => {
    const response = await ask("/categories", { headers, fields });
    expect(response.status).toBe(401);
    return (await response.text()).includes(en.signedOut.waits);
  };
  nowMs += 30 * dayMs;
  expect(await send(ana.headers)).toBe(true);
  const back = await again(ask, "Ana");
  expect(back.to).toBe("/categories");
  const page = await (await ask(back.to, back)).text();
  expect(page).toContain('value="Gatos &quot;&lt;b&gt;&quot;"');
  expect(page).toContain(en.signedOut.waited);
  // It was shown, and is theirs to send.
  expect((await again(ask, "Ana")).to).toBe("/animals");

  const ben = await joined(ask, "Ben");
  const cid = await joined(ask, "Cid");
  const eve = await joined(ask, "Eve");
  const out = await ask("/sign-out", { ...ben, method: "POST" });
  expect([out.status, cookieOf(out)]).toEqual([303, "rehome_console="]);
  await people.remove((await people.resolve("Cid")).id);
  nowMs += 31 * dayMs;
  const unknown = { cookie: `rehome_console=${"A".repeat(43)}` };
  for (const headers of [eve.headers, ben.headers, cid.headers, unknown, {}]) {
    expect(await send(headers)).toBe(false);
  }
  expect((await again(ask, "Eve")).to).toBe("/animals");
});

test("a session that is wrong is counted by its address, and taken away from the browser", async () => {
  const ask = visitor();
  const ana = await joined(ask, "Ana");
  // With a link on another site a browser sends none: the one that it has stays.
  expect((await ask("/sign-out")).headers.getSetCookie()).toEqual([]);
  const wrong = ["A".repeat(43), "half", "B".repeat(43), "C".repeat(43), "%00"];
  for (const secret of wrong) {
    const answer = await ask("/sign-out", { headers: { cookie: `rehome_console=${secret}` } });
    expect([answer.status, cookieOf(answer)]).toEqual([401, "rehome_console="]);
  }
  const again = { headers: { cookie: `rehome_console=${"D".repeat(43)}` } };
  const answer = await ask("/sign-out", again);
  expect([answer.status, answer.headers.get("retry-after")]).toEqual([429, "60"]);
  expect(warned).toEqual(["Too many wrong sessions from 192.168.1.5."]);
  expect((await ask("/sign-out", { ...again, address: "192.168.1.6" })).status).toBe(401);
  expect((await ask("/sign-out", ana)).status).toBe(200);
});

test("an invitation is good once, for 7 days", async () => {
  const ask = visitor();
  const first = await people.invite("Ana", "staff", "tester");
  const second = await people.invite("Ben", "staff", "tester");
  nowMs += 7 * dayMs - 1;
  const ana = await join(ask, first.token);
  expect([ana.status, (await join(ask, first.token)).status]).toEqual([303, 404]);
  const again = await ask(`/join/${first.token}`, cookies(ana));
  expect(await again.text()).toContain('<a href="/animals">I am signed in: open the page</a>');
  expect((await people.resolve("Ana")).invitedUntilMs).toBeNull();
  expect((await people.resolve("Ben")).invitedUntilMs).toBe(nowMs + 1);
  nowMs += 1;
  for (const method of ["GET", "POST"]) {
    expect((await join(ask, second.token, { method })).status).toBe(404);
  }
  expect((await people.resolve("Ben")).invitedUntilMs).toBeNull();
  const page = await (await ask("/people", await joined(ask, "Olga", "operator"))).text();
  expect(page.match(new RegExp(en.people.lapsed, "g"))).toHaveLength(1);
});

test("an invitation is not found by trying: five wrong links in a minute, and the next one waits", async () => {
  const ask = visitor();
  const { token } = await people.invite("Ana", "staff", "tester");
  for (let at = 0; at < 5; at += 1) {
    expect((await ask(`/join/${"A".repeat(42)}${at}`)).status).toBe(404);
  }
  for (const method of ["GET", "POST"]) {
    expect((await join(ask, token, { method })).status).toBe(429);
  }
  nowMs += minuteMs;
  // A program that checks links asks for HEAD, which takes nothing.
  expect((await join(ask, token, { method: "HEAD" })).status).toBe(200);
  expect((await join(ask, token)).status).toBe(303);
});

test("an invitation begins a session of its own, whatever the browser brought, and ends the earlier links", async () => {
  const ask = visitor();
  const { token, person } = await people.invite("Eva", "staff", "tester");
  const second = await people.link(person.id);
  expect((await join(ask, token)).status).toBe(404);
  const headers = { cookie: `rehome_console=${"A".repeat(43)}` };
  const joined = await join(ask, second, { headers });
  expect(cookieOf(joined)).not.toBe(headers.cookie);
  expect((await ask("/sign-out", { headers })).status).toBe(401);
});

test("an invitation of a name is for another person once the first one is removed", async () => {
  const { person } = await people.invite("Ana", "operator", "tester");
  expect(await people.resolve(person.id)).toMatchObject({ name: "Ana" });
  await people.remove(person.id);
  // Another operator pressed New link at the same time.
  expect(await people.invited(await people.link(person.id))).toBeUndefined();
  const { token } = await people.invite("Ana", "staff", "tester");
  expect(await people.invited(token)).toMatchObject({ name: "Ana", role: "staff" });
  expect(await people.list()).toHaveLength(1);
});

test("an invitation of one name succeeds once, also of several at the same time", async () => {
  const all = await Promise.allSettled(
    Array.from({ length: 6 }, () => people.invite("Dup", "staff", "tester")),
  );
  const refused = all.filter((each) => each.status === "rejected");
  expect(refused).toHaveLength(5);
  for (const { reason } of refused) expect(reason).toMatchObject({ code: "personNameTaken" });
  expect(await people.list()).toMatchObject([{ name: "Dup" }]);
});

test.each([
  [undefined, "https://127.0.0.1:8090"],
  ["https://pets.example.org", "https://pets.example.org"],
])(
  "an invitation has the address that people use (%p), with HTTPS where a proxy speaks it",
  async (at, origin) => {
    const ask = visitor(at);
    const { token } = await people.invite("Olga", "operator", "tester");
    const answer = await join(ask, token, { headers: { origin }, isSecure: true });
    expect(answer.headers.getSetCookie().join()).toMatch(
      /^__Host-rehome_console=.*; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
    );
    const headers = { origin, cookie: cookieOf(answer) };
    const fields = { name: " Ben ", role: "staff" };
    const page = await ask("/people", { headers, isSecure: true, fields });
    expect(await page.text()).toContain(`value="${origin}/join/`);
    expect((await people.resolve("Ben")).role).toBe("staff");
  },
);

test("a form comes from a page at the address that people use, or at the listener's", async () => {
  const send = async (publicOrigin: string | undefined, origin: string, isSecure = false) => {
    const headers = { origin };
    return (await visitor(publicOrigin)("/sign-out", { method: "POST", headers, isSecure })).status;
  };
  expect(await send("https://pets.example.org", "https://pets.example.org")).toBe(401);
  expect(await send("https://pets.example.org", site)).toBe(401);
  expect(await send("https://pets.example.org", "http://pets.example.org")).toBe(403);
  expect(await send(undefined, "https://127.0.0.1:8090", true)).toBe(401);
  expect(await send(undefined, site, true)).toBe(403);
  expect(warned).toHaveLength(2);
  expect(warned[0]).toStartWith("A request from 192.168.1.5 was refused: ");
});

test("a method that an address does not have gets 405 with those that it has", async () => {
  const ask = visitor();
  const ana = await joined(ask, "Ana");
  const answer = await ask("/sign-out", {
    headers: { ...ana.headers, origin: site },
    method: "PUT",
  });
  expect([answer.status, answer.headers.get("allow")]).toEqual([405, "GET, HEAD, POST, OPTIONS"]);
  const head = await ask("/animals/1/remove", { ...ana, method: "HEAD" });
  expect([head.status, head.headers.get("location")]).toEqual([303, "/animals/1"]);
});

test.each([
  ["a failure", new Error("the disk is on fire"), 500, true],
  ["a store that is away", new AppError("unavailable", "The store is locked."), 503, true],
  ["what a person did", new AppError("invalid_request", "Not so."), 400, false],
  ["what a person waits for", failureOf("unavailable", "uploading"), 503, false],
])("%s is in the log or not, as it is the service's or not", async (_, error, status, isOurs) => {
  const ask = visitor();
  const ana = await joined(ask, "Ana");
  failure = error;
  const answer = await ask("/changes", ana);
  expect([answer.status, reported]).toEqual([status, isOurs ? [error] : []]);
  const page = await answer.text();
  expect(page).not.toContain("on fire");
  expect(page.includes(en.failures.later)).toBe(status === 503);
});
