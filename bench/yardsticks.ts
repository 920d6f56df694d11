// The yardstick of creates, compiled with the service's flags: one-commit.ts.
import { join } from "node:path";
import { buildFlags } from "../scripts/build.ts";
import type { Context, Target } from "./measure.ts";
import { DidNotRun, freePort, run, startServer } from "./process.ts";
import { root } from "./rehome.ts";

export const oneCommitName = "a commit each";
const program = join(root, "dist", "bench", "one-commit");

/** Compiles the yardstick to dist/bench. Throws DidNotRun when that fails. */
export async function compileYardstick(): Promise<void> {
  const files = [join(import.meta.dir, "one-commit.ts"), "--outfile", program];
  await run([process.execPath, "build", ...buildFlags, ...files], root);
}

/** It sends what the first target sent, and commits each create by itself. */
export const oneCommit: Target = {
  name: oneCommitName,
  sendsTheSameBytes: true,
  async start({ folder, reference }: Context) {
    if (reference === undefined) throw new DidNotRun("there is no response for it to send");
    const file = join(folder, "response.json");
    await Bun.write(file, JSON.stringify(reference));
    return await startServer({
      command: [program],
      port: await freePort(),
      env: { RESPONSE: file, DATABASE: join(folder, "one-commit.db") },
      stderrFile: join(folder, "stderr.txt"),
    });
  },
};
