import { isoSeconds, type Clock } from "../../domain/clock.ts";
import { logLevels, type LogFormat, type LogLevel } from "../../domain/log.ts";
import { LogOutput, type LogOutputOptions } from "./output.ts";

interface LoggerOptions extends Omit<LogOutputOptions, "describeDropped"> {
  readonly level: LogLevel;
  readonly format: LogFormat;
  readonly clock: Clock;
}

/** How long the end of the process waits for lines that are not written yet. */
const closeTimeoutMs = 2_000;

/** The server's log: one line an event, as JSON or as text for people. Writing never waits. */
export class Logger {
  readonly format: LogFormat;
  readonly #severity: number;
  readonly #clock: Clock;
  readonly #timestamp = timestamps();
  /** Where finished lines of this log's format go. */
  readonly output: LogOutput;

  /** Throws the system's error when the file cannot be opened. */
  constructor(options: LoggerOptions) {
    this.format = options.format;
    this.#severity = logLevels.indexOf(options.level);
    this.#clock = options.clock;
    this.output = new LogOutput({
      ...options,
      describeDropped: (count) =>
        this.#line("warn", `${count} log lines were dropped: the log takes them too slowly.`),
    });
  }

  /** Whether lines of this level are kept. */
  isOn(level: LogLevel): boolean {
    return logLevels.indexOf(level) <= this.#severity;
  }

  error(message: string): void {
    this.#write("error", message);
  }

  warn(message: string): void {
    this.#write("warn", message);
  }

  info(message: string): void {
    this.#write("info", message);
  }

  /** Reports a failure with its causes, and without what was asked for when it happened. */
  failure(error: unknown): void {
    this.error(messageOf(error));
  }

  /** This moment, as every line begins with it. The same string within a millisecond. */
  now(): string {
    return this.#timestamp(this.#clock());
  }

  async close(): Promise<void> {
    await this.output.close(closeTimeoutMs);
  }

  #write(level: LogLevel, message: string): void {
    if (this.isOn(level)) this.output.write(this.#line(level, message));
  }

  #line(level: LogLevel, message: string): string {
    const time = this.now();
    return this.format === "json"
      ? JSON.stringify({ time, level, message })
      : `${time} ${level} ${oneLine(message)}`;
  }
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
