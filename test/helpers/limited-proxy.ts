/**
 * Stands before a service and, for a while, answers as a service over its limits would: passes all
 * requests on, and loses the answers to those of the numbers (from 0) in `refused`.
 */
export function limitedProxy(
  target: string,
  refused: Readonly<Record<number, { status: 429 | 503; retryAfterSeconds: number }>>,
) {
  const arrivals: number[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const refusal = refused[arrivals.push(performance.now()) - 1];
      const { pathname, search } = new URL(request.url);
      const { method, headers: sent } = request;
      const body = method === "GET" ? {} : { body: await request.text() };
      const answer = await fetch(`${target}${pathname}${search}`, {
        method,
        headers: sent,
        ...body,
      });
      const text = await answer.text();
      if (refusal !== undefined) {
        const { status, retryAfterSeconds } = refusal;
        const code = status === 429 ? "rate_limited" : "unavailable";
        return Response.json(
          { code, message: "Not now.", status },
          { status, headers: { "retry-after": String(retryAfterSeconds) } },
        );
      }
      const headers = new Headers(answer.headers);
      const link = headers.get("link");
      if (link !== null) headers.set("link", link.replace(target, server.url.origin));
      headers.delete("content-encoding");
      return new Response(text, { status: answer.status, headers });
    },
  });
  return {
    origin: server.url.origin,
    /** When each request came, in ms. */
    arrivals,
    stop: () => server.stop(true),
  };
}
