/** Lighthouse as a phone sees a page, in Debian's Chromium. */
import { join } from "node:path";
import { temporaryFolder } from "./binary.ts";
import { runTool } from "./tools.ts";

interface LighthouseReport {
  /** Scores from 0 to 1. */
  readonly categories: Readonly<Record<string, { readonly score: number }>>;
}

/** The scores of a page in these categories, from 0 to 1, for who sends `cookie`. */
export async function lighthouse(
  url: string,
  categories: readonly string[],
  cookie: string,
): Promise<Record<string, number>> {
  using folder = temporaryFolder();
  const file = join(folder.path, "report.json");
  const run = await runTool(
    "lighthouse",
    url,
    `--only-categories=${categories.join(",")}`,
    `--extra-headers=${JSON.stringify({ cookie })}`,
    "--chrome-flags=--headless --no-sandbox --disable-gpu",
    "--quiet",
    "--output=json",
    `--output-path=${file}`,
  );
  if (run.exitCode !== 0) throw new Error(run.stderr);
  const report = (await Bun.file(file).json()) as LighthouseReport;
  return Object.fromEntries(
    Object.entries(report.categories).map(([name, { score }]) => [name, score]),
  );
}
