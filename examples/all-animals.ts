/**
 * Prints every animal of a rehome service, one line each, page by page.
 *
 *   API_URL=http://127.0.0.1:8080/v1 API_KEY=rehome_live_... bun examples/all-animals.ts [status]
 *
 * Needs Bun, or Node 23.6 or later. No package.
 */

interface Pet {
  /** As text: a number in JavaScript is exact up to 2^53 only. */
  readonly id: string;
  readonly name: string;
  readonly categoryId: string;
  readonly status?: "available" | "pending" | "sold";
}

const baseUrl = process.env["API_URL"] ?? "http://127.0.0.1:8080/v1";
const key = process.env["API_KEY"] ?? "";
const attemptsMax = 6;
const firstWaitMs = 1_000;

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** GETs an address. After 429 or 503 it waits as long as it is told, and longer each time; then it gives up. */
async function get(url: string): Promise<Response> {
  for (let attempt = 0; ; attempt += 1) {
    const answer = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
    if (answer.ok) return answer;
    const { code, message } = (await answer.json()) as { code: string; message: string };
    const mayPass = answer.status === 429 || answer.status === 503;
    if (!mayPass || attempt + 1 === attemptsMax) throw new Error(`${code}: ${message}`);
    const toldMs = Number(answer.headers.get("retry-after") ?? 0) * 1_000;
    const backoffMs = firstWaitMs * 2 ** attempt;
    // A little at random, so that programs that were refused together do not come back together.
    const waitMs = Math.max(toldMs, backoffMs) * (1 + Math.random() / 10);
    console.error(`${message} Waiting ${Math.ceil(waitMs / 1_000)} s.`);
    await sleep(waitMs);
  }
}

/** Parses JSON with its whole numbers as text, digit for digit. */
function parseExactly(json: string): unknown {
  return JSON.parse(json, (_name, value: unknown, context?: { source?: string }) =>
    typeof value === "number" ? (context?.source ?? String(value)) : value,
  );
}

/** Every animal, in ascending order of the ids, in as few requests as there are pages. */
async function* allAnimals(status?: string): AsyncGenerator<Pet> {
  const query = new URLSearchParams({ limit: "100", ...(status && { status }) });
  let next: string | undefined = `${baseUrl}/pets?${query.toString()}`;
  while (next !== undefined) {
    const answer: Response = await get(next);
    yield* parseExactly(await answer.text()) as Pet[];
    next = /<([^>]*)>;\s*rel="next"/.exec(answer.headers.get("link") ?? "")?.[1];
  }
}

async function main(): Promise<void> {
  for await (const { id, name, categoryId, status } of allAnimals(process.argv[2])) {
    console.log([id, name, categoryId, status ?? "-"].join("\t"));
  }
}

main().catch((error: unknown) => {
  console.error(`Error: ${(error as Error).message}`);
  process.exitCode = 1;
});
