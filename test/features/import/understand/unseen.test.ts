/** Shapes of lists that were met in the wild once the reading stood; all made up. */
import { describe, expect, test } from "bun:test";
import { writeXlsx } from "hucre/xlsx";
import { message } from "../../../../src/features/import/messages.ts";
import { parseFieldMap } from "../../../../src/features/import/understand/columns.ts";
import {
  type Given,
  prepare,
  prepareAgain,
  propose,
} from "../../../../src/features/import/understand/propose.ts";
import { parseStatusWords } from "../../../../src/features/import/understand/statuses.ts";
import { zipped } from "../../../helpers/zip.ts";
import { brief, bytesOf, readWhole, refusal } from "../helpers.ts";

const unknown = async (text: string) => {
  const { refusal, ...found } = await propose(bytesOf(text), {});
  return { ...found, message: refusal?.message };
};

test("how animals left is not taken for a list without a status, whatever it is called", async () => {
  const text =
    "Animal,Type,Name,Rescue ID,Species\nIsa,Adoption,Isa,C1,Cat\nLo,Return to Owner,Lo,D2,Dog\nMo,Euthanasia,Mo,D3,Dog\n";
  const { open } = await unknown(text);
  expect(open).toEqual([
    { is: "words", column: "Type", words: [{ word: "Adoption", records: 1 }] },
  ]);
  const statuses = parseStatusWords(["Adoption=sold"]);
  const { outcomes } = await readWhole(text, { columns: { status: "Type" }, statuses });
  expect(outcomes.map(({ kind }) => kind)).toEqual(["pet", "gone", "gone"]);
});

test("a header of pictures and names is an animal", async () => {
  const text = "Carlos;terrier;img/1.jpg;1\nDax;mix;img/2.jpg;1\n";
  const under = await unknown(`Name;Kind;Picture;Age\n${text}`);
  expect(under?.guess).toEqual({ name: "Name" });
  expect(await refusal(readWhole(text))).toContain("the first row is an animal");
});

test("a picture or an extra is no name, and who has none is Unnamed in other languages too", async () => {
  const extra = await unknown("Species,Extra Info,Img\ndog,,pom.png\ncat,three legs,lab.jpg\n");
  expect(extra?.guess).toEqual({ categoryId: "Species" });
  const { outcomes } = await readWhole(
    "id,nombre,especie,estado\n7,Sin nombre,perro,disponible\n8,Toby,gato,adoptado\n",
  );
  expect(outcomes.map(brief)).toEqual(["2  / perro / available [7]", "3 Toby / gato / sold [8]"]);
});

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

test("an availability is read by its words, and by yes and no", async () => {
  // The second is as in eugenia-m-m/PROJETO-I-POO.
  const words = "Name,Species,Availability\nRex,Dog,Available\nBo,Cat,Available\n";
  const flags = "Nome,Especie,Disponibilidade\nEster,Cachorro,Sim\nToby,Gato,Não\n";
  const statusesOf = async (text: string) => (await readWhole(text)).outcomes.map(brief);
  expect(await statusesOf(words)).toEqual(["2 Rex / Dog / available", "3 Bo / Cat / available"]);
  expect(await statusesOf(flags)).toEqual([
    "2 Ester / Cachorro / available",
    '3 gone: Disponibilidade "Não"',
  ]);
});

