import { afterEach, expect, test } from "bun:test";
import { deskOf } from "../animals/animals-of.ts";
import { historyOf } from "../../../src/features/animals/animals.ts";
import { undoChange } from "../../../src/features/animals/undo.ts";
import { dayMs, hourMs, minuteMs } from "../../../src/domain/clock.ts";
import {
  findFollowed,
  follow,
  type NewSource,
  pull,
  type Pulling,
  setSource,
  stateOf,
  updateSource,
  waitingWords,
  withdrawHeld,
} from "../../../src/features/sources/pull.ts";
import { message } from "../../../src/features/import/messages.ts";
import { setJob } from "../../../src/features/schedule/jobs.ts";
import type { Tx } from "../../../src/storage/database.ts";
import { TestClock } from "../../helpers/app.ts";
import { random as randomOf } from "../../../scripts/random.ts";
import { openTestStore } from "../../helpers/store-under-test.ts";

const servers: { stop(force: boolean): unknown }[] = [];
afterEach(() => servers.splice(0).forEach((server) => void server.stop(true)));

interface Listed {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly category?: string;
}

const csv = (animals: readonly Listed[]) =>
  [
    "Tag,Name,Species,State",
    ...animals.map(({ id, name, status, category = "Dog" }) => [id, name, category, status].join()),
  ].join("\n");

const reading = {
  format: "map",
  columns: { name: "Name", categoryId: "Species", status: "State", externalId: "Tag" },
  statuses: {},
  source: "north",
};

/** A followed list of a fake source, which responds as `respond` says. */
async function followedList(changes: Partial<NewSource> = {}) {
  const clock = new TestClock();
  const { db } = await openTestStore({ clock: clock.read });
  const categories = [{ id: 1n, name: "Dog", nameKey: "dog" }];
  await db.transaction((tx) => tx.insertAll(tx.t.categories, categories));
  const fake = { respond: (_request: Request): Response | Promise<Response> => new Response("") };
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (asked) => fake.respond(asked),
  });
  servers.push(server);
  const pulling: Pulling = { db, clock: clock.read, allowPrivate: true };
  const url = `http://127.0.0.1:${server.port}/list.csv`;
  const made = { createdAtMs: 0, createdBy: "Kim" };
  const source = { name: "north", url, reading, ...made, ...changes };
  await db.transaction((tx) => follow(tx, source, hourMs, clock.nowMs));
  const responding = (respond: typeof fake.respond) => {
    fake.respond = respond;
    return pull(pulling, "north");
  };
  const listed = (animals: readonly Listed[]) => responding(() => new Response(csv(animals)));
  const animals = () =>
    db.read(async (tx) => {
      const { pets } = tx.t;
      const rows = await tx.select().from(pets).orderBy(pets.id);
      return rows.map(({ externalId, status }) => `${externalId?.replace("north:", "")} ${status}`);
    });
  const list = () => db.read((tx) => findFollowed(tx, "north"));
  const job = async () => (await list()).job;
  const withdraw = () => withdrawHeld({ db, clock: clock.read, actor: "Kim" }, "north");
  return { animals, clock, db, fake, job, list, listed, pulling, responding, withdraw };
}

const dogs = (count: number, status = "available"): Listed[] =>
  Array.from({ length: count }, (_, at) => ({ id: `d${at + 1}`, name: `Dog ${at + 1}`, status }));
const dog = (id: string, status: string, category = "Dog"): Listed => {
  return { id, name: `Dog ${id.slice(1)}`, status, category };
};

