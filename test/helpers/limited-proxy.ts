/** Stands before a service and, for a while, refuses as a service over its limits would. */
interface LimitedProxy {
  readonly origin: string;
  /** When each request came, in ms. */
  readonly arrivals: readonly number[];
  stop(): Promise<void>;
}

/** Refuses the requests of the numbers (from 0) in `refused`, and passes on all others. */
export function limitedProxy(
  target: string,
  refused: Readonly<Record<number, { status: 429 | 503; retryAfterSeconds: number }>>,
): LimitedProxy {
  const arrivals: number[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const refusal = refused[arrivals.push(performance.now()) - 1];
      if (refusal !== undefined) {
        const { status, retryAfterSeconds } = refusal;
        const code = status === 429 ? "rate_limited" : "unavailable";
        return Response.json(
          { code, message: "Not now.", status },
          { status, headers: { "retry-after": String(retryAfterSeconds) } },
        );
      }
      const { pathname, search } = new URL(request.url);
      const answer = await fetch(`${target}${pathname}${search}`, { headers: request.headers });
      const headers = new Headers(answer.headers);
      const link = headers.get("link");
      if (link !== null) headers.set("link", link.replace(target, server.url.origin));
      headers.delete("content-encoding");
      return new Response(await answer.text(), { status: answer.status, headers });
    },
  });
  return {
    origin: server.url.origin,
    arrivals,
    stop: () => server.stop(true),
  };
}
