import { minuteMs } from "../domain/clock.ts";
import type { Refusal } from "../service/admission.ts";
import { BucketNames } from "../service/anonymous.ts";
import { oneLine, type Logger } from "../service/log.ts";
import { statusOf } from "./errors.ts";
import type { AnsweredRequest } from "./handler.ts";
import type { RequestRecord } from "./record.ts";

/** One line per request. A failure of the service has level error, everything else info. */
export function accessLog(log: Logger): (answered: AnsweredRequest) => void {
  const lineOf = log.format === "json" ? jsonLine : textLine;
  const hasInfo = log.isOn("info");
  const hasErrors = log.isOn("error");
  const flood = new RefusalFlood(log);
  return (answered) => {
    const isFailure = answered.status >= statusOf.internal_error;
    if (isFailure ? !hasErrors : !hasInfo) return;
    const { record } = answered;
    if (record.refusal !== undefined && !isFailure && flood.suppresses(record)) return;
    log.write(lineOf(log.now(), isFailure ? "error" : "info", answered));
  };
}

const reasonLengthMax = 500;

function reason({ detail, message }: Refusal): string {
  return (detail ?? message).slice(0, reasonLengthMax);
}

/**
 * JSON, written by hand: JSON.stringify would take three times as long. The parts need no escapes.
 */
function jsonLine(time: string, level: string, answered: AnsweredRequest): string {
  const { record, method, status, bytes, durationMs } = answered;
  const { id, route, refusal } = record;
  const routePart = route === undefined ? "" : `,"route":"${route}"`;
  const bytesPart = bytes === undefined ? "" : `,"bytes":${bytes}`;
  const refusalPart =
    refusal === undefined
      ? ""
      : `,"refused":"${refusal.kind}","why":${JSON.stringify(reason(refusal))}`;
  return `{"time":"${time}","level":"${level}","message":"request","id":"${id}","method":"${method}"${routePart},"status":${status},"durationUs":${Math.round(durationMs * 1000)}${bytesPart}${jsonCaller(record)}${refusalPart}}`;
}

function jsonCaller(record: Readonly<RequestRecord>): string {
  const key = record.admission?.key;
  const address = record.address();
  const keyPart = key === undefined ? "" : `,"keyId":"${key.id}","plan":"${key.plan}"`;
  return address === undefined ? keyPart : `${keyPart},"address":"${address}"`;
}

function textLine(time: string, level: string, answered: AnsweredRequest): string {
  const { record, method, status, bytes, durationMs } = answered;
  const { refusal } = record;
  const size = bytes === undefined ? "-" : `${bytes}B`;
  const parts = [time, level, method, record.route ?? "-", status, `${durationMs.toFixed(2)}ms`];
  parts.push(size, textCaller(record), record.id);
  if (refusal !== undefined) parts.push(refusal.kind, oneLine(reason(refusal)));
  return parts.join(" ");
}

function textCaller(record: Readonly<RequestRecord>): string {
  const key = record.admission?.key;
  return `${key === undefined ? "-" : `${key.id} (${key.plan})`} ${record.address() ?? "-"}`;
}

/** Refusals of one caller in one minute that have lines of their own. */
const linesMax = 20;
/** Callers that are told apart in one minute; all others are one. */
const callersMax = 10_000;

interface Flood {
  count: number;
  readonly first: Readonly<RequestRecord>;
}

/**
 * Refusals of one key or one address after its first in a minute. They are one line with their
 * count, at the end of the minute: a caller that does not stop must not fill the disk.
 */
class RefusalFlood {
  readonly #log: Logger;
  readonly #names = new BucketNames();
  #floods = new Map<string, Flood>();
  #minute = Number.NaN;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(log: Logger) {
    this.#log = log;
    log.beforeClose(() => this.#end());
  }

  /** Counts a refusal, and tells whether it has no line of its own. */
  suppresses(record: Readonly<RequestRecord>): boolean {
    const nowMs = this.#log.clock();
    const minute = Math.floor(nowMs / minuteMs);
    if (minute !== this.#minute) {
      this.#end();
      this.#minute = minute;
    }
    const caller = record.admission?.key?.id ?? this.#names.of(record.address());
    const isKnown = this.#floods.has(caller) || this.#floods.size < callersMax;
    const flood = this.#floods.getOrInsertComputed(isKnown ? caller : "", () => ({
      count: 0,
      first: record,
    }));
    flood.count += 1;
    if (flood.count <= linesMax) return false;
    this.#timer ??= setTimeout(() => this.#end(), minuteMs - (nowMs % minuteMs)).unref();
    return true;
  }

  #end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const time = this.#log.now();
    for (const { count, first } of this.#floods.values()) {
      const suppressed = count - linesMax;
      if (suppressed <= 0) continue;
      this.#log.write(
        this.#log.format === "json"
          ? `{"time":"${time}","level":"info","message":"refusals","suppressed":${suppressed}${jsonCaller(first)}}`
          : `${time} info ${suppressed} more refusals ${textCaller(first)}`,
      );
    }
    this.#floods = new Map();
    this.#names.forget();
  }
}