test.each([
  [
    "is imported, and what it does not have any more is withdrawn",
    {},
    dogs(4),
    [...dogs(3), dog("d9", "pending")],
    { problem: undefined, added: 1, withdrawn: 1 },
    ["d1 available", "d2 available", "d3 available", "d9 pending"],
  ],
  [
    "that is not whole withdraws nobody",
    { complete: 0 },
    dogs(2),
    dogs(1),
    { problem: undefined, withdrawn: 0 },
    ["d1 available", "d2 available"],
  ],
  [
    // Nobody knows whether d3 is for adoption.
    "with a new word and a new category has rows in error, which protect their animals",
    {},
    dogs(5),
    [...dogs(2), dog("d3", "zwischenstation"), dog("d4", "available", "Axolotl")],
    { problem: { code: "rowsWrong" }, rejected: 2, withdrawn: 1 },
    ["d1 available", "d2 available", "d3 null", "d4 available"],
  ],
  [
    "with a row in error without an id withdraws nobody",
    {},
    dogs(3),
    [...dogs(2).slice(1), dog("", "zwischenstation")],
    { problem: { code: "wordsWait" }, withdrawn: 0 },
    ["d1 available", "d2 available", "d3 available"],
  ],
  [
    "makes new categories if that was agreed to",
    { createsCategories: 1 },
    dogs(1),
    [...dogs(1), dog("c1", "available", "Cat")],
    { problem: undefined, added: 1 },
    ["d1 available", "c1 available"],
  ],
  [
    "that lacks its only animal holds that",
    {},
    dogs(1),
    [dog("d5", "available")],
    { problem: message("withdrawalsWait", "1"), added: 1 },
    ["d1 available", "d5 available"],
  ],
])("a list %s", async (_what, changes, first, next, expected, left) => {
  const { animals, job, listed } = await followedList(changes);
  expect(await listed(first)).toMatchObject({ problem: undefined, added: first.length });
  expect(await job()).toMatchObject({ problem: null, failures: 0 });
  expect(await listed(next)).toMatchObject(expected);
  expect(await animals()).toEqual(left);
});

test("what is wrong changes nothing and is shown, until the source may be asked again", async () => {
  const { animals, clock, job, listed, responding } = await followedList();
  await listed(dogs(2));
  const renamed = () => new Response("Tag,Name,Kind,State\nd1,Rex,Dog,available");
  expect(await responding(renamed)).toBeInstanceOf(Error);
  expect(await animals()).toHaveLength(2);
  const text = expect.stringContaining("Species");
  const nextAtMs = clock.nowMs + minuteMs;
  expect(await job()).toMatchObject({ problem: { text }, failures: 1, nextAtMs });
  const headers = { "Retry-After": "7200" };
  await responding(() => new Response("", { status: 429, headers }));
  expect((await job()).nextAtMs).toBe(clock.nowMs + 2 * hourMs);
});

test("words that came later are named with their animals, and explained once for all pulls", async () => {
  const { animals, clock, db, job, list, listed } = await followedList();
  await listed(dogs(4));
  const words = async () => waitingWords((await list()).source);
  const stray = dog("d4", "Kitten Korner");
  // Of other errors the first is named.
  const bad = { ...dog("d3", "available"), name: "#REF!" };
  const problem = message("rowsWrong", "2", "4", "4", "Name", "d3");
  expect(await listed([...dogs(2), bad, stray])).toMatchObject({ problem });
  const waits = message("wordsWait", "1", '"Kitten Korner"');
  expect(await listed([...dogs(3), stray])).toMatchObject({ problem: waits });
  expect(await words()).toEqual([{ word: "Kitten Korner", animals: 1 }]);
  const statuses = new Map([["kitten korner", "available" as const]]);
  await db.transaction((tx) => setSource(tx, "north", statuses, clock.nowMs));
  expect(await words()).toEqual([]);
  expect((await job()).nextAtMs).toBe(clock.nowMs);
  const explained = { problem: undefined, updated: 1, kept: 0 };
  expect(await listed([...dogs(3), stray])).toMatchObject(explained);
  expect(stateOf(await list())).toBe("ok");
  expect(await animals()).toEqual(dogs(4).map(({ id }) => `${id} available`));
});

test("words that came later that most of the available have make the list wait, and are named", async () => {
  const { animals, list, listed } = await followedList();
  await listed(dogs(3));
  const strange = dogs(3, "zwischenstation").slice(1);
  expect(await listed([...dogs(1), ...strange])).toBeInstanceOf(Error);
  expect(await animals()).toEqual(dogs(3).map(({ id }) => `${id} available`));
  const words = waitingWords((await list()).source);
  expect(words).toEqual([{ word: "zwischenstation", animals: 2 }]);
});

/** A source whose response ends with its connection. */
function endless(text: string): string {
  const head = "HTTP/1.1 200 OK\r\nContent-Type: text/csv\r\nConnection: close\r\n\r\n";
  const data = (socket: Bun.Socket) => void socket.end(`${head}${text}`);
  const cut = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data } });
  servers.push(cut);
  return `http://127.0.0.1:${cut.port}/`;
}

const rows = dogs(3).map(({ id, name, status }) => {
  return { Tag: id, Name: name, Species: "Dog", State: status };
});
const withHeader = (name: string, value: string) => () =>
  new Response(csv(dogs(3)), { headers: { [name]: value } });
