/**
 * A client as its users write it: openapi-fetch, and a create that is sent with an Idempotency-Key
 * until it is answered. Goes on for SECONDS, then prints what it knows as JSON: the animals that it
 * added, and whatever was no success, with its time.
 */
import createClient from "openapi-fetch";
import type { paths } from "../generated/schema.d.ts";

const workers = 16;
const pauseMs = 20;
const retryMs = 100;

const client = createClient<paths>({
  baseUrl: process.env["API_URL"] ?? "",
  headers: { authorization: `Bearer ${process.env["API_KEY"]}` },
});
const endMs = Date.now() + Number(process.env["SECONDS"]) * 1000;

const added: { name: string; id: number; attempts: number }[] = [];
const failures: { atMs: number; what: string }[] = [];
let reads = 0;
let replays = 0;

const sleep = (ms: number) => new Promise<void>((resolve) => void setTimeout(resolve, ms));

/** Calls until there is an answer with data; notes whatever else came. */
async function untilAnswered<T>(
  call: () => Promise<{ data?: T; response: Response }>,
): Promise<{ data: T; response: Response; attempts: number }> {
  for (let attempts = 1; ; attempts += 1) {
    let waitMs = retryMs;
    try {
      const { data, response } = await call();
      if (data !== undefined) return { data, response, attempts };
      failures.push({ atMs: Date.now(), what: String(response.status) });
      waitMs = Number(response.headers.get("retry-after") ?? 0) * 1000 || retryMs;
    } catch (error) {
      const { code = "", name } = error as Error & { code?: string };
      failures.push({ atMs: Date.now(), what: code || name });
    }
    await sleep(waitMs);
  }
}

async function work(worker: number): Promise<void> {
  for (let count = 0; Date.now() < endMs; count += 1) {
    const name = `${worker}-${count} Zoë 🐈`;
    const header = { "Idempotency-Key": crypto.randomUUID() };
    const { data, response, attempts } = await untilAnswered(() =>
      client.POST("/pets", {
        params: { header },
        body: { name, categoryId: worker, status: "available" },
      }),
    );
    added.push({ name: data.name, id: data.id, attempts });
    if (response.headers.get("idempotent-replayed") === "true") replays += 1;
    const page = await untilAnswered(() =>
      client.GET("/pets", { params: { query: { limit: 1, after: data.id - 1 } } }),
    );
    reads += 1;
    // What was answered is what everybody reads from now on.
    const [read] = page.data;
    if (read?.id !== data.id || read.name !== name || read.categoryId !== worker) {
      failures.push({ atMs: 0, what: `animal ${data.id} reads otherwise` });
    }
    await sleep(pauseMs);
  }
}

await Promise.all(Array.from({ length: workers }, (_, worker) => work(worker)));
process.stdout.write(JSON.stringify({ added, failures, reads, replays }));
