/** Shapes of lists that were met in the wild once the reading stood; all made up. */
import { expect, test } from "bun:test";
import { message } from "../../../../src/features/import/messages.ts";
import { parseFieldMap } from "../../../../src/features/import/understand/map.ts";
import type { UnknownFormat } from "../../../../src/features/import/understand/reading.ts";
import { parseStatusWords } from "../../../../src/features/import/understand/statuses.ts";
import { brief, readWhole, refusal } from "../helpers.ts";

const unknown = (text: string) =>
  readWhole(text).then(
    () => undefined,
    (error: unknown) => error as UnknownFormat,
  );

test("what lies in the freezer, or came to the clinic, is not for adoption", async () => {
  const text =
    "Name,Type,Impound Number,Kennel Number,Days in Shelter,Animal ID,Intake Type,Outcome Type,Outcome Date\n" +
    "REX,DOG,K1,DA02,3,A1,STRAY,,\nBO,CAT,K2,FREEZER,3,A2,CONFISCATE,,\nAL,CAT,K3,CA01,1,A3,S/N CLINIC,,\n";
  expect((await readWhole(text)).outcomes.map(brief)).toEqual([
    "2 REX / DOG / available [sonoma:A1]",
    '3 gone: Kennel Number "FREEZER" [sonoma:A2]',
    '4 gone: Intake Type "S/N CLINIC" [sonoma:A3]',
  ]);
});

test("how animals left is not taken for a list without a status, whatever it is called", async () => {
  const text =
    "Animal,Type,Name,Rescue ID,Species\nIsa,Adoption,Isa,C1,Cat\nLo,Return to Owner,Lo,D2,Dog\nMo,Euthanasia,Mo,D3,Dog\n";
  expect(await refusal(readWhole(text))).toContain("none of 3 animals is for adoption by Type");
  // Who names the column has answered what was asked.
  const { outcomes } = await readWhole(text, { columns: { status: "Type" } });
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
  expect(outcomes.map(brief)).toEqual([
    "2 Unnamed / perro / available [7]",
    "3 Toby / gato / sold [8]",
  ]);
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

test("the advice for an unknown kind asks for the words of the status, too", async () => {
  const rows = ["adopted", "pending", "available", "adopted", "archived for now"];
  const text = `Name,Status\n${rows.map((word, at) => `A${at},${word}`).join("\n")}\n`;
  expect((await unknown(text))?.message).toContain("--status 'archived for now=?'");
});

test("a map that names all but a name is whole, and a report by stay stays one", async () => {
  const text =
    "Animal ID,Species,Intake Date,Outcome Date,Outcome Type\nA1,Dog,2026-01-02,,\n" +
    "A2,Cat,2026-01-02,2026-01-05,\nA3,Cat,2026-01-02,2026-01-06,Adoption\n";
  const columns = parseFieldMap(
    "categoryId=Species,status=Outcome Type,externalId=Animal ID,updatedAt=Intake Date",
  );
  const expected = [
    "2 Unnamed / Dog / available [A1]",
    "3 gone: Outcome Date without Outcome Type [A2]",
    "4 Unnamed / Cat / sold [A3]",
  ];
  const given = await readWhole(text, { columns, defaultStatus: "available" });
  expect([given.isGuessed, ...given.outcomes.map(brief)]).toEqual([false, ...expected]);
  const named = { columns: { ...columns, name: "Animal ID" }, defaultStatus: "available" } as const;
  const { isGuessed, outcomes } = await readWhole(text, named);
  expect([isGuessed, outcomes[1]?.kind]).toEqual([false, "gone"]);
});

test("lines that end as on an old Mac are lines, with its letters", async () => {
  const text = "Name,Species,Status\rFrida \x83s Bo,Dog,Available\rAda,Cat,Adopted\r\n";
  const { outcomes, notes } = await readWhole(Buffer.from(text, "latin1"));
  expect(outcomes.map(brief)).toEqual(["2 Frida És Bo / Dog / available", "3 Ada / Cat / sold"]);
  expect(notes.map(({ said }) => said)).toContainEqual(message("encodingGuessed", "macintosh"));
});

test("PetPoint: residents, and who waits for a foster home, are not for adoption", async () => {
  const header = "ARN,AnimalNumber,AnimalName,Species,Stage";
  const { outcomes } = await readWhole(`${header}
Zeus,A0058955507,Gweneth,Rodent,Permanent Resident
Zeus,A0058955559,Margret,Cat,PTS
,A0058955576,Maria,Cat,Pending Foster Pickup
,A0058955669,Trinity,Cat,Available
`);
  expect(outcomes.map(brief)).toEqual([
    '2 gone: Stage "Permanent Resident" [petpoint:A0058955507]',
    '3 gone: Stage "PTS" [petpoint:A0058955559]',
    '4 gone: Stage "Pending Foster Pickup" [petpoint:A0058955576]',
    "5 Trinity / Cat / available [petpoint:A0058955669]",
  ]);
});

test("an animal whose category is a reference is not Petstore's", async () => {
  const category = { $oid: "68d42cae4cda8f1ca61dc465" };
  const pets = ["Rex", "Bo"].map((name) => ({ name, category, status: "available" }));
  const { format, outcomes } = await readWhole(JSON.stringify(pets), { category: "Dog" });
  expect(format).toBe("map");
  expect(outcomes.map(brief)).toEqual(["1 Rex / Dog / available", "2 Bo / Dog / available"]);
});
