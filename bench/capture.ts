// One real answer, taken from the service, that the bare server sends again.
import { DidNotRun } from "./process.ts";
import type { Request } from "./wrk.ts";

export interface Captured {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Written by the server itself for every answer, in the bare one as in the real one. */
const sentByBun = new Set([
  "date",
  "content-length",
  "connection",
  "keep-alive",
  "transfer-encoding",
]);

/** Sends one request and returns the whole answer. Throws DidNotRun when there is none. */
export async function ask(port: number, request: Request): Promise<Captured> {
  const response = await fetch(`http://127.0.0.1:${port}${request.path}`, {
    method: request.method,
    headers: { ...request.headers },
    ...(request.body === undefined ? {} : { body: request.body }),
    signal: AbortSignal.timeout(10_000),
  }).catch((error: unknown) => {
    throw new DidNotRun(`no answer: ${String(error)}`);
  });
  const headers = [...response.headers].filter(([name]) => !sentByBun.has(name));
  return {
    status: response.status,
    headers: Object.fromEntries(headers),
    body: await response.text(),
  };
}

/** As `ask`, but throws DidNotRun unless the answer has the status that is expected. */
export async function askFor(port: number, request: Request, status: number): Promise<Captured> {
  const answer = await ask(port, request);
  if (answer.status === status) return answer;
  const what = `${request.method} ${request.path}`;
  throw new DidNotRun(
    `${what} answered ${answer.status}, not ${status}: ${answer.body.slice(0, 120)}`,
  );
}
