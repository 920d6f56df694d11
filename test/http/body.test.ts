/** What of a body is no JSON object, and what the caller is told of it. */
import { describe, expect, test } from "bun:test";
import { bodyLimitBytes, decodeObject, readBody } from "../../src/http/body.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const pet = '{"name":"a","categoryId":1}';

describe("decodeObject", () => {
  test.each([
    "application/json",
    "Application/JSON",
    "application/json;charset=utf-8",
    "application/json ; charset=utf-8",
    " application/json",
  ])("reads a body of type %j", (type) => {
    expect(decodeObject(bytes(pet), { "content-type": type })).toEqual({
      value: { name: "a", categoryId: 1 },
    });
  });

  test.each<[string, string, Uint8Array, string | undefined]>([
    ["invalid_request", "The request has no body; it must be a JSON object.", bytes(""), undefined],
    [
      "invalid_request",
      "The request has no body; it must be a JSON object.",
      bytes(""),
      "text/html",
    ],
    [
      "unsupported_media_type",
      "The body must be sent as Content-Type: application/json.",
      bytes(pet),
      undefined,
    ],
    [
      "unsupported_media_type",
      "The body must be sent as Content-Type: application/json.",
      bytes(pet),
      "application/json-patch",
    ],
    [
      "unsupported_media_type",
      "The body must be sent as Content-Type: application/json.",
      bytes(pet),
      // Header fields have no white space but spaces and tabs (RFC 9110, section 5.6.3).
      "application/json\u00a0",
    ],
    [
      "invalid_request",
      "The body is not valid UTF-8.",
      Buffer.from('{"name":"\xff","categoryId":1}', "latin1"),
      "application/json",
    ],
    ["invalid_request", "The body is not valid JSON.", bytes("{"), "application/json"],
    ["invalid_request", "The body must be a JSON object.", bytes("[]"), "application/json"],
    ["invalid_request", "The body must be a JSON object.", bytes("null"), "application/json"],
    ["invalid_request", "The body must be a JSON object.", bytes("5"), "application/json"],
  ])("%s: %s", (kind, message, body, type) => {
    expect(decodeObject(body, { "content-type": type })).toEqual({
      refusal: { kind, message },
    } as never);
  });
});

describe("a body with Content-Encoding", () => {
  const decoded = (coding: string, body: Uint8Array = bytes(pet)) =>
    decodeObject(body, { "content-type": "application/json", "content-encoding": coding });

  test.each(["gzip", "br", "deflate", "gzip, identity", "nonsense", ""])(
    "%j is refused",
    (coding) => {
      expect(decoded(coding)).toEqual({
        refusal: {
          kind: "unsupported_media_type",
          message: "The body must be sent without Content-Encoding.",
        },
      });
      expect(decoded(coding, Bun.gzipSync(bytes(pet)))).toEqual(decoded(coding));
    },
  );

  test.each(["identity", "Identity"])("%s is none", (coding) => {
    expect(decoded(coding)).toEqual({ value: { name: "a", categoryId: 1 } });
  });
});

describe("readBody", () => {
  const url = "http://localhost/v1/pets";
  const caller = { address: () => undefined, limitTime: () => undefined };
  const read = (request: Request) => readBody({ request, headers: {} }, caller);
  const chunked = (...sizes: number[]) =>
    new Request(url, {
      method: "POST",
      body: new ReadableStream({
        start(controller) {
          for (const size of sizes) controller.enqueue(new Uint8Array(size).fill(97));
          controller.close();
        },
      }),
    });
  const announced = (size: number) =>
    new Request(url, {
      method: "POST",
      body: "a".repeat(size),
      headers: { "content-length": `${size}` },
    });

  test.each([
    ["announced", announced],
    ["in one chunk", (size: number) => chunked(size)],
    ["in two chunks", (size: number) => chunked(1, size - 1)],
  ])("takes the limit %s, and not a byte more", async (_how, request) => {
    const body = await read(request(bodyLimitBytes));
    expect((body as Uint8Array).length).toBe(bodyLimitBytes);
    expect(await read(request(bodyLimitBytes + 1))).toEqual({
      refusal: { kind: "payload_too_large", message: "The body is larger than 64 KiB." },
    });
  });

  test("is empty where there is no body", async () => {
    expect(await read(new Request(url, { method: "POST" }))).toEqual(new Uint8Array());
  });
});
