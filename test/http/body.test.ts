/** How a body is read. What it must hold is in the table of the API. */
import { expect, test } from "bun:test";
import { bodyLimitBytes, BodyReader } from "../../src/http/body.ts";
import { idleTimeoutSeconds } from "../../src/http/server.ts";

const caller = { bucket: () => "192.0.2.1", limitTime: () => undefined };
const bounds = { bytes: bodyLimitBytes, seconds: 30, atOnce: 1_024, perAddress: 256 };
const post = (body: string | ReadableStream<Uint8Array>, headers: Record<string, string> = {}) =>
  new Request("http://localhost/v1/pets", { method: "POST", body, headers });
const announced = (size: number) => post("a".repeat(size), { "content-length": `${size}` });
const chunked = (...sizes: number[]) =>
  post(
    new ReadableStream({
      start(controller) {
        for (const size of sizes) controller.enqueue(new Uint8Array(size));
        controller.close();
      },
    }),
  );

test.each([
  ["announced", announced],
  ["in one chunk", (size: number) => chunked(size)],
  ["in two chunks", (size: number) => chunked(1, size - 1)],
])("takes the limit %s, and not a byte more, within a limited time", async (how, request) => {
  const limits: number[] = [];
  const timed = { ...caller, limitTime: (seconds: number) => limits.push(seconds) };
  const reader = new BodyReader(bounds);
  const body = await reader.read(request(bodyLimitBytes), timed);
  expect((body as Uint8Array).length).toBe(bodyLimitBytes);
  expect(await reader.read(request(bodyLimitBytes + 1), timed)).toBe("too large");
  // And not what comes after it.
  if (how === "announced") expect(limits).toEqual([30, idleTimeoutSeconds, 30, idleTimeoutSeconds]);
});

test("reads a bounded number at the same time: in all, of an address, and of a key", async () => {
  const reader = new BodyReader({ ...bounds, atOnce: 6, perAddress: 4, perKey: 2 });
  const controllers: ReadableStreamDefaultController<Uint8Array>[] = [];
  const start = (last: number, keyId?: string) => {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => void controllers.push(controller),
    });
    return reader.read(post(body), { ...caller, bucket: () => `192.0.2.${last}` }, keyId);
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
