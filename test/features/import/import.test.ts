import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import type { Rejection } from "../../../src/features/import/candidate.ts";
import { type ImportOptions, importAnimals } from "../../../src/features/import/import.ts";
import { AppError } from "../../../src/domain/errors.ts";
import {
  type CatalogueStore,
  catalogueOf,
  type ExportedPet,
} from "../../../src/features/import/catalogue.ts";
import { mappedFormat, parseFieldMap } from "../../../src/features/import/formats/field-map.ts";
import { Statuses } from "../../../src/features/import/formats/statuses.ts";
import type { ImportStage } from "../../../src/features/import/stage.ts";
import { addCategories } from "../../../src/features/import/old-categories.ts";
import { rows, sql } from "../../../src/storage/statement.ts";
import { changes } from "../../../src/features/animals/tables.ts";
import type { Store } from "../../../src/storage/contract.ts";
import { int64Max, int64Min } from "../../../src/domain/int64.ts";
import { openTestStore } from "../../helpers/store-under-test.ts";
import { fixture, inPieces } from "./helpers.ts";
import { message } from "../../../src/features/import/messages.ts";

const mapOfOurs = parseFieldMap(
  "name=name,categoryId=categoryId,status=status,externalId=externalId",
);

let store: Store;
let catalogue: CatalogueStore;
let rejections: Rejection[];

async function open(): Promise<void> {
  store = await openTestStore({ clock: () => 0 });
  catalogue = catalogueOf(store);
  rejections = [];
}

beforeEach(open);
afterEach(async () => {
  await store.close();
});

async function run(
  input: string | Uint8Array,
  options: Partial<ImportOptions> = {},
  into: CatalogueStore = catalogue,
) {
  return await importAnimals(into, {
    input: inPieces(input, 50),
    categories: [],
    createCategories: false,
    skipBad: false,
    dryRun: false,
    actor: "tester",
    nowMs: () => 1_000,
    onReject: (rejection) => void rejections.push(rejection),
    onProgress() {},
    sleep: async () => {},
    stop: new AbortController().signal,
    ...options,
  });
}

const failure = (work: Promise<unknown>) =>
  work.then(
    () => "nothing failed",
    (error: unknown) => (error as Error).message,
  );
const all = async (): Promise<ExportedPet[]> => await catalogue.exportPage(int64Min, 1_000);
const brief = async () =>
  (await all()).map(({ name, categoryId, status }) => `${name} ${categoryId} ${status}`);

