/** Lighthouse as a phone sees a page, in Debian's Chromium. */
import { join } from "node:path";
import { temporaryFolder } from "./binary.ts";
import { runTool } from "./tools.ts";

interface LighthouseReport {
  /** Scores from 0 to 1. */
  readonly categories: Readonly<Record<string, { readonly score: number }>>;
  readonly audits: Readonly<Record<string, { readonly id: string; readonly score: number | null }>>;
}

/** Lighthouse sometimes fails to record a page, and asks to be run again. */
const recordingFailed = "Please run Lighthouse again";
const attemptsMax = 3;

/** What Lighthouse says of a page in these categories. */
export async function lighthouse(
  url: string,
  categories: readonly string[],
): Promise<LighthouseReport> {
  using folder = temporaryFolder();
  const file = join(folder.path, "report.json");
  const measure = () =>
    runTool(
      "lighthouse",
      url,
      `--only-categories=${categories.join(",")}`,
      "--chrome-flags=--headless --no-sandbox --disable-gpu",
      "--quiet",
      "--output=json",
      `--output-path=${file}`,
    );
  let run = await measure();
  for (let n = 1; n < attemptsMax && run.stderr.includes(recordingFailed); n += 1) {
    run = await measure();
  }
  if (run.exitCode !== 0) throw new Error(run.stderr);
  return (await Bun.file(file).json()) as LighthouseReport;
}
