import { expect, test } from "bun:test";
import { killImports } from "../../scripts/kill-imports.ts";

test("an import or an undo that is killed has done all or nothing", async () => {
  const { imports, undos } = await killImports(10, 8);
  const all = [imports, undos];
  expect(all.map(({ ended }) => ended)).not.toContain(0);
  expect(all.map(({ undone }) => undone)).not.toContain(0);
}, 180_000);
