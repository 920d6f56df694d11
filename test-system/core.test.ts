/**
 * The core stands alone: a copy of the tree without the features, with an empty list in their
 * place, builds and serves. What it may import is a rule of test/architecture.test.ts.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { treeCopy } from "../scripts/tree-copy.ts";
import { rehome, serve, temporaryFolder } from "../test/helpers/binary.ts";
import { finished } from "../test/helpers/finished.ts";
import { exportsForFeaturesAlone, readSources, sourceOf } from "../test/helpers/rules.ts";

const list = `import type { Feature } from "../feature.ts";
export const features: readonly Feature[] = [];
`;

const root = join(import.meta.dir, "..");
const folder = temporaryFolder();
const copy = treeCopy();
const tree = copy.path;

beforeAll(() => {
  rmSync(join(tree, "src/features"), { recursive: true });
  mkdirSync(join(tree, "src/features"), { recursive: true });
  writeFileSync(join(tree, "src/features/index.ts"), list);
});

afterAll(() => {
  folder[Symbol.dispose]();
  copy[Symbol.dispose]();
});

/** Runs Bun in the copy. Throws with what it printed when it fails. */
async function bun(...args: readonly string[]): Promise<void> {
  const child = Bun.spawn([process.execPath, ...args], {
    cwd: tree,
    stdout: "pipe",
    stderr: "pipe",
  });
  const { exitCode, stdout, stderr } = await finished(child);
  if (exitCode !== 0) throw new Error(`${stdout}${stderr}`);
}

test("the core builds, has no command but serve, makes a key and serves", async () => {
  await bun("scripts/build.ts");
  const path = join(tree, "dist/rehome");
  const { stdout } = await rehome(["--help"], { path });
  const [, commands = ""] = stdout.split("Commands:\n");
  const names = [...commands.matchAll(/^ {2}(\w+)/gm)].map(([, name]) => name);
  expect(names).toEqual(expect.arrayContaining(["serve"]));
  expect(names).not.toContain("doctor");
  const data = join(folder.path, "data");
  await using server = await serve(data, ["--first-key"], { path });
  const key = /rehome_live_\w+/.exec(server.stdout())?.[0];
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const body = '{"name":"Rex","categoryId":1}';
  const pets = `${server.origin}/v1/pets`;
  expect((await fetch(pets, { method: "POST", headers, body })).status).toBe(201);
  expect(await (await fetch(pets, { headers })).json()).toMatchObject([{ name: "Rex" }]);
  expect(await server.stop()).toBe(0);
}, 600_000);

/** Drizzle wants all tables in one place. */
const tables = "src/storage/schema.";

test("the core exports nothing that only features import", () => {
  const found = exportsForFeaturesAlone(readSources(root, "src"));
  expect(found.filter((each) => !each.startsWith(tables))).toEqual([]);
});

test("an export for features alone is found, and one that the core uses is not", () => {
  const core = "export const one = 1;\nexport const two = 2;\nexport const three = two;\n";
  const sources = [
    sourceOf("src/domain/a.ts", core),
    sourceOf("src/service/b.ts", 'import { three } from "../domain/a.ts";\nthree;'),
    sourceOf("src/features/c.ts", 'import { one, two, three } from "../domain/a.ts";'),
  ];
  expect(exportsForFeaturesAlone(sources)).toEqual(["src/domain/a.ts one"]);
});
