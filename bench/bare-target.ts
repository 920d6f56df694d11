// The two yardsticks, compiled with the service's flags: bare.ts and one-commit.ts.
import { join } from "node:path";
import { buildFlags } from "../scripts/build.ts";
import type { Context, Target } from "./measure.ts";
import { DidNotRun, freePort, run, startServer } from "./process.ts";
import { ROOT } from "./rehome.ts";

export const BARE = "bare Bun.serve";
export const ONE_COMMIT = "one commit per create";

const OUT = join(ROOT, "dist", "bench");

/** Compiles a yardstick to dist/bench. Throws DidNotRun when that fails. */
export async function compile(name: "bare" | "one-commit"): Promise<void> {
  const source = join(import.meta.dir, `${name}.ts`);
  await run([process.execPath, "build", ...buildFlags, source, "--outfile", join(OUT, name)], ROOT);
}

/** A yardstick as a target: it sends what the reference sent. */
export function bareTarget(kind: "same" | "echo" | "one-commit"): Target {
  const name = kind === "one-commit" ? ONE_COMMIT : BARE;
  const start = async ({ folder, reference }: Context) => {
    if (reference === undefined) throw new DidNotRun("there is no answer for it to send");
    const answer = join(folder, "answer.json");
    await Bun.write(answer, JSON.stringify(reference));
    return await startServer({
      command: [join(OUT, kind === "one-commit" ? "one-commit" : "bare")],
      port: await freePort(),
      env: { ANSWER: answer, KIND: kind, DATABASE: join(folder, "one-commit.db") },
      stderrFile: join(folder, "stderr.txt"),
    });
  };
  return { name, start, sendsTheSameBytes: true };
}
