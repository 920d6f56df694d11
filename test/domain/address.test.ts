import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import {
  type Address,
  bucketOf,
  type Cidr,
  clientAddress,
  isInCidr,
  parseAddress,
  parseCidr,
} from "../../src/domain/address.ts";
import { checked } from "./checked.ts";

const width = { 4: 32, 6: 128 } as const;

function addressOf(text: string): Address {
  const address = parseAddress(text);
  if (address === undefined) throw new Error(`no address: ${text}`);
  return address;
}

function cidrOf(text: string): Cidr {
  const range = parseCidr(text);
  if (range === undefined) throw new Error(`no range: ${text}`);
  return range;
}

/** Eight groups of 16 bits, zeros often so that `::` has something to stand for. */
const groupsOfIpv6 = fc.array(
  fc.oneof(fc.constant(0), fc.constant(0), fc.constant(0xffff), fc.nat(0xffff)),
  { minLength: 8, maxLength: 8 },
);
const quad = fc.array(fc.oneof(fc.nat(255), fc.constantFrom(0, 255)), {
  minLength: 4,
  maxLength: 4,
});

function bitsOf(groups: readonly number[], groupBits: number): bigint {
  return groups.reduce((bits, group) => (bits << BigInt(groupBits)) | BigInt(group), 0n);
}

/**
 * How RFC 4291, section 2.2 lets one address be written: zeros, letters' case, one `::`, a dotted
 * tail.
 */
interface Spelling {
  readonly zeros: number;
  readonly upper: boolean;
  readonly dotted: boolean;
  readonly gapStart: number;
  readonly gapLength: number;
}
const spelling: fc.Arbitrary<Spelling> = fc.record({
  zeros: fc.nat(3),
  upper: fc.boolean(),
  dotted: fc.boolean(),
  gapStart: fc.nat(7),
  gapLength: fc.nat(8),
});

function spell(groups: readonly number[], as: Spelling): string {
  const parts = groups.map((group) => {
    const hex = group.toString(16);
    const padded = hex.padStart(Math.min(4, hex.length + as.zeros), "0");
    return as.upper ? padded.toUpperCase() : padded;
  });
  if (as.dotted) {
    const [high = 0, low = 0] = groups.slice(6);
    parts.splice(6, 2, [high >> 8, high & 255, low >> 8, low & 255].join("."));
  }
  const hexGroups = as.dotted ? 6 : 8;
  let end = as.gapStart;
  while (end < hexGroups && groups[end] === 0 && end - as.gapStart < as.gapLength) end += 1;
  if (end <= as.gapStart) return parts.join(":");
  return `${parts.slice(0, as.gapStart).join(":")}::${parts.slice(end).join(":")}`;
}

