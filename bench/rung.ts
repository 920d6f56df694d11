// What stands between the bare server and the service, a rung at a time. RESPONSE names a file made
// by capture.ts; each KIND does what the one before it does, and one thing more.
import { bearer } from "@elysiajs/bearer";
import { Elysia } from "elysia";
import type { Captured } from "./measure.ts";

process.env.NODE_ENV = "production";

const { status, headers, body } = (await Bun.file(process.env.RESPONSE ?? "").json()) as Captured;
const listen = { hostname: "127.0.0.1", port: Number(process.env.PORT), development: false };
/** Headers whose values no two responses share. */
const own = ["x-ratelimit-remaining", "x-request-id"];
let responses = 0;

/** What limits and a log need: the URL, two headers and the caller's address. */
function ask(request: Request, server: Bun.Server<undefined> | null): unknown {
  const { headers: sent, url } = request;
  return [url, sent.get("authorization"), sent.get("x-request-id"), server?.requestIP(request)];
}

function ownHeaders(): Record<string, string> {
  responses += 1;
  const made: Record<string, string> = { ...headers };
  for (const name of own) if (name in made) made[name] = `${responses}`;
  return made;
}

const rungs = {
  asks: (): unknown =>
    Bun.serve({
      ...listen,
      fetch(request, server) {
        ask(request, server);
        return new Response(body, { status, headers });
      },
    }),
  counts: (): unknown =>
    Bun.serve({
      ...listen,
      fetch(request, server) {
        ask(request, server);
        return new Response(body, { status, headers: ownHeaders() });
      },
    }),
  elysia(): void {
    const app = new Elysia().get("/v1/pets", ({ request, set }) => {
      ask(request, app.server);
      Object.assign(set.headers, ownHeaders());
      return body;
    });
    app.listen(listen);
  },
  bearer(): void {
    const app = new Elysia().use(bearer()).get("/v1/pets", ({ bearer: token, request, set }) => {
      ask(request, app.server);
      if (token === undefined) return "";
      Object.assign(set.headers, ownHeaders());
      return body;
    });
    app.listen(listen);
  },
};

rungs[process.env.KIND as keyof typeof rungs]();
