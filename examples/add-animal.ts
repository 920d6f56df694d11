/**
 * Adds one animal to a rehome service, once, whatever becomes of the answers.
 *
 *   API_URL=http://127.0.0.1:8080/v1 API_KEY=rehome_live_... bun examples/add-animal.ts NAME CATEGORY [STATUS]
 *
 * Needs Bun, or Node 23.6 or later. No package.
 */

const baseUrl = process.env["API_URL"] ?? "http://127.0.0.1:8080/v1";
const key = process.env["API_KEY"] ?? "";
const attemptsMax = 6;
const firstWaitMs = 1_000;

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Sends the animal until there is an answer. All attempts have one Idempotency-Key, so it is stored once. */
async function add(body: string): Promise<string> {
  const headers = {
    authorization: `Bearer ${key}`,
    "content-type": "application/json",
    "idempotency-key": crypto.randomUUID(),
  };
  for (let attempt = 0; ; attempt += 1) {
    const { text, problem, toldMs } = await send(body, headers);
    if (text !== undefined) return text;
    if (toldMs === undefined || attempt + 1 === attemptsMax) throw new Error(problem);
    // A little at random, so that programs that were refused together do not come back together.
    const waitMs = Math.max(toldMs, firstWaitMs * 2 ** attempt) * (1 + Math.random() / 10);
    console.error(`${problem} Waiting ${Math.ceil(waitMs / 1_000)} s.`);
    await sleep(waitMs);
  }
}

/** One attempt: the animal, or what is wrong and, where it may pass, how long to wait at least. */
async function send(
  body: string,
  headers: Readonly<Record<string, string>>,
): Promise<{ text?: string; problem?: string; toldMs?: number }> {
  let answer: Response;
  try {
    answer = await fetch(`${baseUrl}/pets`, { method: "POST", headers, body });
  } catch (error) {
    return { problem: (error as Error).message, toldMs: 0 };
  }
  if (answer.ok) return { text: await answer.text() };
  const { code, message } = (await answer.json()) as { code: string; message: string };
  const problem = `${code}: ${message}`;
  if (answer.status !== 429 && answer.status !== 503) return { problem };
  return { problem, toldMs: Number(answer.headers.get("retry-after") ?? 0) * 1_000 };
}

async function main(): Promise<void> {
  const [name, category, status] = process.argv.slice(2);
  if (name === undefined || !/^-?\d+$/.test(category ?? "")) {
    throw new Error("give a name, the number of a category, and a status if there is one.");
  }
  // The category is written as it was given: a number in JavaScript is exact up to 2^53 only.
  const more = status === undefined ? "" : `,"status":${JSON.stringify(status)}`;
  console.log(await add(`{"name":${JSON.stringify(name)},"categoryId":${category}${more}}`));
}

main().catch((error: unknown) => {
  console.error(`Error: ${(error as Error).message}`);
  process.exitCode = 1;
});
