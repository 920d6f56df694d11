import { expect, test } from "bun:test";
import { packed, type AnswerHeaders } from "../../src/http/headers.ts";

/** What a Response made of `headers` sends. */
const sent = (headers: AnswerHeaders) =>
  Object.fromEntries(new Response("", { headers: packed(headers) }).headers);

test("carries every header, whatever the answers before it carried", () => {
  const names = ["content-type", "X-Request-Id", "X-RateLimit-Remaining", "link", "retry-after"];
  for (let round = 0; round < 500; round += 1) {
    const headers: AnswerHeaders = {};
    for (const [at, name] of names.entries()) {
      // Every set of names in turn, with values that stay, change and come back.
      if (((round * 7) >> at) % 2 === 1) headers[name] = at === 2 ? round : `v${round % (at + 2)}`;
    }
    const expected = Object.entries(headers).map(([name, value]) => [
      name.toLowerCase(),
      `${value}`,
    ]);
    expect(sent(headers)).toEqual(Object.fromEntries(expected));
  }
});

test("does not change an answer that was made before", () => {
  const first = new Response("", { headers: packed({ "X-Request-Id": "a", link: "x" }) });
  const second = new Response("", { headers: packed({ "X-Request-Id": "b", link: "x" }) });
  second.headers.set("link", "y");
  expect(first.headers.get("x-request-id")).toBe("a");
  expect(first.headers.get("link")).toBe("x");
  expect(sent({ "X-Request-Id": "b", link: "x" })).toEqual({ "x-request-id": "b", link: "x" });
});

test("refuses a value that is none, and is right again afterwards", () => {
  expect(() => packed({ "X-Broken": "a\nb" })).toThrow();
  expect(sent({ "X-Broken": "a" })).toEqual({ "x-broken": "a" });
});
