/** How this program starts another process of its own executable, and looks after one. */
import { readFileSync } from "node:fs";
import {
  dataFolderOf,
  retiredSettings,
  settings,
  variableOf,
  type EnvironmentVariables,
  type LoadedConfig,
} from "../../config.ts";
import { reasonOf } from "../../domain/system-error.ts";

/** Read at the start: the system renames the file of a program that an upgrade replaced. */
const path = process.execPath;

/** The words that start this program: the executable, or Bun and the program's file. */
export const program = () => (Bun.isStandaloneExecutable ? [path] : [path, Bun.main]);

const mebibyte = 1024 * 1024;
const lookMs = 50;
/** What a process that reads a stranger's list may have: 512 MiB, less what a look is late. */
const memoryMaxBytes = (512 - 16) * mebibyte;
/** JavaScriptCore lets garbage grow with the memory of the machine, unless told of another one. */
const smallMemory = { BUN_JSC_forceRAMSize: String(256 * mebibyte) };

/** What a process has, as far as the system tells. */
function memoryOf(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1_024;
  } catch {
    return 0;
  }
}

/** Why a process was ended that took more than it may have. */
export const tooMuchMemory = "The process took too much memory, so it was ended.";
const problemMax = 500;

/**
 * Runs a command of this program in a process of its own, until `signal`, or until it takes too
 * much memory while it `mayEnd`. Returns undefined once it has succeeded, or else why it did not:
 * its own error, or how it ended. Never rejects.
 */
export async function runJob(
  words: readonly string[],
  env: EnvironmentVariables,
  signal?: AbortSignal,
  mayEnd = () => true,
  maxBytes = memoryMaxBytes,
): Promise<string | undefined> {
  let isTooLarge = false;
  let looking: Timer | undefined;
  try {
    const child = Bun.spawn([...program(), ...words], {
      env: { ...env, ...smallMemory },
      stdio: ["ignore", "ignore", "pipe"],
      killSignal: "SIGTERM",
      ...(signal && { signal }),
    });
    looking = setInterval(() => {
      if (memoryOf(child.pid) <= maxBytes || !mayEnd()) return;
      isTooLarge = true;
      child.kill("SIGKILL");
    }, lookMs);
    const said = await child.stderr.text();
    const code = await child.exited;
    if (code === 0) return undefined;
    if (isTooLarge) return tooMuchMemory;
    const ended = `The process ended with ${child.signalCode ?? `code ${code}`}.`;
    const [, problem = ended] = /^Error: (.+)$/m.exec(said) ?? [];
    return problem.slice(0, problemMax);
  } catch (error) {
    return `The process did not start: ${reasonOf(error)}.`;
  } finally {
    clearInterval(looking);
  }
}

/**
 * The environment of a process with the settings of this one, wherever those came from. They are
 * variables, because a process list shows arguments to everybody.
 */
export function childEnvironment({ all, config }: LoadedConfig, env: EnvironmentVariables) {
  // What this process warns of is not for the others to warn of, too.
  const known = new Set([...all.map(({ setting }) => setting), ...retiredSettings].map(variableOf));
  // The channel to this process's own parent is not the child's.
  const isOther = (name: string) => !known.has(name) && !/^(NODE_CHANNEL|SUPERVISOR)_/.test(name);
  const others = Object.entries(env).filter(([name]) => isOther(name));
  const given = all.filter(({ text, value }) => text !== undefined && value !== undefined);
  const own = given.map(({ setting, text }) => [variableOf(setting), text] as const);
  const data = dataFolderOf(config);
  const place = data === undefined ? {} : { [variableOf(settings.data)]: data };
  return { ...Object.fromEntries([...others, ...own]), ...place };
}
