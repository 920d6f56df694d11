/** What an import does to the animals of a store: in one transaction, on both databases. */
import { beforeEach, describe, expect, test } from "bun:test";
import { int64Min } from "../../../src/domain/int64.ts";
import { makeChange } from "../../../src/features/animals/changes.ts";
import { nameCategories, namedCategories } from "../../../src/features/animals/categories.ts";
import { type ExportedPet, exportPage } from "../../../src/features/import/export.ts";
import { previewImport, runImport } from "../../../src/features/import/import.ts";
import type { ImportOptions } from "../../../src/features/import/plan/plan.ts";
import { type Given, prepare } from "../../../src/features/import/understand/propose.ts";
import type { ImportSummary } from "../../../src/features/import/report.ts";
import { message } from "../../../src/features/import/messages.ts";
import { parseFieldMap } from "../../../src/features/import/understand/columns.ts";
import type { Store } from "../../../src/storage/contract.ts";
import { openForEach } from "../../helpers/stores.ts";
import { bytesOf, fixture } from "./helpers.ts";

const nowMs = Date.UTC(2026, 10, 21, 12);
type Options = ImportOptions & Given & { readonly dryRun?: boolean };

let store: Store;
openForEach((opened) => {
  store = opened;
});

async function run(input: string | Uint8Array, options: Options = {}): Promise<ImportSummary> {
  const prepared = await prepare(bytesOf(input), options);
  const editing = { db: store.db, clock: () => nowMs, actor: "tester" };
  const done = options.dryRun
    ? await previewImport(store.db, prepared, options)
    : await runImport(editing, prepared, options);
  const { read, added, updated, unchanged, superseded, rejected, skipped } = done;
  expect(added + updated + unchanged + superseded + rejected + skipped).toBe(read);
  return done;
}

const named = (categories: readonly { readonly id?: bigint; readonly name: string }[]) =>
  makeChange({ db: store.db, clock: () => 0, actor: "tester" }, "add", (change) =>
    nameCategories(change, categories),
  );
const failure = (work: Promise<unknown>) =>
  work.then(
    () => "nothing failed",
    (error: unknown) => (error as Error).message,
  );
const all = (): Promise<ExportedPet[]> => exportPage(store.db, int64Min, 1_000);
const brief = async () =>
  (await all()).map(({ name, categoryId, status }) => `${name} ${categoryId} ${status}`);
const categories = () => store.db.read(namedCategories);

test("changes nothing when a record is bad, and the rest when that is wanted", async () => {
  const austin = await fixture("austin.csv");
  const refused = await run(austin);
  expect(refused).toMatchObject({ applied: false, change: undefined, rejected: 2, added: 3 });
  expect([await all(), await categories()]).toEqual([[], []]);
  const taken = await run(austin, { skipBad: true });
  expect(taken).toMatchObject({ source: "austin", shape: "csv", dryRun: false, applied: true });
  expect(taken).toMatchObject({ added: 3, updated: 0, unchanged: 0, superseded: 1, rejected: 2 });
  expect(taken).toMatchObject({
    skippedReasons: [{ reason: 'Outcome Type "Transfer"', records: 1 }],
    categoriesAdded: [
      { name: "Dog", id: 1n },
      { name: "Cat", id: 2n },
      { name: "Bird", id: 3n },
    ],
  });
  expect(taken.change).toBeDefined();
  expect(await brief()).toEqual(["Luna 1 sold", " 2 available", "Zoë 3 sold"]);
  const again = await run(austin, { skipBad: true });
  expect(again).toMatchObject({ unchanged: 3, categoriesAdded: [], change: undefined });
});

test("of many bad records the first 1,000 are kept, and all are counted", async () => {
  const bad = Array.from({ length: 1_500 }, (_, at) => `B${at},,Adoption,Dog`).join("\n");
  const list = `Animal ID,Name,Outcome Type,Animal Type,MonthYear\n${bad.replaceAll("Dog", "")}\n`;
  const options = { skipBad: true, format: "austin" };
  const { rejected, rejections, causes } = await run(list, options);
  expect([rejected, rejections.length, causes[0]?.records]).toEqual([1_500, 1_000, 1_500]);
  expect(rejections.every(({ record }) => record !== undefined)).toBe(true);
});

