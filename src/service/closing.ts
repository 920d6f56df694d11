import type { Awaitable } from "../storage/contract.ts";

/**
 * What `work` returns; `close` is called after it, whatever became of it. Where `work` fails, that
 * is the error: what `close` then throws is a consequence of it, more often than not, and would
 * hide it.
 */
export async function closing<T>(
  close: () => Awaitable<unknown>,
  work: () => Promise<T>,
): Promise<T> {
  let result: T;
  try {
    result = await work();
  } catch (error) {
    await quietly(close);
    throw error;
  }
  await close();
  return result;
}

/** Closes what an error has made useless. */
export async function quietly(close: () => Awaitable<unknown>): Promise<void> {
  try {
    await close();
  } catch {
    // The error on its way says more.
  }
}