describe("importAnimals", () => {
  test("says that another import made its category while it read", async () => {
    const text = "name,category,categoryId,status\nBo,Dog,,available\n";
    async function* slow() {
      yield* inPieces(text, 50);
      await run(text, { createCategories: true });
    }
    const work = run("", { input: slow(), createCategories: true });
    expect(await failure(work)).toBe('The category "Dog" was made meanwhile. Nothing was changed.');
    expect(await brief()).toEqual(["Bo 1 available"]);
  });

  test("changes nothing when a record is bad, and the rest when that is wanted", async () => {
    const austin = await fixture("austin.csv");
    const refused = await run(austin, { createCategories: true });
    expect(refused).toMatchObject({ applied: false, read: 7, rejected: 2, added: 3 });
    expect([await all(), await catalogue.categories()]).toEqual([[], []]);

    const taken = await run(austin, { createCategories: true, skipBad: true });
    expect(taken).toMatchObject({
      format: "austin",
      source: "austin",
      shape: "csv",
      dryRun: false,
      applied: true,
      read: 7,
      added: 3,
      updated: 0,
      unchanged: 0,
      superseded: 1,
      skipped: [{ reason: 'Outcome Type "Transfer"', records: 1 }],
      rejected: 2,
      categoriesAdded: [
        { name: "Dog", id: 1n },
        { name: "Cat", id: 2n },
        { name: "Bird", id: 3n },
      ],
    });
    expect(await brief()).toEqual(["Luna 1 sold", "Unnamed 2 available", "Zoë 3 sold"]);

    const again = await run(austin, { skipBad: true });
    expect(again).toMatchObject({ added: 0, updated: 0, unchanged: 3, categoriesAdded: [] });
  });

  test("a dry run says the same and changes nothing", async () => {
    const input = '[{"name":"a","categoryId":1,"externalId":"1"},{"name":"b","categoryId":1}]';
    const dry = await run(input, { dryRun: true });
    expect(dry).toMatchObject({ applied: false, added: 2 });
    expect(await all()).toEqual([]);
    await run(input);
    expect(await run(input.replace('"a"', '"A"'), { dryRun: true })).toMatchObject({
      added: 1,
      updated: 1,
    });
  });

  test("species that are named at the end get the ids of their names, others are rejected", async () => {
    await store.transact(() => addCategories([{ id: 70n, name: "dog" }]));
    const summary = await run(await fixture("rescuegroups.json"), { skipBad: true });
    expect(summary).toMatchObject({ read: 5, added: 2, rejected: 3, superseded: 0 });
    expect(await brief()).toEqual(["Biscuit 70 available", "Otto 70 sold"]);
    expect(rejections.find(({ line }) => line === 14)).toMatchObject({
      field: "category",
      problem: message("categoryUnknown", '"Cats"'),
    });
  });

  test("a species that is named behind very many animals is rejected after them", async () => {
    const animal = (id: number) =>
      `{"type":"animals","id":"${id}","attributes":{"name":"n"},"relationships":{"species":{"data":{"id":"3"}}}}`;
    const animals = Array.from({ length: 2_000 }, (_, id) => animal(id)).join(",\n");
    const included = '{"type":"species","id":"3","attributes":{"singular":"Cat"}}';
    const text = `{"data":[${animals}],"included":[${included}]}`;
    const summary = await run(text, { skipBad: true });
    expect(summary).toMatchObject({ read: 2_000, added: 0, rejected: 2_000 });
    expect(rejections).toHaveLength(1);
    expect(rejections[0]?.problem).toEqual(message("categoryUnnamed", "Cat", "1999"));
    expect(summary.causes).toMatchObject([{ unknownCategory: true }]);
    // Where it may be made, it is made once, and found the next time.
    const other = text
      .replace(`"id":"3"}`, `"id":"4"}`)
      .replace(included, `${included},${included.replace("3", "4")}`);
    for (const categoriesAdded of [[{ name: "Cat", id: 1n }], []]) {
      const taken = await run(other, { createCategories: true });
      expect(taken).toMatchObject({ read: 2_000, rejected: 0, categoriesAdded });
    }
  });

  test("several animals of one unnamed species are counted as rejected each", async () => {
    const animals = ["1", "2", "3"].map(
      (id) =>
        `{"type":"animals","id":"${id}","attributes":{"name":"n"},"relationships":{"species":{"data":{"id":"9"}}}}`,
    );
    const summary = await run(`{"data":[${animals.join(",\n")}]}`, { createCategories: true });
    expect(summary).toMatchObject({ read: 3, added: 0, rejected: 3, superseded: 0 });
    expect(rejections).toHaveLength(1);
    expect(rejections[0]).toMatchObject({
      line: 1,
      problem: message("categoryUnnamed", "(id 9, which the input does not name)", "2"),
    });
    // Nothing could be made without its name.
    expect(summary.causes[0]?.unknownCategory).toBeUndefined();
  });

  test("a species whose id reads like the name of another one is not taken for it", async () => {
    const animal = (species: string) =>
      `{"type":"animals","id":"${species}","attributes":{"name":"n"},"relationships":{"species":{"data":{"id":"${species}"}}}}`;
    const included = '{"type":"species","id":"1","attributes":{"singular":"Dog"}}';
    const summary = await run(
      `{"included":[${included}],"data":[${animal("1")},${animal("name dog")},${animal("dog")}]}`,
      { createCategories: true, skipBad: true },
    );
    expect(summary).toMatchObject({ added: 1, rejected: 2 });
    expect(rejections[0]?.problem.values).toEqual([
      "(id name dog, which the input does not name)",
      "0",
    ]);
  });

  test("a category by id and name is the one that has both here, or that nobody has", async () => {
    await store.transact(() => addCategories([{ id: 1n, name: "Dog" }]));
    const pairs = ["1,dog", "5,Dog", "1,Cat", "7,Fox", "7,FOX", "8,Fox"];
    const text = `name,categoryId,category,status\n${pairs.map((pair) => `Rex,${pair},sold\n`).join("")}`;
    const { categoriesAdded } = await run(text, { skipBad: true });
    expect(categoriesAdded).toEqual([{ name: "Fox", id: 7n }]);
    expect(await brief()).toEqual(["Rex 1 sold", "Rex 7 sold", "Rex 7 sold"]);
    expect(rejections.map(({ problem }) => problem)).toEqual([
      message("categoryNameTaken", "5", '"Dog"', "1"),
      message("categoryIdTaken", "1", '"Cat"', '"Dog"'),
      message("categoryNameTaken", "8", '"Fox"', "7"),
    ]);
  });

  test("--new-ids takes the categories of another catalogue by their names", async () => {
    await run('[{"name":"a","categoryId":1,"category":"Horse","status":"sold"}]', { newIds: true });
    const file =
      '[{"name":"b","categoryId":1,"category":"Dog"},{"name":"c","categoryId":9,"category":"horse"},{"name":"d","categoryId":4,"category":"Cat"}]';
    const read = { statuses: new Statuses(new Map(), "none") };
    const kept = await run(file, { read, skipBad: true, dryRun: true });
    expect(kept.rejected).toBe(2);
    const refused = await run(file, { read, newIds: true });
    expect(refused.causes).toMatchObject([{ records: 1, unknownCategory: true }]);
    const taken = await run(file, { read, newIds: true, createCategories: true });
    expect(taken.categoriesAdded).toEqual([
      { name: "Cat", id: 4n },
      { name: "Dog", id: 5n },
    ]);
    const brief = (await all()).map(({ name, categoryId }) => `${name} ${categoryId}`);
    expect(brief).toEqual(["a 1", "b 5", "c 1", "d 4"]);
  });

  test("a file of categories names ids, keeps the new ones and may give one id other names", async () => {
    await store.transact(() => addCategories([{ id: 1n, name: "Dog" }]));
    const categories = [
      { name: "Canine", id: 1n },
      { name: "Cat", id: int64Max },
      { name: "Feline", id: int64Max },
    ];
    const input = '[{"n":"a","c":"canine"},{"n":"b","c":"FELINE"},{"n":"c","c":"Dog"}]';
    const format = mappedFormat(parseFieldMap("name=n,categoryId=c,status=s"));
    const summary = await run(input, { categories, read: { format } });
    expect(summary.categoriesAdded).toEqual([{ name: "Cat", id: int64Max }]);
    expect(await brief()).toEqual(["a 1 undefined", `b ${int64Max} undefined`, "c 1 undefined"]);

    const clash = run(input, { categories: [{ name: "DOG", id: 2n }], read: { format } });
    expect(await failure(clash)).toContain(
      'Category "DOG" has the id 1 in the catalogue and 2 in the file',
    );
    const full = run('[{"n":"a","c":"Ferret"}]', { createCategories: true, read: { format } });
    expect(await failure(full)).toContain(`A category has the id ${int64Max}`);
  });

  test("a wrong column for the category is noticed before the names fill the memory", async () => {
    const rows = Array.from({ length: 10_002 }, (_, index) => `A${index},n,kind ${index},,1`);
    const header = "Animal ID,Name,Animal Type,Outcome Type,MonthYear\n";
    const read = run("", {
      createCategories: true,
      input: inPieces(header + rows.join("\n"), 60_000),
    });
    expect(await failure(read)).toContain("more than 10000 different categories up to line 10002");
  });

  test("one that is stopped while it reads changes nothing, and a later one works", async () => {
    const stop = AbortSignal.abort();
    const work = run('[{"name":"a","categoryId":1}]', { stop });
    expect(await failure(work)).toContain("The import was stopped. Nothing was changed.");
    expect(await all()).toEqual([]);
    expect(await run('[{"name":"a","categoryId":1}]')).toMatchObject({ added: 1 });
  });

  test("one that is stopped while it waits for its input ends at once", async () => {
    const stop = new AbortController();
    const silent = new ReadableStream<Uint8Array>({ pull: () => new Promise(() => stop.abort()) });
    expect(await failure(run("", { input: silent, stop: stop.signal }))).toBe(
      "The import was stopped. Nothing was changed.",
    );
  });

  test("one that is stopped while it stores says how far it came", async () => {
    const stop = new AbortController();
    const row = (_: unknown, at: number) => `n,1,x${at},${at < 5_000 ? "sold" : "died"}`;
    const rows = Array.from({ length: 12_000 }, row);
    const work = run("", {
      input: inPieces(`name,categoryId,externalId,status\n${rows.join("\n")}`, 60_000),
      stop: stop.signal,
      onProgress: ({ phase }) => phase === "storing" && stop.abort(),
    });
    expect(await failure(work)).toContain("5000 of 12000 animals are imported and stay.");
    expect(await store.pets.count()).toBe(5_000);
  });

  test("one that is stopped when all is stored has succeeded, and progress ends at all", async () => {
    const stop = new AbortController();
    const storing: number[] = [];
    const rows = Array.from({ length: 6_000 }, (_, index) => `n,1,x${index}`);
    const summary = await run(`name,categoryId,externalId\n${rows.join("\n")}`, {
      stop: stop.signal,
      onProgress({ phase, done, total }) {
        if (phase === "storing") storing.push(done);
        if (done === total) stop.abort();
      },
    });
    expect([summary.added, storing]).toEqual([6_000, [5_000, 6_000]]);
  });

  test("an input that breaks off changes nothing", async () => {
    const work = run('[{"name":"a","categoryId":1},{"name":"b"');
    expect(await failure(work)).toContain("line 1: the input is cut off");
    expect(await all()).toEqual([]);
  });

  test("what is rejected shows its category", async () => {
    const summary = await run(await fixture("king-county.csv"));
    expect(summary).toMatchObject({ read: 3, applied: false, rejected: 1 });
    expect(rejections[0]).toMatchObject({
      line: 2,
      problem: message("categoryUnknown", '"Cat"'),
      record: {
        name: "Unnamed",
        category: "Cat",
        status: "available",
        externalId: "king-county:A800001",
      },
    });
  });
});

