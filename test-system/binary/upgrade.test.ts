/** One server takes over from another on the same port and data folder. */
import { expect, test } from "bun:test";
import { makeKey, roomy, serve, temporaryFolder } from "../../test/helpers/binary.ts";
import { load, portOf, requestText } from "../../test/helpers/load.ts";
import { until } from "../../test/helpers/until.ts";

test("with --reuse-port a change of process fails no request", async () => {
  using folder = temporaryFolder();
  await using first = await serve(folder.path, ["--reuse-port"]);
  const { key } = await makeKey(folder.path, ...roomy);
  const port = portOf(first.origin);
  let isOver = false;
  let answers = 0;
  const loading = load({
    port,
    clients: 4,
    keepAlive: true,
    isOver: () => isOver,
    onAnswer: () => (answers += 1),
    request: () => requestText("GET", "/v1/pets", key),
  });
  await until(() => answers > 100);
  await using second = await serve(folder.path, ["--reuse-port", "--port", String(port)]);
  expect(await first.stop()).toBe(0);
  const before = answers;
  await until(() => answers > before + 100);
  isOver = true;
  const { statuses, failures } = await loading;
  expect(Object.fromEntries(failures)).toEqual({});
  expect([...statuses.keys()]).toEqual([200]);
  expect(await second.stop()).toBe(0);
});

test("a change of process admits nobody twice", async () => {
  using folder = temporaryFolder();
  await using first = await serve(folder.path, ["--reuse-port"]);
  const port = portOf(first.origin);
  const { key } = await makeKey(folder.path, "--plan", "free");
  const admitted = new Map<string, string[]>();
  const ask = async () => {
    const { status, headers } = await fetch(`${first.origin}/v1/pets`, {
      headers: { authorization: `Bearer ${key}`, connection: "close" },
    });
    if (status === 429) return false;
    const window = headers.get("x-ratelimit-reset") ?? "";
    const remaining = headers.get("x-ratelimit-remaining") ?? "";
    admitted.set(window, [...(admitted.get(window) ?? []), remaining]);
    return true;
  };
  for (let count = 0; count < 20; count += 1) expect(await ask()).toBe(true);
  await using second = await serve(folder.path, ["--reuse-port", "--port", String(port)]);
  for (let count = 0; count < 10; count += 1) expect(await ask()).toBe(true);
  expect(await first.stop()).toBe(0);
  while (await ask());

  for (const remaining of admitted.values()) {
    expect(remaining.length).toBeLessThanOrEqual(60);
    expect(new Set(remaining).size).toBe(remaining.length);
  }
  expect([...admitted.values()].flat().length).toBeGreaterThanOrEqual(60);
  expect(await second.stop()).toBe(0);
});
