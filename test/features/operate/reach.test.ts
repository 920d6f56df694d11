import { expect, test } from "bun:test";
import type { networkInterfaces } from "node:os";
import { reachOf } from "../../../src/features/operate/reach.ts";

const address = (text: string, internal = false) => ({
  address: text,
  family: text.includes(":") ? "IPv6" : "IPv4",
  internal,
});
const interfaces = () =>
  ({
    lo: [address("127.0.0.1", true), address("::1", true)],
    eth0: [address("192.0.2.2"), address("2001:db8::2"), address("fe80::1")],
    wlan0: [address("198.51.100.9")],
  }) as unknown as ReturnType<typeof networkInterfaces>;
const refused = () => {
  throw new Error("EAFNOSUPPORT");
};

test.each([
  ["127.0.0.1", []],
  ["localhost", []],
  ["::1", []],
  ["0.0.0.0", ["http://192.0.2.2:8080 eth0", "http://198.51.100.9:8080 wlan0"]],
  [
    "::",
    [
      "http://192.0.2.2:8080 eth0",
      "http://[2001:db8::2]:8080 eth0",
      "http://198.51.100.9:8080 wlan0",
    ],
  ],
  ["192.0.2.2", ["http://192.0.2.2:8080 eth0"]],
  ["::12", ["http://[::12]:8080 ::12"]],
  ["pets.example.org", ["http://pets.example.org:8080 pets.example.org"]],
  // What the system takes for an address, as it does a name of this machine.
  ["127.1", []],
  ["0", ["http://192.0.2.2:8080 eth0", "http://198.51.100.9:8080 wlan0"]],
])("on %s other machines reach it at %j", async (host, expected) => {
  const found = await reachOf({ host, port: 8080, tlsCert: undefined }, interfaces);
  expect(found.map(({ origin, via }) => `${origin} ${via}`)).toEqual(expected);
});

test("a port that goes with the scheme is left out", async () => {
  const found = await reachOf({ host: "192.0.2.2", port: 443, tlsCert: "cert.pem" }, interfaces);
  expect(found[0]?.origin).toBe("https://192.0.2.2");
});

test("a machine that does not name its interfaces is no failure", async () => {
  expect(await reachOf({ host: "0.0.0.0", port: 80, tlsCert: undefined }, refused)).toEqual([]);
});