test("each record with an id of another catalogue is rejected by itself", async () => {
  const text =
    "id,name,categoryId,status\n91,Rex,1,sold\n92,Bo,1,sold\n93,Mi,1,sold\n,New,1,sold\n";
  expect(await run(text, { skipBad: true })).toMatchObject({
    added: 1,
    superseded: 0,
    rejected: 3,
    causes: [{ field: "id", problem: message("idUnknown", "91", "2"), records: 3, lines: [2] }],
  });
  const rest = { categoryId: 1n, status: "sold" };
  expect(rejections.map(({ line, problem, record }) => [line, problem, record])).toEqual([
    [2, message("idUnknown", "91", "0"), { id: 91n, name: "Rex", ...rest }],
    [3, message("idUnknown", "92", "0"), { id: 92n, name: "Bo", ...rest }],
    [4, message("idUnknown", "93", "0"), { id: 93n, name: "Mi", ...rest }],
  ]);
});

test("records with ids of another catalogue are listed to a bound, and all are counted", async () => {
  const rows = Array.from({ length: 10_002 }, (_, at) => `${at + 1},Rex,1,sold`);
  const text = `id,name,categoryId,status\n${rows.join("\n")}\n`;
  expect(await run("", { input: inPieces(text, 60_000) })).toMatchObject({ rejected: 10_002 });
  expect(rejections).toHaveLength(10_000);
  expect(rejections.at(-2)?.problem).toEqual(message("idUnknown", "9999", "0"));
  expect(rejections.at(-1)?.problem).toEqual(message("idUnknown", "10000", "2"));
});

