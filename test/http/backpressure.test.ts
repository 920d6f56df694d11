/** Answers that wait to be read. */
import { expect, test } from "bun:test";
import { bucketOf } from "../../src/domain/address.ts";
import { pageLimit } from "../../src/domain/pet.ts";
import { Backpressure, unsentMaxBytes } from "../../src/http/context.ts";
import { peerAt, testApp } from "../helpers/app.ts";

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
])("are bounded %s, but small ones", (_what, maxBytes, network, next) => {
  const unsent = new Backpressure();
  for (let i = 0; i < maxBytes / mib; i += 1) {
    expect(unsent.add(reader(network + i), bodyOf(mib))).toBe(true);
  }
  expect(unsent.add(reader(next), bodyOf(mib))).toBe(false);
  expect(unsent.add(reader(next), bodyOf(1_000))).toBe(true);
  const isElsewhere = unsent.add(reader("2001:db8:0:1::1"), bodyOf(mib));
  expect(isElsewhere).toBe(maxBytes === unsentMaxBytes.perAddress);
});

test("make room when they are read", () => {
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

test("count once when they share a body, and anew for each address", () => {
  const unsent = new Backpressure();
  const shared = bodyOf(10 * mib);
  for (let i = 0; i < 100; i += 1) {
    expect(unsent.add(reader(`192.0.2.${i % 2}`), shared)).toBe(true);
  }
  expect(unsent.add(reader("192.0.2.0"), bodyOf(7 * mib))).toBe(false);
  expect(unsent.add(reader("192.0.2.2"), bodyOf(7 * mib))).toBe(true);
});

test("of large pages end for an address that reads none of them, and small ones do not", async () => {
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
