/** Lists as they were met in the wild, with the traps of each; all made up. */
import { describe, expect, test } from "bun:test";
import { writeXlsx } from "hucre/xlsx";
import { message } from "../../../../src/features/import/messages.ts";
import { parseFieldMap } from "../../../../src/features/import/understand/columns.ts";
import { Dates } from "../../../../src/features/import/understand/dates.ts";
import {
  type Given,
  prepare,
  prepareAgain,
  propose,
  readList,
} from "../../../../src/features/import/understand/propose.ts";
import {
  type Meaning,
  parseStatusWords,
} from "../../../../src/features/import/understand/words.ts";
import { zipped } from "../../../helpers/zip.ts";
import { brief, bytesOf, fixture, proposalOf, readWhole, refusal } from "../helpers.ts";

test.each([
  // The blank outcome of today's stay is newer than the outcome of last year's.
  ["sonoma.csv", [20260105000000, 20260109000000, 20260106000000, 20251120000000, 20260108000000]],
  ["austin.csv", [20240502233000, 20240501000500]],
  ["shelterluv.json", [20251113021320]],
])("the records of %s have the time of what they say", async (name, times) => {
  const { outcomes } = await readWhole(await fixture(name));
  expect(outcomes.slice(0, times.length).map(({ version }) => version)).toEqual(times);
});

describe("programs and cities", () => {
  test("ASM: the newest of an animal's movements counts, whatever their order", async () => {
    const header =
      "id,sheltercode,animalname,speciesname,movementdate,movementtype,returndate,lastchangeddate";
    const { outcomes } = await readWhole(`${header}
1,C1,Jo,Cat,2025-05-13,Adoption,,2026-01-01
1,C1,Jo,Cat,2023-05-13,Adoption,2024-01-02,2026-01-01
2,C2,Al,Cat,,,,2026-01-01
`);
    expect(outcomes.map(({ version }) => version)).toEqual([
      20250513000000, 20230513000000, 20260101000000,
    ]);
  });

  test.each(
    `archived=1.0=gone|ishold=T=gone|ishold=no=available|activemovementtype=3.0=gone
    |activemovementtypename=Permanent Foster=gone|movementname=Escaped=gone|status=Adopted=sold
    |movementtype=Released To Wild=gone|movementtype=Reservation=pending
    |movementtype=Cancelled Reservation=available`.split(/\s*\|/),
  )("ASM: %s", async (each) => {
    const [column, value, status = ""] = each.split("=");
    const text = `id,animalname,sheltercode,speciesname,${column}\n1,Rex,D1,Dog,${value}\n`;
    const { outcomes } = await readWhole(text);
    const [only] = outcomes;
    expect(String(only?.kind === "pet" ? only.status : only?.kind)).toBe(status);
  });
});

const said = async (pending: unknown, status?: string) => {
  const data = { type: "statuses", id: "1" };
  const animal = {
    type: "animals",
    id: "5",
    attributes: { name: "Rex", isAdoptionPending: pending },
    relationships: {
      species: { data: { id: "8" } },
      ...(status && { statuses: { data: [data] } }),
    },
  };
  const species = { type: "species", id: "8", attributes: { singular: "Dog" } };
  const included = [species, { ...data, attributes: { name: status } }];
  const { outcomes } = await readWhole(JSON.stringify({ data: [animal], included }));
  return outcomes.map((each) => (each.kind === "pet" ? each.status : each.kind));
};

test.each([
  ["Yes", undefined, "pending"],
  [true, undefined, "pending"],
  ["No", undefined, "available"],
  [false, undefined, "available"],
  ["", undefined, undefined],
  ["Maybe", undefined, "pending"],
  ["Yes", "Available", "pending"],
  ["No", "Available", "available"],
  ["No", "Adoption Pending", "pending"],
  [true, "Adopted", "sold"],
  [true, "Deceased", "gone"],
] as const)(
  "RescueGroups: an adoption that is pending, %j, and the status %j",
  async (pending, status, expected) => {
    expect(await said(pending, status)).toEqual([expected]);
  },
);

