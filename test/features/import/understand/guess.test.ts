/** Lists of no known format: what their columns are taken for, and what is asked. */
import { describe, expect, test } from "bun:test";
import { parseFieldMap } from "../../../../src/features/import/understand/columns.ts";
import { parseStatusWords } from "../../../../src/features/import/understand/statuses.ts";
import { bytesOf, brief, readWhole, refusal } from "../helpers.ts";
import { propose } from "../../../../src/features/import/understand/propose.ts";

const columnsOf = async (text: string) => (await readWhole(text)).reading.columns;

describe("an obvious list", () => {
  test("is taken at once", async () => {
    const text =
      "Name,Type,Status\nRex,Dog,Available\nAda,Cat,Reserved\nBo,Dog,Adopted\nLu,Cat,Deceased\n";
    const { isGuessed, reading, outcomes } = await readWhole(text);
    expect([isGuessed, reading.columns]).toEqual([
      true,
      { name: "Name", categoryId: "Type", status: "Status" },
    ]);
    expect(outcomes.map(brief)).toEqual([
      "2 Rex / Dog / available",
      "3 Ada / Cat / pending",
      "4 Bo / Dog / sold",
      '5 gone: Status "Deceased"',
    ]);
  });

  test("may be in any of the languages, and among other columns", async () => {
    const text =
      "Ficha;Nombre del animal;Especie;Raza;Estado;Fecha alta\n" +
      "F-001;Luna;Perro;Mestizo;En adopción;03/02/2026\nF-002;Milú;Gato;Siamés;Reservado;13/02/2026\n";
    const { reading, outcomes } = await readWhole(text);
    expect(reading.columns).toEqual({
      name: "Nombre del animal",
      categoryId: "Especie",
      status: "Estado",
      externalId: "Ficha",
      updatedAt: "Fecha alta",
    });
    expect(outcomes.map(({ version }) => version)).toEqual([20260203000000, 20260213000000]);
  });

  test("may say nothing by its headings: the values tell", async () => {
    const text =
      "Nr,Ruf,Haltung,Geburtsdatum,Lage\n" +
      "24-01,Bello,Hund,01.02.2020,zu vermitteln\n24-02,Mimi,Katze,03.02.2021,reserviert\n";
    expect(await columnsOf(text)).toEqual({
      name: "Ruf",
      categoryId: "Haltung",
      status: "Lage",
      externalId: "Nr",
    });
  });

  test("may have its fields within others", async () => {
    const animal = {
      id: "a1",
      pet: { name: "Rex" },
      species: { name: "Dog" },
      status: "available",
    };
    const text = JSON.stringify({ meta: { total: 1 }, list: [animal, { ...animal, id: "a2" }] });
    expect(await columnsOf(text)).toMatchObject({
      name: "pet.name",
      categoryId: "species.name",
      status: "status",
      externalId: "id",
    });
  });
});

