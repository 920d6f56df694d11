/** A server with a folder and a key of its own, for one test or for all of a file. */
import { afterAll, beforeAll, expect } from "bun:test";
import { join } from "node:path";
import { makeKey, roomy, serve, temporaryFolder, type RunningBinary } from "./binary.ts";

type Options = Parameters<typeof serve>[2] & { readonly plan?: readonly string[] };

/** Makes a folder and a key, with room unless `plan` says otherwise, and serves them. */
export async function served(
  args: readonly string[] = [],
  { plan = roomy, ...options }: Options = {},
) {
  const folder = temporaryFolder();
  const data = join(folder.path, "data");
  const { id, key } = await makeKey(data, ...plan);
  const server = await serve(data, args, options);
  return {
    ...server,
    data,
    id,
    key,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

/** Serves a new folder to all tests of a file. `begin` gets the server, and a key with room. */
export function serveForAll(
  begin: (server: RunningBinary, key: string, data: string) => unknown,
  flags: readonly string[] = [],
): void {
  let server: Awaited<ReturnType<typeof served>>;
  beforeAll(async () => {
    server = await served(["--anonymous-per-minute", "100000", ...flags]);
    await begin(server, server.key, server.data);
  }, 120_000);
  afterAll(async () => {
    expect(await server.stop()).toBe(0);
    await server[Symbol.asyncDispose]();
  });
}
