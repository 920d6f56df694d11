import type { ApiKey } from "../domain/api-key.ts";
import type { Refusal } from "../service/admission.ts";
import { oneLine, type Logger } from "../service/log/logger.ts";
import { lineBytesMax } from "../service/log/output.ts";
import type { AnsweredRequest } from "./handler.ts";
import { statusOf } from "./errors.ts";

/** One line per request. A failure of the service has level error, everything else info. */
export function accessLog(log: Logger): (answered: AnsweredRequest) => void {
  const write = log.format === "json" ? jsonLines(log) : textLines(log);
  const hasInfo = log.isOn("info");
  const hasErrors = log.isOn("error");
  return (answered) => {
    const isFailure = answered.status >= statusOf.internal_error;
    if (isFailure ? hasErrors : hasInfo) write(answered, isFailure ? "error" : "info");
  };
}

type WriteLine = (answered: AnsweredRequest, level: string) => void;

const reasonLengthMax = 500;

const encoder = new TextEncoder();
const bytesOf = (text: string) => encoder.encode(text);
const bytesPart = bytesOf(',"bytes":');
const addressPart = bytesOf(',"address":"');
const quote = bytesOf('"');
const end = bytesOf("}\n");
/** What ends most lines. */
const quoteAndEnd = bytesOf('"}\n');

/**
 * Lines as JSON, composed of bytes: a string per line costs three times as much. The parts that are
 * copied unchanged (id, method, address) have no quotes or control characters.
 */
function jsonLines(log: Logger): WriteLine {
  const { output } = log;
  const headOf = heads(log);
  const outcomeOf = outcomes();
  const keyText = ({ id, plan }: ApiKey) => `,"keyId":"${id}","plan":"${plan}"`;
  const keys = kept(keyText);
  const keysAndAddress = kept((key: ApiKey) => `${keyText(key)},"address":"`);
  const reasonOf = kept(
    (refusal: Refusal) =>
      `,"refused":"${refusal.kind}","why":${JSON.stringify(reason(refusal))}}\n`,
  );

  return ({ record, method, status, bytes, durationMs }, level) => {
    const line = output.begin(lineBytesMax);
    if (line === undefined) return;
    const { admission, refusal } = record;
    const key = admission?.key;
    const address = record.address();
    line.put(headOf(level));
    line.putAscii(record.id);
    line.put(outcomeOf(record.route, method, status));
    line.putInteger(Math.round(durationMs * 1000));
    if (bytes !== undefined) {
      line.put(bytesPart);
      line.putInteger(bytes);
    }
    if (address !== undefined) {
      line.put(key === undefined ? addressPart : keysAndAddress(key));
      line.putAscii(address);
    } else if (key !== undefined) line.put(keys(key));
    if (refusal !== undefined) {
      if (address !== undefined) line.put(quote);
      line.put(reasonOf(refusal));
    } else line.put(address === undefined ? end : quoteAndEnd);
    output.end();
  };
}

/** What a line begins with; made once a millisecond. */
function heads(log: Logger): (level: string) => Uint8Array {
  let time = "";
  let level = "";
  let head = bytesOf("");
  return (wanted) => {
    const now = log.now();
    if (now !== time || wanted !== level) {
      time = now;
      level = wanted;
      head = bytesOf(`{"time":"${time}","level":"${level}","message":"request","id":"`);
    }
    return head;
  };
}

/** The part from method to status; there are as many as routes and statuses. */
function outcomes(): (route: string | undefined, method: string, status: number) => Uint8Array {
  const routes = new Map<string | undefined, Map<string, Uint8Array[]>>();
  return (route, method, status) => {
    let methods = routes.get(route);
    if (methods === undefined) routes.set(route, (methods = new Map()));
    let statuses = methods.get(method);
    if (statuses === undefined) methods.set(method, (statuses = []));
    const routePart = () => (route === undefined ? "" : `,"route":${JSON.stringify(route)}`);
    return (statuses[status] ??= bytesOf(
      `","method":"${method}"${routePart()},"status":${status},"durationUs":`,
    ));
  };
}

/** Makes the text of an object once, and caches its bytes as long as the object exists. */
function kept<T extends WeakKey>(textOf: (thing: T) => string): (thing: T) => Uint8Array {
  const parts = new WeakMap<T, Uint8Array>();
  return (thing) => {
    let part = parts.get(thing);
    if (part === undefined) parts.set(thing, (part = bytesOf(textOf(thing))));
    return part;
  };
}

function textLines(log: Logger): WriteLine {
  return ({ record, method, status, bytes, durationMs }, level) => {
    const { admission, refusal } = record;
    const key = admission?.key;
    const parts = [
      log.now(),
      level,
      method,
      record.route ?? "-",
      `${status}`,
      `${durationMs.toFixed(2)}ms`,
      bytes === undefined ? "-" : `${bytes}B`,
      key === undefined ? "-" : `${key.id} (${key.plan})`,
      record.address() ?? "-",
      record.id,
    ];
    if (refusal !== undefined) parts.push(refusal.kind, oneLine(reason(refusal)));
    log.output.write(parts.join(" "));
  };
}

/** Why a request was refused, for the operator's eyes. */
function reason({ detail, message }: Refusal): string {
  return (detail ?? message).slice(0, reasonLengthMax);
}
