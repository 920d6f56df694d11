/** Each name that a column of a shelter's table may have: which one is read, and that it is. */
import { expect, test } from "bun:test";
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
