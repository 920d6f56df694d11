/** A disk that takes no writes, though it has room: as a failing card that became read-only. */
import { expect, test } from "bun:test";
import { ask } from "../../test/helpers/ask.ts";
import { makeKey, serve, temporaryFolder } from "../../test/helpers/binary.ts";

const pet = {
  method: "POST",
  body: `{"name":"${"x".repeat(200)}","categoryId":1}`,
  headers: { "content-type": "application/json" },
};
/** More requests than the longest file takes, and fewer than a minute of the plan. */
const requestsMax = 55;

test.each([
  ["creates", "catalogue", 200, pet],
  ["lists", "limits", 32, {}],
])("where %s get 503, the server is not ready until it ends", async (_, failing, kib, request) => {
  using folder = temporaryFolder();
  const { key } = await makeKey(folder.path, "--plan", "free");
  // The executable may make no longer file: writes beyond that fail.
  const command = ["sh", "-c", `ulimit -Sf ${kib * 2} && exec "$@"`, "sh"];
  await using server = await serve(folder.path, [], { command });
  const send = async () => (await ask(server.origin, key, "/v1/pets", request)).status;
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