test("a dry run says the same and changes nothing", async () => {
  const input =
    '[{"name":"a","category":"Dog","categoryId":1,"externalId":"1"},{"name":"b","categoryId":1}]';
  const dry = await run(input, { dryRun: true });
  const categoriesAdded = [{ id: 1n, name: "Dog" }];
  expect(dry).toMatchObject({ applied: false, added: 2, categoriesAdded });
  expect([await all(), await categories()]).toEqual([[], []]);
  expect((await run(input)).categoriesAdded).toEqual(dry.categoriesAdded);
  const other = await run(input.replace('"a"', '"A"'), { dryRun: true });
  expect(other).toMatchObject({ added: 1, updated: 1 });
});

describe("categories", () => {
  const text = "Name,Type,Status\nRex,Dog,Available\nBo,Fox,Available\n";
  const given = { columns: parseFieldMap("name=Name,categoryId=Type,status=Status") };

  test("are made for a catalogue without any, and asked for in one that has some", async () => {
    expect((await run(text, given)).categoriesAdded).toEqual([
      { id: 1n, name: "Dog" },
      { id: 2n, name: "Fox" },
    ]);
    const asked = await run(text.replace("Fox", "Owl"), given);
    expect(asked).toMatchObject({
      applied: false,
      causes: [{ problem: message("categoryUnknown", '"Owl"') }],
    });
    expect(
      await run(text.replace("Fox", "Owl"), { ...given, createCategories: true }),
    ).toMatchObject({ categoriesAdded: [{ name: "Owl" }] });
  });

  test("are no numbers, but those that are known", async () => {
    await named([{ id: 7n, name: "Dog" }]);
    const rows = "Name,Type,Status\nRex,7,Available\nBo,8,Available\nLu,?!,Available\n";
    const { rejections } = await run(rows, { ...given, createCategories: true });
    expect(rejections.map(({ problem }) => problem)).toEqual([
      message("categoryNumber", "8"),
      message("categoryNumber", '"?!"'),
    ]);
  });

  test("with id and name are the ones that have both here, or that nobody has", async () => {
    await named([{ id: 1n, name: "Dog" }]);
    const pairs = ["1,dog", "5,Dog", "1,Cat", "7,Fox", "7,FOX", "8,Fox"];
    const rows = `name,categoryId,category,status\n${pairs.map((pair) => `Rex,${pair},sold\n`).join("")}`;
    const { categoriesAdded, rejections } = await run(rows, { skipBad: true });
    expect(categoriesAdded).toEqual([{ name: "Fox", id: 7n }]);
    expect(await brief()).toEqual(["Rex 1 sold", "Rex 7 sold", "Rex 7 sold"]);
    expect(rejections.map(({ problem }) => problem)).toEqual([
      message("categoryPair", "5", '"Dog"'),
      message("categoryPair", "1", '"Cat"'),
      message("categoryPair", "8", '"Fox"'),
    ]);
  });

  test("of a wrong column are noticed", async () => {
    const rows = Array.from({ length: 1_002 }, (_, index) => `A${index},n,kind ${index},,1`);
    const header = "Animal ID,Name,Animal Type,Outcome Type,MonthYear\n";
    const work = run(header + rows.join("\n"), { createCategories: true });
    expect(await failure(work)).toContain("more than 1000 new categories");
  });

  test("that only bad or older records have are not made", async () => {
    const header = "id,name,category,status,externalId,source";
    const options = { createCategories: true, skipBad: true };
    const frog = "9,Boss,Frog,available,,";
    expect((await run(`${header}\n${frog}\n`, options)).applied).toBe(false);
    expect(await categories()).toEqual([]);
    const some = await run(`${header}\n${frog}\n,Rex,Dog,available,,\n`, options);
    expect(some).toMatchObject({ added: 1, rejected: 1, applied: true });
    expect(some.categoriesAdded.map(({ name }) => name)).toEqual(["Dog"]);
    const stays = "Animal ID,Name,DateTime,MonthYear,Outcome Type,Animal Type";
    const rows = [
      "A1,Rex,2026-11-05 10:00:01,m,Adoption,Dog",
      "A1,Rex,2026-11-05 10:00:00,m,,Bird",
    ];
    const older = await run(`${stays}\n${rows.join("\n")}\n`, { createCategories: true });
    expect(older.categoriesAdded).toEqual([]);
  });
});