test("a note says that an import with new ids adds its animals again", async () => {
  const text =
    "id,name,categoryId,status,externalId\n91,Rex,1,sold,\n92,Bo,1,sold,x:2\n93,Lu,1,sold,\n";
  const said = message("idsMissing");
  expect(await run(text, { newIds: true })).toMatchObject({
    added: 3,
    notes: [{ said, records: 2, firstLine: 2, example: '"Rex"' }],
  });
  const own = "id,name,categoryId,status\n1,Rex,1,sold\n";
  expect(await run(own)).toMatchObject({ unchanged: 1, notes: [] });
});

test("an animal that was the only one comes back under its id", async () => {
  const text = (status: string) => `name,categoryId,status,externalId\nRex,1,${status},x:1\n`;
  for (const status of ["available", "died", "sold"]) await run(text(status));
  expect(await all()).toMatchObject([{ id: 1n, status: "sold" }]);
});

test("a gone animal with an id of another catalogue is counted once, and not as bad", async () => {
  const text = "id,name,categoryId,status\n91,Rex,1,died\n,New,1,sold\n";
  expect(await run(text)).toMatchObject({
    read: 2,
    added: 1,
    superseded: 0,
    rejected: 0,
    skipped: [{ reason: 'status "died"', records: 1 }],
  });
});

