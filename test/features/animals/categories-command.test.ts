import { expect, test } from "bun:test";
import { categoriesCommand } from "../../../src/features/animals/categories-command.ts";
import { temporaryFolder } from "../../helpers/binary.ts";
import { testIo } from "../../helpers/io.ts";

test("no name of a category moves a cursor", async () => {
  using folder = temporaryFolder();
  const io = testIo({ env: { REHOME_DATA: folder.path } });
  const run = (...args: string[]) => categoriesCommand(io).parseAsync(args, { from: "user" });
  await run("add", "\u001B[2JDog");
  await run("add", "Hound");
  await run("merge", "Hound", "\u001B[2Jdog");
  await run("rename", "1", "\u001B[2JCat");
  expect(io.printed()).toBe(
    [
      "Category \\u001B[2JDog is 1.",
      "Category Hound is 2.",
      "Moved 0 animals to \\u001B[2Jdog.",
      "Category 1 is \\u001B[2JCat now.\n",
    ].join("\n"),
  );
  const messageOf = async (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => "none",
      (error: Error) => error.message,
    );
  expect(await messageOf(run("rename", "Fox", "Wolf"))).toContain("Known: \\u001B[2JCat (1).");
  expect(await messageOf(run("merge", "1", "\u001B[2Jcat"))).toBe(
    "1 and \\u001B[2Jcat are the same category.",
  );
});
