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

  test("reads 256 bodies of an address at the same time, and 1,024 in all", async () => {
    const controllers: ReadableStreamDefaultController<Uint8Array>[] = [];
    const start = (subnet: number) => {
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => void controllers.push(controller),
      });
      const request = new Request(url, { method: "POST", body });
      const from = { ...caller, address: () => `192.0.2.${subnet}` };
      return reader.read(request, from);
    };
    const reading = [1, 2, 3].flatMap((subnet) => Array.from({ length: 256 }, () => start(subnet)));
    const isRefused = async (body: ReturnType<typeof start>) => (await body) === "too many";
    expect(await isRefused(start(1))).toBe(true);
    for (let i = 0; i < 256; i += 1) reading.push(start(4 + i));
    expect(await isRefused(start(400))).toBe(true);
    for (const controller of controllers) controller.close();
    expect(await Promise.all(reading.map(isRefused))).not.toContain(true);
    const body = start(1);
    controllers.at(-1)?.close();
    expect(await body).toEqual(new Uint8Array());
  });
});
