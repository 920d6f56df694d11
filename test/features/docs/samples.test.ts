import { describe, expect, test } from "bun:test";
import { languages, sampleOf } from "../../../src/features/docs/samples/sample.ts";
import { literalOf, singleQuoted, type Style } from "../../../src/features/docs/samples/literal.ts";
import { retried } from "../../../src/features/docs/samples/request.ts";

const get = { method: "GET", url: "http://a.example/v1/pets", headers: [], hasList: true };
const post = { ...get, method: "POST", body: '{"name":"Rex","categoryId":1}', hasList: false };
const once = { ...post, headers: [["Idempotency-Key", "a1"]] as [string, string][] };

/** The style of JSON itself, so that what comes out can be read back. */
const json: Style = {
  object: ["{", "}"],
  array: ["[", "]"],
  pair: ":",
  words: { true: "TRUE" },
  string: (value) => JSON.stringify(value),
  key: (name) => JSON.stringify(name),
  number: (digits) => digits,
};

describe("code for a request", () => {
  test("sends again what does the same twice, and a create only where it was surely refused", () => {
    expect(retried(get)).toEqual([429, 503]);
    expect(retried(post)).toEqual([429]);
    expect(retried(once)).toEqual([429, 503]);
    expect(sampleOf("curl", post)).not.toContain("--retry");
    expect(sampleOf("curl", once)).toContain("--retry");
  });

  test("has the headers of the form in every language", () => {
    for (const { id } of languages) {
      expect(sampleOf(id, once)).toContain("Idempotency-Key");
      expect(sampleOf(id, once)).toContain("a1");
      expect(sampleOf(id, get)).toContain(get.url);
      expect(sampleOf(id, get)).not.toContain("Idempotency-Key");
    }
  });

  test("sends a body that is no JSON object with curl alone", () => {
    for (const body of ["{", "[1]", "null", ""]) {
      for (const { id } of languages) {
        const text = sampleOf(id, { ...post, body });
        expect(text.startsWith("The body is not a JSON object.")).toBe(id !== "curl");
      }
    }
    expect(sampleOf("curl", { ...post, body: "it's" })).toContain(`-d 'it'\\''s'`);
  });

  test("sends a body that begins with @ as it is, and not the file of that name", () => {
    expect(sampleOf("curl", { ...post, body: "@/etc/hostname" })).toContain(
      "--data-raw '@/etc/hostname'",
    );
  });
});

describe("a literal", () => {
  test("keeps digits, and takes strings as they are meant", () => {
    const text = '{ "n" : 9223372036854775807, "s": "\\ud83d\\ude00\\/", "a": [true, null, 1e3] }';
    expect(literalOf(text, json)).toBe(
      '{"n":9223372036854775807, "s":"😀/", "a":[TRUE, null, 1e3]}',
    );
  });

  test("has a backslash before what ends a text", () => {
    expect(singleQuoted("it's \\ $x")).toBe("'it\\'s \\\\ $x'");
  });
});
