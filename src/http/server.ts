import type { Handler } from "./handler.ts";

/** How long a connection may be idle. Pools of clients keep theirs for 60 to 90 s. */
export const idleTimeoutSeconds = 80;

/**
 * Bun would refuse a larger body by itself, without our headers and the Error body. body.ts reads
 * in chunks, up to our own limit.
 */
const serverBodyLimitBytes = Number.MAX_SAFE_INTEGER;
/** A stop is announced until no request came for this long. */
const quietMs = 50;
const announceMaxMs = 1_000;
/** How long the server with the former certificate lets its requests finish. */
const formerServerMaxMs = 10_000;

export interface Tls {
  readonly cert: string;
  readonly key: string;
}

interface ListenOptions {
  readonly host: string;
  readonly port: number;
  readonly reusePort: boolean;
  readonly tls?: Tls | undefined;
}

type Server = Bun.Server<undefined>;

export type RunningServer = ReturnType<typeof listen>;

/**
 * Starts to listen. Bun cannot change a certificate, so each one gets a new server on the same
 * port. Throws the system's error when the port cannot be used.
 */
export function listen(handler: Handler, options: ListenOptions) {
  const isShared = options.tls !== undefined;
  // SO_REUSEPORT would hide a port conflict, so check first.
  if (isShared && !options.reusePort) claim(options);
  let current = bind(handler, { ...options, reusePort: options.reusePort || isShared });
  // Not the port of the address: that leaves out the one that goes with its scheme.
  const { url, port = options.port } = current;
  const closing: Promise<void>[] = [];
  let isStopping = false;
  return {
    url,
    port,
    /**
     * Changes the certificate. Resolves when every new connection gets the new one; open
     * connections end after their next response. Does nothing once the stop has begun.
     */
    async renew(tls: Tls): Promise<void> {
      if (isStopping) return;
      const former = current;
      current = bind(handler, { ...options, port, reusePort: true, tls });
      const closed = close(handler, former, formerServerMaxMs);
      closing.push(closed);
      await closed;
    },
    /** A connection that is kept ends with its next response from now on, or with its idle time. */
    drain(): void {
      isStopping = true;
      sayClose(handler, current);
    },
    /** Stops listening, lets requests finish for at most `timeoutMs`, then cuts off the rest. */
    async stop(timeoutMs: number): Promise<void> {
      isStopping = true;
      await Promise.all([close(handler, current, timeoutMs), ...closing]);
    },
  };
}

function bind(handler: Handler, { host, port, reusePort, tls }: ListenOptions): Server {
  return Bun.serve({
    hostname: host,
    port,
    reusePort,
    development: false,
    idleTimeout: idleTimeoutSeconds,
    maxRequestBodySize: serverBodyLimitBytes,
    ...(tls && { tls: { cert: tls.cert, key: tls.key } }),
    fetch: handler,
  });
}

/** Throws what listening on a taken port throws. */
function claim({ host, port }: ListenOptions): void {
  Bun.listen({ hostname: host, port, socket: { data: () => undefined } }).stop(true);
}

async function close(handler: Handler, server: Server, timeoutMs: number): Promise<void> {
  const endMs = performance.now() + timeoutMs;
  // At most half of the time: requests under way are to have the rest.
  await announceStop(handler, server, Math.min(timeoutMs / 2, announceMaxMs));
  const drained = server.stop().then(() => true);
  const leftMs = Math.max(0, endMs - performance.now());
  const isDrained = await Promise.race([drained, Bun.sleep(leftMs).then(() => false)]);
  if (!isDrained) await server.stop(true);
}

/** From here on each response is the last one of its connection. */
function sayClose(handler: Handler, server: Server, onResponse = () => {}): void {
  server.reload({
    async fetch(request, peers) {
      const response = await handler(request, peers);
      response.headers.set("Connection", "close");
      response.headers.delete("Keep-Alive");
      onResponse();
      return response;
    },
  });
}

/**
 * Responds with `Connection: close` until it is quiet. Otherwise a close would break a request that
 * a client is just sending. A response under way does not say so yet: its client may ask once more.
 */
async function announceStop(handler: Handler, server: Server, maxMs: number): Promise<void> {
  let responses = 0;
  sayClose(handler, server, () => (responses += 1));
  const endMs = performance.now() + maxMs;
  for (let isQuiet = false; !isQuiet && performance.now() < endMs;) {
    const before = server.pendingRequests > 0 ? undefined : responses;
    await Bun.sleep(Math.min(quietMs, maxMs));
    // In a process that was held up, the timer fires before what came meanwhile is read.
    for (let turn = 0; turn < 2; turn += 1) await new Promise(setImmediate);
    isQuiet = before === responses && server.pendingRequests === 0;
  }
}
