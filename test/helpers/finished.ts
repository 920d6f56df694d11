export interface CommandResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** What a program printed and how it ended, once it has; both of its outputs must be pipes. */
export async function finished(
  child: Bun.Subprocess<"ignore" | "pipe" | "inherit" | Uint8Array | null, "pipe", "pipe">,
): Promise<CommandResult> {
  const [exitCode, stdout, stderr] = await Promise.all([
    child.exited,
    child.stdout.text(),
    child.stderr.text(),
  ]);
  return { exitCode, stdout, stderr };
}
