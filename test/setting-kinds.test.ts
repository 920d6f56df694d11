import { describe, expect, test } from "bun:test";
import { baseAddress } from "../src/setting-kinds.ts";

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