describe("outcomes", () => {
  const header = "Animal ID,Name,DateTime,MonthYear,Outcome Type,Animal Type";
  const read = async (outcome: string, statuses?: ReadonlyMap<string, Meaning>) => {
    const { outcomes } = await readWhole(`${header}\nA1,Rex,,m,"${outcome}",Dog\n`, { statuses });
    return outcomes.map(brief);
  };

  test.each(["Adptn", "Abandoned Project", "Fnd home"])("%j is asked for", async (outcome) => {
    const problem = `Outcome Type: unknown status ${JSON.stringify(outcome)}`;
    expect(await read(outcome)).toEqual([`2 rejected: ${problem}`]);
    const told = parseStatusWords([`${outcome}=sold`]);
    expect(await read(outcome, told)).toEqual(["2 Rex / Dog / sold [austin:A1]"]);
  });

  const cities = {
    Austin:
      "Transfer|Return to Owner|Euthanasia|Died|Disposal|Missing|Relocate|Rto-Adopt|Stolen|Lost",
    Sonoma: "EUTHANIZE|RTOS|VET|ESCAPED/STOLEN|APPT|SHELTER",
    Dallas:
      "CLOSED|DEAD ON ARRIVAL|FOSTER|FOUND EXP|LOST EXP|OTHER|SNR|TNR|TREATMENT|UNASSIGNED|WILDLIFE",
    "Long Beach":
      "RESCUE|COMMUNITY CAT|HOMEFIRST|SHELTER, NEUTER, RETURN|RETURN TO RESCUE|TRANSPORT|DUPLICATE|RETURN TO WILD HABITAT|TRAP, NEUTER, RELEASE|TRAP, NEUTER, RETURN",
  };
  const known = Object.values(cities).flatMap((list) => list.split("|"));
  test.each(known)("of these publishers, %j is known", async (outcome) => {
    expect(await read(outcome)).toEqual([
      `2 gone: Outcome Type ${JSON.stringify(outcome)} [austin:A1]`,
    ]);
    // What the operator says goes before it.
    const told = parseStatusWords([`"${outcome}"=none`]);
    expect(await read(outcome, told)).toEqual(["2 Rex / Dog / none [austin:A1]"]);
  });
});

test("an animal that is gone has its name, if that is sound", async () => {
  const text =
    "Animal_ID,Animal_Name,Record_Type,animal_type\nA1,*Foggy,FOUND,Cat\nA2,,FOUND,Cat\n";
  const { outcomes } = await readWhole(text);
  expect(outcomes.map(({ kind }) => kind)).toEqual(["gone", "gone"]);
  expect(outcomes.map((each) => each.kind === "gone" && each.name)).toEqual(["Foggy", undefined]);
});