test("ids of another catalogue reject each record by itself", async () => {
  const text = "id,name,categoryId,status\n91,Rex,1,sold\n92,Bo,1,sold\n,New,1,sold\n";
  const { rejections, causes } = await run(text, { skipBad: true });
  const problem = message("idUnknown", "91");
  expect(causes).toMatchObject([{ field: "id", problem, records: 2, lines: [2, 3] }]);
  expect(rejections.map(({ line, record }) => [line, record])).toEqual([
    [2, { id: 91n, name: "Rex", category: 1n, status: "sold" }],
    [3, { id: 92n, name: "Bo", category: 1n, status: "sold" }],
  ]);
});

test("ids here update their animals, and a note says where there are none", async () => {
  const said = message("idsMissing");
  const text = "id,name,categoryId,status,externalId\n,Rex,1,sold,\n,Bo,1,sold,x:2\n,Lu,1,sold,\n";
  expect(await run(text)).toMatchObject({
    added: 3,
    notes: [{ said, records: 2, firstLine: 2, example: '"Rex"' }],
  });
  const [rex, bo] = (await all()).map(({ id }) => id);
  const own = `id,name,categoryId,status\n${rex},Rex,1,sold\n`;
  expect(await run(own)).toMatchObject({ unchanged: 1, notes: [] });
  // One record names the animal by its id here, the other by that of the source.
  const both = `id,name,categoryId,status,externalId\n${bo},Old,1,sold,\n,New,1,pending,x:2\n`;
  const { rejections } = await run(both);
  expect(rejections.map(({ line, problem }) => [line, problem])).toEqual([
    [3, message("animalTwice")],
  ]);
});

test("ids of animals that are gone are no fault where nobody knows them", async () => {
  const text = "id,name,categoryId,status\n91,Rex,1,died\n,New,1,sold\n";
  const skippedReasons = [{ reason: 'status "died"', records: 1 }];
  expect(await run(text)).toMatchObject({ added: 1, rejected: 0, skippedReasons });
});

test("ids with two names are told, also where one of the two is gone", async () => {
  const header = "Animal_ID,Animal_Name,Record_Type,animal_type,Date";
  const rows = ["A8,Misty,ADOPTABLE,Cat,06/01/2024", "A8,Foggy,FOUND,Cat,06/01/2024"];
  const input = [header, ...rows, "A9,Max,FOUND,Dog,06/01/24", "A9,Max,ADOPTABLE,Dog,06/01/24"];
  const { notes, added } = await run(`${input.join("\n")}\n`);
  expect(added).toBe(2);
  expect(notes).toEqual([
    {
      said: message("namesDiffer"),
      records: 1,
      firstLine: 2,
      example: 'king-county:A8 is "Foggy" and "Misty"',
    },
  ]);
});

test("what many records have in common is counted by the most frequent, with the first lines", async () => {
  const gone = Array.from({ length: 150 }, (_, at) => `,Rex,Dog,Died - ward ${at}`);
  const rows = [
    ...gone,
    gone[0],
    "7,Ada,Cat,sold",
    ...Array.from({ length: 7 }, () => ",Bo,Fox,sold"),
    ...Array.from({ length: 7 }, () => ",Lu,Dog,sold"),
  ];
  const text = `id,name,category,status,externalId,source\n${rows.map((row) => `${row},,`).join("\n")}\n`;
  await named([{ id: 1n, name: "Dog" }]);
  const { skippedReasons, causes, sample } = await run(text);
  expect(skippedReasons.slice(0, 2)).toEqual([
    { reason: 'status "Died - ward 0"', records: 2 },
    { reason: 'status "Died - ward 1"', records: 1 },
  ]);
  expect(causes).toMatchObject([
    {
      problem: message("categoryUnknown", '"Fox"'),
      records: 7,
      lines: [154, 155, 156, 157, 158],
    },
    { problem: message("categoryUnknown", '"Cat"'), records: 1, lines: [153] },
  ]);
  expect(sample.map(({ name }) => name)).toEqual(["Lu", "Lu", "Lu", "Lu", "Lu"]);
});

