/**
 * The data folder's files move, vanish, are replaced or take no more writes under a running server,
 * which notices it by itself.
 */
import { describe, expect, test } from "bun:test";
import { copyFileSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ask, until } from "../../test/helpers/ask.ts";
import { serve, served } from "../../test/helpers/binary.ts";
import { command } from "../../test/helpers/command.ts";

const pet = {
  method: "POST",
  body: '{"name":"Rex","categoryId":1}',
  headers: { "content-type": "application/json" },
};

const free = { plan: ["--plan", "free"] };
/** One that fills a file soon. */
const large = { ...pet, body: `{"name":"${"x".repeat(200)}","categoryId":1}` };

type Away = (data: string) => Promise<void> | void;

function removeAll(data: string, start: string): void {
  for (const name of readdirSync(data)) if (name.startsWith(start)) rmSync(join(data, name));
}

const ways: Readonly<Record<string, Away>> = {
  "the folder is removed": (data) => rmSync(data, { recursive: true }),
  "the folder is moved": (data) => renameSync(data, `${data}-moved`),
  "another folder is in its place"(data) {
    renameSync(data, `${data}-moved`);
    mkdirSync(data);
  },
  async "the catalogue is replaced by a copy of itself"(data) {
    const copy = join(data, "copy");
    copyFileSync(join(data, "rehome.db"), copy);
    renameSync(copy, join(data, "rehome.db"));
  },
  "the catalogue's log is removed": (data) => rmSync(join(data, "rehome.db-wal")),
  "the counters are removed": (data) => removeAll(data, "limits.db"),
};

describe("under a running server", () => {
  test.each(Object.entries(ways))("%s: 503, not ready, an error, exit code 1", async (_, away) => {
    await using server = await served(["--shutdown-timeout", "1"], free);
    const { data, key } = server;
    expect((await ask(server.origin, key, "/v1/pets", pet)).status).toBe(201);

    await away(data);
    const created = await ask(server.origin, key, "/v1/pets", pet);
    expect(created.status).toBe(503);
    expect(await ask(server.origin, key)).toMatchObject({
      status: 503,
      code: "unavailable",
      retryAfterSeconds: 1,
    });
    const ready = await ask(server.origin, undefined, "/ready");
    expect(ready).toMatchObject({
      status: 503,
      message: "Not ready. files: they were moved, removed or replaced.",
    });
    expect((await ask(server.origin, undefined, "/health")).status).toBe(200);
    expect(await server.stop()).toBe(1);
    expect(server.stderr()).toMatch(
      /"level":"error","message":"The store's files are not in their place: \/.+?\.db\S* was /,
    );
    expect(server.stderr()).toMatch(/^Error: The store's files are not in their place: /m);
    expect(server.stderr()).toMatch(/^Try: Put it back, or stop/m);
  });

  test("a folder that is moved back serves again, with every animal that was acknowledged", async () => {
    await using server = await served();
    const { data, key } = server;
    expect((await ask(server.origin, key, "/v1/pets", pet)).status).toBe(201);
    renameSync(data, `${data}-moved`);
    // A list does not look for the files itself.
    await until(async () => (await ask(server.origin, key)).status === 503);
    expect((await ask(server.origin, key, "/v1/pets", pet)).status).toBe(503);
    renameSync(`${data}-moved`, data);
    await until(async () => (await ask(server.origin, key)).status === 200);
    expect((await ask(server.origin, key, "/v1/pets", pet)).status).toBe(201);
    expect((await ask(server.origin, undefined, "/ready")).status).toBe(200);
    expect(await server.stop()).toBe(0);
    const counted = await command(["pets", "list", "--data", data, "--json"]);
    expect(counted.stdout).toContain("Rex");
  });

  test("a second server on new counters does not double what the first one admits", async () => {
    await using first = await served([], free);
    const { data, key } = first;
    expect((await ask(first.origin, key)).status).toBe(200);
    removeAll(data, "limits.db");
    await using second = await serve(data);
    await until(async () => (await ask(first.origin, key)).status === 503);
    for (let count = 0; count < 70; count += 1) {
      expect((await ask(first.origin, key)).status).toBe(503);
    }
    expect((await ask(second.origin, key)).status).toBe(200);
  });
});

/** More requests than the longest file takes, and fewer than a minute of the plan. */
const requestsMax = 55;

// A disk with room, as a failing card that became read-only.
test.each([
  ["creates", "catalogue", 200, large],
  ["lists", "limits", 32, {}],
])("where %s get 503, the server is not ready until it ends", async (_, failing, kib, request) => {
  // The executable may make no longer file: writes beyond that fail.
  const command = ["sh", "-c", `ulimit -Sf ${kib * 2} && exec "$@"`, "sh"];
  await using server = await served([], { ...free, command });
  const send = async () => (await ask(server.origin, server.key, "/v1/pets", request)).status;
  const ready = () => ask(server.origin, undefined, "/ready");
  let status = await send();
  for (let sent = 1; sent < requestsMax && status < 400; sent += 1) status = await send();
  expect(status).toBe(503);

  for (let count = 0; count < 3; count += 1) {
    expect(await ready()).toMatchObject({
      status: 503,
      message: `Not ready. ${failing}: the disk reports an error.`,
    });
  }

  await Bun.$`prlimit --fsize=unlimited --pid ${server.pid}`.quiet();
  expect((await ready()).status).toBe(200);
  expect(await send()).toBeLessThan(400);
  expect(await server.stop()).toBe(0);
});