describe("the status", () => {
  const list = (heading: string, values: readonly string[]) =>
    `Name,Species,${heading}\n${values.map((value, at) => `A${"bcdefghijk"[at]},Dog,${value}`).join("\n")}\n`;
  const statusOf = async (heading: string, values: readonly string[]) =>
    (await columnsOf(list(heading, values)))?.status;

  test.each([
    ["Status", ["Available", "Available"], "Status"],
    ["Estado", ["Disponible", "Adoptado"], "Estado"],
    ["State", ["available", "pending", "sold", "available", "zone 1"], "State"],
    ["Where", ["Available", "Reserved"], "Where"],
  ])("is %s with %j", async (heading, values, column) => {
    expect(await statusOf(heading, values)).toBe(column);
  });

  test.each([
    ["Intake Type", ["Stray", "Returned", "Transfer"]],
    ["Return", ["none", "returned"]],
    ["Location", ["Foster", "Available"]],
    ["Special needs", ["none", "none"]],
    ["State", ["Texas", "Ohio"]],
    ["Estado", ["Jalisco", "Puebla"]],
    ["Where", ["available", "available"]],
  ])("is not %s with %j", async (heading, values) => {
    expect(await refusal(readWhole(list(heading, values)))).toContain("--default-status");
  });

  test("of a column with unknown words is kept, and the words are asked for", async () => {
    const open = await propose(bytesOf(list("Status", ["OPEN", "SHUT", "Available"])), {});
    const words = ["OPEN", "SHUT"].map((word) => ({ word, records: 1 }));
    expect(open.open).toEqual([{ is: "words", column: "Status", words }]);
    expect(open.reading?.columns?.status).toBe("Status");
    const said = await refusal(readWhole(list("Status", ["OPEN", "SHUT", "SHUT"])));
    expect(said).toContain(
      "If \"Status\" says whether an animal is for adoption, add status=Status to the map, and what its words mean: --status 'OPEN=?,SHUT=?'.",
    );
    expect(said).not.toContain("=gone");
    const given = {
      columns: parseFieldMap("name=Name,categoryId=Species,status=Status"),
      statuses: parseStatusWords(["OPEN=available,SHUT=gone"]),
    };
    const { outcomes } = await readWhole(list("Status", ["OPEN", "SHUT", "Available"]), given);
    expect(outcomes.map(({ kind }) => kind)).toEqual(["pet", "gone", "pet"]);
  });

  test.each([
    ["Adopted", ["yes", "no", ""], ["sold", "available", "available"]],
    ["adotado", ["1", "0", "0"], ["sold", "available", "available"]],
    ["Adoptado", ["x", "", ""], ["sold", "available", "available"]],
    ["Available?", ["Yes", "No", "Yes"], ["available", "gone", "available"]],
    ["Reserved", ["", "x", ""], ["available", "pending", "available"]],
    ["Adoption date", ["2026-03-01", "", ""], ["sold", "available", "available"]],
  ])("is told by yes and no: %s", async (heading, values, statuses) => {
    const { outcomes, isGuessed } = await readWhole(list(heading, values));
    const found = outcomes.map((each) => (each.kind === "pet" ? each.status : each.kind));
    expect([isGuessed, found]).toEqual([true, statuses as never]);
  });

  test("is told by yes and no within another object, and not called missing", async () => {
    const pet = (nombre: string, disponible: boolean) => ({
      pk: nombre,
      fields: { nombre, especie: "Perro", disponible },
    });
    const { outcomes } = await readWhole(JSON.stringify([pet("Rex", true), pet("Bo", false)]));
    expect(outcomes.map(({ kind }) => kind)).toEqual(["pet", "gone"]);
  });

  test("is not asked for where a column has the states of a country", async () => {
    const said = await refusal(readWhole(list("estado", ["SP", "RJ", "SP"])));
    expect(said).toContain("--default-status");
    expect(said).not.toContain("?'");
  });

  test("is told by several columns of yes and no, of which all count", async () => {
    const rows = "Rex,Dog,no,yes\nBo,Dog,yes,no\nAl,Dog,no,no\n";
    const { outcomes } = await readWhole(`Name,Species,Adopted,Reserved\n${rows}`);
    const found = outcomes.map((each) => (each.kind === "pet" ? each.status : each.kind));
    expect(found).toEqual(["pending", "sold", "available"]);
  });

  test("by which nobody is for adoption stops with the name of its column", async () => {
    const text = list("Status", ["Adopted", "Deceased", "Adopted"]);
    expect(await refusal(readWhole(text))).toBe(
      "none of 3 animals is for adoption by Status. Is that the right column? Name it with --map status=COLUMN",
    );
    // A person who said which column it is may mean it.
    const columns = parseFieldMap("name=Name,categoryId=Species,status=Status");
    const { notes } = await readWhole(text, { columns });
    expect(notes.map(({ said }) => said.code)).toEqual(["noneForAdoption"]);
  });

  test("of own files and of programs without one is asked for too", async () => {
    const noFlags = '[{"ID":1,"ANIMALNAME":"Rex","SPECIESNAME":"Dog"}]';
    expect(await refusal(readWhole(noFlags))).toContain("--default-status");
    expect((await readWhole(noFlags, { defaultStatus: "pending" })).outcomes).toMatchObject([
      { status: "pending" },
    ]);
    expect(await refusal(readWhole("id,name,categoryId\n1,Rex,1\n"))).toContain(
      "(expected status)",
    );
  });

  test("that is blank is told with a count", async () => {
    const { notes } = await readWhole(list("Status", ["Available", "", ""]));
    expect(notes).toMatchObject([{ said: { code: "statusesBlank" }, records: 2, firstLine: 3 }]);
  });
});

