/** Lighthouse on a phone, on the compiled executable. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { availableParallelism, loadavg } from "node:os";
import { join } from "node:path";
import { serve, temporaryFolder, type RunningBinary } from "../helpers/binary.ts";
import { installTools, runTool } from "../helpers/tools.ts";

const folder = temporaryFolder();
let server: RunningBinary;

beforeAll(async () => {
  await installTools();
  server = await serve(folder.path);
  process.env["CHROME_PATH"] = "/usr/bin/chromium";
}, 120_000);
afterAll(async () => {
  delete process.env["CHROME_PATH"];
  await server.stop();
  folder[Symbol.dispose]();
});

interface Report {
  readonly categories: Record<string, { readonly score: number }>;
}

/** The scores from 0 to 100, and what is not perfect besides the time that it took. */
async function measured(path: string) {
  const file = join(folder.path, "report.json");
  const flags = ["--quiet", "--output=json", `--output-path=${file}`];
  const categories = "--only-categories=performance,accessibility,best-practices,seo";
  const chrome = "--chrome-flags=--headless --no-sandbox --disable-gpu";
  const { exitCode, stderr } = await runTool(
    "lighthouse",
    `${server.origin}${path}`,
    categories,
    chrome,
    ...flags,
  );
  if (exitCode !== 0) throw new Error(stderr);
  const { categories: found } = (await Bun.file(file).json()) as Report;
  return Object.fromEntries(
    Object.entries(found).map(([name, { score }]) => [name, Math.round(score * 100)]),
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
