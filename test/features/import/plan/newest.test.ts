/** Two records of one animal: which of them holds, in either order. */
import { describe, expect, test } from "bun:test";
import { newestOf } from "../../../../src/features/import/plan/match.ts";
import { type Given, prepare } from "../../../../src/features/import/understand/propose.ts";
import { bytesOf } from "../helpers.ts";

async function held(header: string, rows: readonly string[], given: Given = {}) {
  const { understanding } = await prepare(bytesOf(`${header}\n${rows.join("\n")}\n`), given);
  const records = understanding.outcomes.flatMap((each) => (each.kind === "reject" ? [] : [each]));
  const { identified, undecided } = newestOf(records, false);
  const found = identified.map((each) =>
    each.kind === "pet" ? (each.status ?? "none") : each.kind,
  );
  return [found[0], undecided.length];
}

const words = { available: "Available", pending: "Reserved", sold: "Adopted", gone: "Died" };
const order = ["available", "pending", "sold", "gone"] as const;

describe.each(["Id,Name,Species,Status", "Id,Name,Species,Status,Updated"])("%s", (header) => {
  const row = (word: string) =>
    `A1,Rex,Dog,${word}${header.endsWith("Updated") ? ",2026-01-05" : ""}`;
  // More animals tell what the columns hold.
  const others = ["A8,Bo,Dog,Available", "A9,Al,Cat,Adopted"].map((each) =>
    header.endsWith("Updated") ? `${each},2026-01-04` : each,
  );

  test.each(order.flatMap((a) => order.map((b) => [a, b] as const)))("%s and %s", async (a, b) => {
    const furthest = order[Math.max(order.indexOf(a), order.indexOf(b))];
    const rows = [row(words[a]), row(words[b]), ...others];
    expect(await held(header, rows)).toEqual([furthest, a === b ? 0 : 1]);
  });

  test.each(["Found", "Lost", "Stray", "In foster"])("%s beats nobody", async (word) => {
    for (const [status, other] of Object.entries(words)) {
      const both = [row(word), row(other)];
      for (const rows of [both, both.toReversed()]) {
        expect((await held(header, [...rows, ...others]))[0]).toBe(status);
      }
    }
  });
});

test("a later record holds, whatever it says", async () => {
  const header = "Id,Name,Species,Status,Updated";
  const rows = ["A1,Rex,Dog,Adopted,2026-01-05", "A1,Rex,Dog,Available,2026-02-05"];
  expect(await held(header, rows)).toEqual(["available", 0]);
  expect(await held(header, rows.toReversed())).toEqual(["available", 0]);
});

test("an open stay beats one that ended on its day", async () => {
  const header = "Animal ID,Name,Animal Type,Outcome Type,Outcome Subtype,Date";
  const rows = ["A1,Rex,Dog,Adoption,,2026-01-05", "A1,Rex,Dog,,,2026-01-05"];
  expect((await held(header, rows))[0]).toBe("available");
  expect((await held(header, rows.toReversed()))[0]).toBe("available");
});