describe("parseAddress", () => {
  test("an IPv4 quad is its 32 bits", () => {
    expect(parseAddress("0.0.0.0")).toEqual({ family: 4, bits: 0n });
    expect(parseAddress("255.255.255.255")).toEqual({ family: 4, bits: 0xffffffffn });
    checked(quad, (parts) => {
      expect(parseAddress(parts.join("."))).toEqual({ family: 4, bits: bitsOf(parts, 8) });
    });
  });

  test("every spelling of an IPv6 address is the same bits", () => {
    const shapes = new Set<string>();
    checked(
      fc.tuple(groupsOfIpv6, spelling),
      ([groups, as]) => {
        const text = spell(groups, as);
        const bits = bitsOf(groups, 16);
        shapes.add(`${as.dotted} ${text.includes("::")}`);
        if (bits >> 32n === 0xffffn) return;
        expect([text, parseAddress(text)]).toEqual([text, { family: 6, bits }]);
      },
      3000,
    );
    expect(shapes.size).toBe(4);
  });

  test("an IPv4-mapped address is the IPv4 address, in every spelling", () => {
    checked(fc.tuple(quad, spelling), ([parts, as]) => {
      const [a = 0, b = 0, c = 0, d = 0] = parts;
      const text = spell([0, 0, 0, 0, 0, 0xffff, (a << 8) | b, (c << 8) | d], as);
      expect([text, parseAddress(text)]).toEqual([text, { family: 4, bits: bitsOf(parts, 8) }]);
    });
  });

  test.each(["::1.2.3.4", "64:ff9b::1.2.3.4", "::ffff:0:1.2.3.4", "1::ffff:102:304"])(
    "%s is not IPv4",
    (text) => expect(parseAddress(text)?.family).toBe(6),
  );

  test.each(
    [
      ["", "localhost", "1.2.3", "1.2.3.4.5", "1.2.3.", "1..2.3", "1.2.3.256", "01.2.3.4"],
      ["0x1.2.3.4", "1.2.3.4 ", "1.2.3.4:80", "[1.2.3.4]", "1.2.3.4/32", "１.2.3.4", "16909060"],
      [":", ":::", "1:::2", "1::2::3", ":1", "1:", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8::"],
      ["12345::", "g::", "::-1", "0x1::", "::1%eth0", "[::1]", "::1/128", "1.2.3.4::"],
      ["::1.2.3", "::1.2.3.256", "::1.2.3.4:5", "1:2:3:4:5:6:7:1.2.3.4", "::fffff:1.2.3.4"],
    ].flat(),
  )("%j is no address", (text) => expect(parseAddress(text)).toBeUndefined());

  test("never throws, whatever a header holds", () => {
    const piece = fc.constantFrom(":", "::", ".", "0", "1", "ffff", "255", "g", "%", "-", " ", "é");
    checked(
      fc.array(piece, { maxLength: 20 }),
      (pieces) => {
        const text = pieces.join("");
        const address = parseAddress(text);
        if (address === undefined) return;
        expect(address.bits >> BigInt(width[address.family])).toBe(0n);
        expect(text).toMatch(/^[0-9a-f:.]+$/);
      },
      3000,
    );
  });
});

describe("bucketOf", () => {
  const bucket = (text: string) => bucketOf(addressOf(text));

  test("IPv4 callers have a bucket each, mapped or not", () => {
    checked(fc.tuple(quad, quad), ([one, other]) => {
      const [first, second] = [one.join("."), other.join(".")];
      expect(bucket(`::ffff:${first}`)).toBe(bucket(first));
      expect(bucket(first) === bucket(second)).toBe(first === second);
      expect(bucket(`::ffff:${first}`) === bucket(`::ffff:${second}`)).toBe(first === second);
    });
    expect(bucket("::ffff:1.2.3.4")).not.toBe(bucket("::ffff:1.2.3.5"));
  });

  test("IPv6 callers share a bucket exactly when they share the first 64 bits", () => {
    const pair = fc.tuple(groupsOfIpv6, groupsOfIpv6, fc.integer({ min: 0, max: 127 }));
    checked(pair, ([groups, tail, bit]) => {
      const bits = bitsOf([1, ...groups.slice(1)], 16);
      const home = bucketOf({ family: 6, bits });
      const neighbour = ((bits >> 64n) << 64n) | bitsOf(tail.slice(4), 16);
      expect(bucketOf({ family: 6, bits: neighbour })).toBe(home);
      expect(bucketOf({ family: 6, bits: bits ^ (1n << BigInt(bit)) }) === home).toBe(bit < 64);
    });
  });

  test("families never share one", () => {
    expect(bucket("0.0.0.1")).not.toBe(bucket("0:0:0:1::"));
    expect(bucket("0.0.0.0")).not.toBe(bucket("::"));
  });
});

describe("parseCidr", () => {
  test.each<[string, string, number]>([
    ["10.0.0.0/8", "10.0.0.0", 8],
    ["0.0.0.0/0", "0.0.0.0", 0],
    ["10.1.2.3", "10.1.2.3", 32],
    ["::1", "::1", 128],
    ["2001:db8::/32", "2001:db8::", 32],
    ["::ffff:10.0.0.0/104", "10.0.0.0", 8],
    ["::ffff:10.1.2.3", "10.1.2.3", 32],
  ])("%s", (text, address, prefixLength) =>
    expect(parseCidr(text)).toEqual({ address: addressOf(address), prefixLength }),
  );

  test.each(
    [
      ["", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/8/8", "10.0.0/8"],
      ["10.0.0.0/8 ", "10.0.0.0/0x8", "10.0.0.0/8.0", "::/129", "::1%lo/128", "[::]/0"],
      ["::ffff:10.0.0.0/95", "10.0.0.0/255.0.0.0", "localhost/8", "10.0.0.0/08x"],
    ].flat(),
  )("%j is no range", (text) => expect(parseCidr(text)).toBeUndefined());
});

describe("isInCidr", () => {
  test("holds the addresses whose first bits are the range's", () => {
    const family = fc.constantFrom(4 as const, 6 as const);
    const given = fc.tuple(
      family,
      fc.bigInt({ min: 0n, max: 2n ** 128n - 1n }),
      fc.nat(127),
      fc.nat(128),
    );
    checked(given, ([kind, seedBits, flipAt, length]) => {
      const bits = seedBits & ((1n << BigInt(width[kind])) - 1n);
      const flipped = bits ^ (1n << BigInt(flipAt % width[kind]));
      const prefixLength = length % (width[kind] + 1);
      const range = { address: { family: kind, bits }, prefixLength };
      const prefixOf = (value: bigint) =>
        value.toString(2).padStart(width[kind], "0").slice(0, prefixLength);
      expect(isInCidr({ family: kind, bits }, range)).toBe(true);
      expect(isInCidr({ family: kind, bits: flipped }, range)).toBe(
        prefixOf(flipped) === prefixOf(bits),
      );
    });
  });

  test.each<[string, string, boolean]>([
    ["255.255.255.255", "1.2.3.4/0", true],
    ["10.1.2.2", "10.1.2.3/32", false],
    ["::2", "::1/128", false],
    ["::ffff:10.9.9.9", "10.0.0.0/8", true],
    ["11.9.9.9", "::ffff:10.0.0.0/104", false],
    ["::1", "0.0.0.0/0", false],
    ["1.2.3.4", "::/0", false],
  ])("%s in %s: %p", (address, range, expected) =>
    expect(isInCidr(addressOf(address), cidrOf(range))).toBe(expected),
  );
});

describe("clientAddress", () => {
  const proxies = ["10.0.0.0/8", "2001:db8::/32"].map(cidrOf);

  test.each<[what: string, peer: string, header: string | undefined, client: string]>([
    ["no header", "10.0.0.1", undefined, "10.0.0.1"],
    ["empty header", "10.0.0.1", "", "10.0.0.1"],
    ["untrusted peer", "9.9.9.9", "1.1.1.1", "9.9.9.9"],
    ["untrusted peer that names a proxy", "9.9.9.9", "1.1.1.1, 10.0.0.1", "9.9.9.9"],
    ["one proxy", "10.0.0.1", "1.1.1.1", "1.1.1.1"],
    ["one proxy, mapped", "::ffff:10.0.0.1", "1.1.1.1", "1.1.1.1"],
    ["one proxy over IPv6", "2001:db8::1", "2600::1", "2600::1"],
    ["spoofed leftmost", "10.0.0.1", "6.6.6.6, 1.1.1.1", "1.1.1.1"],
    ["a trusted address, spoofed leftmost", "10.0.0.1", "10.0.0.9, 1.1.1.1", "1.1.1.1"],
    ["several proxies", "10.0.0.1", "6.6.6.6, 1.1.1.1, 10.0.0.3,10.0.0.2", "1.1.1.1"],
    ["proxies of both families", "10.0.0.1", "1.1.1.1, 2001:db8::2, ::ffff:10.0.0.2", "1.1.1.1"],
    ["only proxies", "10.0.0.1", "10.0.0.3, 10.0.0.2", "10.0.0.3"],
    ["no spaces, many spaces", "10.0.0.1", "6.6.6.6,  1.1.1.1 ,\t10.0.0.2  ", "1.1.1.1"],
    ["a garbage hop", "10.0.0.1", "1.1.1.1, unknown", "10.0.0.1"],
    ["a garbage hop behind a proxy", "10.0.0.1", "1.1.1.1, unknown, 10.0.0.2", "10.0.0.2"],
    ["garbage left of the client", "10.0.0.1", "<script>, 1.1.1.1", "1.1.1.1"],
    ["an empty hop", "10.0.0.1", "1.1.1.1, ", "10.0.0.1"],
    ["a port", "10.0.0.1", "1.1.1.1:4711", "1.1.1.1"],
    ["brackets", "10.0.0.1", "[2600::1]", "2600::1"],
    ["brackets and a port", "10.0.0.1", "[2600::1]:4711", "2600::1"],
    ["a proxy with a port", "10.0.0.1", "6.6.6.6, 1.1.1.1:1, 10.0.0.2:80", "1.1.1.1"],
    ["a colon without a port", "10.0.0.1", "1.1.1.1:", "10.0.0.1"],
    ["a port of letters", "10.0.0.1", "1.1.1.1:http", "10.0.0.1"],
    ["an open bracket", "10.0.0.1", "[2600::1", "10.0.0.1"],
    ["IPv4 in brackets", "10.0.0.1", "[1.1.1.1]:80", "10.0.0.1"],
    ["a zone", "10.0.0.1", "fe80::1%eth0", "10.0.0.1"],
    ["a peer that is no address", "unix", "1.1.1.1", "unix"],
  ])("%s", (_, peer, header, client) => expect(clientAddress(peer, header, proxies)).toBe(client));

  test("without a trusted proxy the header is nothing", () => {
    expect(clientAddress("10.0.0.1", "1.1.1.1", [])).toBe("10.0.0.1");
  });

  test("what a caller writes left of the first untrusted hop changes nothing", () => {
    const proxy = fc.constantFrom("10.0.0.2", "::ffff:10.0.0.3", "2001:db8::3");
    const client = fc.constantFrom("1.1.1.1", "::ffff:9.9.9.9", "2600::1");
    const spoof = fc.array(fc.oneof(proxy, client, fc.constantFrom("", "garbage", "1.1.1.1:80")));
    checked(fc.tuple(spoof, client, fc.array(proxy)), ([spoofed, real, passed]) => {
      const header = [...spoofed, real, ...passed].join(", ");
      expect(clientAddress("10.0.0.1", header, proxies)).toBe(real);
      expect(clientAddress("9.9.9.9", header, proxies)).toBe("9.9.9.9");
    });
  });
});
