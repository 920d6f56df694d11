/** How a body is read, and answers that wait to be. The table of the API has what one must hold. */
import { expect, test } from "bun:test";
import { bucketOf } from "../../src/domain/address.ts";
import { pageLimit } from "../../src/domain/pet.ts";
import { bodyLimitBytes, BodyReader } from "../../src/http/body.ts";
import { Backpressure, unsentMaxBytes } from "../../src/http/context.ts";
import { idleTimeoutSeconds } from "../../src/http/server.ts";
import { peerAt, testApp } from "../helpers/app.ts";

const caller = { bucket: () => "192.0.2.1", limitTime: () => undefined };
const bounds = { bytes: bodyLimitBytes, seconds: 30, atOnce: 1_024, perAddress: 256 };
const post = (body: string | ReadableStream<Uint8Array>, headers: Record<string, string> = {}) =>
  new Request("http://localhost/v1/pets", { method: "POST", body, headers });
const announced = (size: number) => post("a".repeat(size), { "content-length": `${size}` });
const chunked = (...sizes: number[]) =>
  post(
    new ReadableStream({
      start(controller) {
        for (const size of sizes) controller.enqueue(new Uint8Array(size));
        controller.close();
      },
    }),
  );

test.each([
  ["announced", announced],
  ["in one chunk", (size: number) => chunked(size)],
  ["in two chunks", (size: number) => chunked(1, size - 1)],
])(
  "a body takes the limit %s, and not a byte more, within a limited time",
  async (how, request) => {
    const limits: number[] = [];
    const timed = { ...caller, limitTime: (seconds: number) => limits.push(seconds) };
    const reader = new BodyReader(bounds);
    const body = await reader.read(request(bodyLimitBytes), timed);
    expect((body as Uint8Array).length).toBe(bodyLimitBytes);
    expect(await reader.read(request(bodyLimitBytes + 1), timed)).toBe("too large");
    // And not what comes after it.
    if (how === "announced")
      expect(limits).toEqual([30, idleTimeoutSeconds, 30, idleTimeoutSeconds]);
  },
);

test("bodies are read in a bounded number at the same time: in all, of an address, and of a key", async () => {
  const reader = new BodyReader({ ...bounds, atOnce: 6, perAddress: 4, perKey: 2 });
  const controllers: ReadableStreamDefaultController<Uint8Array>[] = [];
  const start = (last: number, keyId?: string) => {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => void controllers.push(controller),
    });
    return reader.read(post(body), { ...caller, bucket: () => `192.0.2.${last}` }, keyId);
  };
  const reading = [start(1, "a"), start(2, "a")];
  // One key from a third address, and then another key from the same addresses.
  expect(await start(3, "a")).toBe("too many");
  reading.push(start(1, "b"), start(1, "b"), start(1));
  expect(await start(1, "c")).toBe("too many");
  reading.push(start(4, "c"));
  expect(await start(5, "d")).toBe("too many");
  for (const controller of controllers.splice(0)) controller.close();
  expect(await Promise.all(reading)).not.toContain("too many");
  const again = start(3, "a");
  controllers[0]?.close();
  expect(await again).toEqual(new Uint8Array());
});

const mib = 1024 * 1024;
const bodyOf = (bytes: number) => new Blob([new Uint8Array(bytes)]);

/** A client that has not read everything until `isDone`. */
function reader(address: string) {
  const state = { isDone: false };
  return { bucket: () => bucketOf(address) ?? "", isUnderWay: () => !state.isDone, state };
}

test.each([
  ["by address, an IPv6 /64 being one", unsentMaxBytes.perAddress, "2001:db8::", "2001:db8::ffff"],
  ["in all", unsentMaxBytes.inAll, "192.0.2.", "198.51.100.1"],
])("unread answers are bounded %s, but small ones", (_what, maxBytes, network, next) => {
  const unsent = new Backpressure();
  for (let i = 0; i < maxBytes / mib; i += 1) {
    expect(unsent.add(reader(network + i), bodyOf(mib))).toBe(true);
  }
  expect(unsent.add(reader(next), bodyOf(mib))).toBe(false);
  expect(unsent.add(reader(next), bodyOf(1_000))).toBe(true);
  const isElsewhere = unsent.add(reader("2001:db8:0:1::1"), bodyOf(mib));
  expect(isElsewhere).toBe(maxBytes === unsentMaxBytes.perAddress);
});

test("unread answers make room when they are read", () => {
  const unsent = new Backpressure();
  // One that is larger than what an address may have can be had too.
  expect(unsent.add(reader("192.0.2.2"), bodyOf(17 * mib))).toBe(true);
  const readers = Array.from({ length: 16 }, () => reader("192.0.2.1"));
  for (const each of readers) expect(unsent.add(each, bodyOf(mib))).toBe(true);
  const next = reader("192.0.2.1");
  expect(unsent.add(next, bodyOf(mib))).toBe(false);
  for (const { state } of readers.slice(0, 2)) state.isDone = true;
  expect([2, 1].map((size) => unsent.add(next, bodyOf(size * mib)))).toEqual([true, false]);
});

test("unread answers count once when they share a body, and anew for each address", () => {
  const unsent = new Backpressure();
  const shared = bodyOf(10 * mib);
  for (let i = 0; i < 100; i += 1) {
    expect(unsent.add(reader(`192.0.2.${i % 2}`), shared)).toBe(true);
  }
  expect(unsent.add(reader("192.0.2.0"), bodyOf(7 * mib))).toBe(false);
  expect(unsent.add(reader("192.0.2.2"), bodyOf(7 * mib))).toBe(true);
});

test("unread answers of large pages end for an address that reads none of them, and small ones do not", async () => {
  const { handler, key, services } = await testApp();
  const name = "🐕".repeat(1_000);
  const headers = { authorization: `Bearer ${await key("business")}` };
  const animals = Array.from({ length: 200 }, () => services.pets.create({ name, categoryId: 1n }));
  await Promise.all(animals);
  const ask = async (limit: number, after: number) => {
    const url = `http://localhost/v1/pets?limit=${limit}&after=${after}`;
    return (await handler(new Request(url, { headers }), peerAt("192.0.2.1"))).status;
  };
  let after = 0;
  while ((await ask(pageLimit.max, after)) === 200) after += 1;
  const pageBytes = pageLimit.max * Buffer.byteLength(name);
  expect(after).toBe(Math.floor(unsentMaxBytes.perAddress / pageBytes));
  expect(await ask(1, after)).toBe(200);
});
