/** Each name that a column of a shelter's table may have: which one is read, and that it is. */
import { describe, expect, test } from "bun:test";
import { brief, readWhole } from "../helpers.ts";

const petpoint = "Animal #,Animal Name,Species";
const shelterluv = "Name,Type,Status";
const austin = "Animal ID,Name,Animal Type,Outcome Type";

test.each([
  // PetPoint: ids, names, statuses and the times of reports.
  ["ARN,Name,Animal Type,Animal Status", "A1,Rex,Dog,Reserved", "petpoint:A1", "pending"],
  ["ARN,Animal ID,Name,Species,Status", "A1,7,Rex,Dog,Adopted", "petpoint:A1", "sold"],
  [`${petpoint},Status,Stage`, "A1,Rex,Dog,Reserved,Available", "petpoint:A1", "pending"],
  [`${petpoint},Status,Animal Status`, "A1,Rex,Dog,Reserved,Adopted", "petpoint:A1", "sold"],
  // Shelterluv: its own id and the one in the program, and what its reports call them.
  [`ID,Animal ID,Internal-ID,${shelterluv}`, "8,9,7,Rex,Dog,Adopted", "shelterluv:8", "sold"],
  [`ID,Last Intake Unix Time,${shelterluv}`, "8,,Rex,Dog,Adopted", "shelterluv:8", "sold"],
  [
    "Animal ID,Internal ID,Animal Name,Species,Current Status",
    "8,7,Rex,Dog,Adopted",
    "shelterluv:8",
    "sold",
  ],
  [
    `ID,Internal-ID,${shelterluv},Outcome Type`,
    "8,7,Rex,Dog,Available,Reserved",
    "shelterluv:8",
    "pending",
  ],
  // Austin, whose own columns differ from copy to copy.
  [`${austin},Outcome Subtype`, "A1,Rex,Dog,Adoption,Foster", "austin:A1", "sold"],
  [`${austin},Sex upon Outcome`, "A1,Rex,Dog,Adoption,Male", "austin:A1", "sold"],
  [`${austin},Age upon Outcome`, "A1,Rex,Dog,Adoption,1 year", "austin:A1", "sold"],
])("%s", async (header, row, id, status) => {
  const { outcomes } = await readWhole(`${header}\n${row}\n`);
  expect(outcomes.map(brief)).toEqual([`2 Rex / Dog / ${status} [${id}]`]);
});

test("a column `Animal` is not PetPoint's `Animal #`", async () => {
  const text = "Animal,Animal Name,Species,Stage\n1,Rex,Dog,Available\n";
  expect(await readWhole(text)).toMatchObject({ format: "map", isGuessed: true });
});

describe("a city that publishes stays", () => {
  const header =
    "AnimalID,AnimalName,AnimalType,IntakeDate,IntakeCondition,IntakeType,OutcomeDate,OutcomeType";
  const sanJose = `${header},IntakeReason,Crossing,LastUpdate`;
  const rows = (list: readonly string[]) => list.map((row) => `${row},r,c,u`).join("\n");

  test.each([
    ["a condition", "A1,Rex,DOG,2026-01-02,DEAD,STRAY,,", 'IntakeCondition "DEAD"'],
    ["a request to dispose", "A1,Rex,DOG,2026-01-02,HEALTHY,DISPO REQ,,", 'IntakeType "DISPO REQ"'],
    [
      "a request of euthanasia",
      "A1,Rex,DOG,2026-01-02,HEALTHY,EUTH REQ,,",
      'IntakeType "EUTH REQ"',
    ],
    ["a wild animal", "A1,,OTHER,2026-01-02,HEALTHY,WILDLIFE,,", 'IntakeType "WILDLIFE"'],
    ["a day", "A1,Rex,DOG,2026-01-02,HEALTHY,STRAY,2026-01-03,", 'OutcomeDate "2026-01-03"'],
  ])(
    "%s says that an animal without an outcome is not for adoption",
    async (_what, row, reason) => {
      const { outcomes } = await readWhole(`${sanJose}\n${rows([row])}\n`);
      expect(outcomes.map(brief)).toEqual([`2 gone: ${reason} [san-jose:A1]`]);
    },
  );

  test("that is not known is guessed, with the same care", async () => {
    const { outcomes, isGuessed, reading } = await readWhole(
      `${header}\nA1,Rex,DOG,2026-01-02,HEALTHY,STRAY,,\nA2,Bo,DOG,2026-01-02,DEAD,STRAY,,\n` +
        "A3,Lu,CAT,2026-01-02,HEALTHY,STRAY,2026-01-03,ADOPTION\n" +
        "A4,Mo,CAT,2026-01-02,HEALTHY,STRAY,2026-01-03,RTOS\n",
    );
    expect([isGuessed, reading.isOutcome, reading.defaultStatus]).toEqual([
      true,
      true,
      "available",
    ]);
    expect(outcomes.map(brief)).toEqual([
      "2 Rex / DOG / available [A1]",
      '3 gone: IntakeCondition "DEAD" [A2]',
      "4 Lu / CAT / sold [A3]",
      '5 gone: OutcomeType "RTOS" [A4]',
    ]);
  });
});

test("Taiwan's shelters: open is available, and an animal without a title has no name", async () => {
  const animal = { animal_id: 7, animal_subid: "s", animal_kind: "狗", animal_title: "" };
  const records = ["OPEN", "ADOPTED", "DEAD", "NONE", "OTHER"].map((animal_status, at) => {
    return { ...animal, animal_id: at + 1, animal_status };
  });
  const { format, outcomes } = await readWhole(JSON.stringify(records));
  expect([format, ...outcomes.map(brief)]).toEqual([
    "taiwan",
    "1  / 狗 / available [taiwan:1]",
    "2  / 狗 / sold [taiwan:2]",
    '3 gone: animal_status "DEAD" [taiwan:3]',
    '4 gone: animal_status "NONE" [taiwan:4]',
    '5 gone: animal_status "OTHER" [taiwan:5]',
  ]);
});

test("Korea's shelters: the kind stands before the breed, and each end has its own word", async () => {
  const item = ["보호중", "종료(입양)", "종료(안락사)", "공고중"].map((processState, at) => {
    return { desertionNo: `4${at}`, kindCd: "[개] 믹스견", processState, happenDt: "20260101" };
  });
  const page = {
    response: { header: { resultCode: "00" }, body: { items: { item }, totalCount: 4 } },
  };
  const { format, outcomes } = await readWhole(JSON.stringify(page));
  expect([format, ...outcomes.map(brief)]).toEqual([
    "korea",
    "1  / 개 / available [korea:40]",
    "2  / 개 / sold [korea:41]",
    '3 gone: processState "종료(안락사)" [korea:42]',
    '4 gone: processState "공고중" [korea:43]',
  ]);
});
