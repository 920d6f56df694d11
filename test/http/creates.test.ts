/** Creates: which are the same with an Idempotency-Key, and what is kept of each. */
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

test.each([{}, { "idempotency-key": "a" }])(
  "an animal that is added with %j says when, and by which key",
  async (more) => {
    const { clock, key, send, services, store } = await testApp();
    const headers = { "content-type": "application/json", ...more };
    const body = '{"name":"Rex","categoryId":1}';
    const init = { method: "POST", key: await key(), body, headers };
    expect((await send("/v1/pets", init)).status).toBe(201);
    const [made] = await services.keys.list();
    const [added] = await store.db.read((tx) => tx.select().from(tx.t.pets));
    expect(added).toMatchObject({ createdAtMs: clock.nowMs, createdBy: made?.id });
  },
);
