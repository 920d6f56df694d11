/** Clients that know what became of each request. `fetch` would silently try again. */
import { connect, type Socket } from "node:net";
import { isWhole } from "./raw.ts";

/**
 * What a client may see of a server that is gone. An answer that breaks off is not in it, nor is
 * silence on a kept connection, but for one on which the client paused longer than a stop waits.
 */
export const goneBeforeRequest = [
  "ECONNREFUSED before a connection",
  "ECONNRESET before a connection",
  "ECONNRESET before the answer on a new connection",
  "ECONNRESET before the answer on a connection kept for long",
  "closed before the answer on a connection kept for long",
];
/** A server that stops waits as long for another request. */
const longMs = 50;

export interface Outcome {
  /** Answers by status. */
  readonly statuses: Map<number, number>;
  /** Requests without a whole answer, by what happened to them. */
  readonly failures: Map<string, number>;
  readonly bodies: string[];
  readonly latenciesMs: number[];
}

interface LoadOptions {
  readonly port: number;
  readonly clients: number;
  /** False opens a connection for each request. */
  readonly keepAlive: boolean;
  readonly request: (client: number, count: number) => string;
  readonly isOver: () => boolean;
  readonly pauseMs?: number;
  /** Told of each whole answer as it comes. */
  readonly onAnswer?: (status: number) => void;
}

interface Answer {
  readonly status: number;
  readonly headers: string;
  readonly body: string;
}

/** One HTTP/1.1 client on one connection at a time. */
export class Client {
  /** How many connections it opened so far. */
  connections = 0;
  #socket: Socket | undefined;
  /** When the last request was sent: its answer came later. */
  #sentMs = 0;
  readonly #port: number;
  readonly #keepAlive: boolean;

  constructor(port: number, keepAlive: boolean) {
    this.#port = port;
    this.#keepAlive = keepAlive;
  }

  /** Sends one request. Resolves with the answer, or with what happened instead of a whole one. */
  send(request: string): Promise<Answer | string> {
    const { promise, resolve } = Promise.withResolvers<Answer | string>();
    const isNew = this.#socket === undefined;
    if (isNew) this.connections += 1;
    const sentMs = performance.now();
    const kept =
      sentMs - this.#sentMs < longMs ? "a kept connection" : "a connection kept for long";
    this.#sentMs = sentMs;
    const socket = this.#socket ?? connect({ port: this.#port, host: "127.0.0.1", noDelay: true });
    let text = "";
    let isConnected = !isNew;
    const end = (outcome: Answer | string, keep: boolean) => {
      socket.removeAllListeners();
      // A late reset on a connection that is not needed any more is nobody's failure.
      socket.on("error", () => undefined);
      if (!keep) socket.destroy();
      this.#socket = keep ? socket : undefined;
      // One that its server closes meanwhile would tell nobody of the next request.
      socket.on("close", () => {
        if (this.#socket === socket) this.#socket = undefined;
      });
      resolve(outcome);
    };
    const fail = (what: string) => {
      const where = isNew ? "a new connection" : kept;
      const started = text === "" ? `before the answer on ${where}` : "within the answer";
      end(`${what} ${isConnected ? started : "before a connection"}`, false);
    };
    socket.removeAllListeners();
    socket.on("connect", () => {
      isConnected = true;
      socket.write(request);
    });
    socket.on("error", (error: Error & { code?: string }) => fail(error.code ?? error.message));
    socket.on("close", () => fail("closed"));
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
      const answer = wholeAnswer(text);
      if (answer === undefined) return;
      end(answer, this.#keepAlive && !/^connection: close/im.test(answer.headers));
    });
    if (!isNew) socket.write(request);
    return promise;
  }

  close(): void {
    this.#socket?.destroy();
  }
}

/** The answer once all of it is there. */
function wholeAnswer(text: string): Answer | undefined {
  if (!isWhole(text)) return undefined;
  const [headers = "", body = ""] = text.split("\r\n\r\n");
  return { status: Number(headers.slice(9, 12)), headers, body };
}

/** Sends requests from all clients until it is over, and tells what came of each of them. */
export async function load(options: LoadOptions): Promise<Outcome> {
  const [statuses, failures] = [new Map<number, number>(), new Map<string, number>()];
  const outcome: Outcome = { statuses, failures, bodies: [], latenciesMs: [] };
  const one = async (_: unknown, number: number) => {
    const client = new Client(options.port, options.keepAlive);
    for (let count = 0; !options.isOver(); count += 1) {
      const startMs = performance.now();
      const answer = await client.send(options.request(number, count));
      if (typeof answer === "string") {
        failures.set(answer, (failures.get(answer) ?? 0) + 1);
        await Bun.sleep(1);
      } else {
        outcome.latenciesMs.push(performance.now() - startMs);
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
        outcome.bodies.push(answer.body);
        options.onAnswer?.(answer.status);
      }
      if (options.pauseMs !== undefined) await Bun.sleep(options.pauseMs);
    }
    client.close();
  };
  await Promise.all(Array.from({ length: options.clients }, one));
  return outcome;
}

/** The bytes of one request with a key. */
export function requestText(method: string, path: string, key?: string, body = ""): string {
  const lines = [`${method} ${path} HTTP/1.1`, "Host: localhost"];
  if (key !== undefined) lines.push(`Authorization: Bearer ${key}`);
  if (body !== "") {
    lines.push("Content-Type: application/json", `Content-Length: ${Buffer.byteLength(body)}`);
  }
  return `${lines.join("\r\n")}\r\n\r\n${body}`;
}

/** The port that `origin` names. */
export function portOf(origin: string): number {
  return Number(new URL(origin).port);
}
