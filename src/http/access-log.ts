import type { Refusal } from "../service/admission.ts";
import { oneLine, type Logger } from "../service/log.ts";
import { MinuteCounts } from "../service/minute-counts.ts";
import { statusOf } from "./errors.ts";
import type { AnsweredRequest } from "./handler.ts";

/**
 * One line for each request that a key was charged for, which its plan bounds. All others, and
 * failures of the service, are counted by kind: a stranger or an outage must not fill the disk.
 */
export function accessLog(log: Logger): (answered: AnsweredRequest) => void {
  const lineOf = log.format === "json" ? jsonLine : textLine;
  const counts = new MinuteCounts(log, "info");
  if (!log.isOn("info")) return () => undefined;
  return (answered) => {
    if (isCharged(answered)) log.write(lineOf(log.now(), answered));
    else counts.count(kindOf(answered));
  };
}

function isCharged({ context: { admission }, status }: AnsweredRequest): boolean {
  const isAdmitted = admission?.key !== undefined && admission.refusal === undefined;
  return isAdmitted && status < statusOf.internal_error;
}

const probes = ["/health", "/ready"];

/** What a request without a line was, in a closed list of words. */
function kindOf({ context: { refusal, route }, method }: AnsweredRequest): string {
  if (refusal?.kind === "unauthorized") return refusal.detail ?? refusal.kind;
  if (refusal !== undefined) return refusal.kind;
  if (method === "OPTIONS") return "preflight";
  return route !== undefined && probes.includes(route) ? "probe" : "page";
}

const reasonLengthMax = 500;

function reason({ detail, message }: Refusal): string {
  return (detail ?? message).slice(0, reasonLengthMax);
}

/**
 * JSON, written by hand: JSON.stringify would take three times as long. The parts need no escapes.
 */
function jsonLine(time: string, answered: AnsweredRequest): string {
  const { context, method, status, bytes, durationMs } = answered;
  const { id, route, refusal } = context;
  const key = context.admission?.key;
  const address = context.address();
  const routePart = route === undefined ? "" : `,"route":"${route}"`;
  const bytesPart = bytes === undefined ? "" : `,"bytes":${bytes}`;
  const keyPart = key === undefined ? "" : `,"keyId":"${key.id}","plan":"${key.plan}"`;
  const addressPart = address === undefined ? "" : `,"address":"${address}"`;
  const refusalPart =
    refusal === undefined
      ? ""
      : `,"refused":"${refusal.kind}","why":${JSON.stringify(reason(refusal))}`;
  return `{"time":"${time}","level":"info","message":"request","id":"${id}","method":"${method}"${routePart},"status":${status},"durationUs":${Math.round(durationMs * 1000)}${bytesPart}${keyPart}${addressPart}${refusalPart}}`;
}

function textLine(time: string, answered: AnsweredRequest): string {
  const { context, method, status, bytes, durationMs } = answered;
  const { refusal, route = "-" } = context;
  const key = context.admission?.key;
  const size = bytes === undefined ? "-" : `${bytes}B`;
  const parts = [time, "info", method, route, status, `${durationMs.toFixed(2)}ms`, size];
  parts.push(key === undefined ? "-" : `${key.id} (${key.plan})`, context.address() ?? "-");
  parts.push(context.id);
  if (refusal !== undefined) parts.push(refusal.kind, oneLine(reason(refusal)));
  return parts.join(" ");
}
