import { describe, expect, test } from "bun:test";
import { pageLimit } from "../../src/domain/page.ts";
import { Backpressure, unsentMaxBytes } from "../../src/http/backpressure.ts";
import { testApp } from "../helpers/app.ts";

const mib = 1024 * 1024;
const bodyOf = (bytes: number) => new Blob([new Uint8Array(bytes)]);

/** A client that has not read everything until `isUnderWay` says so. */
function reader(address: string | undefined) {
  const state = { isDone: false };
  return { address: () => address, isUnderWay: () => !state.isDone, state };
}

describe("answers that wait to be read", () => {
  test("are bounded by address, an IPv6 /64 being one", () => {
    const unsent = new Backpressure();
    for (let i = 0; i < unsentMaxBytes.perAddress / mib; i += 1) {
      expect(unsent.add(reader(`2001:db8::${i}`), bodyOf(mib))).toBe(true);
    }
    expect(unsent.add(reader("2001:db8::ffff"), bodyOf(mib))).toBe(false);
    expect(unsent.add(reader("2001:db8:0:1::1"), bodyOf(mib))).toBe(true);
  });

  test("are bounded in all", () => {
    const unsent = new Backpressure();
    for (let i = 0; i < unsentMaxBytes.inAll / mib; i += 1) {
      expect(unsent.add(reader(`192.0.2.${i}`), bodyOf(mib))).toBe(true);
    }
    expect(unsent.add(reader("198.51.100.1"), bodyOf(mib))).toBe(false);
    // A small one is not counted, and is always sent.
    expect(unsent.add(reader("198.51.100.1"), bodyOf(1_000))).toBe(true);
  });

  test("make room when they are read", () => {
    const unsent = new Backpressure();
    const readers = Array.from({ length: 16 }, () => reader("192.0.2.1"));
    for (const each of readers) expect(unsent.add(each, bodyOf(mib))).toBe(true);
    const next = reader("192.0.2.1");
    expect(unsent.add(next, bodyOf(mib))).toBe(false);
    for (const { state } of readers.slice(0, 2)) state.isDone = true;
    expect(unsent.add(next, bodyOf(2 * mib))).toBe(true);
    expect(unsent.add(next, bodyOf(mib))).toBe(false);
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
});

describe("large pages", () => {
  const name = "🐕".repeat(1_000);
  const pageBytes = pageLimit.max * Buffer.byteLength(name);
  const pagesMax = Math.floor(unsentMaxBytes.perAddress / pageBytes);

  async function filled() {
    const app = await testApp();
    const secret = await app.key("enterprise", { perMinute: 1_000, perDay: 1_000 });
    await Promise.all(
      Array.from({ length: 200 }, () => app.services.pets.create({ name, categoryId: 1n })),
    );
    return { ...app, init: { headers: { authorization: `Bearer ${secret}` } } };
  }
  const pageAt = (origin: string | URL, limit: number, after: number) =>
    new URL(`/v1/pets?limit=${limit}&after=${after}`, origin).href;

  test("end for an address that reads none of them, and small ones do not", async () => {
    const { handler, init } = await filled();
    const peers = { requestIP: () => ({ address: "192.0.2.1" }), timeout: () => undefined };
    const ask = async (limit: number, after: number) =>
      (await handler(new Request(pageAt("http://localhost", limit, after), init), peers)).status;
    let after = 0;
    while ((await ask(pageLimit.max, after)) === 200) after += 1;
    expect(after).toBe(pagesMax);
    expect(await ask(1, after)).toBe(200);
  });
});
