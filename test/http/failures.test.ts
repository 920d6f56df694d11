import { expect, test } from "bun:test";
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
  ["1e400", "The body must be a JSON object."],
  ["9007199254740993", "The body must be a JSON object."],
])("%s is refused and not a failure", async (body, message) => {
  const answer = await answerTo(body);
  expect(answer.status).toBe(400);
  expect(answer.message).toStartWith(message);
});
