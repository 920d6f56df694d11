/** The log of the executable: where it goes, what moves it, and what it must never hold up. */
import { expect, test } from "bun:test";
import { openSync } from "node:fs";
import { join } from "node:path";
import { executable, makeKey, serve, temporaryFolder } from "../../test/helpers/binary.ts";

const lines = (text: string) =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);

test("standard error has requests with addresses and the server's own words in one format", async () => {
  using folder = temporaryFolder();
  const { key, id } = await makeKey(folder.path);
  await using server = await serve(folder.path, ["--trusted-proxy", "127.0.0.1"]);
  const answer = await fetch(`${server.origin}/v1/pets?secret=hunter2`, {
    headers: { authorization: `Bearer ${key}`, "x-forwarded-for": "198.51.100.7" },
  });
  expect(await server.stop()).toBe(0);
  const [request, ...others] = lines(server.stderr());
  expect(request).toMatchObject({
    id: answer.headers.get("x-request-id") ?? "none",
    route: "/v1/pets",
    status: 200,
    keyId: id,
    address: "198.51.100.7",
  });
  expect(others.map(({ message }) => message)).toEqual([
    "Stopping: running requests finish first.",
    "Stopped: counters saved, database closed.",
  ]);
  expect(server.stderr()).not.toContain("hunter2");
  expect(server.stderr()).not.toContain(key.slice("rehome_live_".length, -6));
});

test("standard error that nobody reads holds no answer up, nor the end", async () => {
  using folder = temporaryFolder();
  const fifo = join(folder.path, "fifo");
  expect(Bun.spawnSync(["mkfifo", fifo]).exitCode).toBe(0);
  const fd = openSync(fifo, "r+");
  const child = Bun.spawn(
    [await executable(), "serve", "--data", join(folder.path, "data"), "--port", "0"],
    { stdout: "pipe", stderr: fd, stdin: "ignore", env: { HOME: folder.path } },
  );
  let banner = "";
  const origin = () => /API +(http:\/\/[^/\s]+)/.exec(banner)?.[1];
  for await (const chunk of child.stdout as unknown as AsyncIterable<Uint8Array>) {
    banner += new TextDecoder().decode(chunk);
    if (origin() !== undefined) break;
  }
  // A pipe takes 64 KiB, which is some 300 lines.
  for (let i = 0; i < 20; i += 1) {
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => fetch(`${origin()}/health`).then(({ status }) => status)),
    );
    expect(new Set(answers)).toEqual(new Set([200]));
  }
  child.kill("SIGTERM");
  expect(await child.exited).toBe(0);
});
