/** Who is right, the list or the desk: every case of one animal, as the rules are told to people. */
import { expect, test } from "bun:test";
import {
  decide,
  type Decision,
  type Here,
  listFields,
  type Said,
} from "../../../../src/features/import/plan/said.ts";

const names = ["Rex", "Max", "Ada"] as const;
const statuses = ["available", "pending", null, "sold"] as const;
const presences = ["there", "gone", "left out"] as const;

interface Known extends Said {
  readonly name: string;
  readonly category: bigint;
}

function* combined(presencesOf: readonly Said["presence"][]): Generator<Known> {
  for (const presence of presencesOf) {
    for (const name of names) {
      const category = BigInt(names.indexOf(name));
      for (const status of statuses) yield { presence, name, category, status };
    }
  }
}

function* cases(): Generator<{ last: Said | undefined; now: Said; here: Here }> {
  for (const last of [undefined, ...combined(presences)]) {
    for (const now of combined(presences)) {
      for (const { presence, ...here } of combined(["there", "gone"])) {
        yield { last, now, here: { isRemoved: presence !== "there", ...here } };
      }
    }
  }
}

/** The animal after a decision. */
function after({ does, takes }: Decision, now: Said, here: Here): Here {
  const value = <F extends (typeof listFields)[number]>(field: F) =>
    (takes.includes(field) ? now[field] : here[field]) as Here[F];
  return {
    isRemoved: does === "withdraws" || (here.isRemoved && does !== "returns"),
    name: value("name"),
    category: value("category"),
    status: value("status"),
  };
}

const all = [...cases()];
const distance = (status: Here["status"]) => statuses.indexOf(status);

test("a list that says what it said changes nothing that people did", () => {
  for (const { last, now, here } of all) {
    const isSame =
      last?.presence === now.presence && listFields.every((field) => last[field] === now[field]);
    if (!isSame || (now.presence !== "there" && !here.isRemoved && last.presence === "there")) {
      continue;
    }
    const decision = decide(last, now, here, false);
    expect(after(decision, now, here)).toEqual(here);
  }
});

test("what people left as it was is as the list says", () => {
  for (const { last, now, here } of all) {
    if (last?.presence !== "there" || now.presence !== "there" || here.isRemoved) continue;
    if (listFields.some((field) => here[field] !== last[field])) continue;
    const { presence: _, ...said } = now;
    const decision = decide(last, now, here, false);
    expect(after(decision, now, here)).toEqual({ isRemoved: false, ...said } as Here);
    expect(decision.kept).toEqual([]);
  }
});

test("where both changed, names are the desk's, and the status is further from adoption", () => {
  for (const { last, now, here } of all) {
    if (now.presence !== "there" || here.isRemoved || last?.presence !== "there") continue;
    const found = after(decide(last, now, here, false), now, here);
    const isBoth = (field: (typeof listFields)[number]) =>
      last[field] !== now[field] && last[field] !== here[field];
    if (isBoth("name")) expect(found).toMatchObject({ name: here.name, category: here.category });
    if (!isBoth("status")) continue;
    expect(distance(found.status)).toBe(Math.max(distance(now.status), distance(here.status)));
  }
});

test("an animal of which nobody knows what its list said comes no nearer to adoption", () => {
  for (const { now, here } of all) {
    if (now.presence !== "there" || here.isRemoved) continue;
    const found = after(decide(undefined, now, here, false), now, here);
    expect(found.name).toBe(here.name);
    expect(distance(found.status)).toBe(Math.max(distance(now.status), distance(here.status)));
  }
});

test("who newly goes is withdrawn; a restore holds until the list has the animal anew", () => {
  for (const { last, now, here } of all) {
    if (now.presence === "there" || here.isRemoved) continue;
    const { does, kept } = decide(last, now, here, false);
    const isNew = last === undefined || last.presence === "there";
    expect([does, kept]).toEqual(isNew ? ["withdraws", []] : ["nothing", ["presence"]]);
  }
});

test("a removal by people holds until the list had the animal gone and has it again", () => {
  for (const { last, now, here } of all) {
    if (now.presence !== "there" || !here.isRemoved) continue;
    const decision = decide(last, now, here, false);
    const { isRemoved, status } = after(decision, now, here);
    expect(isRemoved).toBe(last?.presence === "there");
    if (!isRemoved) expect(status).toBe(now.status);
  }
});

test("a list that wins is right of everything", () => {
  for (const { last, now, here } of all) {
    const decision = decide(last, now, here, true);
    const found = after(decision, now, here);
    expect(found.isRemoved).toBe(now.presence !== "there");
    expect(decision.kept).toEqual([]);
    if (now.presence !== "there") continue;
    const { presence: _, ...said } = now;
    expect(found).toEqual({ isRemoved: false, ...said } as Here);
  }
});
