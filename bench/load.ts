// A load of HTTP requests over plain sockets, each connection sending its next request after each
// response. It needs no tool besides Bun, so that a bench runs wherever the service does.
import { DidNotRun } from "./process.ts";

export interface Request {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

interface Load {
  readonly port: number;
  readonly connections: number;
  /** Sent in turn, over and over. */
  readonly requests: readonly Request[];
  /** The load ends after so many responses, or after so many seconds. */
  readonly total?: number;
  readonly seconds?: number;
}

export interface Counted {
  readonly requests: number;
  readonly seconds: number;
  readonly bytes: number;
  /** Responses by status. */
  readonly statuses: Readonly<Record<number, number>>;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Latencies are counted in steps of 10 microseconds, up to 10 s. */
const stepMs = 0.01;
const steps = 1_000_000;

const end = Buffer.from("\r\n\r\n");
const lengthHeader = /\r\ncontent-length: *(\d+)/i;

function encoded(request: Request, port: number): Buffer {
  const { method, path, headers, body = "" } = request;
  const all = { Host: `127.0.0.1:${port}`, ...headers };
  const length = method === "POST" ? { "Content-Length": String(Buffer.byteLength(body)) } : {};
  const lines = Object.entries({ ...all, ...length }).map(([name, value]) => `${name}: ${value}`);
  return Buffer.from([`${method} ${path} HTTP/1.1`, ...lines, "", body].join("\r\n"));
}

interface Connection {
  /** What has arrived of a response, where one chunk does not hold it. */
  rest: Buffer | undefined;
  sentAt: number;
}

/** Sends the load and counts. Throws DidNotRun when a connection fails or ends early. */
export async function runLoad(load: Load): Promise<Counted> {
  const texts = load.requests.map((request) => encoded(request, load.port));
  const latencies = new Uint32Array(steps);
  const statuses: Record<number, number> = {};
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const total = load.total ?? Number.POSITIVE_INFINITY;
  let sent = 0;
  let received = 0;
  let bytes = 0;
  let stopped = false;
  const stop = (): void => {
    stopped = true;
    resolve();
  };
  const send = (socket: Bun.Socket<Connection>): void => {
    if (stopped || sent >= total) return;
    const text = texts[sent % texts.length] as Buffer;
    sent += 1;
    socket.data.sentAt = performance.now();
    // A request is far smaller than a socket's buffer, which is empty here.
    if (socket.write(text) !== text.length) reject(new DidNotRun("a request was not taken whole"));
  };
  const count = (status: number, length: number, sentAt: number): void => {
    received += 1;
    bytes += length;
    statuses[status] = (statuses[status] ?? 0) + 1;
    const step = Math.min(steps - 1, Math.floor((performance.now() - sentAt) / stepMs));
    latencies[step] = (latencies[step] ?? 0) + 1;
    if (received >= total) stop();
  };
  const open = (): Promise<Bun.Socket<Connection>> =>
    Bun.connect<Connection>({
      hostname: "127.0.0.1",
      port: load.port,
      data: { rest: undefined, sentAt: 0 },
      socket: {
        data(socket, chunk) {
          if (stopped) return;
          const { rest, sentAt } = socket.data;
          const all = rest === undefined ? chunk : Buffer.concat([rest, chunk]);
          const length = responseLength(all);
          if (length === undefined || all.length < length) {
            socket.data.rest = rest === undefined ? Buffer.from(chunk) : all;
            return;
          }
          socket.data.rest = undefined;
          // "HTTP/1.1 200": three digits from the tenth byte on.
          const digit = (at: number): number => (all[at] ?? 0) - 48;
          count(digit(9) * 100 + digit(10) * 10 + digit(11), length, sentAt);
          send(socket);
        },
        close() {
          if (!stopped) reject(new DidNotRun("the server closed a connection"));
        },
        error(_, error) {
          reject(new DidNotRun(`a connection failed: ${error.message}`));
        },
      },
    });
  const sockets = await Promise.all(Array.from({ length: load.connections }, open)).catch(
    (error: unknown) => {
      throw new DidNotRun(`no connection: ${String(error)}`);
    },
  );
  const begin = performance.now();
  const timer = load.seconds === undefined ? undefined : setTimeout(stop, load.seconds * 1000);
  try {
    for (const socket of sockets) send(socket);
    await promise;
    const seconds = (performance.now() - begin) / 1000;
    const [p50Ms, p99Ms] = [0.5, 0.99].map((share) => percentile(latencies, received * share));
    return { requests: received, seconds, bytes, statuses, p50Ms: p50Ms ?? 0, p99Ms: p99Ms ?? 0 };
  } finally {
    clearTimeout(timer);
    stopped = true;
    for (const socket of sockets) socket.terminate();
  }
}

/** The length of the response that begins here, once its headers are whole. */
function responseLength(bytes: Buffer): number | undefined {
  const head = bytes.indexOf(end);
  if (head < 0) return undefined;
  const found = lengthHeader.exec(bytes.toString("latin1", 0, head));
  if (found === null) throw new DidNotRun("a response has no Content-Length");
  return head + end.length + Number(found[1]);
}

function percentile(latencies: Uint32Array, rank: number): number {
  let seen = 0;
  for (const [step, count] of latencies.entries()) {
    seen += count;
    if (seen >= rank) return (step + 1) * stepMs;
  }
  return 0;
}