describe("times as they are written", () => {
  // Each line: the beginning of what it is read as, a colon, and texts parted by bars.
  const times = `
20240301: 01-Mar-24|1 de marzo de 2024|1. Maerz 2024|3/1/24|45352|1709251200|1709251200000|20240301|1er mars 2024|1º de março de 2024
20240229: 02/29/2024
19710301: 3/1/71
202403011505: March 1, 2024 3:05 PM
2024030108: Fri, 01 Mar 2024 08:00
2024030112: 45352.5
20261101: 1st November 2026
20261105: 05NOV2026|05/Nov/2026|5.Nov.2026|2026/11/05|jeudi 5 novembre 2026|November 5th 2026
2026110510: 5.November 2026 10:00|Donnerstag, 5. November 2026 um 10:00 Uhr|5 nov. 2026 à 10:00|November 5, 2026 at 10:00 AM
2026110509: Thu Nov 05 2026 10:00:00 GMT+0100 (Central European Standard Time)
202611051505: 5 de noviembre de 2026, a las 3:05 p. m.
202611051030: 5 de novembro de 2026 às 10h30
20261105143015: 5.11.2026 14.30.15
20261106: 2026-11-05T24:00:00
19541003: 20000`;
  const cases = times.split("\n").flatMap((line) => {
    const [start = "", texts] = line.split(/: (.*)/);
    return (texts ?? "")
      .split("|")
      .filter(Boolean)
      .map((text) => [text, start] as const);
  });
  test.each(cases)("%s is %s", (text, start) => {
    expect(new Dates().sortable(text)).toBe(Number(start.padEnd(14, "0")));
  });

  const none =
    "80001|2026-11-05T25:00:00|2026-11-05 10:60|1/2/202|1/2/20265|31/02|yesterday|13/13/2024|02/30/2026|29.2.2026|20260230|31 abr 2026|Room 20240301|Cage 5/1/2026|May 2026";
  test.each([...none.split("|"), `2026-11-05${" ".repeat(200)}x`, 99_999_999, 1e21])(
    "%j is none",
    (value) => {
      expect(new Dates().sortable(value)).toBeUndefined();
    },
  );

  const two =
    `2026-11-05T14:00:00Z|2026-11-05T09:00:00-05:00|2026-11-05 09:00:00 -0500|2026-11-05T09:00:00.123-05|2026-11-05T19:30:00+05:30
    |2026-11-06T01:00:00+11:00|2026-11-06T04:00:00+14:00|20261105T090000-0500|11/05/2026 9:00 AM -05:00|Thu, 05 Nov 2026 14:00:00 GMT
    |05 Nov 2026 15:00:00 UTC+01:00|Nov 5, 2026 15:00:00 +0100`.split("|");
  test.each(two.map((text) => text.trim()))("%s is 14:00 of that day in UTC", (text) => {
    expect(new Dates().sortable(text)).toBe(20261105140000);
  });

  test.each(["en", "es", "de", "fr", "nl", "pt"])(
    "with the months of %s, long and short",
    (locale) => {
      for (const month of ["long", "short"] as const) {
        const { format } = new Intl.DateTimeFormat(locale, { month, timeZone: "UTC" });
        const names = Array.from({ length: 12 }, (_, at) => format(Date.UTC(2026, at)));
        const read = names.map((name) => new Dates().sortable(`5 ${name} 2026`));
        expect(read).toEqual(names.map((_, at) => 20260105000000 + at * 100_000_000));
      }
    },
  );

  test.each([
    ["3/4/2026", 20260304],
    ["3.4.2026", 20260403],
    ["12.25.2025", 20251225],
    // A day that no month has turns the order of all others round, unless there are such of both.
    ["25/12/2025 3/4/2026", 20260403],
    ["25/12/2025 12/25/2025 3/4/2026", 20260304],
    ["3/4/2026 25/12/2025", 20251225],
  ])("of %s the last one is read as %d", (texts, day) => {
    const dates = new Dates();
    const all = texts.split(" ");
    for (const each of all) dates.learn(each);
    expect(dates.sortable(all.at(-1))).toBe(day * 1_000_000);
  });

  test.each([
    [["25/12/2025"], 20260403],
    [["25/12/2025", "12/25/2025"], 20260304],
  ])("%j at the end of a long list tell how its first one is read", async (last, day) => {
    const dates = [...Array.from({ length: 1_000 }, () => "3/4/2026"), ...last];
    const rows = dates.map((date, at) => `A${at},Rex,${date},m,,Dog\n`).join("");
    const header = "Animal ID,Name,DateTime,MonthYear,Outcome Type,Animal Type\n";
    const { outcomes } = await readWhole(header + rows);
    expect(outcomes[0]?.version).toBe(day * 1_000_000);
  });

  test("one that cannot be read is said", async () => {
    const text = "Animal ID,Name,DateTime,MonthYear,Outcome Type,Animal Type\nA1,Rex,soon,m,,Dog\n";
    const { notes } = await readWhole(text);
    expect(notes).toEqual([
      { said: message("datesUnreadable", "DateTime"), records: 1, firstLine: 2, example: '"soon"' },
    ]);
  });
});

const header = ["Animal ID", "Name", "DateTime", "MonthYear", "Outcome Type", "Animal Type"];
const first = new Date(Date.UTC(2026, 2, 1));
const ids = [first, first, new Date(Date.UTC(2026, 2, 1, 1, 30)), "A7"];

