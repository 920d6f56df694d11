/**
 * Lighthouse on a phone: the API's pages, and those of the console that every visitor has, as
 * somebody who is signed in. console.test.ts looks at the others with axe.
 */
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
  server = await serveConsole(folder.path, ["--public", "on"]);
  const link = await invite(folder.path, "Olga", "operator");
  const olga = await new Visitor(server.console).join(link);
  await olga.submit("/animals", { name: "Rex", category: "Dog", status: "available" });
  cookie = [...olga.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
}, 120_000);
afterAll(async () => {
  await server.stop();
  folder[Symbol.dispose]();
});

test.each<["origin" | "console", string, string[]]>([
  ["origin", "/docs", ["accessibility", "best-practices", "seo"]],
  ["origin", "/animals", ["accessibility", "best-practices", "seo"]],
  ["console", "/animals", ["accessibility", "best-practices"]],
  ["console", "/import", ["accessibility", "best-practices"]],
])(
  "%s%s",
  async (where, path, wanted) => {
    const { categories, audits, finalDisplayedUrl } = await lighthouse(
      `${server[where]}${path}`,
      wanted,
      where === "console" ? { cookie } : {},
    );
    expect(new URL(finalDisplayedUrl).pathname).toStartWith(path);
    const failed = Object.values(audits).filter(({ score }) => score !== null && score < 1);
    const scores = Object.entries(categories).map(([name, { score }]) => [name, score]);
    expect([Object.fromEntries(scores), failed.map(({ id }) => id)]).toEqual([
      Object.fromEntries(wanted.map((name) => [name, 1])),
      [],
    ]);
  },
  300_000,
);
