import { close, constants, open, openSync, write } from "node:fs";
import { isoSeconds, type Clock } from "../domain/clock.ts";
import { writeFlags } from "../storage/sqlite/folder.ts";
import { logLevels, type LogFormat, type LogLevel } from "../domain/log.ts";

/** Characters that may wait to be written. What comes when they are full is dropped and counted. */
const waitingMax = 2 * 1024 * 1024;
/** The longest line; the rest of a longer one is cut off. */
const lineMax = 2_700;
/**
 * How long a line may wait for others that are written with it, and how many characters may. Each
 * write wakes two threads, which costs as much as a request where requests come one by one.
 */
const gatherMs = 100;
const gatherMax = 64 * 1024;
/** Pause before a failed write is tried again: for a slow reader, and for anything else. */
const retryMs = { busy: 20, failed: 1_000 } as const;
/** How long the end of the process waits for lines that are not written yet. */
const closeTimeoutMs = 2_000;
/** Readable by the service's user alone, like the data. */
const fileMode = 0o600;
/** To append, and without waiting for the reader of a pipe. */
const appendFlags =
  constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK;
const standardError = 2;
const newline = "\n".charCodeAt(0);

export interface LogOptions {
  /** The file to append to; standard error if there is none. */
  readonly path: string | undefined;
  readonly level: LogLevel;
  readonly format: LogFormat;
  readonly clock: Clock;
  /** Called once each time that writing begins to fail. */
  readonly onProblem: (error: Error) => void;
  readonly fd?: number;
}

/**
 * The server's log: one line an event, as JSON or as text for people. Writing a line never waits.
 * Lines gather in memory and another thread writes them. When they come faster than the disk or the
 * reader takes them, the newest are dropped and counted.
 */
export class Logger {
  readonly format: LogFormat;
  readonly clock: Clock;
  readonly #options: LogOptions;
  readonly #severity: number;
  readonly #timestamp = timestamps();
  #fd: number;
  #waiting: string[] = [];
  #waitingSize = 0;
  #dropped = 0;
  #reportedDropped = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #running: Promise<void> | undefined;
  #mustReopen = false;
  #isFailing = false;
  /** Set when the process ends: what fails now is given up. */
  #isClosing = false;
  /** True when nobody reads standard error any more. */
  #isAbandoned = false;
  #beforeClose: (() => void) | undefined;

  /** Throws the system's error when the file cannot be opened. */
  constructor(options: LogOptions) {
    const { path, level, format, clock, fd = standardError } = options;
    this.#options = options;
    this.format = format;
    this.clock = clock;
    this.#severity = logLevels.indexOf(level);
    this.#fd = path === undefined ? fd : openSync(path, writeFlags(path, appendFlags), fileMode);
  }

  isOn(level: LogLevel): boolean {
    return logLevels.indexOf(level) <= this.#severity;
  }

  error(message: string): void {
    this.#event("error", message);
  }

  warn(message: string): void {
    this.#event("warn", message);
  }

  info(message: string): void {
    this.#event("info", message);
  }

  /** Reports a failure with its causes, and without what was asked for when it happened. */
  failure(error: unknown): void {
    this.error(messageOf(error));
  }

  /** This moment, as every line begins with it. The same string within a millisecond. */
  now(): string {
    return this.#timestamp(this.clock());
  }

  get droppedTotal(): number {
    return this.#dropped;
  }

