import { describe, expect, test } from "bun:test";
import {
  laidOut,
  languages,
  retried,
  sampleOf,
  type LanguageId,
} from "../../../src/features/docs/samples.ts";

const get = { method: "GET", url: "http://a.example/v1/pets", headers: [], hasList: true };
const post = { ...get, method: "POST", body: '{"name":"Rex","categoryId":1}', hasList: false };
const once = { ...post, headers: [["Idempotency-Key", "a1"]] as [string, string][] };

test("code for a request sends again what does the same twice, and a create only where it was surely refused", () => {
  expect(retried(get)).toEqual([429, 503]);
  expect(retried(post)).toEqual([429]);
  expect(retried(once)).toEqual([429, 503]);
  expect(sampleOf("curl", post)).not.toContain("--retry");
  expect(sampleOf("curl", once)).toContain("--retry");
});

test("code for a request sends a body that is no JSON object with curl alone", () => {
  for (const body of ["{", "[1]", "null", ""]) {
    for (const { id } of languages) {
      const text = sampleOf(id, { ...post, body });
      expect(text.startsWith("The body is not a JSON object.")).toBe(id !== "curl");
    }
  }
  expect(sampleOf("curl", { ...post, body: "it's" })).toContain(`-d 'it'\\''s'`);
});

test("code for a request sends a body that begins with @ as it is, and not the file of that name", () => {
  expect(sampleOf("curl", { ...post, body: "@/etc/hostname" })).toContain(
    "--data-raw '@/etc/hostname'",
  );
});

describe("a body", () => {
  const body = '{ "n" : 9223372036854775807, "s": "it\\u0027s \\\\ $x", "a": [true, null, 1e3] }';
  const made = (language: LanguageId) => sampleOf(language, { ...post, body });

  test("keeps its digits in every language, and its strings as they are meant", () => {
    expect(made("python")).toContain(
      `json={"n": 9223372036854775807, "s": "it's \\\\ $x", "a": [True, None, 1e3]}`,
    );
    expect(made("php")).toContain(
      `['n' => 9223372036854775807, 's' => 'it\\'s \\\\ $x', 'a' => [true, null, 1e3]]`,
    );
    // JavaScript would round it, so the text is sent.
    expect(made("javascript")).toContain(`body: ${JSON.stringify(body)},`);
    expect(sampleOf("javascript", post)).toContain(
      'body: JSON.stringify({ "name": "Rex", "categoryId": 1 }),',
    );
  });

  test("is laid out as JSON.stringify does, with its digits", () => {
    const text = '{"b":{},"c":[1,{"d":null}],"s":"\\u0000","n":-1.50e+400}';
    expect(laidOut(text).replace(/\s/g, "")).toBe(text);
    expect(laidOut(text)).toStartWith('{\n  "b": {},\n  "c": [\n    1,');
    expect(laidOut("9223372036854775807")).toBe("9223372036854775807");
    expect(laidOut('[{"id":1.0,"a":[2]},3]')).toBe('[\n  {"id": 1.0, "a": [2]},\n  3\n]');
    for (const bad of ["01", "[1,]", "", "{'a':1}", "1 2", "+1", "NaN"]) {
      expect(() => laidOut(bad)).toThrow();
    }
  });

  test("is shown by a browser of 2023, too", () => {
    const { isRawJSON, parse, rawJSON } = JSON;
    const older: object = { isRawJSON: undefined, rawJSON: undefined };
    const parseOlder = (text: string, of: (key: string, value: unknown) => unknown): unknown =>
      parse(text, (key, value) => of(key, value));
    Object.assign(JSON, older, { parse: parseOlder });
    try {
      expect(laidOut('{"id":7,"s":[]}')).toBe('{\n  "id": 7,\n  "s": []\n}');
    } finally {
      Object.assign(JSON, { isRawJSON, parse, rawJSON });
    }
  });
});
