import { expect, test } from "bun:test";
import { killImports } from "../../scripts/kill-imports.ts";

test("an import or an undo that is killed has done all or nothing", async () => {
  const { imports, undos } = await killImports(10, 8);
  // How long each takes differs from run to run, so both together must have been met.
  expect(imports.ended + undos.ended).toBeGreaterThan(0);
  expect(imports.undone).toBeGreaterThan(0);
  expect(undos.undone).toBeGreaterThan(0);
});