test("an import that can take nothing changes nothing, and makes no category for nobody", async () => {
  const options = { createCategories: true, skipBad: true };
  const header = "id,name,category,status";
  const frog = "9,Boss,Frog,available";
  const bears = { ...options, categories: [{ id: 5n, name: "Bear" }] };
  const none = await run(`${header}\n${frog}\n`, bears);
  expect(none).toMatchObject({ read: 1, rejected: 1, applied: false });
  const changeCount = () => store.read(() => rows(sql`SELECT id FROM ${changes}`));
  expect(await changeCount()).toEqual([]);
  // What the file of categories names is wanted in any case.
  const some = await run(`${header}\n${frog}\n,Rex,Dog,available\n`, bears);
  expect(some).toMatchObject({ added: 1, rejected: 1, applied: true });
  expect(some.categoriesAdded.map(({ name }) => name)).toEqual(["Bear", "Dog"]);
  expect((await catalogue.categories()).map(({ name }) => name)).toEqual(["Bear", "Dog"]);
});

test("what many records have in common is counted by the most frequent, with the first lines", async () => {
  const header = "id,name,category,status";
  const gone = Array.from({ length: 150 }, (_, at) => `,Rex,Dog,Died - ward ${at}`);
  const bad = Array.from({ length: 7 }, () => ",Bo,Fox,sold");
  const good = Array.from({ length: 7 }, () => ",Lu,1,sold");
  const rows = [
    ...gone,
    gone[0],
    "7,Ada,Cat,sold",
    ...bad,
    ...good.map((row) => row.replace("1", "Dog")),
  ];
  const { skipped, causes, sample } = await run(`${header}\n${rows.join("\n")}\n`, {
    categories: [{ name: "Dog", id: 1n }],
  });
  expect(skipped.slice(0, 3)).toEqual([
    { reason: "other reasons", records: 50 },
    { reason: 'status "Died - ward 0"', records: 2 },
    { reason: 'status "Died - ward 1"', records: 1 },
  ]);
  expect(causes).toMatchObject([
    { problem: message("categoryUnknown", '"Fox"'), records: 7, lines: [154, 155, 156, 157, 158] },
    { problem: message("categoryUnknown", '"Cat"'), records: 1, lines: [153] },
  ]);
  expect(rejections[0]?.record).toMatchObject({ id: 7n, name: "Ada" });
  expect(sample.map(({ name }) => name)).toEqual(["Lu", "Lu", "Lu", "Lu", "Lu"]);
});

test("of two records a second apart the newer one holds, whichever is for adoption", async () => {
  const header = "Animal ID,Name,DateTime,MonthYear,Outcome Type,Animal Type";
  const rows = ["A1,Rex,2026-11-05 10:00:01,m,Adoption,Dog", "A1,Rex,2026-11-05 10:00:00,m,,Bird"];
  const { categoriesAdded } = await run(`${header}\n${rows.join("\n")}\n`, {
    createCategories: true,
  });
  expect(await brief()).toEqual(["Rex 1 sold"]);
  // The older record makes no category either.
  expect(categoriesAdded).toEqual([{ name: "Dog", id: 1n }]);
});

