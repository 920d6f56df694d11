import { describe, expect, test } from "bun:test";
import { assert, jsonValue, property } from "fast-check";
import { laidOutText as shown, tokensOf } from "../../../src/features/docs/json-text.ts";

describe("JSON as text", () => {
  test("means the same laid out, and keeps every character of its strings", () => {
    assert(
      property(jsonValue(), (value) => {
        const json = JSON.stringify(value);
        expect(JSON.parse(shown(json))).toEqual(JSON.parse(json));
        expect(shown(shown(json))).toBe(shown(json));
      }),
    );
  });

  test("is two spaces a level, and an object of a list on one line", () => {
    expect(shown('{"a":1,"b":{"c":[]},"d":[1,{}]}')).toBe(
      '{\n  "a": 1,\n  "b": {\n    "c": []\n  },\n  "d": [\n    1,\n    {}\n  ]\n}',
    );
    expect(shown('[{"a":1,"b":[2,3]},{"a":4}]')).toBe('[\n  {"a": 1, "b": [2, 3]},\n  {"a": 4}\n]');
    expect(shown("[]")).toBe("[]");
  });

  test("keeps every digit and the space within strings", () => {
    expect(shown('{"n":9223372036854775807,"s":"[  ] {  }"}')).toBe(
      '{\n  "n": 9223372036854775807,\n  "s": "[  ] {  }"\n}',
    );
  });

  test("comes in pieces when it is none", () => {
    const pieces = tokensOf('<h1 class="a">502</h1>').map(({ text }) => text);
    expect(pieces.join("")).toBe('<h1class="a">502</h1>');
    expect(tokensOf("")).toEqual([]);
  });
});
