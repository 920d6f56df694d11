/** Lighthouse on the console's pages, on a phone, as somebody who is signed in. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { temporaryFolder } from "../helpers/binary.ts";
import { invite, serveConsole, Visitor, type RunningConsole } from "../helpers/console.ts";
import { installTools, runTool } from "../helpers/tools.ts";

const folder = temporaryFolder();
let server: RunningConsole;
let cookie: string;

beforeAll(async () => {
  await installTools();
  server = await serveConsole(folder.path);
  const link = await invite(folder.path, "Olga", "operator");
  const olga = await new Visitor(server.console).join(link);
  await olga.submit("/animals", { name: "Rex", category: "Dog", status: "available" });
  await olga.post("/keys", { name: "the website", plan: "free" });
  cookie = [...olga.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  process.env["CHROME_PATH"] = "/usr/bin/chromium";
}, 120_000);
afterAll(async () => {
  delete process.env["CHROME_PATH"];
  await server.stop();
  folder[Symbol.dispose]();
});

interface Report {
  readonly finalDisplayedUrl: string;
  readonly categories: Record<string, { readonly score: number }>;
  readonly audits: Record<string, { readonly id: string; readonly score: number | null }>;
}

test.each(["/animals", "/animals/1", "/import", "/keys", "/usage", "/health", "/people"])(
  "%s",
  async (path) => {
    const file = join(folder.path, "report.json");
    const headers = join(folder.path, "headers.json");
    await Bun.write(headers, JSON.stringify({ cookie }));
    const { exitCode, stderr } = await runTool(
      "lighthouse",
      `${server.console}${path}`,
      "--only-categories=accessibility,best-practices",
      "--chrome-flags=--headless --no-sandbox --disable-gpu",
      `--extra-headers=${headers}`,
      "--quiet",
      "--output=json",
      `--output-path=${file}`,
    );
    if (exitCode !== 0) throw new Error(stderr);
    const { categories, audits, finalDisplayedUrl } = (await Bun.file(file).json()) as Report;
    expect(new URL(finalDisplayedUrl).pathname).toBe(path);
    const failed = Object.values(audits).filter(({ score }) => score !== null && score < 1);
    const scores = Object.entries(categories).map(([name, { score }]) => [name, score]);
    expect([Object.fromEntries(scores), failed.map(({ id }) => id)]).toEqual([
      { accessibility: 1, "best-practices": 1 },
      [],
    ]);
  },
  180_000,
);
