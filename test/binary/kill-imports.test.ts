import { expect, test } from "bun:test";
import { killImports } from "../../scripts/kill-imports.ts";

test("an import or an undo that is killed has done all or nothing", async () => {
  const { done } = await killImports(20, 8);
  expect(done).toBeLessThanOrEqual(20);
}, 180_000);
