/** What the commands of an import understand, say and ask; damaged lists of every kind. */
import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fixtureFiles, tryDamaged } from "../../../scripts/fuzz-import.ts";
import { givenBy, importCommand, writeRejects } from "../../../src/features/import/command.ts";
import { message } from "../../../src/features/import/messages.ts";
import type { Rejection } from "../../../src/features/import/understand/record.ts";
import { UsageError } from "../../../src/features/usage-error.ts";
import { temporaryFolder } from "../../helpers/binary.ts";
import { testIo } from "../../helpers/io.ts";

test("the file of rejects is new, and has a line for each", async () => {
  using folder = temporaryFolder();
  const path = `${folder.path}/bad.ndjson`;
  const bad = { kind: "reject", line: 2, field: "name", problem: message("missing"), record: {} };
  writeRejects(path, [bad as Rejection, bad as Rejection]);
  expect(readFileSync(path, "utf8").split("\n")).toHaveLength(3);
  expect(() => writeRejects(path, [])).toThrow("cannot be written");
});

test.each(["clinic", "x".repeat(40), "été-2"])("--source %s is a name", (source) => {
  expect(givenBy({ source }).source).toBe(source);
});

test.each([
  ...["", "a b", "a:b", "x".repeat(41)].map((source) => ({ source })),
  { encoding: "utf-7" },
  { map: ["name=a,categoryId=b"], format: "asm" },
  { map: ["name=a", "categoryId=b"], category: "Cat" },
  { map: ["name=a", "name=b"] },
  { category: "7" },
  { status: ["sold"] },
  { status: ["Zone 1=?"] },
])("%j is no way to read a file", (wrong) => {
  expect(() => givenBy(wrong)).toThrow(UsageError);
});

test("the options of a reading reach it", () => {
  const status = ["Zone 1=gone", "Zone 2=sold"];
  const map = ["name=A", "externalId=B,status=C"];
  const given = givenBy({
    records: "result.pets",
    map,
    status,
    category: " Cat ",
    believe: ["Out"],
  });
  expect(given).toMatchObject({ records: ["result", "pets"], category: "Cat", believed: ["Out"] });
  expect(given.columns).toEqual({ name: "A", externalId: "B", status: "C" });
  expect(given.statuses).toEqual(
    new Map([
      ["zone 1", "gone"],
      ["zone 2", "sold"],
    ]),
  );
  expect([givenBy({}).format, givenBy({ format: "asm" }).format]).toEqual([undefined, "asm"]);
  expect(
    [{ dayFirst: true } as const, { monthFirst: true } as const, {}].map(
      (day) => givenBy(day).dayFirst,
    ),
  ).toEqual([true, false, undefined]);
});

const all = "No column says whether an animal is for adoption. Are all of these? [y/N] ";
const kind = "What kind of animal are all of these, such as Dog? ";
const guess = "Import them? [y/N] ";
const meaning = (word: string) =>
  `What does "${word}" in estado mean (1 record): available, pending, sold, none, gone? `;

/** Imports lists into one store, and gives these answers one after the other. */
function importer(folder = temporaryFolder()) {
  const run = async (text: string, answers: readonly string[], ...options: string[]) => {
    const called = options.at(-1)?.endsWith(".csv") ? (options.pop() ?? "") : "pets";
    const file = join(folder.path, called);
    writeFileSync(file, text);
    const asked: string[] = [];
    const ask = async (question: string) => answers[asked.push(question) - 1] ?? "";
    const env = { REHOME_DATA: join(folder.path, "data") };
    const io = testIo({ env, canAsk: answers.length > 0, ask });
    const failed = await importCommand(io)
      .parseAsync([file, ...options], { from: "user" })
      .then(
        () => "",
        (error: unknown) => (error as Error).message,
      );
    return { asked, failed, out: io.printed() };
  };
  return { run, [Symbol.dispose]: () => folder[Symbol.dispose]() };
}

