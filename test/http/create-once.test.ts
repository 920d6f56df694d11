/** Which bodies are the same create, when it comes again with its Idempotency-Key. */
import { expect, test } from "bun:test";
import { testApp } from "../helpers/app.ts";

test("every field of an animal counts, and how it is written does not", async () => {
  const app = await testApp();
  const key = await app.key();
  const create = async (body: string) => {
    const headers = { "content-type": "application/json", "idempotency-key": "a" };
    const answer = await app.send("/v1/pets", { method: "POST", key, body, headers });
    return [answer.status, answer.headers.get("idempotent-replayed")];
  };
  expect(await create('{"name":"Rex","categoryId":1,"status":"sold"}')).toEqual([201, null]);
  expect(await create('{"status":"sold","categoryId":1.0,"name":"R\\u0065x","id":7}')).toEqual([
    201,
    "true",
  ]);
  for (const other of [
    '{"name":"rex","categoryId":1,"status":"sold"}',
    '{"name":"Rex","categoryId":2,"status":"sold"}',
    '{"name":"Rex","categoryId":1,"status":"pending"}',
    '{"name":"Rex","categoryId":1}',
  ]) {
    expect([other, await create(other)]).toEqual([other, [400, null]]);
  }
});
