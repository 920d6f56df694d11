/**
 * Returns what `work` returns, and calls `close` after it in any case. If `work` fails, its error
 * is thrown, because an error of `close` is mostly a consequence.
 */
export async function closing<T>(close: () => unknown, work: () => Promise<T>): Promise<T> {
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
export async function quietly(close: () => unknown): Promise<void> {
  try {
    await close();
  } catch {
    // The error on its way says more.
  }
}
