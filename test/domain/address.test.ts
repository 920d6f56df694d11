import { expect, test } from "bun:test";
import * as fc from "fast-check";
import * as address from "../../src/domain/address.ts";
import { checked } from "./checked.ts";

const { bucketOf, clientAddress, isInCidr, parseAddress, parseCidr } = address;
const width = { 4: 32, 6: 128 } as const;

/** `length` numbers below `bound`, often those at its ends: zeros are what `::` stands for. */
const parts = (length: number, bound: number) =>
  fc.array(fc.oneof(fc.constantFrom(0, 0, bound - 1), fc.nat(bound - 1)), {
    minLength: length,
    maxLength: length,
  });
const quad = parts(4, 256);
const groups = parts(8, 65_536);
const mapped = quad.map(([a = 0, b = 0, c = 0, d = 0]) =>
  [0, 0, 0, 0, 0, 0xffff].concat((a << 8) | b, (c << 8) | d),
);
const bitsOf = (numbers: readonly number[], size: bigint) =>
  numbers.reduce((bits, number) => (bits << size) | BigInt(number), 0n);

/** How RFC 4291, section 2.2 lets an address be written: zeros, case, one `::`, a dotted tail. */
const spelling = fc.record({
  zeros: fc.nat(3),
  upper: fc.boolean(),
  dotted: fc.boolean(),
  gapStart: fc.nat(7),
  gapLength: fc.nat(8),
});

function spell(
  numbers: readonly number[],
  as: typeof spelling extends fc.Arbitrary<infer S> ? S : never,
) {
  const texts = numbers.map((number) => {
    const hex = number.toString(16);
    const padded = hex.padStart(Math.min(4, hex.length + as.zeros), "0");
    return as.upper ? padded.toUpperCase() : padded;
  });
  if (as.dotted) {
    const [high = 0, low = 0] = numbers.slice(6);
    texts.splice(6, 2, [high >> 8, high & 255, low >> 8, low & 255].join("."));
  }
  const hexGroups = as.dotted ? 6 : 8;
  let end = as.gapStart;
  while (end < hexGroups && numbers[end] === 0 && end - as.gapStart < as.gapLength) end += 1;
  if (end <= as.gapStart) return texts.join(":");
  return `${texts.slice(0, as.gapStart).join(":")}::${texts.slice(end).join(":")}`;
}

test("an IPv4 quad is its 32 bits, and each address a bucket", () => {
  checked(fc.tuple(quad, fc.nat(31)), ([numbers, bit]) => {
    const found = parseAddress(numbers.join("."));
    expect(found).toEqual({ family: 4, bits: bitsOf(numbers, 8n) });
    const other = numbers.with(bit >> 3, (numbers[bit >> 3] ?? 0) ^ (1 << (bit & 7)));
    expect(bucketOf(other.join("."))).not.toBe(bucketOf(numbers.join(".")));
  });
});

test("every spelling of an IPv6 address is the same bits, and a mapped one is IPv4", () => {
  const shapes = new Set<string>();
  checked(
    fc.tuple(fc.oneof(groups, mapped), spelling),
    ([numbers, as]) => {
      const text = spell(numbers, as);
      const bits = bitsOf(numbers, 16n);
      const isMapped = bits >> 32n === 0xffffn;
      shapes.add(`${as.dotted} ${text.includes("::")} ${isMapped}`);
      const expected = isMapped ? { family: 4, bits: bits & 0xffffffffn } : { family: 6, bits };
      expect([text, parseAddress(text) as unknown]).toEqual([text, expected]);
    },
    3_000,
  );
  expect(shapes.size).toBe(8);
});

const noAddresses = [
  "localhost 1.2.3 1.2.3.4.5 1.2.3. 1..2.3 1.2.3.256 01.2.3.4 0x1.2.3.4 1.2.3.4:80 [1.2.3.4]",
  "1.2.3.4/32 １.2.3.4 16909060 : ::: 1:::2 1::2::3 :1 1: 1:2:3:4:5:6:7 1:2:3:4:5:6:7:8:: 12345::",
  "g:: ::-1 0x1:: ::1%eth0 [::1] ::1/128 1.2.3.4:: ::1.2.3 ::1.2.3.256 ::1.2.3.4:5 ::fffff:1.2.3.4",
  "1:2:3:4:5:6:7:1.2.3.4",
].flatMap((line) => line.split(" "));

test.each(["", "1.2.3.4 ", ...noAddresses])("%j is no address", (text) =>
  expect(parseAddress(text)).toBeUndefined(),
);

test("IPv6 callers share a bucket exactly when they share the first 64 bits", () => {
  checked(fc.tuple(groups, fc.nat(127)), ([numbers, bit]) => {
    const home = [1, ...numbers.slice(1)];
    const other = home.with(7 - (bit >> 4), (home[7 - (bit >> 4)] ?? 0) ^ (1 << (bit & 15)));
    const [one, two] = [home, other].map((each) =>
      bucketOf(each.map((group) => group.toString(16)).join(":")),
    );
    expect(one === two).toBe(bit < 64);
  });
  expect(bucketOf("0.0.0.1")).not.toBe(bucketOf("0:0:0:1::"));
  expect(bucketOf("0.0.0.0")).not.toBe(bucketOf("::"));
});

