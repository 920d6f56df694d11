/**
 * How the functions that orval wrote reach the service: the base address, the key, and the answer
 * by its status.
 */
export async function rehomeFetch<T>(path: string, init: RequestInit): Promise<T> {
  const headers = new Headers(init.headers);
  headers.set("authorization", `Bearer ${process.env["API_KEY"]}`);
  const answer = await fetch(`${process.env["API_URL"]}${path}`, { ...init, headers });
  return { status: answer.status, data: await answer.json(), headers: answer.headers } as T;
}
