import { describe, expect, test } from "bun:test";
import { UnsentAnswers, unsentMaxBytes } from "../../src/http/unsent.ts";

const mib = 1024 * 1024;
const bodyOf = (bytes: number) => new Blob([new Uint8Array(bytes)]);

/** A client that has not read everything until `isUnderWay` says so. */
function reader(address: string | undefined) {
  const state = { isDone: false };
  return { address: () => address, isUnderWay: () => !state.isDone, state };
}

describe("answers that wait to be read", () => {
  test("are bounded by address, an IPv6 /64 being one", () => {
    const unsent = new UnsentAnswers();
    for (let i = 0; i < unsentMaxBytes.perAddress / mib; i += 1) {
      expect(unsent.add(reader(`2001:db8::${i}`), bodyOf(mib))).toBe(true);
    }
    expect(unsent.add(reader("2001:db8::ffff"), bodyOf(mib))).toBe(false);
    expect(unsent.add(reader("2001:db8:0:1::1"), bodyOf(mib))).toBe(true);
  });

  test("are bounded in all", () => {
    const unsent = new UnsentAnswers();
    for (let i = 0; i < unsentMaxBytes.inAll / mib; i += 1) {
      expect(unsent.add(reader(`192.0.2.${i}`), bodyOf(mib))).toBe(true);
    }
    expect(unsent.add(reader("198.51.100.1"), bodyOf(mib))).toBe(false);
    // A small one is not counted, and is always sent.
    expect(unsent.add(reader("198.51.100.1"), bodyOf(1_000))).toBe(true);
  });

  test("are not even made for an address that has not read, once there is too much", () => {
    const unsent = new UnsentAnswers();
    const slow = reader("192.0.2.1");
    for (let i = 0; i < 15; i += 1) unsent.add(slow, bodyOf(mib));
    expect(unsent.isFull(slow)).toBe(false);
    unsent.add(slow, bodyOf(mib));
    expect(unsent.isFull(slow)).toBe(true);
    expect(unsent.isFull(reader("192.0.2.2"))).toBe(false);
    for (let i = 2; i < 50; i += 1) unsent.add(reader(`192.0.2.${i}`), bodyOf(mib));
    expect(unsent.isFull(reader("192.0.2.2"))).toBe(true);
    // Who has read everything may ask for what is small.
    expect(unsent.isFull(reader("198.51.100.1"))).toBe(false);
    slow.state.isDone = true;
    expect(unsent.isFull(reader("192.0.2.2"))).toBe(false);
  });

  test("make room when they are read", () => {
    const unsent = new UnsentAnswers();
    const readers = Array.from({ length: 16 }, () => reader("192.0.2.1"));
    for (const each of readers) expect(unsent.add(each, bodyOf(mib))).toBe(true);
    const next = reader("192.0.2.1");
    expect(unsent.add(next, bodyOf(mib))).toBe(false);
    for (const { state } of readers.slice(0, 2)) state.isDone = true;
    expect(unsent.add(next, bodyOf(2 * mib))).toBe(true);
    expect(unsent.add(next, bodyOf(mib))).toBe(false);
  });

  test("count once when they share a body, and anew for each address", () => {
    const unsent = new UnsentAnswers();
    const shared = bodyOf(10 * mib);
    for (let i = 0; i < 100; i += 1) {
      expect(unsent.add(reader(`192.0.2.${i % 2}`), shared)).toBe(true);
    }
    expect(unsent.add(reader("192.0.2.0"), bodyOf(7 * mib))).toBe(false);
    expect(unsent.add(reader("192.0.2.2"), bodyOf(7 * mib))).toBe(true);
  });

  test("a body larger than the bound is sent to who waits for no other one", () => {
    const unsent = new UnsentAnswers();
    expect(unsent.add(reader("192.0.2.1"), bodyOf(unsentMaxBytes.perAddress + mib))).toBe(true);
    expect(unsent.add(reader("192.0.2.1"), bodyOf(mib))).toBe(false);
    expect(unsent.add(reader("192.0.2.2"), bodyOf(mib))).toBe(true);
  });
});
