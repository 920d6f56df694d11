/** Who is right, the list or the desk: every case of one animal, as the rules are told to people. */
import { expect, test } from "bun:test";
import { decide, listFields, type Said } from "../../../../src/features/import/plan/said.ts";

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