test.each([
  [
    "it says so",
    () => ({ reading: { ...reading, records: ["animals"] } }),
    () => Response.json({ animals: rows, has_more: true }),
  ],
  [
    "a link leads on",
    () => ({ reading }),
    withHeader("Link", '</list?page=1>; rel="prev", </list?page=3>; rel="next"'),
  ],
  ["there are more pages", () => ({ reading }), withHeader("X-WP-TotalPages", "2")],
  ["nothing says where it ends", () => ({ url: endless(csv(dogs(3))) }), () => new Response()],
])("a list withdraws nobody where %s", async (_what, changes, respond) => {
  const { animals, db, job, listed, responding } = await followedList();
  await listed(dogs(4));
  await db.transaction((tx) => updateSource(tx, "north", changes()));
  const problem = { code: "withdrawalsUnsure", values: ["1", expect.any(String)] };
  expect(await responding(respond)).toMatchObject({ problem, withdrawn: 0 });
  expect((await job()).problem?.text).toContain("may not be whole");
  expect(await animals()).toHaveLength(4);
});

test("a part of a list of which no record can be read is a failure", async () => {
  const { job, listed, responding } = await followedList();
  await listed(dogs(4));
  const unread = csv(dogs(3).map((each) => ({ ...each, name: "#REF!" })));
  const page = new Response(unread, { headers: { Link: '</list?page=2>; rel="next"' } });
  expect(await responding(() => page)).toMatchObject({ problem: { code: "noneTaken" } });
  expect(await job()).toMatchObject({ failures: 1 });
});

test("names are read by the encoding that the source says, but for UTF-8", async () => {
  const { db, responding } = await followedList();
  const headers = { "Content-Type": "text/csv; charset=windows-1250" };
  const row = "Tag,Name,Species,State\nd1,Bo\u0159ek,Dog,available\n";
  const names = async () =>
    db.read(async (tx) => (await tx.select().from(tx.t.pets)).map(({ name }) => name));
  await responding(() => new Response(row, { headers }));
  expect(await names()).toEqual(["Bo\u0159ek"]);
  // r with caron is F8 in windows-1250.
  const bytes = Uint8Array.from(row.replace("Bo", "Bu"), (letter) =>
    letter === "\u0159" ? 0xf8 : letter.charCodeAt(0),
  );
  await responding(() => new Response(bytes, { headers }));
  expect(await names()).toEqual(["Bu\u0159ek"]);
  // One that says UTF-8 and is not is guessed, as a file is.
  const utf8 = { headers: { "Content-Type": "text/csv; charset=UTF-8" } };
  expect(await responding(() => new Response(bytes.slice(), utf8))).not.toBeInstanceOf(Error);
});

test("a pull does not take back what people changed, unless the list is to win", async () => {
  const { animals, clock, db, listed, pulling } = await followedList();
  await listed(dogs(2));
  const desk = deskOf({ db, clock: clock.read, actor: "Ana" });
  await desk.animals.update([1n], { status: "sold" });
  const changed = [...dogs(1), { id: "d2", name: "Dog 2", status: "pending" }];
  expect(await listed(changed)).toMatchObject({
    updated: 1,
    kept: 1,
    text: expect.stringContaining('"Dog 1": kept as people changed it by Ana'),
  });
  expect(await animals()).toEqual(["d1 sold", "d2 pending"]);
  expect(await pull(pulling, "north")).toBe("unchanged");
  expect(await pull(pulling, "north", { listWins: true })).toMatchObject({ updated: 1 });
  expect(await animals()).toEqual(["d1 available", "d2 pending"]);
});

test("withdrawals of more than half wait for a person, who carries out those that were shown", async () => {
  const { animals, db, job, listed, withdraw } = await followedList();
  await listed(dogs(10));
  const next = [...dogs(4), dog("d20", "available")];
  expect(await listed(next)).toMatchObject({
    problem: message("withdrawalsWait", "6"),
    withdrawn: 0,
    added: 1,
  });
  expect(await animals()).toHaveLength(11);
  expect((await job()).problem?.text).toContain("6 withdrawals");
  expect(await withdraw()).toBe(6);
  expect(await animals()).toHaveLength(5);
  expect(await withdraw()).toBeUndefined();
  const { events } = await historyOf(db, 10n);
  expect(events.map(({ actor, did }) => [actor, did])).toEqual([["Kim", "removed"]]);
  // It is forgotten once the list has the animal.
  expect(await listed([...next, ...dogs(5).slice(4)])).toMatchObject({ added: 1, kept: 0 });
});

