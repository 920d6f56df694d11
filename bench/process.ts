// Programs under test: started on the server's core, watched through /proc, stopped by their own
// id.
import { readFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";

export const serverCore = 0;
export const loadCore = 1;
const twoCores = cpus().length > 1 && Bun.which("taskset") !== null;
/** USER_HZ: the unit of /proc/PID/stat's times. It is 100 on every Linux that Bun runs on. */
const ticksPerSecond = 100;
const startTimeoutMs = 15_000;
const stopTimeoutMs = 15_000;

/** A figure that must not be shown; the message is the reason a table gives instead. */
export class DidNotRun extends Error {}

export interface Usage {
  readonly cpuTicks: number;
  readonly writtenBytes: number;
  readonly rssMiB: number;
  readonly anonymousMiB: number;
  /** Of the resident memory, the pages of files: the executable's, above all. */
  readonly fileMiB: number;
}

/** A server that answers on 127.0.0.1:`port`. */
export interface Running {
  readonly pid: number;
  readonly port: number;
  readonly stop: () => Promise<void>;
}

/** The servers that run now. A signal to the bench alone would leave them behind. */
const servers = new Set<Bun.Subprocess>();
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    for (const server of servers) server.kill("SIGKILL");
    process.exit(1);
  });
}

/** A port nothing listens on at the moment. */
export async function freePort(): Promise<number> {
  const probe = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const { port } = probe;
  await probe.stop(true);
  if (port === undefined) throw new DidNotRun("no free port");
  return port;
}

/** Runs a program to its end and returns what it printed. Throws DidNotRun with its last words. */
export async function run(command: readonly string[], cwd?: string): Promise<string> {
  return (await runCounted(command, cwd)).out;
}

