/** Lighthouse on the console's pages, on a phone, as somebody who is signed in. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { temporaryFolder } from "../helpers/binary.ts";
import { invite, serveConsole, Visitor, type RunningConsole } from "../helpers/console.ts";
import { lighthouse } from "../helpers/lighthouse.ts";
import { installTools } from "../helpers/tools.ts";

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
}, 120_000);
afterAll(async () => {
  await server.stop();
  folder[Symbol.dispose]();
});

test.each(["/animals", "/animals/1", "/import", "/keys", "/usage", "/health", "/people"])(
  "%s",
  async (path) => {
    const { categories, audits, finalDisplayedUrl } = await lighthouse(
      `${server.console}${path}`,
      ["accessibility", "best-practices"],
      { cookie },
    );
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
