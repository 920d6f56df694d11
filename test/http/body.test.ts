/** What of a body is no JSON object, and what the caller is told of it. */
import { describe, expect, test } from "bun:test";
import { bodyLimitBytes, BodyReader, decodeObject } from "../../src/http/body.ts";
import { idleTimeoutSeconds } from "../../src/http/server.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const pet = '{"name":"a","categoryId":1}';
const decode = (body: Uint8Array, headers: Record<string, string>) =>
  decodeObject(body, new Headers(headers));

describe("decodeObject", () => {
  test.each([
    "application/json",
    "Application/JSON",
    "application/json;charset=utf-8",
    "application/json ; charset=utf-8",
    " application/json",
  ])("reads a body of type %j", (type) => {
    expect(decode(bytes(pet), { "content-type": type })).toEqual({
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
      "The body must be sent as Content-Type: application/json, and came without one.",
      bytes(pet),
      undefined,
    ],
    [
      "unsupported_media_type",
      "The body must be sent as Content-Type: application/json, not application/json-patch.",
      bytes(pet),
      "application/json-patch",
    ],
    [
      "unsupported_media_type",
      "The body must be sent as Content-Type: application/json, not application/json\u00a0.",
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
  ])("%s: %s", (kind, message, body, type) => {
    expect(decode(body, type === undefined ? {} : { "content-type": type })).toEqual({
      refusal: { kind, message },
    } as never);
  });
});

describe("a body with Content-Encoding", () => {
  const decoded = (coding: string, body: Uint8Array = bytes(pet)) =>
    decode(body, { "content-type": "application/json", "content-encoding": coding });

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

describe("a reader", () => {
  const url = "http://localhost/v1/pets";
  const caller = { address: () => undefined, limitTime: () => undefined };
  const bounds = { bytes: bodyLimitBytes, seconds: 30, atOnce: 1_024, perAddress: 256 };
  const reader = new BodyReader(bounds);
  const read = (request: Request) => reader.read(request, caller);
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
    expect(await read(request(bodyLimitBytes + 1))).toBe("too large");
  });

  test.each([
    ["that comes", 10],
    ["that is too large", bodyLimitBytes + 1],
  ])("limits the time of a body %s, and not what comes after it", async (_what, size) => {
    const limits: number[] = [];
    const timed = { ...caller, limitTime: (seconds: number) => limits.push(seconds) };
    await reader.read(announced(size), timed);
    expect(limits).toEqual([30, idleTimeoutSeconds]);
  });

  test("reads a bounded number at the same time: in all, of an address, and of a key", async () => {
    const tiny = new BodyReader({ ...bounds, atOnce: 6, perAddress: 4, perKey: 2 });
    const controllers: ReadableStreamDefaultController<Uint8Array>[] = [];
    const start = (last: number, keyId?: string) => {
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => void controllers.push(controller),
      });
      const request = new Request(url, { method: "POST", body });
      return tiny.read(request, { ...caller, address: () => `192.0.2.${last}` }, keyId);
    };
    const reading = [start(1, "a"), start(2, "a")];
    // One key from a third address, and then another key from the same addresses.
    expect(await start(3, "a")).toBe("too many");
    reading.push(start(1, "b"), start(1, "b"), start(1));
    expect(await start(1, "c")).toBe("too many");
    reading.push(start(4, "c"));
    expect(await start(5, "d")).toBe("too many");
    for (const controller of controllers.splice(0)) controller.close();
    expect(await Promise.all(reading)).not.toContain("too many");
    const again = start(3, "a");
    controllers[0]?.close();
    expect(await again).toEqual(new Uint8Array());
  });
});