  write(line: string): void {
    if (this.#isAbandoned || this.#waitingSize > waitingMax) {
      this.#dropped += 1;
      return;
    }
    this.#waiting.push(line);
    this.#waitingSize += line.length;
    this.#timer ??= setTimeout(() => this.#start(), gatherMs);
    if (this.#waitingSize > gatherMax && this.#running === undefined) this.#start();
  }

  /** Reopens the file by its name, for when something moved it away. */
  reopen(): void {
    if (this.#options.path === undefined) return;
    this.#mustReopen = true;
    this.#start();
  }

  beforeClose(work: () => void): void {
    this.#beforeClose = work;
  }

  /** Resolves when all lines are written, or after `timeoutMs` with what is left given up. */
  async close(timeoutMs = closeTimeoutMs): Promise<void> {
    this.#beforeClose?.();
    this.#isClosing = true;
    this.#start();
    await Promise.race([this.#running, Bun.sleep(timeoutMs)]);
  }

  #event(level: LogLevel, message: string): void {
    if (this.isOn(level)) this.write(this.#line(level, message));
  }

  #line(level: LogLevel, message: string): string {
    const time = this.now();
    const shown = message.slice(0, lineMax);
    return this.format === "json"
      ? JSON.stringify({ time, level, message: shown })
      : `${time} ${level} ${oneLine(shown)}`;
  }

  #start(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
      // What came since waits for its timer, or was reopened for.
      if (this.#mustReopen && !this.#isClosing) this.#start();
      else if (this.#waiting.length > 0) this.#timer ??= setTimeout(() => this.#start(), gatherMs);
    });
  }

  async #run(): Promise<void> {
    if (this.#mustReopen) await this.#reopen();
    if (this.#waiting.length === 0) return;
    const lines = this.#waiting;
    this.#waiting = [];
    this.#waitingSize = 0;
    await this.#writeAll(Buffer.from(`${lines.join("\n")}\n`));
    const dropped = this.#dropped - this.#reportedDropped;
    // Told once there is room: the line that says so would be dropped as well.
    const hasRoom = this.#waitingSize <= waitingMax;
    if (dropped > 0 && hasRoom && !this.#isAbandoned) {
      this.#reportedDropped = this.#dropped;
      this.write(
        this.#line("warn", `${dropped} log lines were dropped: the log takes them too slowly.`),
      );
    }
    if (this.#isClosing) await this.#run();
  }

  async #writeAll(bytes: Buffer): Promise<void> {
    for (let written = 0; written < bytes.length && !this.#isAbandoned;) {
      try {
        const rest = bytes.subarray(written);
        written += await numberOf((done) => write(this.#fd, rest, 0, rest.length, null, done));
        this.#isFailing = false;
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        const isBusy = code === "EAGAIN";
        const { path, onProblem } = this.#options;
        this.#isAbandoned = path === undefined && (code === "EPIPE" || code === "EBADF");
        if (!isBusy && !this.#isFailing) onProblem(error as Error);
        this.#isFailing = !isBusy;
        if (this.#isClosing && !isBusy) return;
        await Bun.sleep(isBusy ? retryMs.busy : retryMs.failed);
        if (this.#mustReopen) {
          await this.#reopen();
          // The line that the old file has a part of is whole in the new one.
          written = bytes.subarray(0, written).lastIndexOf(newline) + 1;
        }
      }
    }
  }

  async #reopen(): Promise<void> {
    this.#mustReopen = false;
    const { path, onProblem } = this.#options;
    if (path === undefined) return;
    try {
      const fd = await numberOf((done) =>
        open(path, writeFlags(path, appendFlags), fileMode, done),
      );
      close(this.#fd);
      this.#fd = fd;
    } catch (error) {
      onProblem(error as Error);
    }
  }
}

/** The number that a call of node:fs hands over. To load node:util for it takes 3 ms. */
function numberOf(
  call: (done: (error: Error | null | undefined, result: number) => void) => void,
): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  call((error, result) => (error ? reject(error) : resolve(result)));
  return promise;
}

/** Writes `2026-11-21T08:32:00.123Z`. It caches the last time, and what a second has in common. */
export function timestamps(): (ms: number) => string {
  let second = Number.NaN;
  let common = "";
  let last = Number.NaN;
  let text = "";
  return (ms) => {
    if (ms === last) return text;
    const current = Math.floor(ms / 1000);
    if (current !== second) {
      second = current;
      common = isoSeconds(current * 1000).slice(0, -"Z".length);
    }
    last = ms;
    text = `${common}.${String(Math.trunc(ms - current * 1000)).padStart(3, "0")}Z`;
    return text;
  };
}

/** The messages of an error and of what caused it. */
function messageOf(error: unknown): string {
  const causes: string[] = [];
  for (let at: unknown = error; at instanceof Error; at = at.cause) causes.push(at.message);
  const last = causes.length - 1;
  const parts = causes.map((text, at) => (at < last ? text.replace(/\.$/, "") : text));
  return parts.join(": ") || String(error);
}

/** `text` without what would end its line or steer a terminal. */
export function oneLine(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, " ");
}
