/** Commands in this process: what they print and how they end, without the executable. */
import { run } from "../../src/cli/program.ts";
import type { CommandResult } from "./finished.ts";
import { testIo } from "./io.ts";
import { onStoreUnderTest } from "./store-under-test.ts";

/** Runs one command to its end, as `rehome` does with the executable. */
export async function ran(
  args: readonly string[],
  { env = {} }: { env?: Record<string, string> } = {},
): Promise<CommandResult> {
  const named = await onStoreUnderTest(args, env);
  const io = testIo({ env: named.env });
  // As the executable has it.
  const before = process.umask(0o077);
  try {
    return { exitCode: await run(named.args, io), stdout: io.printed(), stderr: io.said() };
  } finally {
    process.umask(before);
  }
}
