/** What an import asks on a terminal. */
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { importCommand } from "../../../src/features/import/commands/import.ts";
import { temporaryFolder } from "../../helpers/binary.ts";
import { testIo } from "../../helpers/io.ts";

const question = "No column says whether an animal is for adoption. Are all of these? [y/N] ";

async function imported(answer: string, ...options: string[]) {
  using folder = temporaryFolder();
  const file = join(folder.path, "pets.csv");
  writeFileSync(file, "Name,Species,Date of death\nRex,Dog,\nAda,Cat,2026-01-02\n");
  const asked: string[] = [];
  const ask = async (text: string) => (asked.push(text), answer);
  const io = testIo({ env: { REHOME_DATA: join(folder.path, "data") }, canAsk: true, ask });
  const failed = await importCommand(io)
    .parseAsync([file, ...options], { from: "user" })
    .then(
      () => "",
      (error: unknown) => (error as Error).message,
    );
  return { asked, failed, out: io.printed() };
}

test("a list without a status is shown, and one yes says that all are for adoption", async () => {
  const { asked, failed, out } = await imported("y", "--accept-guess");
  expect([asked, failed]).toEqual([[question], ""]);
  expect(out).toContain("1  added");
  expect(out).toContain("1  not for adoption: Date of death");
});

test("a no changes nothing, and shows how to say it", async () => {
  const { asked, failed, out } = await imported("");
  expect([asked, out]).toEqual([[question], ""]);
  expect(failed).toContain("--default-status available|pending|sold|none|gone");
});
