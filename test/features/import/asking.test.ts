/** What an import asks on a terminal. */
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { importCommand } from "../../../src/features/import/commands/import.ts";
import { temporaryFolder } from "../../helpers/binary.ts";
import { testIo } from "../../helpers/io.ts";

const all = "No column says whether an animal is for adoption. Are all of these? [y/N] ";
const kind = "What kind of animal are all of these, such as Dog? ";
const guess = "Import them? [y/N] ";
const meaning = (word: string) =>
  `What does "${word}" in estado mean: available, pending, sold, none, gone? `;

/** Imports a list, and gives these answers one after the other. */
const imported = (text: string, answers: readonly string[], ...options: string[]) =>
  importedAs("pets", text, answers, ...options);

async function importedAs(
  called: string,
  text: string,
  answers: readonly string[],
  ...options: string[]
) {
  using folder = temporaryFolder();
  const file = join(folder.path, called);
  writeFileSync(file, text);
  const asked: string[] = [];
  const ask = async (question: string) => answers[asked.push(question) - 1] ?? "";
  const io = testIo({ env: { REHOME_DATA: join(folder.path, "data") }, canAsk: true, ask });
  const failed = await importCommand(io)
    .parseAsync([file, ...options], { from: "user" })
    .then(
      () => "",
      (error: unknown) => (error as Error).message,
    );
  return { asked, failed, out: io.printed() };
}

const statusless = "Name,Species,Date of death\nRex,Dog,\nAda,Cat,2026-01-02\n";

test("a list without a status is shown, and one yes says that all are for adoption", async () => {
  const { asked, failed, out } = await imported(statusless, ["y"], "--accept-guess");
  expect([asked, failed]).toEqual([[all], ""]);
  expect(out).toContain("1  added");
  expect(out).toContain("1  not for adoption: Date of death");
});

test("a no changes nothing, and shows how to say it", async () => {
  const { asked, failed, out } = await imported(statusless, [""], "--accept-guess");
  expect([asked, out]).toEqual([[all], ""]);
  expect(failed).toContain("--default-status available|pending|sold|none|gone");
});

const cats = '{"lost":[{"nombre":"Odd","id":"z"}],"nuestros":[{"nombre":"Tom","id":"a"}]}';

test("a list is chosen, and the category and the status of all of its animals are told", async () => {
  const { asked, failed, out } = await imported(cats, ["2", "Gato", "y"]);
  expect([asked, failed]).toEqual([
    ["The file has several lists: 1 lost, 2 nuestros. Which one? ", kind, all],
    "",
  ]);
  expect(out).toContain("nombre -> name, id -> id, all -> category Gato: 1 available");
});

test.each([
  ["no list", ["3"]],
  ["no kind", ["2", ""]],
  ["a yes, which is no kind", ["2", "y"]],
])("%s changes nothing", async (_what, answers) => {
  const { asked, failed, out } = await imported(cats, answers);
  expect([asked.length, out]).toEqual([answers.length, ""]);
  expect(failed).not.toBe("");
});

test("the kind is not asked for where the file is called by it", async () => {
  const { asked, failed, out } = await importedAs("our_dogs.csv", "Name\nRex\nBo\n", ["y"]);
  expect([asked, failed]).toEqual([[all], ""]);
  expect(out).toContain("Name -> name, all -> category dogs: 2 available");
  const script = await importedAs("our_dogs.csv", "Name,Status\nRex,Available\n", [""]);
  expect(script.asked).toEqual([guess]);
});

const words =
  '[{"nombre":"Tom","especie":"gato","estado":"a"},{"nombre":"Ada","especie":"gato","estado":"b"}]';

test("words under the heading of a status are asked for, all of them", async () => {
  const { asked, failed, out } = await imported(words, ["gone", "pending", "y"]);
  expect([asked, failed]).toEqual([[meaning("a"), meaning("b"), guess], ""]);
  expect(out).toContain("1 pending, 1 not for adoption");
  const stopped = await imported(words, ["gone"]);
  expect(stopped.asked).toEqual([meaning("a"), meaning("b")]);
  expect(stopped.failed).toContain("status=estado");
});