test("a note says that one id has two names, also where one of the two is gone", async () => {
  const header = "Animal_ID,Animal_Name,Record_Type,animal_type,Date";
  const rows = ["A8,Misty,ADOPTABLE,Cat,06/01/2024", "A8,Foggy,FOUND,Cat,06/01/2024"];
  const input = [header, ...rows, "A9,Max,FOUND,Dog,06/01/24", "A9,Max,ADOPTABLE,Dog,06/01/24"];
  const { notes, added } = await run(`${input.join("\n")}\n`, { createCategories: true });
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

describe("a whole list", () => {
  const csv = (rows: readonly string[]) =>
    `name,categoryId,status,externalId\n${rows.join("\n")}\n`;
  const [a, b, c, d] = ["1", "2", "3", "4"].map((id) => `Rex,1,sold,${id}`) as [
    string,
    string,
    string,
    string,
  ];
  const bad = "Bo,x,sold,9";
  const read = { source: "clinic" };
  const whole = { read, complete: true };
  beforeEach(async () => {
    await run(csv([a, b, c, d]), { read });
  });

  test.each([
    ["without half of the animals", [a, b], whole, { missing: 2, withdrawn: 2, applied: true }],
    ["with none of them, confirmed", [], { ...whole, confirmed: true }, { withdrawn: 4 }],
    [
      "with a bad record, and all animals",
      [a, b, c, d, bad],
      { ...whole, skipBad: true },
      { missing: 0, rejected: 1, applied: true },
    ],
  ])("%s is imported", async (_what, rows, options, expected) => {
    expect(await run(csv(rows), options)).toMatchObject(expected);
  });

  test.each([
    ["without more than half of them", [a], whole, "3 of the 4 animals of clinic are not in"],
    [
      "with a bad record",
      [a, b, c, bad],
      { ...whole, confirmed: true, skipBad: true },
      "A whole list must not have bad records, and this one has 1",
    ],
    [
      "with a damaged id",
      [a, b, c, "Rex,1,sold,01-Mar"],
      { read: { ...read, format: mappedFormat(mapOfOurs) }, complete: true, confirmed: true },
      "A whole list must not have damaged ids, and this one has 1",
    ],
    ["of nobody", [a], { complete: true }, "--complete needs the source of this list."],
  ])("%s is refused", async (_what, rows, options, message) => {
    expect(await failure(run(csv(rows), options))).toStartWith(message);
    expect(await all()).toHaveLength(4);
  });

  test("a dry run says that it would be refused", async () => {
    const { applied, notes } = await run(csv([a]), { ...whole, dryRun: true });
    expect([applied, notes.map(({ said, records }) => [said, records])]).toEqual([
      false,
      [[message("wholeRefused", "3 of the 4 animals of clinic are not in this list."), 3]],
    ]);
  });
});

describe("an import that fails", () => {
  /** The catalogue, but for what begins an import. */
  const beginningWith = (beginImport: CatalogueStore["beginImport"]): CatalogueStore => ({
    exportPage: (after, limit) => catalogue.exportPage(after, limit),
    categories: () => catalogue.categories(),
    highestCategoryId: () => catalogue.highestCategoryId(),
    beginImport,
  });

  /** A stage that is the catalogue's own, but for these of its methods. */
  async function stageWith(other: (stage: ImportStage) => Partial<ImportStage>) {
    const stage = await catalogue.beginImport({ actor: "tester", nowMs: () => 0 });
    return {
      add: (animals) => stage.add(animals),
      arrange: (ids) => stage.arrange(ids),
      categoryIds: () => stage.categoryIds(),
      compare: () => stage.compare(),
      addCategories: (named) => stage.addCategories(named),
      takeOver: (count) => stage.takeOver(count),
      finish: (summary) => stage.finish(summary),
      close: () => stage.close(),
      ...other(stage),
    } satisfies ImportStage;
  }

  /** `text` in small pieces, and whether whoever read it let it go. */
  function watched(text: string, close = () => {}) {
    const watch = {
      isClosed: false,
      async *chunks() {
        try {
          yield* inPieces(text, 50);
          // An input that has more to give, were it asked.
          for (;;) yield new TextEncoder().encode(" ".repeat(1_000));
        } finally {
          watch.isClosed = true;
          close();
        }
      },
    };
    return watch;
  }

  const animals = (count: number) =>
    `name,categoryId,externalId\n${Array.from({ length: count }, (_, index) => `n,1,x${index}`).join("\n")}`;

  test.each([
    [
      "the database",
      new AppError("unavailable", "The store cannot be used at the moment.", { hint: "Wait." }),
      "The store cannot be used at the moment. 5000 of 12000 animals are imported and stay.",
    ],
    [
      "the program",
      new Error("an index out of range"),
      "The import broke off (an index out of range). 5000 of 12000 animals are imported and stay.",
    ],
  ])("by %s while it stores says how far it came", async (_whose, fault, message) => {
    let takes = 0;
    const failing = beginningWith(() =>
      stageWith((stage) => ({
        takeOver(count) {
          takes += 1;
          if (takes === 2) throw fault;
          return stage.takeOver(count);
        },
      })),
    );
    const error: unknown = await run(animals(12_000), {}, failing).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(AppError);
    const { message: said, kind, hint, cause } = error as AppError;
    expect(said).toStartWith(message);
    expect(said).toEndWith(
      "Run the import again for the rest: animals with an id of their own are not doubled.",
    );
    expect([kind, hint, cause]).toEqual([
      "unavailable",
      fault instanceof AppError ? "Wait." : undefined,
      fault,
    ]);
    expect(await store.pets.count()).toBe(5_000);
    expect(await run(animals(12_000))).toMatchObject({ added: 7_000, unchanged: 5_000 });
  });

  test("says why, and not what fails of its closing thereafter", async () => {
    let takes = 0;
    const failing = beginningWith(() =>
      stageWith((stage) => ({
        takeOver(count) {
          takes += 1;
          if (takes === 2) throw new AppError("unavailable", "The store went away.");
          return stage.takeOver(count);
        },
        async close() {
          await stage.close();
          throw new Error("close failed too");
        },
      })),
    );
    expect(await failure(run(animals(12_000), {}, failing))).toStartWith(
      "The store went away. 5000 of 12000 animals are imported and stay.",
    );
    const input = watched('[{"name":"a","categoryId":1},', () => {
      throw new Error("the pipe cannot be closed");
    });
    const stopped = { input: input.chunks(), stop: AbortSignal.abort() };
    expect(await failure(run("", stopped))).toBe("The import was stopped. Nothing was changed.");
    const unknown = watched('[{"a":1},', () => {
      throw new Error("the pipe cannot be closed");
    });
    expect(await failure(run("", { input: unknown.chunks() }))).toContain("--map");
  });

  test("by a stop while its records are put in order changes nothing", async () => {
    const stop = new AbortController();
    const stopping = beginningWith(() =>
      stageWith((stage) => ({
        arrange(arrangement) {
          stop.abort();
          return stage.arrange(arrangement);
        },
      })),
    );
    expect(await failure(run(animals(12_000), { stop: stop.signal }, stopping))).toBe(
      "The import was stopped. Nothing was changed.",
    );
    expect(await store.pets.count()).toBe(0);
  });

  test("in nothing but its closing says so", async () => {
    const failing = beginningWith(() =>
      stageWith((stage) => ({
        async close() {
          await stage.close();
          throw new Error("close failed");
        },
      })),
    );
    expect(await failure(run(animals(1), {}, failing))).toBe("close failed");
  });

  test("when it begins lets its input go", async () => {
    const input = watched('[{"name":"a","categoryId":1},');
    const failing = beginningWith(() => {
      throw new Error("no room for it");
    });
    const work = run("", { input: input.chunks() }, failing);
    expect([await failure(work), input.isClosed]).toEqual(["no room for it", true]);
  });

  test.each([
    ["an unknown format", '[{"a":1},'],
    ["a header without names", ",,\n1,2,3\n"],
    ["nothing but blanks", " "],
    ["a document", "%PDF-1.7\n"],
    ["no JSON", '[{"a":1}}'],
  ])("on %s lets its input go", async (_what, text) => {
    const input = watched(text);
    expect(await failure(run("", { input: input.chunks() }))).not.toBe("nothing failed");
    expect(input.isClosed).toBe(true);
  });

  test("ends its stage, whatever becomes of its input", async () => {
    let isClosed = false;
    const stop = new AbortController();
    const catalogueWatched = beginningWith(() => {
      stop.abort();
      return stageWith((stage) => ({
        async close() {
          await stage.close();
          isClosed = true;
        },
      }));
    });
    const input = watched('[{"name":"a","categoryId":1},', () => {
      throw new Error("the pipe cannot be closed");
    });
    const stopped = { input: input.chunks(), stop: stop.signal };
    expect(await failure(run("", stopped, catalogueWatched))).not.toBe("nothing failed");
    expect(isClosed).toBe(true);
  });
});

describe("any sequence of imports", () => {
  const row = fc.record({
    id: fc.integer({ min: 1, max: 5 }),
    name: fc.constantFrom("a", "b"),
    outcome: fc.constantFrom("", "Adoption", "Transfer"),
    day: fc.integer({ min: 1, max: 3 }),
    type: fc.constantFrom("Dog", "Cat", ""),
  });

  test("ends in what a plain model says, and its numbers add up", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(row, { maxLength: 8 }), { maxLength: 3 }),
        async (files) => {
          await store.close();
          await open();
          const model = new Map<number, string>();
          const ids = new Map<string, bigint>();
          for (const rows of files) {
            const text = rows.map(
              ({ id, name, outcome, day, type }) =>
                `${id},${name},01/0${day}/2024,m,${outcome},${type}\n`,
            );
            const header = "Animal ID,Name,DateTime,MonthYear,Outcome Type,Animal Type\n";
            const summary = await run(header + text.join(""), {
              createCategories: true,
              skipBad: true,
            });
            const before = new Map(model);
            for (const [id, pet] of newest(rows)) {
              if (pet === undefined) model.delete(id);
              else model.set(id, pet);
            }
            const changed = [...model].filter(([id, pet]) => before.get(id) !== pet);
            const added = changed.filter(([id]) => !before.has(id)).length;
            const withdrawn = [...before.keys()].filter((id) => !model.has(id)).length;
            expect(summary).toMatchObject({ added, updated: changed.length - added, withdrawn });
            // Whatever becomes of an animal, it has its id for good.
            for (const { id, externalId = "" } of await all()) {
              expect(ids.get(externalId) ?? id).toBe(id);
              ids.set(externalId, id);
            }
            const { read, updated, unchanged, superseded, rejected, skipped } = summary;
            const skips = skipped.reduce((sum, { records }) => sum + records, 0);
            expect(added + updated + unchanged + superseded + rejected + skips).toBe(read);
          }
          const categories = new Map(
            (await catalogue.categories()).map(({ id, name }) => [id, name]),
          );
          const stored = (await all()).map(({ externalId, name, status, categoryId }) => [
            Number(externalId?.replace("austin:", "")),
            `${name} ${status} ${categories.get(categoryId)}`,
          ]);
          expect(new Map(stored as [number, string][])).toEqual(model);
        },
      ),
      { numRuns: 60 },
    );
  });

  interface Row {
    readonly id: number;
    readonly name: string;
    readonly outcome: string;
    readonly day: number;
    readonly type: string;
  }

  /** Of the same day the row holds that is for adoption. */
  const age = ({ day, outcome }: Row) =>
    day * 3 + (outcome === "" ? 2 : outcome === "Adoption" ? 1 : 0);

  /**
   * What these rows say of each animal, by its newest sound row: undefined where that says that it
   * went elsewhere.
   */
  function newest(rows: readonly Row[]): Map<number, string | undefined> {
    const best = new Map<number, Row>();
    for (const row of rows) {
      if (row.type === "" && row.outcome !== "Transfer") continue;
      const known = best.get(row.id);
      if (known === undefined || age(known) <= age(row)) best.set(row.id, row);
    }
    return new Map(
      [...best].map(([id, { name, outcome, type }]) => [
        id,
        outcome === "Transfer"
          ? undefined
          : `${name} ${outcome === "" ? "available" : "sold"} ${type}`,
      ]),
    );
  }
});
