/** Commands in this process, for what their code decides: a start of the executable costs more. */
import { run } from "../../src/cli/program.ts";
import type { CommandResult } from "./finished.ts";
import { testIo } from "./io.ts";
import { onStoreUnderTest } from "./store-under-test.ts";

/** Runs one command to its end. */
export async function command(
  args: readonly string[],
  options: { env?: Record<string, string>; stdin?: string } = {},
): Promise<CommandResult> {
  const named = await onStoreUnderTest(args, options.env);
  const io = testIo({
    env: named.env,
    async *input() {
      yield new TextEncoder().encode(options.stdin);
    },
  });
  const exitCode = await run([...named.args], io);
  return { exitCode, stdout: io.printed(), stderr: io.said() };
}
