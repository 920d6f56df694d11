// What a request costs at least: a bare Bun.serve that sends the bytes it is told to send. It is
// compiled and run like the service. RESPONSE names a file of measure.ts; KIND is `same` (that
// response to every request) or `echo` (parses the JSON body and sends it back with an id).
import type { Captured } from "./measure.ts";

process.env.NODE_ENV = "production";

const { status, headers, body } = (await Bun.file(process.env.RESPONSE ?? "").json()) as Captured;

/** Responds to every request alike. Bun encodes the body's text each time, as the service's. */
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
