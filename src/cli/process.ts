/** The command line's outside: the streams, the signals and the terminal of this process. */
import { fstatSync, writeSync } from "node:fs";
import { processEnvironment as env } from "../config.ts";
import { reasonOf } from "../domain/system-error.ts";
import type { Feature } from "../feature.ts";
import { outputIsClosed } from "../storage/system.ts";
import { actorOf, type Io, type Signals, untilAborted } from "./io.ts";
import { machineOf } from "./machine.ts";
import { printableLines } from "./terminal/text.ts";

/** How long a server that was asked to stop waits for the readers of its output. */
const flushMaxMs = 1_000;
/**
 * One press of Ctrl-C can arrive twice: from the terminal, and from a runner such as `bun run` that
 * passes it on. Two SIGINTs within this time count as one.
 */
const sameKeyMs = 500;

export function processIo(
  features: readonly Feature[],
  exit: (code: number) => void,
): { io: Io; end: (exitCode: number) => Promise<number> } {
  const output = new Output();
  let signals: Signals | undefined;
  const io: Io = {
    features,
    env,
    // All of these are opened where they are needed.
    get isTerminal() {
      return output.stdout.isTTY;
    },
    get talkIsTerminal() {
      return process.stderr.isTTY;
    },
    get columns() {
      return output.stdout.columns || 80;
    },
    get canAsk() {
      return process.stdin.isTTY && process.stderr.isTTY;
    },
    actor: actorOf(env, process.getuid?.()),
    machine: machineOf(),
    out: (text) => output.out(text),
    write: (text) => output.write(text),
    err: (text) => output.err(printableLines(text)),
    draw: (text) => output.err(text),
    input: () => Bun.stdin.stream(),
    ask,
    hearSignals: () => (signals ??= hearSignals(() => exit(1))),
    stop: new AbortController().signal,
  };
  return { io, end: (exitCode) => output.end(exitCode, signals?.stop) };
}

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
  let interruptedMs = Number.NEGATIVE_INFINITY;
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      if (signal === "SIGINT") {
        const nowMs = performance.now();
        if (nowMs - interruptedMs < sameKeyMs) return;
        interruptedMs = nowMs;
      }
      if (stop.signal.aborted) force();
      else stop.abort();
    });
  }
  const onReload = (listener: () => void) =>
    void process.on("SIGHUP", () => (terminalIsGone() ? stop.abort() : listener()));
  return { stop: stop.signal, onReload };
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

type WriteError = (Error & { readonly code?: string }) | null | undefined;

const closed = () => new Error("it is closed");

const notWritten = (cause: Error) =>
  new Error(`Standard output cannot be written: ${reasonOf(cause)}.`, { cause });

/** Standard output and standard error of this process. */
class Output {
  /** What the streams have not taken yet. Bun calls back, but not in the order of the writes. */
  readonly #unwritten = new Set<Promise<void>>();
  #isHeard = false;
  #error: Error | undefined;
  #wasClosed: boolean | undefined;

  /** Standard output. To open it takes milliseconds, so a server does it once it responds. */
  get stdout(): typeof process.stdout {
    // Each write hears of its own error. Unheard, this event would end the process.
    if (!this.#isHeard) process.stdout.on("error", () => {});
    this.#isHeard = true;
    return process.stdout;
  }

  out(text: string): void {
    if (this.#isClosed()) this.#error ??= closed();
    this.#write(this.stdout, text, this.#note);
  }

  err(text: string): void {
    this.#write(process.stderr, text, () => {});
  }

  /** Writes data, and resolves when the reader took it. Rejects when it cannot be written. */
  write(text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed()) return reject(notWritten(closed()));
      return this.stdout.write(text, (error: WriteError) => {
        if (!error) resolve();
        else reject(error.code === "EPIPE" ? error : notWritten(error));
      });
    });
  }

  /**
   * Resolves when all that was written has its readers, or a second after `stop`: a reader such as
   * a pager takes its time, and a process that exits drops what is left. Returns the exit code for
   * a command that ended with `exitCode`.
   */
  async end(exitCode: number, stop: AbortSignal | undefined): Promise<number> {
    const all = Promise.all(this.#unwritten).then(() => true);
    const late = async (signal: AbortSignal) => {
      await untilAborted(signal);
      await Bun.sleep(flushMaxMs);
      return false;
    };
    const isRead = await (stop === undefined ? all : Promise.race([all, late(stop)]));
    // A command that failed has said why.
    if (this.#error !== undefined && exitCode === 0) {
      process.stderr.write(`Error: ${notWritten(this.#error).message}\n`);
    }
    return this.#error === undefined && isRead ? exitCode : exitCode || 1;
  }

  #isClosed(): boolean {
    return (this.#wasClosed ??= outputIsClosed());
  }

  /** Notes why standard output did not take everything. A reader may have enough (`head`). */
  readonly #note = (error: WriteError) => {
    if (error && error.code !== "EPIPE") this.#error ??= error;
  };

  #write(stream: NodeJS.WriteStream, text: string, note: (error: WriteError) => void): void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#unwritten.add(promise);
    stream.write(text, (error: WriteError) => {
      note(error);
      this.#unwritten.delete(promise);
      resolve();
    });
  }
}
