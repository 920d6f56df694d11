import type { Refusal } from "../service/admission.ts";
import { oneLine, type Logger } from "../service/log.ts";
import { jsonCaller, RefusalFlood, textCaller } from "../service/refusal-flood.ts";
import { statusOf } from "./errors.ts";
import type { AnsweredRequest } from "./handler.ts";

/** One line per request. A failure of the service has level error, everything else info. */
export function accessLog(log: Logger): (answered: AnsweredRequest) => void {
  const lineOf = log.format === "json" ? jsonLine : textLine;
  const hasInfo = log.isOn("info");
  const hasErrors = log.isOn("error");
  const flood = new RefusalFlood(log, "info");
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

function textLine(time: string, level: string, answered: AnsweredRequest): string {
  const { record, method, status, bytes, durationMs } = answered;
  const { refusal } = record;
  const size = bytes === undefined ? "-" : `${bytes}B`;
  const parts = [time, level, method, record.route ?? "-", status, `${durationMs.toFixed(2)}ms`];
  parts.push(size, textCaller(record), record.id);
  if (refusal !== undefined) parts.push(refusal.kind, oneLine(reason(refusal)));
  return parts.join(" ");
}
