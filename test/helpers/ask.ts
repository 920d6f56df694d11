/** Requests to a running server, many at a time. */
import { until } from "./until.ts";

export interface Answer {
  readonly status: number;
  readonly limit: number;
  readonly remaining: number;
  readonly resetSeconds: number;
  readonly retryAfterSeconds: number | undefined;
  readonly code: string | undefined;
  readonly message: string | undefined;
}

export async function ask(
  origin: string,
  key: string | undefined,
  path = "/v1/pets",
  init: RequestInit = {},
): Promise<Answer> {
  const headers = new Headers(init.headers);
  if (key !== undefined) headers.set("authorization", `Bearer ${key}`);
  const answer = await fetch(`${origin}${path}`, { ...init, headers });
  const text = await answer.text();
  const body = answer.ok || text === "" ? {} : (JSON.parse(text) as Record<string, string>);
  const header = (name: string) => {
    const value = answer.headers.get(name);
    // Anything but a plain integer is NaN, which equals nothing.
    return value !== null && /^\d+$/.test(value) ? Number(value) : Number.NaN;
  };
  return {
    status: answer.status,
    limit: header("x-ratelimit-limit"),
    remaining: header("x-ratelimit-remaining"),
    resetSeconds: header("x-ratelimit-reset"),
    retryAfterSeconds: answer.headers.has("retry-after") ? header("retry-after") : undefined,
    code: body["code"],
    message: body["message"],
  };
}

/** `count` requests, `connections` at a time, to the origins in turn. Leaves failures out. */
export async function hammer(
  origins: readonly string[],
  key: string,
  count: number,
  connections = 64,
  onAnswer: () => void = () => undefined,
): Promise<Answer[]> {
  const answers: Answer[] = [];
  let next = 0;
  const worker = async () => {
    for (let i = next++; i < count; i = next++) {
      try {
        answers.push(await ask(origins[i % origins.length] as string, key));
        onAnswer();
      } catch {
        // The server was killed meanwhile, which is what the caller wants to see the effect of.
      }
    }
  };
  await Promise.all(Array.from({ length: connections }, worker));
  return answers;
}

export function admittedOf(answers: readonly Answer[]): number {
  return answers.filter(({ status }) => status === 200).length;
}

/** What `hammerThroughKills` needs to know. */
interface Kills {
  /** Starts the server, again and again. */
  readonly start: () => Promise<{
    readonly pid: number;
    readonly origin: string;
    readonly exited: Promise<unknown>;
  }>;
  readonly key: string;
  readonly kills: number;
  /** Requests for each server that is killed. */
  readonly requests: number;
  readonly connections: number;
  /** How many requests the server of this round, from 0, answers before it is killed. */
  readonly answered: (round: number) => number;
}

/** Kills a server under load, again and again. Returns how many requests were admitted. */
export async function hammerThroughKills(options: Kills): Promise<number> {
  const { start, key, kills, requests, connections, answered } = options;
  let admitted = 0;
  for (let round = 0; round < kills; round += 1) {
    const server = await start();
    let answers = 0;
    const load = hammer([server.origin], key, requests, connections, () => (answers += 1));
    await until(() => answers >= answered(round));
    process.kill(server.pid, "SIGKILL");
    admitted += admittedOf(await load);
    await server.exited;
  }
  return admitted;
}

/** Runs `work` again when a minute of the machine's clock ended under it. */
export async function withinMinute(work: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const minute = Math.floor(Date.now() / 60_000);
    try {
      await work();
      return;
    } catch (error) {
      if (attempt === 3 || Math.floor(Date.now() / 60_000) === minute) throw error;
    }
  }
}

/** A client of the API with a key. */
export function callerOf({ origin }: { readonly origin: string }, key: string) {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const get = (path = "/v1/pets") => fetch(new URL(path, origin), { headers });
  return {
    get,
    create: (name = "Rex", more: Readonly<Record<string, string>> = {}) =>
      fetch(`${origin}/v1/pets`, {
        method: "POST",
        headers: { ...headers, ...more },
        body: JSON.stringify({ name, categoryId: 1 }),
      }),
    /** All animals, page by page. */
    async animals<T = { readonly name: string }>(): Promise<T[]> {
      const found: T[] = [];
      let next: string | undefined = "/v1/pets?limit=100";
      while (next !== undefined) {
        const answer = await get(next);
        if (!answer.ok) throw new Error(`${next}: ${answer.status}`);
        found.push(...((await answer.json()) as T[]));
        next = /<([^>]+)>; rel="next"/.exec(answer.headers.get("link") ?? "")?.[1];
      }
      return found;
    },
  };
}
