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

test("adds, lists and gets with the types of the routes, and shows a refusal as an Error", async () => {
  const { pets } = client();
  const added = await pets.post({ name: "Rex", categoryId: 7, status: "available" });
  if (added.error !== null) throw new Error(added.error.value.message);
  const { id, name, categoryId, status } = added.data;
  expect([name, categoryId, status]).toEqual(["Rex", 7, "available"]);
  const listed = await pets.get({ query: { limit: 5, status: "available" } });
  expect(listed.data?.map((pet) => pet.id)).toEqual([id]);
  const got = await pets({ petId: String(id) }).get();
  expect(got.data?.name).toBe("Rex");
  // @ts-expect-error: no such status
  const wrong = await pets.post({ name: "Rex", categoryId: 1, status: "lost" });
  expect(wrong.error?.value).toMatchObject({ code: "invalid_request", status: 400 });
  // @ts-expect-error: categoryId is required
  expect((await pets.post({ name: "Rex" })).status).toBe(400);
});