test("ids that a workbook has as dates are none, so that two animals of one such date stay two", async () => {
  const rows = ids.map((id, at) => [id, `Rex ${at}`, first, "m", "", "Dog"]);
  const bytes = await writeXlsx({ sheets: [{ name: "Animals", rows: [header, ...rows] }] });
  const { outcomes, notes } = await readWhole(bytes);
  const none = [undefined, undefined, undefined];
  expect(outcomes.map(({ externalId }) => externalId)).toEqual([...none, "austin:A7"]);
  expect(notes).toEqual([
    { said: message("idsDamaged"), records: 3, firstLine: 2, example: "2026-03-01" },
  ]);
  // The same cells are dates where a date belongs.
  expect(outcomes.map(({ version }) => version)).toEqual(ids.map(() => 20260301000000));
});

test("a layout that was confirmed before keeps the source that was told for it", () => {
  const row = '[{"id":1,"organization_id":"MI1","name":"P","type":"Dog","status":"adoptable"}]';
  const told = { format: "petfinder", source: "north", statuses: {} };
  const sourceOf = (given: Given) =>
    propose(readList(bytesOf(row), given), given, told).reading?.source;
  expect([{}, { source: "south" }].map(sourceOf)).toEqual(["north", "south"]);
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
    proposalOf(`Name,Species,${heading}\nRex,Dog,sim\nBo,Dog,não\n`).open;
  const words = ["sim", "não"].map((word) => ({ word, records: 1 }));
  const asked = (column: string) => [{ is: "words", column, words }];
  for (const heading of ["diposnivelParaAdocao", "Entrevista p/ adoção", "Could be adopted"]) {
    expect(said(heading)).toEqual(asked(heading) as never);
  }
  expect(said("Vacinado")).toEqual([{ is: "status" }]);
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

test("an animal that is called available, though its name says otherwise, is told", async () => {
  const names = ["Bella (ADOPTION PENDING)", "Max - adopted!", "Mary-Jane", "Rex (Foster pup)"];
  const rows = names.map((name) => `${name},Dog,Available\n`).join("");
  const { notes } = await readWhole(`Name,Species,Status\n${rows}`);
  const told = notes.filter(({ said }) => said.code === "namesTell");
  expect(told.map(({ records, firstLine }) => [records, firstLine])).toEqual([[2, 2]]);
});

test.each(
  "adottati.csv|cani_adottati.csv|Adopted dogs.csv|adoptados-2025.csv|vermittelt.csv".split("|"),
)("a list that is called %s is not offered as available", async (called) => {
  const { reading, open } = proposalOf("Name,Species\nRex,Dog\nBo,Cat\n", { called });
  expect([reading?.defaultStatus, open]).toEqual(["sold", []]);
});

test.each(
  "happy-paws-rescue.csv|Lakeside Sanctuary.csv|foster_dogs.csv|found_dogs.csv|stray-cats.csv|happy-tails.csv|wildlife.csv|transfer.csv|trial.csv".split(
    "|",
  ),
)("what %s is called hides nobody: it is asked", async (called) => {
  const { open } = proposalOf("Name,Species\nRex,Dog\nBo,Cat\n", { called });
  expect(open).toEqual([{ is: "status" }]);
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
  const { prepared, open, reading } = proposalOf(bytes);
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
    const { reading } = proposalOf(`Name,Species,Status,${heading}\n${rows}`);
    expect(reading?.columns?.updatedAt).toBeUndefined();
  },
);

test("a list of adoptions is asked for, and none of them is nothing", async () => {
  const animals = [[], false, [{ nomeAdotante: "Ana", devolveu: false }]].map((adocao, id) => {
    return { id, nome: `Rex ${id}`, tipo: "gato", adocao };
  });
  const { outcomes } = await readWhole(JSON.stringify(animals), { defaultStatus: "available" });
  expect(outcomes.map(({ kind }) => kind)).toEqual(["pet", "pet", "reject"]);
});

test("columns that disagree are counted, and the first three are named", async () => {
  const rows = Array.from(
    { length: 9 },
    (_, at) => `Pet ${at},Dog,Available,${at < 4 ? "2024-01-02" : ""}`,
  );
  const { notes } = await readWhole(`Name,Species,Status,Adoption date\n${rows.join("\n")}\n`);
  const note = notes.find(({ said }) => said.code === "columnsDisagree");
  expect([note?.records, note?.example]).toEqual([4, '"Pet 0", "Pet 1", "Pet 2"']);
});