async function imported(text: string, answers: readonly string[], ...options: string[]) {
  using lists = importer();
  return await lists.run(text, answers, ...options);
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

test("a status that is blank for most is asked for, and the others stay as they are", async () => {
  const { asked, failed, out } = await imported(
    "Name,Species,Status\nRex,Dog,Adopted\nAda,Cat,\n",
    ["y"],
  );
  expect([asked, failed]).toEqual([["Are those for adoption whose status is blank? [y/N] "], ""]);
  expect(out).toContain("Status -> status: 1 available, 1 sold (adopted)");
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
  const { asked, failed, out } = await imported("Name\nRex\nBo\n", ["y"], "our_dogs.csv");
  expect([asked, failed]).toEqual([[all], ""]);
  expect(out).toContain("Name -> name, all -> category dogs: 2 available");
  const script = await imported("Name,Status\nRex,Available\n", [""], "our_dogs.csv");
  expect(script.asked).toEqual([guess]);
});

test("new categories are asked for where there are others", async () => {
  using lists = importer();
  const text = "Id,Name,Species,Status\n1,Bo,Dog,available\n";
  await lists.run(text, [], "--accept-guess");
  const more = `${text}2,Tim,Lynx,available\n3,Kit,Cat,available\n`;
  const { asked, failed, out } = await lists.run(more, ["y"], "--accept-guess");
  expect([asked, failed]).toEqual([['New categories: "Lynx", "Cat". Make them? [y/N] '], ""]);
  expect(out).toContain("2  added");
});

test("a note on the whole list has no number", async () => {
  const map = ["--map", "name=Name,categoryId=Species,status=Status"];
  const { out } = await imported("Name,Species,Status\nRex,Dog,Adopted\n", [], ...map);
  expect(out).toContain("none of 1 animal is for adoption by Status.\n");
});

test("a report names twenty reasons why animals are not for adoption", async () => {
  const dead = Array.from({ length: 30 }, (_, at) => `Ada,Cat,${2000 + (at % 26)}-01-01`);
  const { out } = await imported(
    [statusless.trim(), ...dead].join("\n"),
    ["y"],
    "--accept-guess",
    "--believe",
    "Date of death",
  );
  expect(out.match(/not for adoption: /g)).toHaveLength(21);
  expect(out).toContain("not for adoption: other reasons");
});

test("the kind that was told of one list is asked anew for another with its columns", async () => {
  using lists = importer();
  const text = "Name,Status\nTom,Available\n";
  await lists.run(text, ["Cat", "y"]);
  const dogs = await lists.run(text.replace("Tom", "Rex"), ["Dog", "y", "y"]);
  expect(dogs.asked[0]).toBe(kind);
  const called = await lists.run(text.replace("Tom", "Ida"), ["y", "y"], "dogs.csv");
  expect(called.out).toContain("all -> category dogs");
  const named = ["--source", "ours"];
  await lists.run(text.replace("Tom", "Ulf"), ["Cat", "y"], ...named);
  const again = await lists.run(text.replace("Tom", "Max"), ["y"], ...named);
  expect(again.asked).not.toContain(kind);
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

test("a typing error is asked again, and adopted is understood", async () => {
  const text = "Nombre,Especie,estado\nRex,Perro,Adoptado\nBo,Perro,Disponible\nAl,Gato,casi\n";
  const { asked, failed } = await imported(text, ["adotped", "adopted", "y"]);
  expect([asked.slice(0, 2).every((each) => each.includes("casi")), failed]).toEqual([true, ""]);
  const told = ["--accept-guess", "--default-status", "Adopted"];
  const { out } = await imported("Name,Species\nRex,Dog\n", [], ...told);
  expect(out).toContain("blank is sold (adopted)");
});

test("a reading is remembered with its answers, shown and forgotten", async () => {
  const monday = "Nm,Art,Zustand,Ref\nRex,Dog,im Haus,A1\nBo,Dog,Adopted,A2\nAl,Cat,Available,A3\n";
  const tuesday = "Ref,Nm,Art,Zustand\nA1,Rex,Dog,Adopted\nA3,Al,Cat,im Haus\n";
  using lists = importer();
  const home = ["--source", "home"];
  const map = ["--map", "name=Nm,categoryId=Art,status=Zustand,externalId=Ref"];
  const first = await lists.run(monday, ["available", "y"], ...home, ...map);
  expect([first.asked.length, first.failed]).toEqual([1, ""]);
  // The same source has its columns in another order.
  const next = await lists.run(tuesday, [], ...home);
  expect([next.failed, next.out]).toEqual(["", expect.stringContaining("1  updated")]);
  const shown = await lists.run(monday, [], "--reading", "show");
  expect(JSON.parse(shown.out)).toMatchObject({
    columns: { name: "Nm", categoryId: "Art", status: "Zustand" },
    statuses: { "im haus": "available" },
  });
  for (const _ of ["monday's", "tuesday's"]) {
    await lists.run(monday, [], ...home, "--reading", "forget");
  }
  expect((await lists.run(monday, [], "--reading", "show")).failed).toContain("No list like");
  expect((await lists.run(tuesday, [], ...home)).failed).not.toBe("");
});

/** scripts/fuzz-import.ts reads many more of them. */
const seeds = 200;

test("a damaged list is read, or refused with a message", async () => {
  const files = fixtureFiles();
  for (let seed = 0; seed < seeds; seed += 1) {
    const file = files[seed % files.length] ?? "";
    const failed = await tryDamaged(readFileSync(file), seed).catch(String);
    expect([basename(file), seed, failed]).toEqual([basename(file), seed, undefined]);
  }
});
