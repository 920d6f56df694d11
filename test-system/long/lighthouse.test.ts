/** Lighthouse on a phone, on the pages that everybody has. The console's are looked at with axe. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { rehome, serve, temporaryFolder, type RunningBinary } from "../../test/helpers/binary.ts";
import { lighthouse } from "../../test/helpers/lighthouse.ts";
import { installTools } from "../../test/helpers/tools.ts";

const folder = temporaryFolder();
const wanted = ["accessibility", "best-practices", "seo"];
let server: RunningBinary;

beforeAll(async () => {
  await installTools();
  const rex = ["--name", "Rex", "--category", "Dog", "--create-category", "--status", "available"];
  await rehome(["pets", "add", ...rex, "--data", folder.path]);
  server = await serve(folder.path, ["--public", "on"]);
}, 120_000);
afterAll(async () => {
  await server.stop();
  folder[Symbol.dispose]();
});

test.each(["/docs", "/animals"])(
  "%s",
  async (path) => {
    const { categories, audits } = await lighthouse(`${server.origin}${path}`, wanted);
    const failed = Object.values(audits).filter(({ score }) => score !== null && score < 1);
    const scores = Object.entries(categories).map(([name, { score }]) => [name, score]);
    expect([Object.fromEntries(scores), failed.map(({ id }) => id)]).toEqual([
      Object.fromEntries(wanted.map((name) => [name, 1])),
      [],
    ]);
  },
  300_000,
);
