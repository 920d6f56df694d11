/** Shapes of lists that were met in the wild once the reading stood; all made up. */
import { describe, expect, test } from "bun:test";
import { writeXlsx } from "hucre/xlsx";
import { parseFieldMap } from "../../../../src/features/import/understand/columns.ts";
import {
  type Given,
  prepare,
  prepareAgain,
  propose,
} from "../../../../src/features/import/understand/propose.ts";
import { parseStatusWords } from "../../../../src/features/import/understand/words.ts";
import { zipped } from "../../../helpers/zip.ts";
import { brief, bytesOf, readWhole, refusal } from "../helpers.ts";

const unknown = async (text: string) => {
  const { refusal, ...found } = await propose(bytesOf(text), {});
  return { ...found, message: refusal?.message };
};

test("the advice for an unknown kind tells all that was guessed, and works", async () => {
  const text =
    "name,born,adopted,id,dateAdded\nDiesel,2019,true,d1,2022-08-16\nBella,2020,false,d2,2022-08-17\nTom,2020,,d3,2022-08-18\n";
  const said = (await unknown(text))?.message;
  const map = "name=name,status=adopted,externalId=id,updatedAt=dateAdded";
  expect(said).toContain("status=adopted,externalId=id,updatedAt=dateAdded");
  expect(said).toContain("--status true=sold,false=available --default-status available");
  const given = {
    columns: parseFieldMap(map),
    statuses: parseStatusWords(["true=sold,false=available"]),
    defaultStatus: "available",
    category: "Dog",
  } as const;
  const { isGuessed, outcomes } = await readWhole(text, given);
  expect([isGuessed, ...outcomes.map(brief)]).toEqual([
    false,
    "2 Diesel / Dog / sold [d1]",
    "3 Bella / Dog / available [d2]",
    "4 Tom / Dog / available [d3]",
  ]);
});

test("a map that names all but a name is whole, and a report by stay stays one", async () => {
  const text =
    "Animal ID,Species,Intake Date,Outcome Date,Outcome Type\nA1,Dog,2026-01-02,,\n" +
    "A2,Cat,2026-01-02,2026-01-05,\nA3,Cat,2026-01-02,2026-01-06,Adoption\n";
  const columns = parseFieldMap(
    "categoryId=Species,status=Outcome Type,externalId=Animal ID,updatedAt=Intake Date",
  );
  const expected = [
    "2  / Dog / available [A1]",
    '3 gone: Outcome Date "2026-01-05" [A2]',
    "4  / Cat / sold [A3]",
  ];
  const given = await readWhole(text, { columns, defaultStatus: "available" });
  expect([given.isGuessed, ...given.outcomes.map(brief)]).toEqual([false, ...expected]);
  const named = { columns: { ...columns, name: "Animal ID" }, defaultStatus: "available" } as const;
  const { isGuessed, outcomes } = await readWhole(text, named);
  expect([isGuessed, outcomes[1]?.kind]).toEqual([false, "gone"]);
});

test.each([
  [{ called: "shelter_dogs.csv" }, "dogs"],
  [{ called: "data/ShelterDogs.csv" }, "Dogs"],
  [{ called: "Ana's cats/perros.csv" }, "perros"],
])("the file %j tells the kind that no column has", async (given, category) => {
  const { reading, isGuessed } = await readWhole("Name,Status\nRex,Available\n", given);
  expect([reading.category, isGuessed]).toEqual([category, true]);
});

test.each(["dogs and cats.csv", "animals.csv", "hotdogs.csv", ""])(
  "the file %j tells no kind",
  async (called) => {
    expect(await refusal(readWhole("Name,Status\nRex,Available\n", { called }))).toContain(
      "categoryId=COLUMN",
    );
  },
);

