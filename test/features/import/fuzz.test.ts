/** Damaged lists of every kind; scripts/fuzz-import.ts reads many more of them. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { fixtureFiles, tryDamaged } from "../../../scripts/fuzz-import.ts";

const seeds = 200;

test("a damaged list is read, or refused with a message", async () => {
  const files = fixtureFiles();
  const lists = files.map((file) => readFileSync(file));
  for (let seed = 0; seed < seeds; seed += 1) {
    const at = seed % lists.length;
    const failed = await tryDamaged(lists[at] ?? Buffer.alloc(0), seed).catch(String);
    expect([basename(files[at] ?? ""), seed, failed]).toEqual([
      basename(files[at] ?? ""),
      seed,
      undefined,
    ]);
  }
});
