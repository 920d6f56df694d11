import { afterAll, beforeAll, expect } from "bun:test";
import { makeKey, roomy, serve, temporaryFolder, type RunningBinary } from "./binary.ts";

/** Serves a new folder to all tests of a file. `begin` gets the server, and a key with room. */
export function serveForAll(
  begin: (server: RunningBinary, key: string, folder: string) => unknown,
  flags: readonly string[] = [],
): void {
  const folder = temporaryFolder();
  let server: RunningBinary;
  beforeAll(async () => {
    server = await serve(folder.path, ["--anonymous-per-minute", "100000", ...flags]);
    const { key } = await makeKey(folder.path, ...roomy);
    await begin(server, key, folder.path);
  }, 120_000);
  afterAll(async () => {
    expect(await server.stop()).toBe(0);
    folder[Symbol.dispose]();
  });
}
