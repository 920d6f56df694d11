/** Eden, the client whose types come from the application itself, on the compiled executable. */
import { expect, test } from "bun:test";
import { treaty } from "@elysiajs/eden";
import { serveForAll } from "../../test/helpers/served-file.ts";
import type { App } from "../../src/http/app.ts";
import { type RunningBinary } from "../../test/helpers/binary.ts";

let server: RunningBinary;
let key: string;

serveForAll((running, ofServer) => ([server, key] = [running, ofServer]));

const client = (credential = key) =>
  treaty<App>(server.origin, { headers: { authorization: `Bearer ${credential}` } }).v1;

test("adds, lists and gets with the types of the routes", async () => {
  const { pets } = client();
  const added = await pets.post({ name: "Rex", categoryId: 7, status: "available" });
  expect(added.status).toBe(201);
  if (added.error !== null) throw new Error(added.error.value.message);
  const { id, name, categoryId, status } = added.data;
  expect([name, categoryId, status]).toEqual(["Rex", 7, "available"]);
  expect(added.response.headers.get("x-ratelimit-remaining")).toBe("999999");

  const listed = await pets.get({ query: { limit: 5, status: "available" } });
  expect(listed.data?.map((pet) => pet.id)).toEqual([id]);

  const got = await pets({ petId: String(id) }).get();
  expect(got.data?.name).toBe("Rex");
});

test("shows a refusal as an Error", async () => {
  const refused = await client("nobody").pets.get({ query: {} });
  expect(refused.data).toBeNull();
  expect(refused.error?.status).toBe(401);
  expect(refused.error?.value).toEqual({
    code: "unauthorized",
    message: expect.stringContaining("The API key is not valid"),
    status: 401,
  });
});

test("does not let a program ask for what there is not", async () => {
  const { pets } = client();
  // @ts-expect-error: no such status
  const wrongStatus = await pets.post({ name: "Rex", categoryId: 1, status: "lost" });
  expect(wrongStatus.status).toBe(400);
  // @ts-expect-error: categoryId is required
  const missing = await pets.post({ name: "Rex" });
  expect(missing.status).toBe(400);
});
