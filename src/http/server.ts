import type { App } from "./app.ts";

/**
 * Bun would answer a larger body by itself, without our headers and the Error body. There is no such bound here: a body
 * is read in chunks, and only up to our own limit.
 */
const serverBodyLimitBytes = Number.MAX_SAFE_INTEGER;
/** A connection on which nothing happens for this long is closed, half-sent requests included. */
const idleTimeoutSeconds = 30;

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
      const drained = app.stop().then(() => true);
      const isDrained = await Promise.race([drained, Bun.sleep(timeoutMs).then(() => false)]);
      if (!isDrained) await server.stop(true);
    },
  };
}
