/**
 * A full disk refuses what needs room, serves the rest, says so, and is over when there is room
 * again.
 */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { callerOf } from "../../test/helpers/ask.ts";
import { makeKey, rehome, roomy, serve } from "../../test/helpers/binary.ts";
import { command } from "../../test/helpers/command.ts";
import { fill, smallDisk } from "../../test/helpers/small-disk.ts";

const diskMb = 8;

test("on a full disk reads go on and creates get 503; with room again all is well by itself", async () => {
  using disk = smallDisk(diskMb);
  const data = join(disk.path, "data");
  const { key } = await makeKey(data, ...roomy);
  // A key whose every request takes from the store: its counters are written on the full disk.
  const { key: busy } = await makeKey(data, "--plan", "free");
  await using server = await serve(data);
  const ask = async (as: string) => (await callerOf(server, as).get()).status;
  const create = () => callerOf(server, key).create("x".repeat(1_000));
  expect((await create()).status).toBe(201);
  expect(await ask(busy)).toBe(200);

  const ballast = fill(data);
  const statuses: number[] = [];
  let refused = await create();
  // What the log has room for may still be taken.
  for (let count = 0; count < 4_000 && refused.status === 201; count += 1) refused = await create();
  expect(refused.status).toBe(503);
  expect(await refused.json()).toEqual({
    code: "unavailable",
    message: "The animal could not be stored.",
    status: 503,
  });
  for (let count = 0; count < 30; count += 1) {
    statuses.push(await ask(key), await ask(busy));
  }
  expect(new Set(statuses)).toEqual(new Set([200]));
  const ready = await fetch(`${server.origin}/ready`);
  expect(ready.status).toBe(503);
  expect(await ready.json()).toEqual({
    code: "unavailable",
    message: expect.stringContaining("disk: no space is left on the disk"),
    status: 503,
  });
  const backup = await command(["backup", join(data, "backup.db"), "--data", data]);
  expect(backup.exitCode).toBe(1);
  expect(backup.stderr).toContain("no space on the disk");

  ballast[Symbol.dispose]();
  expect((await fetch(`${server.origin}/ready`)).status).toBe(200);
  expect((await create()).status).toBe(201);
  expect(await server.stop()).toBe(0);
});

test("on a full disk a leaked key is revoked, beside a busy service and without one", async () => {
  using disk = smallDisk(80);
  const data = join(disk.path, "data");
  const keys: { id: string; key: string }[] = [];
  for (let made = 0; made < 5; made += 1) keys.push(await makeKey(data, ...roomy));
  const revoke = (at: number) =>
    command(["keys", "revoke", keys[at]?.id ?? "", "--data", data, "--yes"]);
  let ballast: Disposable | undefined;
  {
    await using server = await serve(data);
    const caller = (at: number) => callerOf(server, keys[at]?.key ?? "");
    const create = async () => (await caller(0).create("x".repeat(1_000))).status;
    ballast = fill(data);
    while ((await create()) === 201);
    const stop = new AbortController();
    const busy = Array.from({ length: 8 }, async () => {
      while (!stop.signal.aborted) await create();
    });
    for (const at of [1, 2, 3]) {
      expect(await revoke(at)).toMatchObject({ exitCode: 0, stderr: "" });
      expect((await caller(at).get()).status).toBe(401);
    }
    stop.abort();
    await Promise.all(busy);
    await server.stop();
  }
  ballast[Symbol.dispose]();
  ballast = fill(data);
  expect(await revoke(4)).toMatchObject({ exitCode: 0, stderr: "" });
  ballast[Symbol.dispose]();
  const { stdout } = await command(["keys", "list", "--json", "--data", data]);
  const states = (JSON.parse(stdout) as { state: string }[]).map(({ state }) => state);
  expect(states.toSorted()).toEqual(["active", ...Array(4).fill("revoked")]);
});

test("a stop on a full disk loses nothing and ends with 0", async () => {
  using disk = smallDisk(diskMb);
  const data = join(disk.path, "data");
  const { key } = await makeKey(data, ...roomy);
  let created = 0;
  {
    await using server = await serve(data);
    const create = () => callerOf(server, key).create("x".repeat(1_000));
    for (; created < 20; created += 1) expect((await create()).status).toBe(201);
    using _ballast = fill(data);
    for (let count = 0; count < 80 && (await create()).status === 201; count += 1) created += 1;
    expect(await server.stop()).toBe(0);
  }
  await using server = await serve(data);
  const stored = await callerOf(server, key).animals();
  expect(stored.map(({ name }) => name.length)).toEqual(
    Array.from({ length: created }, () => 1_000),
  );
});

test("a start on a full or a read-only disk says so", async () => {
  using disk = smallDisk(1);
  const folder = disk.path;
  const data = join(folder, "data");
  await makeKey(data);
  {
    using _ballast = fill(folder);
    const full = await rehome(["serve", "--data", data, "--port", "0"]);
    expect(full.exitCode).toBe(1);
    expect(full.stderr).toContain(`The store in ${data} cannot be opened: there is no space left`);
  }
  Bun.spawnSync(["mount", "-o", "remount,ro", folder]);
  for (const path of [data, join(folder, "other")]) {
    const readOnly = await rehome(["serve", "--data", path, "--port", "0"]);
    expect(readOnly.exitCode).toBe(1);
    expect(readOnly.stderr).toContain("the file system is mounted read-only");
    // Nobody's rights are blamed.
    const { stdout } = await command(["doctor", "--data", path, "--port", "1"]);
    expect(stdout).toMatch(/^fail +data folder .*read-only\n +-> Mount its disk for writing, or/m);
    expect(readOnly.stderr).toContain("Mount its disk for writing, or");
  }
});
