/** The bugs of `bun run histories:mutants` are changes of this source. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { mutants, mutated } from "../../scripts/histories/mutants.ts";

const root = join(import.meta.dir, "../..");

test("there are twenty bugs at least, over both databases", () => {
  expect(new Set(mutants.map(({ name }) => name)).size).toBeGreaterThanOrEqual(20);
  expect(new Set(mutants.map(({ store }) => store)).size).toBe(3);
});

// What fails here has changed since: give the bug the text that stands there now.
test.each(mutants.map((mutant) => [mutant.name, mutant] as const))("%s", (_, mutant) => {
  expect(mutated(root, mutant)).not.toBe("");
});
