/**
 * Who is right, the list or the desk: every case of one animal, as the rules are told to people.
 * And which of two records of one animal holds, in either order.
 */
import { describe, expect, test } from "bun:test";
import { Notes } from "../../../../src/features/import/messages.ts";
import {
  decide,
  listFields,
  newestOf,
  type Said,
} from "../../../../src/features/import/plan/said.ts";
import { type Given, prepare } from "../../../../src/features/import/understand/propose.ts";
import { bytesOf } from "../helpers.ts";

const names = ["Rex", "Max", "Ada"] as const;
const statuses = ["available", "pending", null, "sold"] as const;
const presences = ["there", "gone", "left out"] as const;

const combined = (of: readonly Said["presence"][]) =>
  of.flatMap((presence) =>
    names.flatMap((name, at) =>
      statuses.map((status) => ({ presence, name, category: BigInt(at), status })),
    ),
  );

/** Every case with what is decided, and the animal after it. */
const casesOf = (listWins: boolean) =>
  [undefined, ...combined(presences)].flatMap((last) =>
    combined(presences).flatMap((now) =>
      combined(["there", "gone"]).map((here: Said) => {
        const { takes, kept } = decide(last, now, here, listWins);
        const after = { ...here };
        for (const field of takes) Object.assign(after, { [field]: now[field] });
        return { last, now, here, takes, kept, after, wasThere: last?.presence === "there" };
      }),
    ),
  );

const all = casesOf(false);
const isThere = ({ now, here }: (typeof all)[number]) =>
  now.presence === "there" && here.presence === "there";
const distance = (status: Said["status"]) => statuses.indexOf(status);
const furthest = (one: Said["status"], other: Said["status"]) =>
  Math.max(distance(one), distance(other));

test("a list that says what it said changes nothing that people did", () => {
  for (const { last, now, here, after, wasThere } of all) {
    const isSame =
      last?.presence === now.presence && listFields.every((field) => last[field] === now[field]);
    const isNewlyGone = now.presence !== "there" && here.presence === "there" && wasThere;
    if (isSame && !isNewlyGone) expect(after).toEqual(here);
  }
});

test("what people left as it was is as the list says", () => {
  for (const each of all.filter(isThere)) {
    const { last, now, here, after, kept, wasThere } = each;
    if (!wasThere || listFields.some((field) => here[field] !== last?.[field])) continue;
    expect([after, kept]).toEqual([now, []]);
  }
});

test("where both changed, names are the desk's, and the status is further from adoption", () => {
  for (const { last, now, here, after, wasThere } of all.filter(isThere)) {
    const isBoth = (field: (typeof listFields)[number]) =>
      wasThere && last?.[field] !== now[field] && last?.[field] !== here[field];
    if (isBoth("name")) expect(after).toMatchObject({ name: here.name, category: here.category });
    if (isBoth("status")) expect(distance(after.status)).toBe(furthest(now.status, here.status));
  }
});

test("an animal of which nobody knows what its list said comes no nearer to adoption", () => {
  for (const { now, here, after } of all.filter((each) => isThere(each) && !each.last)) {
    expect(after.name).toBe(here.name);
    expect(distance(after.status)).toBe(furthest(now.status, here.status));
  }
});

test("who newly goes is withdrawn; a restore holds until the list has the animal anew", () => {
  for (const { last, now, here, takes, kept, wasThere } of all) {
    if (now.presence === "there" || here.presence !== "there") continue;
    const isNew = last === undefined || wasThere;
    expect([takes, kept]).toEqual(isNew ? [["presence"], []] : [[], ["presence"]]);
  }
});

test("a removal by people holds until the list had the animal gone and has it again", () => {
  for (const { now, here, after, wasThere } of all) {
    if (now.presence !== "there" || here.presence === "there") continue;
    expect(after.presence).toBe(wasThere ? "gone" : "there");
    if (!wasThere) expect(after.status).toBe(now.status);
  }
});

test("a list that wins is right of everything", () => {
  for (const { now, here, kept, after } of casesOf(true)) {
    const isGone = now.presence !== "there";
    const presence = isGone && here.presence !== "there" ? "gone" : now.presence;
    expect([after, kept]).toEqual([isGone ? { ...here, presence } : now, []]);
  }
});

async function held(header: string, rows: readonly string[], given: Given = {}) {
  const { understanding } = await prepare(bytesOf(`${header}\n${rows.join("\n")}\n`), given);
  const records = understanding.outcomes.flatMap((each) => (each.kind === "reject" ? [] : [each]));
  const notes = new Notes();
  const { identified } = newestOf(records, notes);
  const found = identified.map((each) =>
    each.kind === "pet" ? (each.status ?? "none") : each.kind,
  );
  return [found[0], notes.list().filter(({ said }) => said.code === "recordsDisagree").length];
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
