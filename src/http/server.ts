import type { App } from "./app.ts";

/**
 * Bun would answer a larger body by itself, without our headers and the Error body. There is no such bound here: a body
 * is read in chunks, and only up to our own limit.
 */
const serverBodyLimitBytes = Number.MAX_SAFE_INTEGER;
/**
 * How long a connection may take for one request's body, and may stay open between two requests. Bytes that drip in do
 * not prolong it. The headers of a connection's first request have 12 s, which is Bun's own rule.
 */
const idleTimeoutSeconds = 30;
/** While a stop is announced, it waits until no request came for this long: who speaks often has then heard of it. */
const quietMs = 50;
const announceMaxMs = 1_000;

export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  readonly reusePort: boolean;
}

export interface RunningServer {
  readonly url: URL;
  /** Stops listening, lets requests under way finish for at most `timeoutMs`, then cuts off what is left. */
  stop(timeoutMs: number): Promise<void>;
}

/** Starts to listen. Throws the system's error when the port cannot be had. */
export function listen(app: App, { host, port, reusePort }: ListenOptions): RunningServer {
  app.listen({
    hostname: host,
    port,
    reusePort,
    development: false,
    idleTimeout: idleTimeoutSeconds,
    maxRequestBodySize: serverBodyLimitBytes,
  });
  const { server } = app;
  if (server === null) throw new Error("the server did not start");
  return {
    url: server.url,
    async stop(timeoutMs) {
      await announceStop(app, server, Math.min(timeoutMs, announceMaxMs));
      const drained = server.stop().then(() => true);
      const isDrained = await Promise.race([drained, Bun.sleep(timeoutMs).then(() => false)]);
      if (!isDrained) await server.stop(true);
    },
  };
}

type Server = NonNullable<App["server"]>;

/**
 * Answers with `Connection: close` from now on, until it is quiet. Closing a connection without this would break the
 * request that its client is sending at that very moment.
 */
async function announceStop(app: App, server: Server, maxMs: number): Promise<void> {
  let answered = 0;
  server.reload({
    routes: {},
    async fetch(request: Request) {
      const answer = await app.fetch(request);
      answer.headers.set("connection", "close");
      answered += 1;
      return answer;
    },
  });
  const endMs = performance.now() + maxMs;
  for (let before = -1; before !== answered && performance.now() < endMs;) {
    before = answered;
    await Bun.sleep(Math.min(quietMs, maxMs));
  }
}
