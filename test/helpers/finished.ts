export interface CommandResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

interface Around {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly stdin?: string;
}

/** What a program printed and how it ended, once it has. It gets the environment of the tests. */
export async function finished(
  command: readonly string[],
  { stdin, ...options }: Around = {},
): Promise<CommandResult> {
  const child = Bun.spawn([...command], {
    ...options,
    stdin: stdin === undefined ? "ignore" : new TextEncoder().encode(stdin),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [exitCode, stdout, stderr] = await Promise.all([
    child.exited,
    child.stdout.text(),
    child.stderr.text(),
  ]);
  return { exitCode, stdout, stderr };
}
