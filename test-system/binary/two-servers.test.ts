/** Two servers on one store, each at a port of its own. */
import { expect, test } from "bun:test";
import { ask } from "../../test/helpers/ask.ts";
import { makeKey, roomy, serve, temporaryFolder } from "../../test/helpers/binary.ts";
import { load, portOf, requestText } from "../../test/helpers/load.ts";
import { isOnPostgres } from "../../test/helpers/store-under-test.ts";

const animal = {
  method: "POST",
  body: '{"name":"Rex","categoryId":1}',
  headers: { "content-type": "application/json" },
};

// On PostgreSQL others' changes are seen within a second.
test.skipIf(isOnPostgres)("each lists an animal as soon as the other's 201 is there", async () => {
  using folder = temporaryFolder();
  const { key } = await makeKey(folder.path, ...roomy);
  await using writer = await serve(folder.path);
  await using reader = await serve(folder.path);
  const headers = { authorization: `Bearer ${key}` };
  const over = new AbortController();
  // Others read there meanwhile, so that a turn of its event loop serves several.
  const others = load({
    port: portOf(reader.origin),
    clients: 16,
    keepAlive: true,
    request: () => requestText("GET", "/v1/pets", key),
    isOver: () => over.signal.aborted,
  });
  for (let count = 1; count <= 200; count += 1) {
    expect((await ask(writer.origin, key, "/v1/pets", animal)).status).toBe(201);
    const list = await fetch(`${reader.origin}/v1/pets?limit=1&after=${count - 1}`, { headers });
    expect(await list.json()).toMatchObject([{ id: count }]);
  }
  over.abort();
  expect((await others).failures.size).toBe(0);
});

test("600 connections that ask for /ready cost no create its 201", async () => {
  using folder = temporaryFolder();
  const { key } = await makeKey(folder.path, ...roomy);
  await using server = await serve(folder.path);
  const over = new AbortController();
  const asking = load({
    port: portOf(server.origin),
    clients: 600,
    keepAlive: true,
    request: () => requestText("GET", "/ready", undefined),
    isOver: () => over.signal.aborted,
  });
  for (let count = 1; count <= 20; count += 1) {
    expect((await ask(server.origin, key, "/v1/pets", animal)).status).toBe(201);
  }
  over.abort();
  expect([...(await asking).statuses.keys()]).toEqual([200]);
}, 60_000);