test.each([
  ["10.0.0.0/8", "10.0.0.0", 8],
  ["0.0.0.0/0", "0.0.0.0", 0],
  ["10.1.2.3", "10.1.2.3", 32],
  ["::1", "::1", 128],
  ["2001:db8::/32", "2001:db8::", 32],
  ["::ffff:10.0.0.0/104", "10.0.0.0", 8],
  ["::ffff:10.1.2.3", "10.1.2.3", 32],
])("%s is a range", (text, first, prefixLength) =>
  expect(parseCidr(text)).toEqual({ address: parseAddress(first)!, prefixLength }),
);

const noRanges = [
  "/8 10.0.0.0/ 10.0.0.0/33 10.0.0.0/-1 10.0.0.0/8/8 10.0.0/8 10.0.0.0/0x8 10.0.0.0/8.0 ::/129",
  "::1%lo/128 [::]/0 ::ffff:10.0.0.0/95 10.0.0.0/255.0.0.0 localhost/8 10.0.0.0/08x",
].flatMap((line) => line.split(" "));

test.each(["", "10.0.0.0/8 ", ...noRanges])("%j is no range", (text) =>
  expect(parseCidr(text)).toBeUndefined(),
);

test("a range holds the addresses of its family whose first bits are its own", () => {
  const bigs = fc.bigInt({ min: 0n, max: 2n ** 128n - 1n });
  const given = fc.tuple(fc.constantFrom(4 as const, 6 as const), bigs, fc.nat(127), fc.nat(128));
  checked(given, ([family, seedBits, flipAt, length]) => {
    const bits = seedBits & ((1n << BigInt(width[family])) - 1n);
    const flipped = bits ^ (1n << BigInt(flipAt % width[family]));
    const prefixLength = length % (width[family] + 1);
    const range = { address: { family, bits }, prefixLength };
    const first = (value: bigint) =>
      value.toString(2).padStart(width[family], "0").slice(0, prefixLength);
    expect(isInCidr({ family, bits }, range)).toBe(true);
    expect(isInCidr({ family, bits: flipped }, range)).toBe(first(flipped) === first(bits));
    const other = { family: family === 4 ? (6 as const) : (4 as const), bits: 0n };
    expect(isInCidr(other, { ...range, prefixLength: 0 })).toBe(false);
  });
});

const proxies = ["10.0.0.0/8", "2001:db8::/32"].map((text) => parseCidr(text)!);

test.each([
  ["no header", undefined, "10.0.0.1"],
  ["an empty header", "", "10.0.0.1"],
  ["only proxies", "10.0.0.3, 10.0.0.2", "10.0.0.3"],
  ["no spaces, many spaces", "6.6.6.6,  1.1.1.1 ,\t10.0.0.2  ", "1.1.1.1"],
  ["a garbage hop", "1.1.1.1, unknown", "10.0.0.1"],
  ["a garbage hop behind a proxy", "1.1.1.1, unknown, 10.0.0.2", "10.0.0.2"],
  ["an empty hop", "1.1.1.1, ", "10.0.0.1"],
  ["brackets", "[2600::1]", "2600::1"],
  ["brackets and a port", "[2600::1]:4711", "2600::1"],
  ["a proxy with a port", "6.6.6.6, 1.1.1.1:1, 10.0.0.2:80", "1.1.1.1"],
  ["a colon without a port", "1.1.1.1:", "10.0.0.1"],
  ["a port of letters", "1.1.1.1:http", "10.0.0.1"],
  ["an open bracket", "[2600::1", "10.0.0.1"],
  ["IPv4 in brackets", "[1.1.1.1]:80", "10.0.0.1"],
  ["a zone", "fe80::1%eth0", "10.0.0.1"],
])("the client behind a proxy that sends %s", (_, header, client) => {
  expect(clientAddress("10.0.0.1", header, proxies)).toBe(client);
  expect(clientAddress("10.0.0.1", header, [])).toBe("10.0.0.1");
  expect(clientAddress("unix", header, proxies)).toBe("unix");
});

test("what a caller writes left of the first untrusted hop changes nothing", () => {
  const proxy = fc.constantFrom("10.0.0.2", "::ffff:10.0.0.3", "2001:db8::3");
  const client = fc.constantFrom("1.1.1.1", "::ffff:9.9.9.9", "2600::1");
  const spoof = fc.array(fc.oneof(proxy, client, fc.constantFrom("", "garbage", "1.1.1.1:80")));
  checked(fc.tuple(spoof, client, fc.array(proxy), proxy), ([spoofed, real, passed, peer]) => {
    const header = [...spoofed, real, ...passed].join(", ");
    expect(clientAddress(peer, header, proxies)).toBe(real);
    expect(clientAddress("9.9.9.9", header, proxies)).toBe("9.9.9.9");
  });
});