test("a yes or no for adoption is never passed over", async () => {
  const said = (heading: string) =>
    unknown(`Name,Species,${heading}\nRex,Dog,sim\nBo,Dog,não\n`).then(({ open }) => open);
  const words = ["sim", "não"].map((word) => ({ word, records: 1 }));
  const asked = (column: string) => [{ is: "words", column, words }];
  for (const heading of ["diposnivelParaAdocao", "Entrevista p/ adoção", "Could be adopted"]) {
    expect(await said(heading)).toEqual(asked(heading) as never);
  }
  expect(await said("Vacinado")).toEqual([{ is: "status" }]);
  const { outcomes } = await readWhole("Nome,Espécie,Para adoção\nRex,Cão,sim\nBo,Cão,não\n");
  expect(outcomes.map(({ kind }) => kind)).toEqual(["pet", "gone"]);
});

test("of several sheets, the one that is called by animals is read", async () => {
  const people = [
    ["ID", "Nombre", "Sexo"],
    ["P1", "Ana", "F"],
  ];
  const animals = [
    ["Nombre", "Especie", "Raza", "Estado"],
    ["Max", "Perro", "Mix", "Disponible"],
  ];
  const sheets = (name: string) => [
    { name: "Adoptantes", rows: people },
    { name, rows: animals },
  ];
  const { outcomes } = await readWhole(await writeXlsx({ sheets: sheets("Mascotas") }));
  expect(outcomes.map(brief)).toEqual(["2 Max / Perro / available"]);
  // A sheet that is called by a kind may be a list of animals, too.
  const both = [...sheets("Perros"), { name: "Gatos", rows: people }];
  expect(await refusal(readWhole(await writeXlsx({ sheets: both })))).toContain("several lists");
});

test("a number that later animals get again is no id of them", async () => {
  const rows = (names: readonly string[]) =>
    names.map((name, at) => `${1 + (at % 7)},${name},Dog,Available\n`).join("");
  const names = ["Rex", "Bo", "Lu", "Mia", "Tom", "Ada", "Kim", "Max", "Zoe", "Ida"];
  const ids = async (all: readonly string[]) => {
    const { reading, outcomes } = await readWhole(`ID,Name,Species,Status\n${rows(all)}`);
    return [reading.columns?.externalId, outcomes.length];
  };
  expect(await ids(names)).toEqual([undefined, 10]);
  // An animal that came again has its name, and some were renamed.
  expect(await ids([...names.slice(0, 7), "rex", "Bo", "Lulu"])).toEqual(["ID", 10]);
});

describe("what another list would overwrite is no id", () => {
  const heading = (name: string) => `${name},Name,Species,Status`;
  test.each([
    ["Kennel", ["A1", "A2"]],
    ["Box", ["B1", "B2"]],
    ["Peso", ["32kg", "8kg"]],
    ["Leeftijd", ["3jr", "2jr"]],
    ["Postcode", ["1234AB", "1234AC"]],
    ["No.", ["1", "2"]],
    ["Nr", ["1", "2"]],
  ])("%s of %j", async (name, [one, other]) => {
    const rows = `${one},Rex,Dog,Available\n${other},Tom,Cat,Adopted\n`;
    const { reading } = await readWhole(`${heading(name)}\n${rows}`);
    expect(reading.columns?.externalId).toBeUndefined();
  });

  test("numbers that go on with the animals are ids", async () => {
    const { reading } = await readWhole(
      `${heading("No.")}\n7,Rex,Dog,Available\n9,Tom,Cat,Adopted\n`,
    );
    expect(reading.columns?.externalId).toBe("No.");
  });
});

describe("an animal that is called available", () => {
  test("though its name says otherwise is told", async () => {
    const names = ["Bella (ADOPTION PENDING)", "Max - adopted!", "Mary-Jane", "Rex (Foster pup)"];
    const rows = names.map((name) => `${name},Dog,Available\n`).join("");
    const { notes, stems } = await readWhole(`Name,Species,Status\n${rows}`);
    expect([...stems]).toEqual([]);
    const told = notes.filter(({ said }) => said.code === "namesTell");
    expect(told.map(({ records, firstLine }) => [records, firstLine])).toEqual([[2, 2]]);
  });
});