test("withdrawals of more than half within a day count together", async () => {
  const { clock, listed } = await followedList();
  await listed(dogs(10));
  for (const [afterMs, left, withdrawn, problem] of [
    [hourMs, 8, 2],
    [hourMs, 6, 2],
    [hourMs, 5, 1],
    [hourMs, 4, 0, message("withdrawalsWait", "1")],
    [dayMs, 4, 1],
  ] as const) {
    clock.advance(afterMs);
    expect(await listed(dogs(left))).toMatchObject({ problem, withdrawn });
  }
});

/** How many pulls with random faults: `PULL_ROUNDS=1000 bun test` makes the long run. */
const rounds = Number(process.env["PULL_ROUNDS"] ?? 60);

test("whatever a source does, the catalogue is that of its last whole list", async () => {
  const random = randomOf(7);
  const { animals, clock, responding } = await followedList();
  const whole = new Map(dogs(40).map((dog) => [dog.id, dog]));
  const all = () => csv([...whole.values()]);
  const zipped = { headers: { "Content-Encoding": "gzip" } };
  const faults: (() => Response)[] = [
    () => new Response(all().slice(0, 30), { status: 500 }),
    () => new Response(""),
    () => new Response("<html>Sign in</html>"),
    () => new Response("ERROR: Service API is disabled"),
    () => Response.redirect("file:///etc/passwd", 302),
    () => Response.redirect("/again", 302),
    () => new Response(csv([...whole.values()].slice(0, 10))),
    () => new Response(Bun.gzipSync(all()).subarray(0, 60), zipped),
    () => new Response("", { status: 429, headers: { "Retry-After": "5" } }),
  ];
  for (let round = 0; round < rounds; round++) {
    clock.advance(dayMs);
    const fault = faults[Math.floor(random() * faults.length)];
    if (random() < 0.6 && fault !== undefined && round > 0) {
      await responding(fault);
    } else {
      const leaving = [...whole.keys()][Math.floor(random() * whole.size)];
      if (leaving !== undefined) whole.delete(leaving);
      whole.set(`n${round}`, dog(`n${round}`, "available"));
      expect(await responding(() => new Response(all()))).toMatchObject({ problem: undefined });
    }
    const expected = [...whole.keys()].map((id) => `${id} available`).toSorted();
    expect((await animals()).toSorted()).toEqual(expected);
  }
}, 600_000);

test("an undo by a person pauses the list; who resumes it gets its animals back, as the same", async () => {
  const { animals, clock, db, job, listed } = await followedList();
  await listed(dogs(3));
  await undoChange({ db, clock: clock.read, actor: "Kim" }, {});
  expect((await job()).paused).toBe("undo");
  expect(await animals()).toEqual([]);
  await db.transaction((tx) =>
    setSource(tx, "north", new Map(), clock.nowMs, {}, { paused: null }),
  );
  expect(await listed(dogs(3))).toMatchObject({ problem: undefined });
  expect(await animals()).toHaveLength(3);
});

test.each([
  ["paused", (tx: Tx) => setJob(tx, "pull north", { paused: "person" }), "person"],
  ["told more words", (tx: Tx, nowMs: number) => setSource(tx, "north", new Map(), nowMs), null],
])("a pull that is fetching while its list is %s changes nothing", async (_what, set, paused) => {
  const { animals, clock, db, job, responding } = await followedList();
  const result = await responding(async () => {
    // Nobody else begins it meanwhile.
    expect((await job()).nextAtMs).toBeGreaterThan(clock.nowMs);
    clock.advance(1_000);
    await db.transaction(async (tx) => void (await set(tx, clock.nowMs)));
    return new Response(csv(dogs(2)));
  });
  expect(result).toBeInstanceOf(Error);
  expect(await animals()).toEqual([]);
  expect(await job()).toMatchObject({ paused, failures: 0, problem: null });
});

test("of two pulls at once, the one that ends last changes nothing", async () => {
  const { animals, clock, fake, job, listed, pulling, responding } = await followedList();
  const slow = await responding(async () => {
    clock.advance(1_000);
    fake.respond = () => new Response(csv(dogs(3)));
    expect(await pull(pulling, "north")).toMatchObject({ problem: undefined, added: 3 });
    return new Response(csv(dogs(2)));
  });
  expect(slow).toBeInstanceOf(Error);
  expect(await animals()).toHaveLength(3);
  expect(await job()).toMatchObject({ failures: 0, problem: null });
  expect(await listed(dogs(3))).toBe("unchanged");
});
