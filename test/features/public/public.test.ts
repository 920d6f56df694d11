import { expect, test } from "bun:test";
import { gunzipSync } from "node:zlib";
import { connect } from "node:net";
import { AppError } from "../../../src/domain/errors.ts";
import { listen } from "../../../src/http/server.ts";
import { TestClock, testApp } from "../../helpers/app.ts";

const shelter = { public: "on", "public-title": "Casa <Luna>", "public-contact": "512 555 0100" };

/** A public shelter with a dog that is available, one pending, one sold and one without status. */
async function publicApp(flags: Readonly<Record<string, string>> = shelter) {
  const clock = new TestClock();
  const app = await testApp({ flags, clock });
  const { db } = app.services.store;
  await db.transaction(async (tx) => {
    await tx.insert(tx.t.categories).values({ id: 1n, name: "Dog", nameKey: "dog" });
  });
  const add = (
    name: string,
    status: "available" | "pending" | "sold" | undefined,
    categoryId = 1n,
  ) => app.services.pets.create({ name, categoryId, status });
  await add("Rex", "available");
  await add("Luna & <b>", "pending");
  await add("Gone", "sold");
  await add("Unsaid", undefined);
  await add("Nemo", "available", 9_223_372_036_854_775_807n);
  const get = (path: string, headers: Record<string, string> = {}) => app.send(path, { headers });
  const text = async (path: string, headers = {}) => (await get(path, headers)).text();
  const addMany = (count: number, name: string, categoryId = 1n, from = 100) => {
    const animal = { name, categoryId, status: "available" as const };
    const rows = Array.from({ length: count }, (_, at) => ({ ...animal, id: BigInt(at + from) }));
    return db.transaction(async (tx) => void (await tx.insertAll(tx.t.pets, rows)));
  };
  return { ...app, add, addMany, get, text };
}

test("nothing is public by default", async () => {
  const app = await testApp();
  for (const path of ["/animals", "/animals.json", "/animals.atom", "/animals.js"])
    expect((await app.send(path)).status).toBe(404);
});

test("the JSON has the animals for adoption with their categories, newest first", async () => {
  const { get } = await publicApp();
  const response = await get("/animals.json");
  expect(response.status).toBe(200);
  const text = await response.text();
  expect(JSON.parse(text)).toEqual({
    updatedAt: "2026-11-21T12:00:10Z",
    animals: [
      { id: 5, name: "Nemo", status: "available", category: { id: 2 ** 63, name: null } },
      { id: 2, name: "Luna & <b>", status: "pending", category: { id: 1, name: "Dog" } },
      { id: 1, name: "Rex", status: "available", category: { id: 1, name: "Dog" } },
    ],
  });
  expect(text).toContain('"id":9223372036854775807');
  expect(response.headers.get("x-ratelimit-limit")).toBeNull();
});

test("the page escapes what it shows, and is in the language of the reader", async () => {
  const { get, text } = await publicApp();
  const english = await text("/animals");
  for (const shown of ["Casa &lt;Luna&gt;", "Luna &amp; &lt;b&gt;", "adoption pending"]) {
    expect(english).toContain(shown);
  }
  expect(english).not.toMatch(/Gone|Unsaid/);
  for (const [path, accepted, language] of [
    ["/animals", "fr, es-MX;q=0.9, en;q=0.8", "es"],
    ["/animals?lang=en", "es", "en"],
    ["/animals", "es;q=0, fr", "en"],
  ] as const) {
    const page = await (await get(path, { "accept-language": accepted })).text();
    expect(page).toContain(`<html lang="${language}">`);
  }
});

test("the page has the shelter's words in the reader's language, and a telephone to tap", async () => {
  const { add, text } = await publicApp({
    ...shelter,
    "public-title-es": "Casa Luna",
    "public-contact-es": "Llame al +34 600 00 11 22, de 9:00 a 14:00, desde 2026-11-21",
  });
  // An older version stored the word itself.
  for (const name of ["", "\u200b", "Unnamed"]) await add(name, "available");
  await add("\u05d3\u05d1\u05d5\u05e8\u05d4", "available");
  const spanish = await text("/animals?lang=es");
  expect(spanish).toContain("<h1>Casa Luna</h1>");
  expect(spanish).toContain(
    'Llame al <a href="tel:+34600001122">+34 600 00 11 22</a>, de 9:00 a 14:00, desde 2026-11-21',
  );
  expect(spanish).toContain("7 animales buscan un hogar");
  expect(spanish.match(/<bdi>Sin nombre<\/bdi>/g)).toHaveLength(3);
  const english = await text("/animals");
  expect(english).toContain('<a href="tel:5125550100">512 555 0100</a>');
  expect(english).toContain("7 animals are looking for a home");
  expect(english.match(/<bdi>Unnamed<\/bdi>/g)).toHaveLength(3);
  expect(english).toContain("<bdi>\u05d3\u05d1\u05d5\u05e8\u05d4</bdi>");
  expect(english).toMatch(/<bdi>Rex<\/bdi>\s*<small>No\. 1<\/small>/);
});

test("the addresses in the bodies are relative, as a cache may serve them for any host", async () => {
  const { text } = await publicApp();
  for (const path of ["/animals", "/animals.json", "/animals.atom"])
    expect(await text(path)).not.toMatch(/https?:\/\/(?!www\.w3\.org\/2005\/Atom)/);
});

