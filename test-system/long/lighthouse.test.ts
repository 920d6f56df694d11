/** Lighthouse on a phone, on the pages that everybody has and on the console's. */
import { beforeAll, expect, test } from "bun:test";
import { rehome } from "../../test/helpers/binary.ts";
import { consoleForAll } from "../../test/helpers/console.ts";
import { installTools, runTool } from "../../test/helpers/tools.ts";

interface LighthouseReport {
  readonly categories: Readonly<Record<string, { readonly score: number }>>;
}

/** The scores of a page in these categories, from 0 to 1, for who sends `cookie`. */
async function lighthouse(url: string, categories: readonly string[], cookie: string) {
  const run = await runTool(
    "lighthouse",
    url,
    `--only-categories=${categories.join(",")}`,
    `--extra-headers=${JSON.stringify({ cookie })}`,
    "--chrome-flags=--headless --no-sandbox --disable-gpu",
    "--quiet",
    "--output=json",
  );
  if (run.exitCode !== 0) throw new Error(run.stderr);
  const report = JSON.parse(run.stdout) as LighthouseReport;
  return Object.entries(report.categories).map(([name, { score }]) => [name, score] as const);
}

const own = consoleForAll(["--public", "on"]);
const common = ["accessibility", "best-practices"];
let cookie: string;

beforeAll(async () => {
  await installTools();
  const rex = ["--name", "Rex", "--category", "Dog", "--create-category", "--status", "available"];
  await rehome(["pets", "add", ...rex, "--data", own.path]);
  const { cookies } = await own.joined("Olga", "operator");
  cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
}, 120_000);

const consolePaths =
  "animals animals?list=all animals/new animals/1 categories categories/1 import keys keys/new health people changes sign-out";
const pages = [
  ...["docs", "animals"].map((path) => ["origin", path, [...common, "seo"]] as const),
  ...consolePaths.split(" ").map((path) => ["console", path, common] as const),
];

test.each(pages)("%s /%s", async (of, path, wanted) => {
  const scores = await lighthouse(`${own.server[of]}/${path}`, wanted, cookie);
  expect(scores).toEqual(wanted.map((name) => [name, 1] as const));
});
