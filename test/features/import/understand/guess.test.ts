/** Lists of no known format: what their columns are taken for, and what is asked. */
import { describe, expect, test } from "bun:test";
import { fieldMapText, parseFieldMap } from "../../../../src/features/import/understand/columns.ts";
import { parseStatusWords } from "../../../../src/features/import/understand/words.ts";
import { bytesOf, brief, proposalOf, readWhole, refusal } from "../helpers.ts";
import { prepareAgain } from "../../../../src/features/import/understand/propose.ts";

const columnsOf = async (text: string) => (await readWhole(text)).reading.columns;

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
    ["Where", ["available", "available"]],
  ])("is not %s with %j", async (heading, values) => {
    expect(await refusal(readWhole(list(heading, values)))).toContain("--default-status");
  });

  test("of a column with unknown words is kept, and the words are asked for", async () => {
    const open = proposalOf(list("Status", ["OPEN", "SHUT", "Available"]));
    const words = ["OPEN", "SHUT"].map((word) => ({ word, records: 1 }));
    expect(open.open).toEqual([{ is: "words", column: "Status", words }]);
    expect(open.reading?.columns?.status).toBe("Status");
    const shut = await readWhole(list("Status", ["OPEN", "SHUT", "SHUT"]));
    expect([shut.isGuessed, ...shut.outcomes.map(({ kind }) => kind)]).toEqual([
      true,
      "reject",
      "reject",
      "reject",
    ]);
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

  test("is not asked for where a column has the states of a country", async () => {
    const said = await refusal(readWhole(list("estado", ["SP", "RJ", "SP"])));
    expect(said).toContain("--default-status");
    expect(said).not.toContain("?'");
    // Those of one that is called a status are asked for though all are said to be available.
    for (const [heading, word, kind] of [
      ["estado", "SP", "pet"],
      ["State", "Texas", "pet"],
      ["Adoption status", "SP", "reject"],
    ] as const) {
      const { outcomes } = await readWhole(list(heading, [word, word, ""]), {
        defaultStatus: "available",
      });
      expect(outcomes.map((each) => each.kind)).toEqual([kind, kind, "pet"]);
    }
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
    const { outcomes } = await readWhole(noFlags, { defaultStatus: "pending" });
    expect(outcomes).toMatchObject([{ status: "pending" }]);
    expect(await refusal(readWhole("id,name,categoryId\n1,Rex,1\n"))).toContain(
      "(expected status)",
    );
  });

  test("that is blank is told with a count", async () => {
    const { notes } = await readWhole(list("Status", ["Available", "", ""]));
    expect(notes).toMatchObject([{ said: { code: "statusesBlank" }, records: 2, firstLine: 3 }]);
  });
});

describe("columns that only look like one", () => {
  // Each line: the rows of a list, and how its columns are read.
  const lists = `
Tag,Name,Keeper,Species,State/t1,Ann,Smith,Dog,Available/t2,Bo,Jones,Cat,Adopted => name=Name,categoryId=Species,status=State,externalId=Tag
Pet,Call sign,State/Dog,Ann,Available/Cat,Bo,Adopted => name=Call sign,categoryId=Pet,status=State
Tag,Species,Mother,State,Breed/t1,Dog,Cat,Available,Boxer/t2,Cat,Dog,Adopted,Siamese => categoryId=Species,status=State,externalId=Tag
usuario,nombre_final,Species,State/Ana,Ann,Dog,Available/David,Bo,Cat,Adopted => name=nombre_final,categoryId=Species,status=State
Tag,Name,Species,State,When,Born/t1,Ann,Dog,Available,2026-11-05,2020-01-31/t2,Bo,Cat,Adopted,2026-11-06,2021-02-01 => name=Name,categoryId=Species,status=State,externalId=Tag,updatedAt=When
Tag,Name,Species,State,Born,DOB/t1,Ann,Dog,Available,2026-11-05,2020-01-31/t2,Bo,Cat,Adopted,2026-11-06,2021-02-01 => name=Name,categoryId=Species,status=State,externalId=Tag
Tag,Name,Species,State,Cage/t1,Ann,Dog,Available,45352 => name=Name,categoryId=Species,status=State,externalId=Tag`;
  test.each(
    lists
      .trim()
      .split("\n")
      .map((line) => line.split(" => ")),
  )("%s", async (rows = "", map) => {
    const columns = await columnsOf(`${rows.replaceAll("/", "\n")}\n`);
    expect(fieldMapText(columns ?? {})).toBe(map ?? "");
  });
});

describe("a name", () => {
  const list = (heading: string) =>
    `id,${heading},species,status\nx1,Rex,Dog,available\nx2,Мурка,Cat,adopted\n`;

  test.each(
    "Кличка,Имя питомца,Ім'я,Прізвисько,名字,名稱,名称,昵称,이름,名前,Ime životinje,İsim,Hayvanın Adı,Navn,Namn,Nimi,Όνομα,nickname,name1,nombre_final,Nom de l'animal,Nome do Pet,Nombre del perro,Dog's name,Naam dier,Imię psa,Nome del cane,nom_chat,displayName,alias,apodo".split(
      ",",
    ),
  )("is %s", async (heading) => {
    expect((await columnsOf(list(heading)))?.name).toBe(heading);
  });

  test.each(["Shelter name", "Owner name", "Breed name", "Имя владельца", "Vet"])(
    "is not %s",
    async (heading) => {
      expect((await columnsOf(list(heading)))?.name).toBeUndefined();
    },
  );
});

