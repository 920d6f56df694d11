// The yardsticks, compiled with the service's flags: bare.ts, one-commit.ts and rung.ts.
import { join } from "node:path";
import { buildFlags } from "../scripts/build.ts";
import type { Context, Target } from "./measure.ts";
import { DidNotRun, freePort, run, startServer } from "./process.ts";
import { root } from "./rehome.ts";

export const bareName = "bare Bun.serve";
export const oneCommitName = "a commit each";

const programs = { bare: "bare.ts", "one-commit": "one-commit.ts", rung: "rung.ts" } as const;
type Program = keyof typeof programs;

const outFolder = join(root, "dist", "bench");

/** Compiles the yardsticks to dist/bench. Throws DidNotRun when that fails. */
export async function compileYardsticks(): Promise<void> {
  for (const [name, source] of Object.entries(programs)) {
    const files = [join(import.meta.dir, source), "--outfile", join(outFolder, name)];
    await run([process.execPath, "build", ...buildFlags, ...files], root);
  }
}

/** A yardstick as a target: it sends what the first target sent. */
export function yardstick(name: string, program: Program, kind: string): Target {
  const start = async ({ folder, reference }: Context) => {
    if (reference === undefined) throw new DidNotRun("there is no response for it to send");
    const file = join(folder, "response.json");
    await Bun.write(file, JSON.stringify(reference));
    return await startServer({
      command: [join(outFolder, program)],
      port: await freePort(),
      env: { RESPONSE: file, KIND: kind, DATABASE: join(folder, "one-commit.db") },
      stderrFile: join(folder, "stderr.txt"),
    });
  };
  return { name, start, sendsTheSameBytes: true };
}
