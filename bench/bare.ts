// What a request costs at least: a bare Bun.serve that sends the bytes it is told to send. It is
// compiled and run like the service. ANSWER names a file made by capture.ts; KIND is `same` (that
// answer to every request) or `echo` (parses the JSON body and sends it back with an id, as a
// create does).
import type { Captured } from "./capture.ts";

process.env.NODE_ENV = "production";

const { status, headers, body } = (await Bun.file(process.env.ANSWER ?? "").json()) as Captured;

/** Answers every request alike. Bun encodes the body's text each time, as the service's. */
const same = (): Response => new Response(body, { status, headers });

const echoes = process.env.KIND === "echo";
let id = echoes ? (JSON.parse(body) as { id: number }).id : 0;

async function echo(request: Request): Promise<Response> {
  const { name, categoryId, status: petStatus } = (await request.json()) as Record<string, unknown>;
  const pet = { id: ++id, name, categoryId, status: petStatus };
  return new Response(JSON.stringify(pet), { status, headers });
}

Bun.serve({
  hostname: "127.0.0.1",
  port: Number(process.env.PORT),
  development: false,
  fetch: echoes ? echo : same,
});
