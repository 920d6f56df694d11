/** Whatever the door: who is not for adoption is never available, and who is there is. */
import { describe, expect, test } from "bun:test";
import {
  confirmedReading,
  type Given,
  prepare,
  prepareAgain,
  type Prepared,
} from "../../../../src/features/import/understand/propose.ts";
import { bytesOf } from "../helpers.ts";
import { nos, others, type Seen, yeses, yesRows } from "./seen.ts";

type Value = Seen[1][number] | null;
type Row = Readonly<Record<string, Value>>;

/** A list as a program writes it: its own columns, and that one animal is there. */
interface Door {
  readonly door: string;
  readonly columns: (at: number) => Row;
  readonly isJson?: true;
  readonly given?: Given;
}

/** Rows of this JSON, with their number for an `@`. */
const rowsOf = (json: string) => (at: number) => JSON.parse(json.replaceAll("@", `${at}`)) as Row;

const plain = rowsOf('{"Ref":"A@","Name":"Pet @","Species":"Dog"}');
const available = rowsOf('{"Ref":"A@","Name":"Pet @","Species":"Dog","Status":"Available"}');
const map = { name: "Name", categoryId: "Species", externalId: "Ref" };

const programs = `
Petfinder {"id":@,"organization_id":"MI1","name":"P@","type":"Dog","status":"adoptable"}
PetPoint {"Animal #":"A@","ARN":"","Animal Name":"Max","Species":"Dog","Stage":"Available"}
Shelterluv {"ID":"@","Internal-ID":"@","Name":"Max","Type":"Dog","Status":"Available In Foster"}
ASM {"ID":@,"ANIMALNAME":"Max","SPECIESNAME":"Dog","SHELTERCODE":"D@","ACTIVEMOVEMENTTYPE":0}
King-County {"Animal_ID":"A@","Animal_Name":"Max","Animal_Type":"Dog","Record_Type":"ADOPTABLE"}
Rehome {"id":"","name":"P@","category":"Dog","status":"available","externalId":"x:@","source":"x"}`;

const doors: readonly Door[] = [
  { door: "guessed", columns: available },
  { door: "guessed in JSON", columns: available, isJson: true },
  { door: "told by --map", columns: available, given: { columns: { ...map, status: "Status" } } },
  {
    door: "told by --map without a status, and a default",
    columns: plain,
    given: { columns: map, defaultStatus: "available" },
  },
  { door: "told by a default alone", columns: plain, given: { defaultStatus: "available" } },
  ...programs
    .trim()
    .split("\n")
    .map((line): Door => {
      const [door = "", json = ""] = line.split(/ (.*)/);
      const isJson = /Petfinder|Shelterluv|ASM/.test(door) && { isJson: true as const };
      return { door, columns: rowsOf(json), ...isJson };
    }),
];

test("every row names the repository that it was seen in", () => {
  const rows = [...Object.values(nos).flat(), ...yeses, ...others];
  const seenIn = [...rows.map((row) => String(row.at(-1))), ...yesRows.map((row) => row.seenIn)];
  expect(seenIn.filter((name) => !/^[\w-]+\/[\w.-]+$/.test(name))).toEqual([]);
});

/** The row of an animal between two that are there, so that no column takes most. */
function listOf({ columns, isJson }: Door, more: Row): Uint8Array {
  const rows: Row[] = [1, 2, 3].map((at) => {
    const own = columns(at);
    const other = Object.keys(more).map((name) => [name, isJson ? null : ""] as const);
    return { ...own, ...(at === 2 ? more : Object.fromEntries(other)) };
  });
  if (isJson) return bytesOf(JSON.stringify(rows));
  const names = Object.keys(rows[0] ?? {});
  const lines = rows.map((row) => names.map((name) => `"${String(row[name] ?? "")}"`).join(","));
  return bytesOf(`${names.map((name) => `"${name}"`).join(",")}\n${lines.join("\n")}\n`);
}

/** What became of the three: their statuses, gone, or reject. */
const found = ({ understanding }: Prepared) =>
  understanding.outcomes.map((each) => (each.kind === "pet" ? (each.status ?? "none") : each.kind));

async function readings(door: Door, more: Row): Promise<readonly Prepared[]> {
  const list = listOf(door, more);
  const first = await prepare(list, door.given ?? {});
  // Remembered or followed, it is read again by what was confirmed.
  const reading = JSON.parse(JSON.stringify(confirmedReading(first))) as typeof first.reading;
  return [first, await prepareAgain(list, reading)];
}

const cells = (seen: readonly Seen[], door: Door) =>
  seen.flatMap(([heading, values]) => {
    // A column that the program has of its own is not added.
    const isOwn = Object.keys(door.columns(1)).some(
      (name) => name.toLowerCase() === heading.toLowerCase(),
    );
    return isOwn ? [] : values.map((value) => ({ [heading]: value }));
  });

describe.each(doors)("$door", (door) => {
  test.each(Object.entries(nos))("%s is never available", async (_kind, seen) => {
    for (const more of cells(seen, door)) {
      for (const prepared of await readings(door, more)) {
        const [before, it, behind] = found(prepared);
        expect([more, before, behind]).toEqual([more, "available", "available"]);
        expect([more, it === "available"]).toEqual([more, false]);
      }
    }
  });

  test("a part of a heading says nothing", async () => {
    for (const heading of others.flatMap(([headings]) => headings.split(/\n?\|/))) {
      for (const value of ["Yes", "2024-03-14", "Ana Smith"]) {
        const more = { [heading]: value };
        const [prepared] = await readings(door, more);
        expect([more, prepared && found(prepared)[1]]).toEqual([more, "available"]);
      }
    }
  });

  test("nobody who is available is hidden", async () => {
    const isTold = door.columns !== plain;
    const several = yesRows.filter(({ besideStatus }) => isTold || besideStatus !== true);
    const rows = [...cells(yeses, door), ...several.map(({ row }) => row)];
    for (const more of rows) {
      for (const prepared of await readings(door, more)) {
        expect([more, ...found(prepared)]).toEqual([more, "available", "available", "available"]);
      }
    }
  });
});
