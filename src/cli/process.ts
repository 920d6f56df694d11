/** The command line's outside: the streams, the signals and the terminal of this process. */
import { fstatSync, writeSync } from "node:fs";
import { processEnvironment as env } from "../config.ts";
import { reasonOf } from "../domain/system-error.ts";
import type { Feature } from "../feature.ts";
import { writeAll } from "../service/log.ts";
import { actorOf, type Io, type Signals } from "./io.ts";
import { machineOf } from "./machine.ts";
import { printableLines } from "./terminal/text.ts";

const [standardOutput, standardError] = [1, 2];
/** Pause before a stream that takes nothing at the moment is tried again. */
const busyMs = 10;

export function processIo(features: readonly Feature[], exit: (code: number) => void): Io {
  let signals: Signals | undefined;
  const err = (text: string) => writeNow(standardError, text);
  return {
    features,
    env,
    // All of these are opened where they are needed.
    get isTerminal() {
      return process.stdout.isTTY;
    },
    get stderrIsTTY() {
      return process.stderr.isTTY;
    },
    get columns() {
      return process.stdout.columns || 80;
    },
    get canAsk() {
      return process.stdin.isTTY && process.stderr.isTTY;
    },
    actor: actorOf(env, process.getuid?.()),
    machine: machineOf(),
    out,
    write,
    err: (text) => err(printableLines(text)),
    draw: err,
    input: () => Bun.stdin.stream(),
    ask,
    hearSignals: () => (signals ??= hearSignals(() => exit(1))),
  };
}

/** Writes data before it returns. Whoever reads it may have enough, such as `head`. */
function out(text: string): void {
  const error = writeNow(standardOutput, text);
  if (error !== undefined && error.code !== "EPIPE") throw notWritten(error);
}

/** Writes data, and resolves when the reader took it. Rejects when it cannot be written. */
async function write(text: string): Promise<void> {
  try {
    await writeAll(standardOutput, Buffer.from(text));
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === "EPIPE" ? error : notWritten(error);
  }
}

/** Writes all of `text`, or returns why it cannot. */
function writeNow(descriptor: number, text: string): NodeJS.ErrnoException | undefined {
  const bytes = Buffer.from(text);
  for (let written = 0; written < bytes.length;) {
    try {
      written += writeSync(descriptor, bytes, written);
    } catch (error) {
      const failure = error as NodeJS.ErrnoException;
      if (failure.code !== "EAGAIN") return failure;
      Bun.sleepSync(busyMs);
    }
  }
  return undefined;
}

const notWritten = (cause: unknown) =>
  new Error(`Standard output cannot be written: ${reasonOf(cause)}.`, { cause });

/** Asks on standard error and reads one line of standard input; "" at its end. */
async function ask(question: string): Promise<string> {
  const { createInterface } = await import("node:readline");
  // Not as a terminal: the line discipline edits the line, and Ctrl-C stays a signal.
  const lines = createInterface({ input: process.stdin, terminal: false });
  process.stderr.write(printableLines(question));
  const { promise, resolve } = Promise.withResolvers<string>();
  const close = () => {
    // Nobody ended the line of the question.
    process.stderr.write("\n");
    resolve("");
  };
  lines.once("close", close);
  lines.once("line", (answer) => {
    lines.off("close", close);
    lines.close();
    resolve(answer);
  });
  return promise;
}

/**
 * Hears the signals. The first SIGINT or SIGTERM aborts `stop`, and the second calls `force`. The
 * SIGHUP of a terminal that is closed aborts `stop` too; any other is a reload.
 */
function hearSignals(force: () => void): Signals {
  const stop = new AbortController();
  const reloads: (() => void)[] = [];
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => (stop.signal.aborted ? force() : stop.abort()));
  }
  process.on("SIGHUP", () => {
    if (terminalIsGone()) stop.abort();
    else for (const reload of reloads) reload();
  });
  return { stop: stop.signal, onReload: (listener) => void reloads.push(listener) };
}

/** True when one of the three standard streams is a terminal that has been closed. */
function terminalIsGone(): boolean {
  return [0, 1, 2].some((descriptor) => {
    try {
      if (fstatSync(descriptor).isCharacterDevice()) writeSync(descriptor, "");
      return false;
    } catch (error) {
      // Only such a terminal fails when nothing is written. node:tty would take 15 ms to load.
      return (error as NodeJS.ErrnoException).code === "EIO";
    }
  });
}
