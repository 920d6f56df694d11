import { describe, expect, test } from "bun:test";
import { AppError } from "../../src/domain/errors.ts";
import { testApp } from "../helpers/app.ts";

/** What POST /v1/pets answers to this body. */
async function answerTo(body: string): Promise<{ status: number; message: string }> {
  const { send, key } = await testApp();
  const headers = { "content-type": "application/json" };
  const answer = await send("/v1/pets", { method: "POST", key: await key(), body, headers });
  const { message } = (await answer.json()) as { message: string };
  return { status: answer.status, message };
}

test.each([
  ['{"name":1,"categoryId":9007199254740993}', "name must be a string"],
  ['{"name":1e400,"categoryId":1}', "name must be a string"],
  ['{"name":"a","categoryId":1e400}', "categoryId must be an integer of 64 bits."],
  ['{"name":"a","categoryId":9223372036854775808}', "categoryId must be an integer of 64 bits."],
  ['{"name":"a","categoryId":0.99999999999999999}', "categoryId must be an integer of 64 bits."],
  ['{"name":"a","categoryId":1,"status":1e400}', "status must be one of"],
  [
    '{"name":"a","categoryId":1,"status":null}',
    "status must be one of available, pending, sold; leave it out if there is none.",
  ],
  [
    `{"name":"${"a".repeat(1_001)}","categoryId":1}`,
    "name has 1,001 characters; at most 1,000 are allowed.",
  ],
  ['{"name":"a\\u0000","categoryId":1}', "name has the character U+0000, which is not allowed."],
  ['{"name":"\\ud800","categoryId":1}', "name has half of a surrogate pair"],
  ['{"name":null,"categoryId":1}', "name must be a string"],
  ['{"name":"a","categoryId":null}', "categoryId must be an integer of 64 bits."],
  ['{"categoryId":1}', "name is required: it must be a string"],
  ["1e400", "The body must be a JSON object."],
])("%s is refused and not a failure", async (body, message) => {
  const answer = await answerTo(body);
  expect(answer.status).toBe(400);
  expect(answer.message).toStartWith(message);
});

describe("a body that is nested", () => {
  const nested = (levels: number, inner = "") => "[".repeat(levels) + inner + "]".repeat(levels);
  const objects = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;

  // Before its fields are looked at: Elysia writes a body that they refuse out as JSON, which takes
  // 1.4 s for 30,000 levels.
  test("more deeply is refused at once", async () => {
    for (const value of [nested(512), nested(32_000), nested(20_000, '"x"'), objects(10_000)]) {
      for (const field of ["categoryId", "more", "name"]) {
        expect(await answerTo(`{"${field}":${value}}`)).toEqual({
          status: 400,
          message: "The body is nested too deeply.",
        });
      }
    }
  });
});

test.each([
  ["a failure that a retry may mend", new AppError("unavailable", "The store is away."), "1", true],
  ["an unknown failure", new Error("unknown"), null, true],
  ["a request that ended early", new AppError("invalid_request", "It ended."), null, false],
])("%s: its Retry-After, and what the operator is told", async (_what, error, seconds, isTold) => {
  const app = await testApp();
  const key = await app.key();
  Object.assign(app.services.pets, { page: () => Promise.reject(error) });
  const { headers } = await app.send("/v1/pets?limit=7", { key });
  expect(headers.get("Retry-After")).toBe(seconds);
  expect(app.reported).toEqual(isTold ? [error] : []);
});

test.each(["catalogue", "limits", "disk"])("not ready for the check %s", async (failed) => {
  const { send, services } = await testApp();
  services.check = async () =>
    ["catalogue", "limits", "disk"].map((name) => ({ name, ok: name !== failed, detail: "full" }));
  const answer = await send("/ready");
  expect([answer.status, await answer.json()]).toEqual([
    503,
    { code: "unavailable", message: `Not ready. ${failed}: full.`, status: 503 },
  ]);
});

test.each([
  ["application/json", "gzip", "identity"],
  ["text/plain", "identity", null],
])("415 to %s in %s: its Accept-Encoding", async (type, coding, accepted) => {
  const { send, key } = await testApp();
  const headers = { "content-type": type, "content-encoding": coding };
  const answer = await send("/v1/pets", { method: "POST", key: await key(), body: "{}", headers });
  expect([answer.status, answer.headers.get("Accept-Encoding")]).toEqual([415, accepted]);
});