describe("nobody dead is for adoption", () => {
  const rows = (heading: string, value: string) =>
    `Id,Name,Species,Status,${heading}\nA1,Rex,Dog,Available,${value}\nA2,Bo,Dog,Available,\n`;

  test.each([
    ["Condition", "DEAD"],
    ["Outcome condition", "Died in care"],
    ["Disposition", "Euthanized"],
    ["Date of death", "2026-01-02"],
    ["Deceased", "yes"],
    ["DOA", "TRUE"],
    ["Fecha de fallecimiento", "2/1/2026"],
    ["Intake Type", "EUTH REQ"],
  ])("%s %s", async (heading, value) => {
    const { outcomes } = await readWhole(rows(heading, value));
    expect(outcomes.map(({ kind }) => kind)).toEqual(["gone", "pet"]);
  });

  test.each([
    ["Condition", "Healthy"],
    ["Deceased", "no"],
    ["Deceased", "0"],
    ["Intake reason", "Owner died"],
    ["Condition", "Owner died"],
    ["Notes", "her mother died"],
    ["Intake is dead", "Alive on Intake"],
  ])("but %s %s says nothing of it", async (heading, value) => {
    const { outcomes } = await readWhole(rows(heading, value));
    expect(outcomes.map(({ kind }) => kind)).toEqual(["pet", "pet"]);
  });
});

describe("an id", () => {
  const list = (heading: string, ids: readonly string[]) =>
    `${heading},Name,Kind,State\n${ids.map((id, at) => `${id},Pet${"abcdef"[at]},Dog,${at === 0 ? "pending" : "adopted"}`).join("\n")}\n`;

  test.each([
    ["rescueid", ["7", "8", "9"]],
    ["Animal No", ["7", "8", "8"]],
    ["Ref", ["x-1", "x-2", "x-3"]],
    ["Animal Number", ["N/A", "N/A", "A-3", "A-4", "A-5"]],
    ["Kartei", ["A-1", "N/A", "A-3"]],
  ])("is %s: %j", async (heading, ids) => {
    expect((await columnsOf(list(heading, ids)))?.externalId).toBe(heading);
  });

  test.each([
    ["zipcode", ["12345", "54321", "99999"]],
    ["Weight", ["12.5", "7", "8.1"]],
    ["", ["0", "1", "2"]],
    ["Box", ["A-1", "A-1", "A-3"]],
    ["Seen", ["2026-11-05", "N/A", "2026-11-06"]],
    ["shelter id", ["S1", "S1", "S1", "S1"]],
  ])("is not %s: %j", async (heading, ids) => {
    const { reading } = await readWhole(list(heading, ids));
    expect(reading.columns?.externalId).toBeUndefined();
    expect(JSON.stringify(reading)).not.toContain('"externalId":""');
  });
});

describe("a date", () => {
  const rows =
    "t1,Ann,Dog,Available,2026-11-05,2020-01-31\nt2,Bo,Cat,Adopted,2026-11-06,2021-02-01\n";

  test("of a change is one under any name, but not that of a birth", async () => {
    const known = { name: "Name", categoryId: "Species", status: "State", externalId: "Tag" };
    expect(await columnsOf(`Tag,Name,Species,State,When,Born\n${rows}`)).toEqual({
      ...known,
      updatedAt: "When",
    });
    expect(await columnsOf(`Tag,Name,Species,State,Born,DOB\n${rows}`)).toEqual(known);
    const numbers = "Tag,Name,Species,State,Cage\nt1,Ann,Dog,Available,45352\n";
    expect(await columnsOf(numbers)).toEqual(known);
  });
});

