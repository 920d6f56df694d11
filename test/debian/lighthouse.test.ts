/** Lighthouse on a phone, on the compiled executable. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { availableParallelism, loadavg } from "node:os";
import { serve, temporaryFolder, type RunningBinary } from "../helpers/binary.ts";
import { lighthouse } from "../helpers/lighthouse.ts";
import { installTools } from "../helpers/tools.ts";

const folder = temporaryFolder();
let server: RunningBinary;

beforeAll(async () => {
  await installTools();
  server = await serve(folder.path);
}, 120_000);
afterAll(async () => {
  await server.stop();
  folder[Symbol.dispose]();
});

/** The scores from 0 to 100. */
async function measured(path: string) {
  const { categories } = await lighthouse(`${server.origin}${path}`, [
    "performance",
    "accessibility",
    "best-practices",
    "seo",
  ]);
  return Object.fromEntries(
    Object.entries(categories).map(([name, { score }]) => [name, Math.round(score * 100)]),
  );
}

test.each(["/", "/docs"])(
  "%s",
  async (path) => {
    const runs: Record<string, number>[] = [];
    // A busy machine makes a page slow that is not: the fastest of three runs says what the page
    // can do.
    do runs.push(await measured(path));
    while (runs.length < 3 && (runs.at(-1)?.["performance"] ?? 0) < 100);
    for (const { performance: _, ...others } of runs) {
      expect(others).toEqual({ accessibility: 100, "best-practices": 100, seo: 100 });
    }
    // On a machine that is busy with other things, the time says nothing about the page.
    const isQuiet = loadavg()[0]! < availableParallelism() * 2;
    const fastest = Math.max(...runs.map((run) => run["performance"] ?? 0));
    expect(fastest).toBeGreaterThanOrEqual(isQuiet ? 95 : 50);
  },
  300_000,
);
