/**
 * The core stands alone: a copy of the tree without the features, with an empty list in their
 * place, builds and serves. What it may import is a rule of test/architecture.test.ts.
 */
import { expect, test } from "bun:test";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { treeCopy } from "../scripts/tree-copy.ts";
import { callerOf } from "../test/helpers/ask.ts";
import { rehome, serve, temporaryFolder } from "../test/helpers/binary.ts";

const list = `import type { Feature } from "../feature.ts";
export const features: readonly Feature[] = [];
`;

test("the core builds, has no command but serve, makes a key and serves", async () => {
  using folder = temporaryFolder();
  using copy = treeCopy();
  const tree = copy.path;
  rmSync(join(tree, "src/features"), { recursive: true });
  mkdirSync(join(tree, "src/features"), { recursive: true });
  writeFileSync(join(tree, "src/features/index.ts"), list);
  await Bun.$`${process.execPath} scripts/build.ts`.cwd(tree).quiet();
  const path = join(tree, "dist/rehome");
  const { stdout } = await rehome(["--help"], { path });
  const [, commands = ""] = stdout.split("Commands:\n");
  const names = [...commands.matchAll(/^ {2}(\w+)/gm)].map(([, name]) => name);
  expect(names).toEqual(expect.arrayContaining(["serve"]));
  expect(names).not.toContain("doctor");
  const data = join(folder.path, "data");
  await using server = await serve(data, ["--first-key"], { path });
  const { create, animals } = callerOf(server, /rehome_live_\w+/.exec(server.stdout())?.[0] ?? "");
  expect((await create()).status).toBe(201);
  expect(await animals()).toMatchObject([{ name: "Rex" }]);
  expect(await server.stop()).toBe(0);
}, 600_000);