test("a response is one that a cache and other pages may have, compressed", async () => {
  const { get } = await publicApp();
  const response = await get("/animals.json", { "accept-encoding": "gzip" });
  expect(Object.fromEntries(response.headers)).toMatchObject({
    vary: "Accept-Encoding",
    "cache-control": "public, max-age=60",
    "access-control-allow-origin": "*",
  });
  const unpacked = gunzipSync(await response.arrayBuffer());
  expect(JSON.parse(unpacked.toString()).animals).toHaveLength(3);
  const etag = response.headers.get("etag") ?? "";
  const again = { "accept-encoding": "gzip", "if-none-match": etag };
  expect((await get("/animals.json", again)).status).toBe(304);
  const page = await get("/animals");
  expect(page.headers.get("vary")).toBe("Accept-Language, Accept-Encoding");
});

test("of more than 5,000 animals the newest are shown, and it is said", async () => {
  const { addMany, get, text } = await publicApp();
  await addMany(5_010, "n");
  await addMany(1, "m", 2n, 5_110);
  const { animals, hasMore } = (await (await get("/animals.json?page=2")).json()) as {
    animals: { id: number }[];
    hasMore?: boolean;
  };
  expect([animals.length, animals[0]?.id, hasMore]).toEqual([5_000, 5_110, true]);
  const page = await text("/animals?page=2");
  expect(page).toContain("These are the newest 5,000 animals; there are more.");
  expect(page).toMatch(/<bdi>Dog<\/bdi> <span class="soft">4,999</);
  // Four digits have no mark in Spanish.
  expect(await text("/animals?lang=es")).toContain("Estos son los 5000 animales más recientes");
});

test("no stranger makes a body more often than once in five seconds, however it is asked for", async () => {
  const { get, services, clock } = await publicApp();
  const read = services.store.db.read.bind(services.store.db);
  let reads = 0;
  let fails = false;
  services.store.db.read = (...call) => {
    reads += 1;
    return fails
      ? Promise.reject(new AppError("unavailable", "The store is away."))
      : read(...call);
  };
  const ask = async (count: number) => {
    const asked = ["/animals", "/animals.json", "/animals.atom", "/animals.js"].flatMap((path) =>
      Array.from({ length: count }, (_, at) => {
        const headers = {
          "accept-language": at % 2 === 0 ? "es" : `x${at}`,
          "accept-encoding": at % 3 === 0 ? "gzip" : `x${at}`,
        };
        return get(`${path}?page=${at}&x=${at}`, headers);
      }),
    );
    const statuses = (await Promise.all(asked)).map(({ status }) => status);
    return [...new Set(statuses)].toSorted((a, b) => a - b);
  };
  // The page in two languages, the JSON and the feed.
  for (const round of [1, 2, 3]) {
    expect(await ask(40)).toEqual([200]);
    expect(reads).toBe(4 * round);
    clock.nowMs += 5_000;
  }
  fails = true;
  expect(await ask(40)).toEqual([200, 503]);
  expect(await ask(40)).toEqual([200, 503]);
  expect(reads).toBe(16);
});

test("what is not read is bounded, and does not cost memory per reader", async () => {
  const { addMany, handler } = await publicApp();
  await addMany(5_000, "x".repeat(1_000));
  const server = listen(handler, { host: "127.0.0.1", port: 0, reusePort: false });
  const bytes = "GET /animals.json HTTP/1.1\r\nHost: localhost\r\n\r\n";
  const before = process.memoryUsage.rss();
  const sockets = Array.from({ length: 200 }, () => {
    const socket = connect({ port: server.port, host: "127.0.0.1" });
    socket.on("error", () => undefined).pause();
    socket.write(bytes);
    return socket;
  });
  // It comes behind them.
  expect((await fetch(`http://127.0.0.1:${server.port}/health`)).status).toBe(200);
  expect(process.memoryUsage.rss() - before).toBeLessThan(200 * 1024 * 1024);
  for (const socket of sockets) socket.destroy();
  await server.stop(0);
});

test("the feed names each animal by an id that stays, and the time of its last change", async () => {
  const { clock, services, text } = await publicApp();
  const first = await text("/animals.atom");
  expect(first).toContain("<summary>Dog, adoption pending</summary>");
  const [, storeId] = /tag:([0-9a-f-]{36})\.rehome\.invalid,2026:animals</.exec(first) ?? [];
  expect(storeId).toBeDefined();
  expect(first).toContain(
    `<id>tag:${storeId}.rehome.invalid,2026:animals/2</id><title>Luna &amp; &lt;b&gt;</title>`,
  );
  clock.advance(3_600_000);
  await services.store.db.transaction(async (tx) => {
    const atMs = clock.nowMs;
    await tx.insert(tx.t.changes).values({ atMs, actor: "Kim", action: "update", summary: {} });
    const [change] = await tx.select({ id: tx.t.changes.id }).from(tx.t.changes);
    await tx.insert(tx.t.petEvents).values({ petId: 2n, changeId: change?.id ?? 0n });
  });
  const second = await text("/animals.atom");
  expect(second).toContain(`${storeId}.rehome.invalid,2026:animals/2`);
  expect(second.match(/<updated>2026-11-21T13:00:10Z/g)).toHaveLength(2);
});

test("the feed has absolute addresses where the operator named the service's", async () => {
  const app = await testApp({ flags: shelter, app: { baseUrl: "https://a.example/api/v1" } });
  await app.services.pets.create({ name: "", categoryId: 1n, status: "available" });
  const feed = await (await app.send("/animals.atom")).text();
  expect(feed.match(/href="[^"]*"/g)).toEqual([
    'href="https://a.example/api/animals"',
    'href="https://a.example/api/animals.atom"',
    'href="https://a.example/api/animals#animal-1"',
  ]);
  expect(feed).toContain("<title>Unnamed</title>");
});