/** As `run`, with the processor time the program took. */
export async function runCounted(command: readonly string[], cwd?: string) {
  const child = Bun.spawn([...command], {
    ...(cwd === undefined ? {} : { cwd }),
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (code !== 0) {
    throw new DidNotRun(`${command.slice(0, 3).join(" ")} exited ${code}: ${lastLine(err || out)}`);
  }
  return { out, cpuUs: Number(child.resourceUsage()?.cpuTime.total ?? 0) };
}

/** The last line that says something. */
function lastLine(text: string): string {
  return text.trim().split("\n").at(-1)?.trim() || "it said nothing";
}

interface Start {
  readonly command: readonly string[];
  readonly port: number;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** False to let it run on every core. */
  readonly pinned?: false;
  /** Where its stderr goes, to quote from when it does not start. */
  readonly stderrFile: string;
}

/** The command on some of the cores, where there are two to choose from. */
const onCores = (cores: string, command: readonly string[]): readonly string[] =>
  twoCores ? ["taskset", "-c", cores, ...command] : command;

/** Moves this process, and all that it starts but the servers, to the core of the load. */
export async function moveToLoadCore(): Promise<void> {
  if (twoCores) await run(["taskset", "-a", "-p", "-c", `${loadCore}`, `${process.pid}`]);
}

/** Milliseconds from exec to the first 200 for `path`, on both cores. Throws DidNotRun. */
export async function startTime(
  command: readonly string[],
  port: number,
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<number> {
  const begin = performance.now();
  const child = Bun.spawn([...onCores(`${serverCore},${loadCore}`, command)], {
    stdin: "ignore",
    stdout: "ignore",
    stderr: "ignore",
  });
  try {
    while (!(await listening(port))) {
      // Without a pause the attempts would take a core from the start.
      await Bun.sleep(0.5);
      if (child.exitCode !== null) throw new DidNotRun(`serve exited ${child.exitCode}`);
      if (performance.now() - begin > startTimeoutMs) throw new DidNotRun("serve did not start");
    }
    const { status } = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { ...headers } });
    if (status !== 200) throw new DidNotRun(`the first response was ${status}`);
    return performance.now() - begin;
  } finally {
    child.kill("SIGTERM");
    await child.exited;
  }
}

async function listening(port: number): Promise<boolean> {
  try {
    const socket = await Bun.connect({ hostname: "127.0.0.1", port, socket: { data() {} } });
    socket.end();
    return true;
  } catch {
    return false;
  }
}

/** Starts a server, by default on its core, until it answers HTTP. Throws DidNotRun. */
export async function startServer(start: Start): Promise<Running> {
  const command = start.pinned === false ? start.command : onCores(`${serverCore}`, start.command);
  const child = Bun.spawn([...command], {
    env: { ...process.env, NODE_ENV: "production", PORT: String(start.port), ...start.env },
    ...(start.cwd === undefined ? {} : { cwd: start.cwd }),
    stdin: "ignore",
    stdout: "ignore",
    stderr: Bun.file(start.stderrFile),
  });
  servers.add(child);
  void child.exited.then(() => servers.delete(child));
  const stop = async (): Promise<void> => {
    child.kill("SIGTERM");
    const force = setTimeout(() => child.kill("SIGKILL"), stopTimeoutMs);
    await child.exited;
    clearTimeout(force);
  };
  const deadline = performance.now() + startTimeoutMs;
  while (!(await answers(start.port))) {
    const exited = child.exitCode !== null || child.signalCode !== null;
    if (exited || performance.now() > deadline) {
      await stop();
      const words = lastLine(await Bun.file(start.stderrFile).text());
      throw new DidNotRun(
        exited ? `exited before it answered: ${words}` : `no answer in 15 s: ${words}`,
      );
    }
    await Bun.sleep(20);
  }
  return { pid: child.pid, port: start.port, stop };
}

async function answers(port: number): Promise<boolean> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/v1/pets?limit=1`, { keepalive: false });
    await response.arrayBuffer();
    return true;
  } catch {
    return false;
  }
}

/** What a process has used since it started. Throws DidNotRun when it is gone. */
export function usage(pid: number): Usage {
  const read = (file: string): string => {
    try {
      return readFileSync(join("/proc", String(pid), file), "utf8");
    } catch {
      throw new DidNotRun("the server ended while it was measured");
    }
  };
  // The second field is the program's name in parentheses and may hold spaces.
  const stat = read("stat").split(") ").at(-1)?.split(" ") ?? [];
  const field = (file: string, name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(read(file))?.[1] ?? Number.NaN);
  return {
    cpuTicks: Number(stat[11]) + Number(stat[12]),
    writtenBytes: field("io", "write_bytes"),
    rssMiB: field("status", "VmRSS") / 1024,
    anonymousMiB: field("status", "RssAnon") / 1024,
    fileMiB: field("status", "RssFile") / 1024,
  };
}

/** What all programs have used of a core, with stolen time and without interrupts. */
export function coreUs(core: number): number {
  const line = new RegExp(`^cpu${core} (.*)$`, "m").exec(readFileSync("/proc/stat", "utf8"));
  const [user = 0, nice = 0, system = 0, , , , , steal = 0] = (line?.[1] ?? "")
    .split(" ")
    .map(Number);
  return ((user + nice + system + steal) / ticksPerSecond) * 1e6;
}

/** Microseconds of processor time between two readings. */
export function cpuUsBetween(before: Usage, after: Usage): number {
  return ((after.cpuTicks - before.cpuTicks) / ticksPerSecond) * 1e6;
}

/** Waits, 3 s at most, until a process is idle: work put off belongs to its round. */
export async function atRest(pid: number): Promise<Usage> {
  let last = usage(pid);
  for (let i = 0; i < 30; i++) {
    await Bun.sleep(100);
    const now = usage(pid);
    if (now.cpuTicks - last.cpuTicks <= 1) return now;
    last = now;
  }
  return last;
}

/** What a started server has at rest: after a second it returns what only its start needed. */
export async function afterStart(pid: number): Promise<Usage> {
  await Bun.sleep(2_000);
  return atRest(pid);
}
