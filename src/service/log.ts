import { write } from "node:fs";
import { isoMilliseconds, minuteMs, type Clock } from "../domain/clock.ts";
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
const busyMs = 20;
const closeTimeoutMs = 2_000;
const standardError = 2;
/** What fails again and again, as in an outage, has one line in this time. */
const failureMs = 1_000;

export interface LogOptions {
  readonly level: LogLevel;
  readonly format: LogFormat;
  readonly clock: Clock;
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
  readonly #fd: number;
  /** The time of the last line: many share a millisecond. */
  #timeMs = Number.NaN;
  #time = "";
  readonly #severity: number;
  /** Whole lines: to turn a long text of many parts into bytes costs far more. */
  #waiting: string[] = [];
  #waitingLength = 0;
  #dropped = 0;
  #reportedDropped = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #running: Promise<void> | undefined;
  #isClosing = false;
  #beforeClose: (() => void) | undefined;
  #failedMs = Number.NEGATIVE_INFINITY;
  #failures = 0;

  constructor({ level, format, clock, fd = standardError }: LogOptions) {
    this.format = format;
    this.clock = clock;
    this.#severity = logLevels.indexOf(level);
    this.#fd = fd;
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

  /** Reports a failure of many requests, as in an outage: one line a second, and a count. */
  failureOfMany(error: unknown): void {
    const nowMs = this.clock();
    const sinceMs = Math.abs(nowMs - this.#failedMs);
    if (sinceMs < failureMs) {
      this.#failures += 1;
      return;
    }
    // Those of an outage that is over are in the counts of their minute.
    const isGoingOn = this.#failures > 0 && sinceMs < minuteMs;
    const more = isGoingOn ? ` (${this.#failures} more since the last line)` : "";
    this.#failedMs = nowMs;
    this.#failures = 0;
    this.error(messageOf(error) + more);
  }

  /** This moment, as every line begins with it. */
  now(): string {
    const ms = this.clock();
    if (ms !== this.#timeMs) this.#time = isoMilliseconds(ms);
    this.#timeMs = ms;
    return this.#time;
  }

  get droppedTotal(): number {
    return this.#dropped;
  }

  write(line: string): void {
    if (this.#waitingLength > waitingMax) {
      this.#dropped += 1;
      return;
    }
    this.#waiting.push(line);
    this.#waitingLength += line.length;
    this.#timer ??= setTimeout(() => this.#start(), gatherMs);
    if (this.#waitingLength > gatherMax && this.#running === undefined) this.#start();
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
      // What came since waits for its timer.
      if (this.#waiting.length > 0) this.#timer ??= setTimeout(() => this.#start(), gatherMs);
    });
  }

  async #run(): Promise<void> {
    if (this.#waiting.length === 0) return;
    const lines = this.#waiting;
    this.#waiting = [];
    this.#waitingLength = 0;
    const isWritten = await writeAll(this.#fd, Buffer.from(`${lines.join("\n")}\n`));
    // On a full disk, or where nobody reads any more, they are lost.
    if (!isWritten) this.#dropped += lines.length;
    const dropped = this.#dropped - this.#reportedDropped;
    // Told once there is room: the line that says so would be dropped as well.
    if (dropped > 0 && isWritten && this.#waitingLength <= waitingMax) {
      this.#reportedDropped = this.#dropped;
      this.write(
        this.#line("warn", `${dropped} log lines were dropped: the log takes them too slowly.`),
      );
    }
    if (this.#isClosing) await this.#run();
  }
}

/** Writes all of `bytes` at the pace of their reader. Returns false when they cannot be written. */
async function writeAll(fd: number, bytes: Buffer): Promise<boolean> {
  for (let written = 0; written < bytes.length;) {
    try {
      written += await writeSome(fd, bytes.subarray(written));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") return false;
      await Bun.sleep(busyMs);
    }
  }
  return true;
}

/**
 * What has no lines of its own, counted by kind: one line when the minute ends. Kinds are a closed
 * list, so that no caller adds to the line.
 */
export class MinuteCounts {
  #counts = new Map<string, number>();
  #minute = Number.NaN;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly log: Logger,
    private readonly level: "info" | "warn",
  ) {
    log.beforeClose(() => this.#end());
  }

  /** Counts one, and returns how many of its kind this minute has. */
  count(kind: string): number {
    const nowMs = this.log.clock();
    const minute = Math.floor(nowMs / minuteMs);
    if (minute !== this.#minute) {
      this.#end();
      this.#minute = minute;
    }
    const count = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, count);
    this.#timer ??= setTimeout(() => this.#end(), minuteMs - (nowMs % minuteMs)).unref();
    return count;
  }

  #end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#counts.size === 0) return;
    const time = this.log.now();
    const counts = [...this.#counts].toSorted(([, a], [, b]) => b - a);
    this.#counts = new Map();
    if (!this.log.isOn(this.level)) return;
    this.log.write(
      this.log.format === "json"
        ? JSON.stringify({
            time,
            level: this.level,
            message: "counts",
            counts: Object.fromEntries(counts),
          })
        : `${time} ${this.level} counts: ${counts.map(([kind, count]) => `${kind} ${count}`).join(", ")}`,
    );
  }
}

/** Writes what a stream takes of `bytes`, and resolves with how many. node:util would take 3 ms. */
export function writeSome(descriptor: number, bytes: Uint8Array): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  write(descriptor, bytes, 0, bytes.length, null, (error, written) =>
    error ? reject(error) : resolve(written),
  );
  return promise;
}

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
