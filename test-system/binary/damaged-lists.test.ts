/** Damaged lists in the process that reads them for the console; each is one process. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { consoleReader, damaged, fixtureFiles, requireBounded } from "../../scripts/fuzz-import.ts";

const seeds = 48;
/** So many at a time: a process takes longer to start than to read. */
const atOnce = 4;

test("a damaged list is read or refused within 10 s and 512 MiB", async () => {
  using reader = await consoleReader();
  const lists = fixtureFiles().map((file) => readFileSync(file));
  let seed = 0;
  const outcomes = new Set<string>();
  const work = async () => {
    for (let own = seed++; own < seeds; own = seed++) {
      const list = lists[own % lists.length] ?? Buffer.alloc(0);
      const took = await reader.read(damaged(list, own));
      requireBounded(took);
      outcomes.add(took.is ?? "");
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  expect([...outcomes].toSorted()).toEqual(["examined", "failed"]);
}, 300_000);

test("what is said of a list arrives whole, however much it is", async () => {
  using reader = await consoleReader();
  const columns = Array.from({ length: 900 }, (_, at) => `${at} ${"x".repeat(1_000)}`);
  const list = Buffer.from(`${columns.join(",")}\n${"1,".repeat(899)}1\n`);
  expect((await reader.read(list)).is).toBe("examined");
});
