/**
 * Fifty histories of parallel calls to the executable: an order of the calls must explain every
 * response. `bun run histories` runs more, and says what a seed did.
 */
import { expect, test } from "bun:test";
import { tmpdir } from "node:os";
import { stores } from "../../scripts/histories/history.ts";
import { runHistories } from "../../scripts/histories/run.ts";
import { executable } from "../../test/helpers/binary.ts";

const runs = { sqlite: 20, processes: 16, postgres: 14 };

test.each(stores)("histories on %s are explained", async (store) => {
  const said: string[] = [];
  const say = (line: string) => void said.push(line);
  const own = { store, runs: runs[store], seed: 1, executable: await executable() };
  const { violations } = await runHistories({ ...own, keep: tmpdir(), say });
  expect(violations, said.join("\n")).toBe(0);
});
