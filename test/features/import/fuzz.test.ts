/** Damaged lists of every kind; scripts/fuzz-import.ts reads many more of them. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { fixtureFiles, tryDamaged } from "../../../scripts/fuzz-import.ts";

const seeds = 200;

test("a damaged list is read, or refused with a message", async () => {
  const files = fixtureFiles();
  for (let seed = 0; seed < seeds; seed += 1) {
    const file = files[seed % files.length] ?? "";
    const failed = await tryDamaged(readFileSync(file), seed).catch(String);
    expect([basename(file), seed, failed]).toEqual([basename(file), seed, undefined]);
  }
});
