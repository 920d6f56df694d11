/** The log of the executable: where it goes, what moves it, and what it must never hold up. */
import { expect, test } from "bun:test";
import { openSync } from "node:fs";
import { join } from "node:path";
import { executable, temporaryFolder } from "../../test/helpers/binary.ts";

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