describe("an id", () => {
  const list = (heading: string, ids: readonly string[]) =>
    `${heading},Name,Kind,State\n${ids.map((id, at) => `${id},Pet${"abcdef"[at]},Dog,${at === 0 ? "pending" : "adopted"}`).join("\n")}\n`;

  test.each([
    ["rescueid", ["7", "8", "9"]],
    // Numbers that go on with the animals are ids, and those of rows are none.
    ["No.", ["7", "9"]],
    ["Animal No", ["7", "8", "8"]],
    ["Ref", ["x-1", "x-2", "x-3"]],
    ["Animal Number", ["N/A", "N/A", "A-3", "A-4", "A-5"]],
    ["Kartei", ["A-1", "N/A", "A-3"]],
  ])("is %s: %j", async (heading, ids) => {
    expect((await columnsOf(list(heading, ids)))?.externalId).toBe(heading);
  });

  test.each([
    ["Kennel", ["A1", "A2"]],
    ["Peso", ["32kg", "8kg"]],
    ["Leeftijd", ["3jr", "2jr"]],
    ["Postcode", ["1234AB", "1234AC"]],
    ["No.", ["1", "2"]],
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

test("the kind of each is told by its breed, or else by its picture", async () => {
  const list = "Name,Raza,Foto\nRex,Pastor,/cats/1.jpg\nTom,,/gatos/2.jpg\nBo,Beagle,\n";
  const { reading, outcomes } = await readWhole(list, { defaultStatus: "available" });
  const told = ["2 Rex / Dog / available", "3 Tom / Cat / available", "4 Bo / Dog / available"];
  expect([reading.kindByBreed, ...outcomes.map(brief)]).toEqual([true, ...told]);
  const kept = JSON.parse(JSON.stringify(reading)) as typeof reading;
  const next = await prepareAgain(bytesOf("Name,Raza,Foto\nTim,Siamese,\nMo,Mix,\n"), kept);
  const later = [
    "2 Tim / Cat / available",
    "3 rejected: categoryId: expected a value, found nothing",
  ];
  expect(next.understanding.outcomes.map(brief)).toEqual(later);
});

describe("the kind of all animals", () => {
  test.each([
    ["Notes", "a calm cat|this cat likes toys|a cat", undefined],
    ["Breed", "Labrador mix|Beagle|Terrier", "Dog"],
    ["Image", "/img/dogs/a.jpg|/img/dogs/b.jpg|/img/dogs/c.jpg", "Dog"],
    ["cat_code", "C-1|C-2|C-3", "cat"],
    ["Breed", "Beagle|Siamese|Dutch rabbit", undefined],
    ["Breed", "Labrador|mix|unknown", undefined],
  ])("is told by %s: %s", (heading, values, kind) => {
    const rows = values.split("|").map((value, at) => `P${at},Available,"${value}"\n`);
    const { reading, open } = proposalOf(`Name,Status,"${heading}"\n${rows.join("")}`);
    expect([reading?.category, open[0]?.is]).toEqual([kind, kind ? undefined : "category"]);
  });
});

test.each([
  ["0 1 2", "0 1 2"],
  ["0 1 0 2 3", "- 1 - 2 3"],
  ["0 M-7 M-8", "- M-7 M-8"],
])("a 0 is an id where the animals are counted from it: %s", async (ids, found) => {
  const rows = ids.split(" ").map((id, at) => `${id},Pet ${at},Dog,Available\n`);
  const { outcomes } = await readWhole(`ID,Name,Species,Status\n${rows.join("")}`);
  expect(outcomes.map(({ externalId }) => externalId ?? "-").join(" ")).toBe(found);
});

describe("fields within an object", () => {
  const guessOf = (records: readonly object[]) =>
    fieldMapText(proposalOf(JSON.stringify(records)).reading?.columns ?? {});

  test("of the animal itself are its own: a passport, a profile", async () => {
    const inner = (name: string) => ({ name, species: "cat", status: "ищет дом" });
    const records = ["Мария", "Мария", "Кеша"].map((name, id) => ({ id, passport: inner(name) }));
    expect(guessOf(records)).toBe(
      "name=passport.name,categoryId=passport.species,status=passport.status,externalId=id",
    );
  });

  test.each(["shelter", "adopter", "owner", "raza", "refugio", "vaccine"])(
    "of a %s are not its name",
    async (outer) => {
      const records = ["Ana", "Bea"].map((name) => ({ [outer]: { name }, species: "cat", n: 5 }));
      expect(guessOf(records)).toBe("categoryId=species");
    },
  );

  test("of a place are no status", async () => {
    const location = { country: "USA", state: "Texas" };
    const { open } = proposalOf(
      JSON.stringify([{ id: 1, name: "Luna", species: "cat", location }]),
    );
    expect(open).toEqual([{ is: "status" }]);
  });
});

test("the same reading reads the next list, without a guess or a stem", async () => {
  const monday = "Name,Type,Status\nRex,Dog,Available\nAda,Cat,Reserved\n";
  const { reading } = await readWhole(monday);
  // A reading is kept as JSON.
  const kept = JSON.parse(JSON.stringify(reading)) as typeof reading;
  const again = async (text: string) =>
    (await prepareAgain(bytesOf(text), kept)).understanding.outcomes.map(brief);
  expect(await again(monday)).toEqual(["2 Rex / Dog / available", "3 Ada / Cat / pending"]);
  expect(await again("Name,Type,Status\nRex,Dog,Hold for Smith\n")).toEqual([
    '2 rejected: Status: unknown status "Hold for Smith"',
  ]);
  expect(await refusal(again("Name,Kind,Status\nRex,Dog,Available\n"))).toContain(
    "there is no such column",
  );
});
