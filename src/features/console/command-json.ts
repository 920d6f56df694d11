import type { EnvironmentVariables } from "../../config.ts";
import { AppError } from "../../domain/errors.ts";
import { program } from "../program.ts";

/**
 * Runs a command of this program with `--json` in a process of its own, so that nobody waits for
 * it, and returns what it printed. A command that failed after it printed its document is as good
 * as one that did not. Throws `unavailable`.
 */
export async function commandJson(
  words: readonly string[],
  env: EnvironmentVariables,
): Promise<unknown> {
  const child = Bun.spawn([...program(), ...words, "--json"], {
    env: { ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [output, talk] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  await child.exited;
  if (output !== "") return JSON.parse(output);
  const message = talk.replace(/^Error: /, "").trim();
  throw new AppError("unavailable", message === "" ? "The command printed nothing." : message);
}