test("the advice for an unknown kind has the day of adoption, too", async () => {
  // As in Aristvodolaz/sond_shnau: all were adopted, and their kinds are breeds.
  const text =
    "id,name,type,adoptionDate\n1,Арчи,Ризеншнауцер,2023-05-12\n2,Лола,Миттельшнауцер,2023-07-20\n";
  expect((await unknown(text))?.message).toContain(
    "--default-status available --believe adoptionDate;",
  );
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

test("what a person or a column says of the kind goes before what the file is called", async () => {
  const called = "dogs.csv";
  const told = await readWhole("Name,Status\nRex,Available\n", { called, category: "Cat" });
  expect(told.reading.category).toBe("Cat");
  const column = await readWhole("Name,Type,Status\nRex,Cat,Available\n", { called });
  expect(column.reading.category).toBeUndefined();
});

test("the list within a file tells the kind before the file does", async () => {
  const text = JSON.stringify({ dogs: [{ petName: "Rex", status: "Available" }], total: 1 });
  const { outcomes } = await readWhole(text, { called: "cats.json" });
  expect(outcomes.map(brief)).toEqual(["1 Rex / dogs / available"]);
  expect((await unknown(JSON.stringify({ dogs: [{ petName: "Rex" }] })))?.message).toContain(
    "--category dogs",
  );
});

test("ages are no kinds in other languages either", async () => {
  const text = "nombre,edad,estado\nMax,cachorro,disponible\nBella,adulto,disponible\n";
  expect((await unknown(text))?.guess).toEqual({ name: "nombre", status: "estado" });
});

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

test("lines that end as on an old Mac are lines, with its letters", async () => {
  const text = "Name,Species,Status\rFrida \x83s Bo,Dog,Available\rAda,Cat,Adopted\r\n";
  const { outcomes, notes } = await readWhole(Buffer.from(text, "latin1"));
  expect(outcomes.map(brief)).toEqual(["2 Frida És Bo / Dog / available", "3 Ada / Cat / sold"]);
  expect(notes.map(({ said }) => said)).toContainEqual(message("encodingGuessed", "macintosh"));
});

test("a report with several rows for an animal is refused", async () => {
  const text =
    "Animal Inventory,,,\nAnimal#,Name,Stage,Location\nARN,Species,DOB,Intake Date\n" +
    "A1,Hopper,Available,Lobby\n,Rabbit,1/2/2025,3/4/2025\n";
  expect(await refusal(readWhole(text))).toBe(
    "line 3: this is a second row of names: ask for a list with one row an animal",
  );
  // A header that is repeated on each page is none, nor is an animal.
  const pages = "Name,Species,Status\nName,Species,Status\nRex,Dog,Available\n";
  expect((await readWhole(pages)).outcomes.map(brief)).toEqual(["3 Rex / Dog / available"]);
  const exams = "Name,Species,Status,Stage,Note\nRex,Dog,Intake 1,Intake 2,Intake 3\n";
  expect(await refusal(readWhole(exams))).not.toContain("a second row");
});

test("an animal whose category is a reference is not Petstore's", async () => {
  const category = { $oid: "68d42cae4cda8f1ca61dc465" };
  const pets = ["Rex", "Bo"].map((name) => ({ name, category, status: "available" }));
  const { format, outcomes } = await readWhole(JSON.stringify(pets), { category: "Dog" });
  expect(format).toBe("map");
  expect(outcomes.map(brief)).toEqual(["1 Rex / Dog / available", "2 Bo / Dog / available"]);
});

test("Italian is read", async () => {
  const words = ["Disponibile", "Adottata", "Riservato", "Deceduto", "Non disponibile"];
  const rows = words.map((word) => `Luna,Gatto,${word}\n`).join("");
  const { outcomes, reading } = await readWhole(`Nome,Specie,Stato\n${rows}`);
  expect(reading.columns?.status).toBe("Stato");
  expect(outcomes.map((each) => (each.kind === "pet" ? each.status : each.kind))).toEqual([
    "available",
    "sold",
    "pending",
    "gone",
    "gone",
  ]);
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

test("a first row with a value of the row below it is an animal", async () => {
  const text = "Rufus|M|Tabby|quirky\nJimothy|M|Ragdoll|shy\nFrisk|F|Calico|loving\n";
  expect(await refusal(readWhole(text, { called: "cats.csv" }))).toContain(
    "the first row is an animal",
  );
  const { outcomes } = await readWhole(`Name|Sex|Coat|Temper\n${text}`, {
    called: "cats.csv",
    defaultStatus: "available",
  });
  expect(outcomes).toHaveLength(3);
});

test("what is lost, found and adopted is not for adoption, in the plural too", async () => {
  const rows = ["adotados", "encontrados", "perdidas", "adoptados"];
  const text = `nome,tipo,cadastro\n${rows.map((word) => `Bo,gato,${word}`).join("\n")}\n`;
  expect(await refusal(readWhole(text))).toContain("none of 4 animals is for adoption by cadastro");
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

  test("an id is the same as a text, a decimal or a formula", async () => {
    const ids = async (id: string) => {
      const { outcomes } = await readWhole(`ID,Name,Species,Status\n${id},Rex,Dog,Available\n`);
      return outcomes[0]?.externalId;
    };
    expect(await Promise.all(["1001", "1001.0", '="1001"'].map(ids))).toEqual(
      Array.from({ length: 3 }, () => "1001"),
    );
  });
});

describe("an animal that is called available", () => {
  const stateOf = async (text: string, given: Given = {}) => {
    const { outcomes } = await readWhole(text, given);
    return outcomes.map((each) => (each.kind === "pet" ? each.status : each.kind));
  };

  test.each([
    ["Reserved", "Yes", "pending"],
    ["Adopted", "x", "sold"],
    ["Hold", "Y", "pending"],
    ["Not for adoption", "Sí", "gone"],
    ["Deleted", "true", "gone"],
    ["Adoptable", "No", "gone"],
    ["Adottato", "Sì", "sold"],
    ["Rescue deadline", "12/01/2026", "available"],
    ["Owner deceased", "Yes", "available"],
    ["Condition", "Dead tooth removed", "available"],
    ["Intake Type", "Euthanasia Request", "available"],
  ])("and whose column %s says %s is %s", async (column, value, state) => {
    const text = `ID,Name,Species,Status,${column}\n7,Rex,Dog,Available,${value}\n9,Tom,Cat,On hold,\n`;
    const given = { columns: parseFieldMap("name=Name,categoryId=Species,status=Status") };
    expect(await stateOf(text, given)).toEqual([state as never, "pending"]);
  });

  test.each([
    ["Date out", "5/20/2026", "gone"],
    ["Fecha salida", "20/05/2026", "gone"],
    ["Adopter", "Ana Ruiz", "sold"],
    ["Reserviert für", "Frau Meier", "pending"],
  ])("because no column says it, and whose %s is %s, is %s", async (column, value, state) => {
    const text = `Name,Species,${column}\nRex,Dog,\nTom,Cat,${value}\n`;
    expect(await stateOf(text, { defaultStatus: "available" })).toEqual([
      "available",
      state as never,
    ]);
  });

  test("though its name says otherwise is told", async () => {
    const names = ["Bella (ADOPTION PENDING)", "Max - adopted!", "Mary-Jane", "Rex (Foster pup)"];
    const rows = names.map((name) => `${name},Dog,Available\n`).join("");
    const { notes, stems } = await readWhole(`Name,Species,Status\n${rows}`);
    expect([...stems]).toEqual([]);
    const told = notes.filter(({ said }) => said.code === "namesTell");
    expect(told.map(({ records, firstLine }) => [records, firstLine])).toEqual([[2, 2]]);
  });
});

test("a kind or a status alone in a row is no animal, and a header again is left out", async () => {
  const text =
    "Name,Species,Status\nRex,Dog,Available\nADOPTED,,\nName,Species,Status\nMax,Dog,Adopted\nCATS,,\nTom,Cat,Available\n";
  const { outcomes, notes } = await readWhole(text);
  expect(outcomes.map(({ kind, line }) => [kind, line])).toEqual([
    ["pet", 2],
    ["reject", 3],
    ["pet", 5],
    ["reject", 6],
    ["pet", 7],
  ]);
  expect(notes.map(({ said }) => said.code)).toContain("rowsLeftOut");
});

test("a bad row is told before it is asked whether the column is the right one", async () => {
  const text =
    "Name,Species,Status,Bio\nRex,Dog,Available,Loves walks, toys\nTom,Cat,Adopted,Shy\n";
  const { outcomes } = await readWhole(text);
  expect(outcomes.map(({ kind }) => kind)).toEqual(["reject", "pet"]);
});

test("what animals get on with is not their kind", async () => {
  const text = "Name,Age,Status,Good with\nTom,2,Available,Dogs\nKim,3,On hold,Cats\n";
  const { outcomes } = await readWhole(text, { called: "chats_a_adopter.csv" });
  expect(outcomes.map((each) => each.kind === "pet" && each.category.name)).toEqual([
    "chats",
    "chats",
  ]);
});

test("an answer of Petfinder has attributes, and is no JSON:API", async () => {
  const animal = (id: number, status: string) => ({
    id,
    organization_id: "NJ333",
    type: "Dog",
    name: `Dog ${id}`,
    attributes: { spayed_neutered: true, house_trained: false },
    tags: ["Cute"],
    status,
    status_changed_at: "2026-01-05T10:00:00+0000",
    _links: { self: { href: "/v2/animals/1" } },
  });
  const text = JSON.stringify({ animals: [animal(1, "adoptable"), animal(2, "adopted")] });
  const { format, outcomes } = await readWhole(text);
  expect([format, ...outcomes.map(brief)]).toEqual([
    "petfinder",
    "1 Dog 1 / Dog / available [petfinder:1]",
    "2 Dog 2 / Dog / sold [petfinder:2]",
  ]);
});

test.each(["#REF!", "#N/A", "#NAME?", "#VALUE!", "Loading...", "#ERROR!"])(
  "%s in a name is a bad record, which protects its animal",
  async (name) => {
    const text = `Id,Name,Species,Status\nA1,${name},Dog,Available\nA2,Bo,Dog,Adopted\n`;
    const [first, second] = (await readWhole(text)).outcomes;
    expect([first?.kind, first?.externalId, second?.kind]).toEqual(["reject", "A1", "pet"]);
  },
);

test("entities of HTML are decoded once, and titles of WordPress are texts", async () => {
  const posts = ["Salt &#038; Pepper", "Tom &amp;amp; Co", "Rex"].map((rendered, at) => {
    return { id: at + 1, title: { rendered }, species: "Dog", status: "available" };
  });
  const given = { columns: parseFieldMap("name=title,categoryId=species,status=status") };
  const { outcomes } = await readWhole(JSON.stringify(posts), given);
  expect(outcomes.map(brief)).toEqual([
    "1 Salt & Pepper / Dog / available",
    "2 Tom &amp; Co / Dog / available",
    "3 Rex / Dog / available",
  ]);
  const csv = await readWhole(
    "Name,Species,Status\nSalt &#038; Pepper,Dog,Available\nBo,Cat,Adopted\n",
  );
  expect(csv.outcomes.map(brief)[0]).toBe("2 Salt & Pepper / Dog / available");
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

test("Polish, Czech and Slovak lists are read by their columns", async () => {
  const polish =
    "Imię,Gatunek,Numer,Stan\nReks,pies,1/24,Do adopcji\nMruczek,kot,2/24,Adoptowany\n";
  expect((await readWhole(polish)).outcomes.map(brief)).toEqual([
    "2 Reks / pies / available [1/24]",
    "3 Mruczek / kot / sold [2/24]",
  ]);
  const czech = "Jméno,Druh,Číslo,Stav adopce\nRek,pes,1,dostupné\nMíca,kočka,2,rezervováno\n";
  expect((await readWhole(czech)).outcomes.map(brief)).toEqual([
    "2 Rek / pes / available [1]",
    "3 Míca / kočka / pending [2]",
  ]);
  const slovak = "Meno,Druh,Stav\nReky,pes,Dostupný\nMicka,mačka,Uhynula\n";
  expect((await readWhole(slovak)).outcomes.map(({ kind }) => kind)).toEqual(["pet", "gone"]);
  // The animals of MalikaIssayeva/animal-center, and of anamariatepes/LicentaAdapostAnimale.
  const russian = "id,name,type,status\n1,Барон,Собака,available\n2,Мурка,Кошка,adopted\n";
  expect((await readWhole(russian)).outcomes.map(brief)).toEqual([
    "2 Барон / Собака / available [1]",
    "3 Мурка / Кошка / sold [2]",
  ]);
  const { guess } = await unknown("tipAnimal,nume,sex\nCaine,Rex,Mascul\nPisica,Kira,Femela\n");
  expect(guess).toEqual({ name: "nume", categoryId: "tipAnimal" });
});

test("an HTML table, and an archive with one file, are named as what they are", async () => {
  const table = "<table><tr><td>Name</td><td>Species</td></tr></table>";
  expect(await refusal(readWhole(table))).toContain("a web page with a table");
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
