import { describe, expect, test } from "bun:test";
import { baseAddress, host, integer, origin, toggle } from "../src/setting-kinds.ts";

describe("a base address", () => {
  const { parse } = baseAddress("base-url", "where the service is");

  test.each([
    ["https://a.example/v1", "https://a.example/v1"],
    ["http://127.0.0.1:8080/v1", "http://127.0.0.1:8080/v1"],
    ["https://a.example/pets-api/v1", "https://a.example/pets-api/v1"],
    // What stands in a header between < and > (RFC 8288, section 3), and what no header can hold.
    ["https://a.example/x>y/v1", "https://a.example/x%3Ey/v1"],
    ["https://例え.example/v1", "https://xn--r8jz45g.example/v1"],
    ["https://a.example/é/v1", "https://a.example/%C3%A9/v1"],
  ])("%s is written %s", (text, address) => {
    expect(parse(text)).toBe(address);
  });

  test.each([
    "",
    "a.example/v1",
    "ftp://a.example/v1",
    "https://a.example",
    "https://a.example/v1/",
    "https://a.example/v2",
    "https://a.example/v1?x",
    "https://a.example/v1#x",
    "https://a.example:99999/v1",
    "https:///v1",
    "https:////v1",
    "https://user:password@a.example/v1",
    "https://user@a.example/v1",
  ])("%j is none", (text) => {
    expect(parse(text)).toBeUndefined();
  });
});

test.each([
  ["1", 1],
  ["60", 60],
  ["007", 7],
  ["0", undefined],
  ["61", undefined],
  ["-1", undefined],
  ["1.5", undefined],
  ["", undefined],
  ["1e1", undefined],
])("%j as a whole number from 1 to 60 is %p", (text, value) => {
  expect(integer("n", "N", "a number", { default: 1, min: 1, max: 60 }).parse(text)).toBe(value);
});

test.each([
  ["[::1]", "::1"],
  ["::1", "::1"],
  ["127.0.0.1", "127.0.0.1"],
  ["shelter.example", "shelter.example"],
  ["[shelter.example]", "[shelter.example]"],
  ["", undefined],
])("%j as a host is %p", (text, value) => {
  expect(host("host", "where to listen", "127.0.0.1").parse(text)).toBe(value);
});

test.each(["*", "https://a.example", "http://localhost:5173"])(
  "%s is an origin, and not with anything else",
  (text) => {
    expect(origin(text)).toBe(text);
    for (const more of [`${text}/`, `${text}/page`, `x ${text}`]) {
      expect(origin(more)).toBeUndefined();
    }
  },
);

test.each([
  ["true", true],
  ["1", true],
  ["false", false],
  ["0", false],
  ["yes", undefined],
  ["", undefined],
  ["True", undefined],
])("%j as a switch is %p", (text, value) => {
  expect(toggle("on", "switch it on").parse(text)).toBe(value);
});
