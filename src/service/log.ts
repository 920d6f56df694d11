import { write } from "node:fs";
import { minuteMs, type Clock } from "../domain/clock.ts";
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
  /** The time of the last line: many share a millisecond. */
  #timeMs = Number.NaN;
  #time = "";
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

  constructor(readonly options: LogOptions) {}

  isOn(level: LogLevel): boolean {
    return logLevels.indexOf(level) <= logLevels.indexOf(this.options.level);
  }

  error(message: string): void {
    this.#say("error", message);
  }

  warn(message: string): void {
    this.#say("warn", message);
  }

  info(message: string): void {
    this.#say("info", message);
  }

  /** Reports a failure with its causes, and without what was asked for when it happened. */
  failure(error: unknown): void {
    this.error(messageOf(error));
  }

  /** Reports a failure of many requests, as in an outage: the minute's counts have them all. */
  failureOfMany(error: unknown): void {
    const nowMs = this.options.clock();
    if (Math.abs(nowMs - this.#failedMs) < failureMs) return;
    this.#failedMs = nowMs;
    this.failure(error);
  }

  /** This moment, as every line begins with it. */
  now(): string {
    const ms = this.options.clock();
    if (ms !== this.#timeMs) this.#time = new Date(ms).toISOString();
    this.#timeMs = ms;
    return this.#time;
  }

  get droppedTotal(): number {
    return this.#dropped;
  }

  /** Writes the line of an event: `entry` as JSON, or what `text` makes of it. */
  event<Entry extends object>(entry: Entry, text: (entry: Entry) => string): void {
    this.write(this.options.format === "json" ? JSON.stringify(entry) : text(entry));
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

  #say(level: LogLevel, text: string): void {
    const entry = { time: this.now(), level, message: text.slice(0, lineMax) };
    if (this.isOn(level)) {
      this.event(entry, ({ time, message }) => `${time} ${level} ${oneLine(message)}`);
    }
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
    const bytes = Buffer.from(`${lines.join("\n")}\n`);
    const isWritten = await writeAll(this.options.fd ?? standardError, bytes).then(
      () => true,
      () => false,
    );
    // On a full disk, or where nobody reads any more, they are lost.
    if (!isWritten) this.#dropped += lines.length;
    const dropped = this.#dropped - this.#reportedDropped;
    // Told once there is room: the line that says so would be dropped as well.
    if (dropped > 0 && isWritten && this.#waitingLength <= waitingMax) {
      this.#reportedDropped = this.#dropped;
      this.warn(`${dropped} log lines were dropped: the log takes them too slowly.`);
    }
    if (this.#isClosing) await this.#run();
  }
}

/** Writes all of `bytes` at the pace of their reader. Rejects when they cannot be written. */
export async function writeAll(fd: number, bytes: Buffer): Promise<void> {
  for (let written = 0; written < bytes.length;) {
    try {
      written += await writeSome(fd, bytes.subarray(written));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
      await Bun.sleep(busyMs);
    }
  }
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
    const nowMs = this.log.options.clock();
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
    const { level } = this;
    const sorted = [...this.#counts].toSorted(([, a], [, b]) => b - a);
    this.#counts = new Map();
    const entry = { time, level, message: "counts", counts: Object.fromEntries(sorted) };
    const words = sorted.map(([kind, count]) => `${kind} ${count}`).join(", ");
    if (this.log.isOn(level)) this.log.event(entry, () => `${time} ${level} counts: ${words}`);
  }
}

/** Writes what a stream takes of `bytes`, and resolves with how many. node:util would take 3 ms. */
function writeSome(descriptor: number, bytes: Uint8Array): Promise<number> {
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