describe("a whole list", () => {
  const csv = (rows: readonly string[]) =>
    `name,categoryId,status,externalId\n${rows.join("\n")}\n`;
  const animals = ["1", "2", "3", "4"].map((id) => `Rex,1,sold,${id}`);
  const bad = "Bo,x,sold,9";
  const source = { source: "clinic" };
  const whole = { ...source, complete: true };
  beforeEach(async () => {
    await run(csv(animals), source);
  });

  const agreed = { ...whole, confirmed: true };
  const half = animals.slice(0, 2);
  const columns = { ...parseFieldMap("name=name,categoryId=categoryId"), status: "status" };
  const mapped = { ...agreed, columns: { ...columns, externalId: "externalId" } };

  test.each([
    ["without half of the animals", half, whole, { missing: 2, withdrawn: 2 }],
    ["with none of them, confirmed", [], agreed, { withdrawn: 4 }],
    ["with a bad record, and all", [...animals, bad], { ...whole, skipBad: true }, { missing: 0 }],
  ])("%s is imported", async (_what, rows, options, expected) => {
    expect(await run(csv(rows), options)).toMatchObject({ applied: true, ...expected });
  });

  test.each([
    ["without most of them", half.slice(1), whole, "3 of the 4 animals of clinic are not in"],
    [
      "with a bad record",
      [...half, bad],
      { ...agreed, skipBad: true },
      "This list has bad records (1), and 2 of the 4 animals of clinic are not in it.",
    ],
    [
      "with a damaged id",
      [...half, "Rex,1,sold,01-Mar"],
      mapped,
      "This list has damaged ids (1), and 4 of the 4 animals of clinic are not in it.",
    ],
    ["of nobody", half, { complete: true }, "--complete needs the source of this list."],
  ])("%s is refused", async (_what, rows, options, words) => {
    expect(await failure(run(csv(rows), options))).toStartWith(words);
    expect(await all()).toHaveLength(4);
  });

  test("that says that it is not whole is refused, confirmed or not", async () => {
    const listed = [{ name: "Rex", categoryId: 1, externalId: "1" }];
    const said = await failure(run(JSON.stringify({ has_more: true, animals: listed }), agreed));
    expect(said).toStartWith("This list says that it is not whole (has_more: true), and 3 of");
    expect(await all()).toHaveLength(4);
  });
});

describe("a whole list without ids", () => {
  const map = parseFieldMap("name=Name,categoryId=Type,status=Status");
  const list = (rows: readonly string[], options: Options = {}) =>
    run(`Name,Type,Status\n${rows.join("\n")}\n`, {
      columns: map,
      source: "clinic",
      complete: true,
      ...options,
    });

  test("does not match what occurs more than once, and asks", async () => {
    await list(["Luna,Cat,available", "Luna,Cat,available", "Rex,Dog,available"]);
    // As long as it makes no difference which is which.
    const same = await list(["Luna,Cat,available", "Luna,Cat,available", "Rex,Dog,sold"]);
    expect(same).toMatchObject({ unchanged: 2, updated: 1 });
    const { rejections } = await list(["Luna,Cat,adopted", "Luna,Cat,available", "Rex,Dog,sold"]);
    expect(rejections.map(({ line, problem }) => [line, problem])).toEqual([
      [2, message("sameName", '"Luna"', "2", "2")],
      [3, message("sameName", '"Luna"', "2", "2")],
    ]);
    expect((await list(["Luna,Cat,available", "Rex,Dog,sold"])).rejected).toBe(1);
  });

  test("knows the animals of a first list that had no source", async () => {
    await run("Name,Type,Status\nRex,Dog,available\n", { columns: map });
    expect(await list(["Rex,Dog,available"])).toMatchObject({ added: 0, updated: 1 });
    const other = await list(["Mia,Dog,available"], { confirmed: true });
    expect(other).toMatchObject({ added: 1, withdrawn: 1 });
  });

  test("leaves animals of other sources, and of nobody, alone", async () => {
    await run("Name,Type,Status,Id\nRex,Dog,available,7\n", {
      columns: { ...map, externalId: "Id" },
      source: "other",
    });
    await run("Name,Type,Status\nHand,Dog,available\n", { columns: map });
    await list(["Rex,Dog,available"]);
    expect(await brief()).toHaveLength(3);
    expect(await list(["Bo,Dog,available"], { confirmed: true })).toMatchObject({ withdrawn: 1 });
    expect((await brief()).length).toBe(3);
  });

  test("a plain list tells of animals that are there already", async () => {
    const text = "Name,Type,Status\nRex,Dog,available\n";
    await run(text, { columns: map });
    const { notes, added } = await run(text, { columns: map });
    expect([added, notes.map(({ said }) => said.code)]).toEqual([1, ["idsMissing", "alikeThere"]]);
  });
});
