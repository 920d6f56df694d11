/** A violation in lines that a person can read. */
import type { Violation } from "./check.ts";
import type { Call, Pet } from "./history.ts";

/** Calls and letters of a body that are shown at most. */
const callsMax = 40;
const bodyMax = 600;

export function linesOf({ object, calls, before }: Violation): string[] {
  const startMs = Math.min(...calls.map(({ callMs }) => callMs));
  const named = JSON.stringify(calls);
  // Of thousands of animals, those that the calls name.
  const shown = JSON.stringify(before, (_, value: unknown) => {
    if (value instanceof Map) return [...value.keys()];
    if (!Array.isArray(value) || value.length < 10) return value;
    return value.filter(({ name }: Partial<Pet>) => named.includes(`"${name}"`));
  });
  const earlier = calls.length - callsMax;
  return [
    `${object}: no order of these calls explains the last one`,
    `  before: ${short(shown ?? "")}`,
    ...(earlier > 0 ? [`  and ${earlier} earlier calls`] : []),
    ...calls.slice(-callsMax).map((call) => `  ${lineOf(call, startMs)}`),
  ];
}

function short(text: string): string {
  return text.length > bodyMax ? `${text.slice(0, bodyMax)}...` : text;
}

function lineOf(call: Call, startMs: number): string {
  const at = (ms: number) => (ms === Infinity ? "..." : (ms - startMs).toFixed(1));
  const times = `${at(call.callMs)} to ${at(call.returnMs)} ms`;
  if (call.kind === "happening") {
    return `${times}: ${call.what} ${call.server}`;
  }
  if (call.kind === "command") {
    const { order, exitCode, printed, stderr } = call;
    return `${times}: ${short(JSON.stringify(order))} -> exit ${exitCode} ${short(JSON.stringify(printed) ?? "")} ${stderr.trim()}`;
  }
  const { client, server, key, asked, answer } = call;
  const { status, body, limit, remaining, resetSeconds, hasNext, isReplay } = answer ?? {};
  const extra = `${hasNext ? " next" : ""}${isReplay ? " replayed" : ""}`;
  const numbers = `${remaining} of ${limit} until ${resetSeconds}`;
  const got =
    answer === undefined
      ? "no answer"
      : `${status} ${short(JSON.stringify(body))}${extra}, ${numbers}`;
  return `${times}: client ${client}, server ${server}, ${key}: ${JSON.stringify(asked)} -> ${got}`;
}
