import "./environment.ts";
import { annexes } from "./annexes/index.ts";
import { actorOf, untilAborted } from "./cli/io.ts";
import { become } from "./cli/machine.ts";
import { run } from "./cli/program.ts";
import { givenArguments } from "./arguments.ts";
import { processEnvironment } from "./config.ts";
import { outputIsClosed } from "./storage/system.ts";

// Whatever this process makes belongs to its user alone: databases, backups, folders.
process.umask(0o077);

/**
 * One press of Ctrl-C can arrive twice: from the terminal, and from a runner such as `bun run` that
 * passes it on. Two SIGINTs within this time count as one.
 */
const sameKeyMs = 500;
/** How long a command that was asked to stop waits for the readers of its output. */
const flushMaxMs = 1_000;

const stop = new AbortController();
let interruptedMs = Number.NEGATIVE_INFINITY;
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    if (signal === "SIGINT") {
      const nowMs = performance.now();
      if (nowMs - interruptedMs < sameKeyMs) return;
      interruptedMs = nowMs;
    }
    // Asked twice, it does not wait for anybody.
    if (stop.signal.aborted) process.exit(1);
    stop.abort();
  });
}

/** Why standard output did not take everything. That a reader has enough (`head`) is no failure. */
let outputError: Error | undefined;
const noteOutput = (error: (Error & { code?: string }) | null | undefined) => {
  if (error && error.code !== "EPIPE") outputError ??= error;
};
let isHeard = false;
/** Standard output. To open it takes milliseconds, so a server does it once it answers. */
function stdout(): typeof process.stdout {
  if (!isHeard) process.stdout.on("error", noteOutput);
  isHeard = true;
  return process.stdout;
}
/** What the streams have not taken yet. Bun calls back, but not in the order of the writes. */
const unwritten = new Set<Promise<void>>();
function write(stream: NodeJS.WriteStream, text: string, note: typeof noteOutput): void {
  const { promise, resolve } = Promise.withResolvers<void>();
  unwritten.add(promise);
  stream.write(text, (error) => {
    note(error);
    unwritten.delete(promise);
    resolve();
  });
}
const notWritten = (cause: Error) =>
  new Error(`Standard output cannot be written: ${cause.message}.`, { cause });

let actsAs: string | undefined;
const exitCode = await run(givenArguments(), {
  annexes,
  env: processEnvironment,
  // All of these are opened where they are wanted.
  get isTerminal() {
    return stdout().isTTY;
  },
  get talkIsTerminal() {
    return process.stderr.isTTY;
  },
  get columns() {
    return stdout().columns || 80;
  },
  get canAsk() {
    return process.stdin.isTTY && process.stderr.isTTY;
  },
  actor: actorOf(processEnvironment, process.getuid?.()),
  machine: {
    uid: process.geteuid?.(),
    service: () =>
      annexes
        .values()
        .map(({ findService }) => findService?.(processEnvironment, process.geteuid?.()))
        .find((service) => service !== undefined),
    become(account) {
      become(account);
      actsAs = account.name;
    },
    get actsAs() {
      return actsAs;
    },
  },
  out: (text) => write(stdout(), text, noteOutput),
  write: (text) =>
    new Promise((resolve, reject) => {
      if (outputIsClosed()) return reject(notWritten(new Error("it is closed")));
      return stdout().write(text, (error) => {
        if (!error) resolve();
        else reject((error as { code?: string }).code === "EPIPE" ? error : notWritten(error));
      });
    }),
  input: () => Bun.stdin.stream(),
  async ask(question) {
    // Loaded where it is wanted, for the same reason.
    const { ask } = await import("./cli/terminal/ask.ts");
    return ask(question, stop.signal);
  },
  err: (text) => write(process.stderr, text, () => {}),
  stop: stop.signal,
  onReload: (listener) => void process.on("SIGHUP", listener),
});

// A reader such as a pager takes its time, and a process that exits drops what is left.
const isRead = await Promise.race([
  Promise.all(unwritten).then(() => true),
  untilAborted(stop.signal)
    .then(() => Bun.sleep(flushMaxMs))
    .then(() => false),
]);
// A command that failed has said why.
if (outputError !== undefined && exitCode === 0) {
  process.stderr.write(`Error: ${notWritten(outputError).message}\n`);
}
process.exit(outputError === undefined && isRead ? exitCode : exitCode || 1);
