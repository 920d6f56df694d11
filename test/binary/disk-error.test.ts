/** A disk that takes no writes, though it has room: as a failing card that became read-only. */
import { expect, test } from "bun:test";
import { ask } from "../helpers/ask.ts";
import { makeKey, roomy, serve, temporaryFolder } from "../helpers/binary.ts";
import { isOnPostgres } from "../helpers/store-under-test.ts";

/** The executable may make no file longer than 200 KiB: writes beyond that fail. */
const noLongFiles = ["sh", "-c", 'ulimit -Sf 400 && exec "$@"', "sh"];

test.skipIf(isOnPostgres)("creates get 503 and the server is not ready until it ends", async () => {
  using folder = temporaryFolder();
  const { key } = await makeKey(folder.path, ...roomy);
  await using server = await serve(folder.path, [], { command: noLongFiles });
  const pet = {
    method: "POST",
    body: `{"name":"${"x".repeat(200)}","categoryId":1}`,
    headers: { "content-type": "application/json" },
  };
  const create = () => ask(server.origin, key, "/v1/pets", pet);
  const ready = () => ask(server.origin, undefined, "/ready");
  let status = 201;
  for (let count = 0; count < 50 && status === 201; count += 1) ({ status } = await create());
  expect(status).toBe(503);

  for (let count = 0; count < 3; count += 1) {
    expect(await ready()).toMatchObject({
      status: 503,
      message: "Not ready. catalogue: the disk reports an error.",
    });
  }
  expect((await ask(server.origin, key)).status).toBe(200);

  await Bun.$`prlimit --fsize=unlimited --pid ${server.pid}`.quiet();
  expect((await ready()).status).toBe(200);
  expect((await create()).status).toBe(201);
  expect(await server.stop()).toBe(0);
});
