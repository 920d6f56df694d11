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
