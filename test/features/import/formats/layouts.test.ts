/** Each name that a column of a shelter's table may have: which one is read, and that it is. */
import { expect, test } from "bun:test";
import { brief, readWhole, refusal } from "../helpers.ts";

const petpoint = "Animal #,Animal Name,Species";
const shelterluv = "Name,Type,Status";
const austin = "Animal ID,Name,Animal Type,Outcome Type";

test.each([
  // PetPoint: ids, names, statuses and the times of reports.
  ["ARN,Name,Animal Type,Animal Status", "A1,Rex,Dog,Reserved", "petpoint:A1", "pending"],
  ["ARN,Animal ID,Name,Species,Status", "A1,7,Rex,Dog,Adopted", "petpoint:A1", "sold"],
  [`${petpoint},Status,Stage`, "A1,Rex,Dog,Reserved,Available", "petpoint:A1", "available"],
  [`${petpoint},Status,Animal Status`, "A1,Rex,Dog,Gone,Adopted", "petpoint:A1", "sold"],
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
    "8,7,Rex,Dog,Healthy In Home,Reserved",
    "shelterluv:8",
    "pending",
  ],
  // Austin, whose own columns differ from copy to copy.
  [`${austin},Outcome Subtype`, "A1,Rex,Dog,Adoption,Foster", "austin:A1", "sold"],
  [`${austin},Sex upon Outcome`, "A1,Rex,Dog,Adoption,Male", "austin:A1", "sold"],
  [`${austin},Age upon Outcome`, "A1,Rex,Dog,Adoption,1 year", "austin:A1", "sold"],
])("%s", async (header, row, id, status) => {
  const { outcomes } = await readWhole(`${header}\n${row}\n`);
  expect(outcomes.map(brief)).toEqual([`2 Rex / name,Dog / ${status} [${id}]`]);
});

test.each([
  [petpoint, "A1,Rex,Dog", "Last Updated|Status Date/Time|Intake Date/Time"],
  [petpoint, "A1,Rex,Dog", "Status Date|Intake Date"],
  ["ID,Name,Type", "8,Rex,Dog", "Last Updated Unix Time|Last Updated|Status Date"],
  [`${austin},MonthYear`, "A1,Rex,Dog,,m", "DateTime|Outcome Date|Date"],
  ["Animal ID,Name,Type,Outcome Type,Kennel Number", "A1,Rex,Dog,,K", "Outcome Date|Intake Date"],
])("%s: the first of %s that is filled tells the time", async (header, row, names) => {
  const all = names.split("|");
  for (const at of all.keys()) {
    const dates = all.map((_, place) => (place < at ? "" : `2026-01-0${place + 1}`));
    const status = header.includes("Outcome") ? ["", ""] : [",Status,Internal-ID", ",Adopted,7"];
    const text = `${header}${status[0]},${all.join()}\n${row}${status[1]},${dates.join()}\n`;
    const { outcomes } = await readWhole(text);
    expect(outcomes.map(({ version }) => version)).toEqual([20260101000000 + at * 1_000_000]);
  }
});

test("a column `Animal` is not PetPoint's `Animal #`", async () => {
  const text = "Animal,Animal Name,Species,Stage\n1,Rex,Dog,Available\n";
  expect(await refusal(readWhole(text))).toContain("in none of the known formats");
});