test.each([
  "adottati.csv",
  "cani_adottati.csv",
  "Adopted dogs.csv",
  "adoptados-2025.csv",
  "vermittelt.csv",
])("a list that is called %s is not offered as available", async (called) => {
  const text = "Name,Species\nRex,Dog\nBo,Cat\n";
  const { reading, open } = await propose(bytesOf(text), { called });
  expect([reading?.defaultStatus, open]).toEqual(["sold", []]);
});

test("an archive with one file is named as what it is", async () => {
  const archive = Buffer.concat(zipped(new Map([["cats.csv", bytesOf("Name,Species\n")]])));
  expect(await refusal(readWhole(archive))).toContain("a ZIP archive with the file cats.csv");
});

test("the order of day and month is kept with the reading, and said where nothing tells it", async () => {
  const header = "Id,Name,Species,Status,Updated\n";
  const rows = [
    "A1,Rex,Dog,Available,4/3/2026",
    "A1,Rex,Dog,Adopted,3/4/2026",
    "A2,Bo,Dog,Adopted,25/2/2026",
  ];
  const first = await readWhole(`${header}${rows.join("\n")}\n`);
  expect(first.dayFirst).toBe(true);
  const kept = { ...first.reading, dayFirst: true };
  const again = await prepareAgain(bytesOf(`${header}${rows.slice(0, 2).join("\n")}\n`), kept);
  const versions = again.understanding.outcomes.map(({ version }) => version);
  expect(versions).toEqual([20260304000000, 20260403000000]);
  const open = await readWhole(`${header}${rows.slice(0, 2).join("\n")}\n`);
  expect(open.notes.map(({ said }) => said.code)).toContain("dayOrderOpen");
});

test("a column that would take most of the available is a question, and a pull waits", async () => {
  const rows = Array.from(
    { length: 6 },
    (_, at) => `A${at},Pet ${at},Dog,Available,${at < 4 ? "yes" : "no"}`,
  );
  const bytes = bytesOf(`Id,Name,Species,Status,Archived\n${rows.join("\n")}\n`);
  const asked = { is: "column", column: "Archived", meaning: "gone", records: 4, available: 6 };
  const { prepared, open, reading } = await propose(bytes, {});
  expect([prepared, open]).toEqual([undefined, [asked] as never]);
  const kinds = async (given: Given) =>
    (await prepare(bytes, given)).understanding.outcomes.filter(({ kind }) => kind === "gone")
      .length;
  expect([await kinds({ believed: ["Archived"] }), await kinds({ ignored: ["Archived"] })]).toEqual(
    [4, 0],
  );
  expect(await refusal(prepareAgain(bytes, reading as never))).toContain("--believe Archived");
});

test.each(["fechaBorrado", "Adoption date", "Date of death", "Reserved until", "archived_at"])(
  "%s is no day of the last change",
  async (heading) => {
    const rows = "Rex,Dog,Available,2024-03-04\nBo,Cat,Available,\nAl,Cat,Adopted,2024-03-05\n";
    const { reading } = await propose(bytesOf(`Name,Species,Status,${heading}\n${rows}`), {});
    expect(reading?.columns?.updatedAt).toBeUndefined();
  },
);

test("columns that disagree are counted, and the first three are named", async () => {
  const rows = Array.from(
    { length: 9 },
    (_, at) => `Pet ${at},Dog,Available,${at < 4 ? "2024-01-02" : ""}`,
  );
  const { notes } = await readWhole(`Name,Species,Status,Adoption date\n${rows.join("\n")}\n`);
  const note = notes.find(({ said }) => said.code === "columnsDisagree");
  expect([note?.records, note?.example]).toEqual([4, '"Pet 0", "Pet 1", "Pet 2"']);
});
