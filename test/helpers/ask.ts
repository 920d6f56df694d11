/** Requests to a running server, and waiting for what it does. */

export type Answer = Awaited<ReturnType<typeof ask>>;

export async function ask(
  origin: string,
  key: string | undefined,
  path = "/v1/pets",
  init: RequestInit = {},
) {
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

/** Resolves once `holds`, for what nobody tells a test of. Fails after `timeoutMs`. */
export async function until(
  holds: () => boolean | Promise<boolean>,
  timeoutMs = 60_000,
): Promise<void> {
  const deadlineMs = performance.now() + timeoutMs;
  while (!(await holds())) {
    if (performance.now() > deadlineMs) throw new Error(`did not hold within ${timeoutMs} ms`);
    await Bun.sleep(2);
  }
}
