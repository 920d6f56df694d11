/** Drives the compiled executable from outside, as an operator and a caller would. */
import { afterAll, beforeAll, expect } from "bun:test";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Glob } from "bun";
import { build } from "../../scripts/build.ts";
import { onStoreUnderTest } from "./store-under-test.ts";
import { childrenOf, isRunning, kill } from "./family.ts";
import { finished, type CommandResult } from "./finished.ts";
import { until } from "./ask.ts";

const root = join(import.meta.dir, "../..");
let built: Promise<string> | undefined;

/** The path of the executable, built first when it is missing or older than what it is made of. */
export function executable(): Promise<string> {
  built ??= (async () => {
    const file = join(root, "dist/rehome");
    if (isOutdated(file)) await build("dist/rehome");
    return file;
  })();
  return built;
}

function isOutdated(file: string): boolean {
  const builtMs = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return ["package.json", "bun.lock", "scripts/build.ts", "src/**/*", "drizzle/**/*"]
    .flatMap((pattern) => [...new Glob(pattern).scanSync({ cwd: root, absolute: true })])
    .some((source) => statSync(source).mtimeMs > builtMs);
}

/** A new folder that is removed when `dispose` is called. */
export function temporaryFolder(): { path: string; [Symbol.dispose](): void } {
  const path = mkdtempSync(join(tmpdir(), "rehome-test-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** Nothing of this machine's settings reaches the executable but what a test gives it. */
export const cleanEnvironment = { PATH: process.env["PATH"] ?? "", HOME: tmpdir() };

/** Runs one command to its end. */
export async function rehome(
  args: readonly string[],
  options: { env?: Record<string, string>; cwd?: string; stdin?: string; path?: string } = {},
): Promise<CommandResult> {
  const named = await onStoreUnderTest(args, options.env);
  return finished([options.path ?? (await executable()), ...named.args], {
    cwd: options.cwd ?? tmpdir(),
    env: { ...cleanEnvironment, ...named.env },
    ...(options.stdin !== undefined && { stdin: options.stdin }),
  });
}

/** Starts a command that nobody hears, for tests that end it. */
export async function begun(args: readonly string[], env: Record<string, string> = {}) {
  return Bun.spawn([await executable(), ...args], {
    env: { ...cleanEnvironment, ...env },
    stdio: ["ignore", "ignore", "ignore"],
  });
}

export type RunningBinary = Awaited<ReturnType<typeof serve>>;

/** Starts `rehome serve` on a free port, on `folder` or what `env` names, until it listens. */
export async function serve(
  folder: string | undefined,
  args: readonly string[] = [],
  options: {
    env?: Record<string, string>;
    cwd?: string;
    /** The words in place of `serve`, for a command that serves in the end. */
    words?: readonly string[];
    /** What runs the executable, such as strace. */
    command?: readonly string[];
    /** The executable's path where `command` looks for it, if that is another one. */
    path?: string;
  } = {},
) {
  const words = options.words ?? ["serve", "--port", "0"];
  const data = folder === undefined ? [] : ["--data", folder];
  const named = await onStoreUnderTest([...words, ...data, ...args], options.env);
  const path = options.path ?? (await executable());
  const command = [...(options.command ?? []), path, ...named.args];
  const child = Bun.spawn(command, {
    cwd: options.cwd ?? tmpdir(),
    env: { ...cleanEnvironment, ...named.env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  let stdout = "";
  let stderr = "";
  const gathered = Promise.all([
    gather(child.stdout, (text) => (stdout += text)),
    gather(child.stderr, (text) => (stderr += text)),
  ]);
  const shown = () => /^ {2}API +(https?:\/\/[^/\s]+)/m.exec(stdout)?.[1];
  await until(() => shown() !== undefined || child.exitCode !== null);
  const listens = shown();
  if (listens === undefined) {
    child.kill("SIGKILL");
    await gathered;
    throw new Error(`rehome serve did not start:\n${stdout}${stderr}`);
  }
  return {
    pid: child.pid,
    origin: listens,
    stdout: () => stdout,
    stderr: () => stderr,
    exited: child.exited,
    /** Asks it to stop and resolves with its exit code. */
    async stop(signal: NodeJS.Signals = "SIGTERM") {
      child.kill(signal);
      const exitCode = await child.exited;
      await gathered;
      return exitCode;
    },
    async [Symbol.asyncDispose]() {
      const isOver = child.exitCode !== null || child.signalCode !== null;
      const others = isOver ? [] : childrenOf(child);
      child.kill("SIGKILL");
      // They would end too, but write into the folder while it is removed.
      others.forEach(kill);
      await child.exited;
      await until(() => !others.some(isRunning));
    },
  };
}

/** The address of a server's metrics, which it says on standard output. */
export async function metricsOf({ stdout }: Pick<RunningBinary, "stdout">): Promise<string> {
  const shown = () => /^ {2}Metrics (http:\/\/\S+)$/m.exec(stdout())?.[1];
  await until(() => shown() !== undefined);
  return shown() ?? "";
}

async function gather(
  stream: ReadableStream<Uint8Array>,
  add: (text: string) => void,
): Promise<void> {
  const decoder = new TextDecoder();
  for await (const chunk of stream as unknown as AsyncIterable<Uint8Array>) {
    add(decoder.decode(chunk, { stream: true }));
  }
}

let lastKey = 0;

/** Makes a key beside the server, the way an operator does; `args` may name its label. */
export async function makeKey(folder: string, ...args: string[]) {
  const plan = args.length === 0 ? ["--plan", "business"] : args;
  const { command } = await import("./command.ts");
  const named = ["--name", `test ${(lastKey += 1)}`, "--data", folder, "--json"];
  const result = await command(["keys", "create", ...named, ...plan]);
  if (result.exitCode !== 0) throw new Error(result.stderr);
  return JSON.parse(result.stdout) as { readonly id: string; readonly key: string };
}

/** The same number for a minute and a day. The headers show the day, which ends in no test. */
export function perDay(limit: number): string[] {
  return ["--plan", "enterprise", "--per-minute", `${limit}`, "--per-day", `${limit}`];
}

/** Limits that no test reaches. */
export const roomy = ["--plan", "enterprise", "--per-minute", "1000000", "--per-day", "10000000"];

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
