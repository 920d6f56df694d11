// The yardsticks, compiled with the service's flags: bare.ts, one-commit.ts and rung.ts.
import { join } from "node:path";
import { buildFlags } from "../scripts/build.ts";
import type { Context, Target } from "./measure.ts";
import { DidNotRun, freePort, run, startServer } from "./process.ts";
import { root } from "./rehome.ts";

export const bareName = "bare Bun.serve";
export const oneCommitName = "one commit per create";

type Yardstick = "bare" | "one-commit" | "rung";

const outFolder = join(root, "dist", "bench");

/** Compiles a yardstick to dist/bench. Throws DidNotRun when that fails. */
export async function compile(name: Yardstick): Promise<void> {
  const source = join(import.meta.dir, `${name}.ts`);
  await run(
    [process.execPath, "build", ...buildFlags, source, "--outfile", join(outFolder, name)],
    root,
  );
}

/** The bare server, or the one with a commit for each create. */
export function bareTarget(kind: "same" | "echo" | "one-commit"): Target {
  return kind === "one-commit"
    ? yardstick(oneCommitName, "one-commit", kind)
    : yardstick(bareName, "bare", kind);
}

/** A server between the bare one and the service, see rung.ts. */
export function rungTarget(name: string, kind: "asks" | "counts" | "elysia" | "bearer"): Target {
  return yardstick(name, "rung", kind);
}

/** A yardstick as a target: it sends what the reference sent. */
function yardstick(name: string, program: Yardstick, kind: string): Target {
  const start = async ({ folder, reference }: Context) => {
    if (reference === undefined) throw new DidNotRun("there is no answer for it to send");
    const answer = join(folder, "answer.json");
    await Bun.write(answer, JSON.stringify(reference));
    return await startServer({
      command: [join(outFolder, program)],
      port: await freePort(),
      env: { ANSWER: answer, KIND: kind, DATABASE: join(folder, "one-commit.db") },
      stderrFile: join(folder, "stderr.txt"),
    });
  };
  return { name, start, sendsTheSameBytes: true };
}