describe("a name", () => {
  const values: Readonly<Record<string, readonly [string, string]>> = {
    Tag: ["t1", "t2"],
    Name: ["Ann", "Bo"],
    "Call sign": ["Ann", "Bo"],
    Keeper: ["Smith", "Jones"],
    usuario: ["Ana", "David"],
    nombre_final: ["Ann", "Bo"],
    Species: ["Dog", "Cat"],
    Pet: ["Dog", "Cat"],
    Mother: ["Cat", "Dog"],
    State: ["Available", "Adopted"],
    Cottage: ["blue", "red"],
    Breed: ["Boxer", "Siamese"],
  };
  const table = (header: string) => {
    const columns = header.split(",").map((name) => values[name]);
    const rows = [0, 1].map((row) => columns.map((column) => column?.[row]).join());
    return `${header}\n${rows.join("\n")}\n`;
  };

  test.each([
    [
      "Tag,Name,Keeper,Species,State",
      { name: "Name", categoryId: "Species", status: "State", externalId: "Tag" },
    ],
    ["Pet,Call sign,State", { name: "Call sign", categoryId: "Pet", status: "State" }],
    ["Tag,Species,Mother,State", { categoryId: "Species", status: "State", externalId: "Tag" }],
    ["Name,Species,State,Breed", { name: "Name", categoryId: "Species", status: "State" }],
    [
      "usuario,nombre_final,Species,State",
      { name: "nombre_final", categoryId: "Species", status: "State" },
    ],
  ])("of %s", async (header, columns) => {
    expect(await columnsOf(table(header))).toEqual(columns);
  });

  test("is none in a list that has none, which is said", async () => {
    const { outcomes } = await readWhole(table("Tag,Species,State"));
    expect(outcomes.map(brief)[0]).toBe("2  / Dog / available [t1]");
  });
});

describe("a category", () => {
  test("is no group of ages", async () => {
    const text = "Name,Age group,Status\nMia,Puppy,Available\nLu,Kitten,Adopted\n";
    expect(await refusal(readWhole(text))).toContain("categoryId=COLUMN");
  });

  test("may be said of all", async () => {
    const text = "Name,Status\nMia,Available\nLu,Adopted\n";
    expect(await refusal(readWhole(text))).toContain(
      "--category NAME says so instead of categoryId",
    );
    const { outcomes, reading } = await readWhole(text, { category: "Cat" });
    expect(outcomes.map(brief)).toEqual(["2 Mia / Cat / available", "3 Lu / Cat / sold"]);
    expect(reading).toMatchObject({ category: "Cat", columns: { name: "Name", status: "Status" } });
    expect(
      await readWhole("Animal ID,Name,Type,Outcome Type,Kennel Number\nA1,Rex,Dog,,K\n", {
        category: "Pup",
      }),
    ).toMatchObject({
      format: "sonoma",
      outcomes: [{ category: { name: "Pup" } }],
    });
  });
});

test("the same reading reads the next list, without a guess or a stem", async () => {
  const monday = "Name,Type,Status\nRex,Dog,Available\nAda,Cat,Reserved\n";
  const { reading } = await readWhole(monday);
  // A reading is kept as JSON.
  const kept = JSON.parse(JSON.stringify(reading)) as typeof reading;
  const { prepareAgain } = await import("../../../../src/features/import/understand/propose.ts");
  const again = async (text: string) =>
    (await prepareAgain(new TextEncoder().encode(text), kept)).understanding.outcomes.map(brief);
  expect(await again(monday)).toEqual(["2 Rex / Dog / available", "3 Ada / Cat / pending"]);
  expect(await again("Name,Type,Status\nRex,Dog,Hold for Smith\n")).toEqual([
    '2 rejected: Status: unknown status "Hold for Smith"',
  ]);
  expect(await refusal(again("Name,Kind,Status\nRex,Dog,Available\n"))).toContain(
    "there is no such column",
  );
});
