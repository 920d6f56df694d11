/** The checker of `bun run histories`, on histories made by hand: it refuses the broken ones. */
import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { check } from "../../scripts/histories/check.ts";
import type {
  Answer,
  Asked,
  Call,
  History,
  Order,
  Pet,
  StoreKind,
} from "../../scripts/histories/history.ts";
import { linearize, type Entry, type Model } from "../../scripts/histories/linearize.ts";
import { scheduleOf } from "../../scripts/histories/schedule.ts";

const noonMs = Date.UTC(2026, 10, 24, 12, 0, 10);
const minuteEnd = (noonMs + 50_000) / 1_000;

interface When {
  /** Milliseconds of call and return. */
  readonly at: readonly [number, number];
  readonly client?: number;
  readonly server?: number;
  readonly key?: string;
  readonly remaining?: number;
}

/** One request and its response. Its headers are those of a key that is never used up. */
function request(asked: Asked, response: Partial<Answer> | undefined, when: When): Call {
  const [callMs, returnMs] = when.at;
  const { client = 0, server = 0, key = "free", remaining = 0 } = when;
  const headers = { limit: 60, remaining, resetSeconds: minuteEnd, retryAfterSeconds: undefined };
  const nothing = { body: undefined, isReplay: false, hasNext: false };
  const answer =
    response === undefined ? undefined : { status: 200, ...headers, ...nothing, ...response };
  const wall = { callWallMs: noonMs + callMs, returnWallMs: noonMs + returnMs };
  const from = { client, connection: client, server, key };
  return { kind: "request", ...from, ...wall, asked, answer, callMs, returnMs };
}

const cat = (id: number, name = `cat ${id}`): Pet => ({ id, name, categoryId: 1 });
const newCat = ({ name, categoryId }: Pet) => ({ name, categoryId });

function create(pet: Pet, when: When, once?: string, isReplay = false): Call {
  const asked = { do: "create", pet: newCat(pet), ...(once !== undefined && { once }) } as const;
  return request(asked, { status: 201, body: pet, isReplay }, when);
}

/** A create without a response. */
const unknownCreate = (pet: Pet, at: When["at"]) =>
  request({ do: "create", pet: newCat(pet) }, undefined, { at });

const list = (body: readonly Pet[], when: When, asked: Partial<Asked & { do: "list" }> = {}) =>
  request({ do: "list", limit: 20, ...asked }, { body }, when);

function command(order: Order, at: When["at"], printed: unknown, exitCode = 0) {
  const [callMs, returnMs] = at;
  return { kind: "command", order, callMs, returnMs, printed, exitCode, stderr: "" } as const;
}

const remove = (pets: readonly Pet[], at: When["at"]) =>
  command({ do: "remove", ids: pets.map(({ id }) => id) }, at, pets);

const kill = (at: When["at"]): Call => {
  const [callMs, returnMs] = at;
  return { kind: "happening", what: "kill", server: 0, callMs, returnMs };
};

function history(calls: readonly Call[], store: StoreKind = "sqlite", processes = 1): History {
  return { store, processes, calls, keys: new Map() };
}

function animals(calls: readonly Call[], store?: StoreKind): string {
  return check(history(calls, store)).violation?.object ?? "explained";
}

describe("animals", () => {
  const added = create(cat(1), { at: [0, 10] });

  test("are listed once their create has returned, and may be before", () => {
    expect(animals([added, list([cat(1)], { at: [20, 30] })])).toBe("explained");
    expect(animals([added, list([], { at: [20, 30] })])).toBe("animals");
    expect(animals([added, list([], { at: [5, 30] })])).toBe("explained");
    expect(animals([added, list([cat(1)], { at: [5, 30] })])).toBe("explained");
    const seenBefore = list([cat(1)], { at: [2, 4] });
    expect(animals([added, seenBefore, list([], { at: [5, 8] })])).toBe("animals");
  });

  test("are stale for a second at most at another server on PostgreSQL, and never at their own", () => {
    const on = (at: When["at"], server: number) => [added, list([], { at, server })];
    expect(animals(on([900, 910], 1), "postgres")).toBe("explained");
    expect(animals(on([1_020, 1_030], 1), "postgres")).toBe("animals");
    expect(animals(on([20, 30], 0), "postgres")).toBe("animals");
    const shownLater = list([], { at: [20, 30], server: 0 }, { after: 5 });
    expect(animals([added, shownLater], "postgres")).toBe("explained");
  });

  test("do not change back by themselves", () => {
    const order = { do: "update", ids: [1], set: { status: "sold" } } as const;
    const sold = { ...cat(1), status: "sold" as const };
    const updated = command(order, [20, 40], [sold]);
    expect(animals([added, updated, list([sold], { at: [50, 60] })])).toBe("explained");
    expect(animals([added, updated, list([cat(1)], { at: [50, 60] })])).toBe("animals");
    const early = list([sold], { at: [22, 25], client: 1 });
    expect(animals([added, updated, early, list([cat(1)], { at: [26, 30] })])).toBe("animals");
    expect(animals([added, command(order, [20, 40], [cat(1)])])).toBe("animals");
  });

  test("come back by restore and undo, and a removal of none fails", () => {
    const removed = remove([cat(1)], [20, 30]);
    const restored = command({ do: "restore", id: 1 }, [40, 50], cat(1));
    const there = list([cat(1)], { at: [60, 70] });
    expect(animals([added, removed, restored, there])).toBe("explained");
    expect(animals([added, removed, there])).toBe("animals");
    const undone = command({ do: "undo" }, [40, 50], { restored: 1, removed: 0, updated: 0 });
    expect(animals([added, removed, undone, there])).toBe("explained");
    const failed = command({ do: "remove", ids: [1] }, [60, 70], undefined, 1);
    expect(animals([added, removed, failed])).toBe("explained");
    expect(animals([added, failed])).toBe("animals");
  });

  test("are kept over a kill, and those without a response are there or not", () => {
    const killed = kill([20, 30]);
    expect(animals([added, killed, list([], { at: [40, 50] })])).toBe("animals");
    const unknown = unknownCreate(cat(2), [15, 30]);
    const without = list([cat(1)], { at: [40, 50] });
    const withIt = list([cat(1), cat(2)], { at: [60, 70] });
    expect(animals([added, unknown, killed, without])).toBe("explained");
    expect(animals([added, unknown, killed, withIt])).toBe("explained");
    // It cannot happen after its server is gone.
    expect(animals([added, unknown, killed, without, withIt])).toBe("animals");
  });

  test("have an id of their own, in the order of the commits", () => {
    const other = create(cat(1, "other"), { at: [20, 30], client: 1 });
    expect(animals([added, other])).toBe("animals");
    const second = create(cat(2), { at: [0, 10], client: 1 });
    const third = create(cat(3), { at: [20, 30], client: 1 });
    expect(animals([second, create(cat(1), { at: [20, 30] })])).toBe("animals");
    expect(animals([second, third, create(cat(1), { at: [0, 30] })])).toBe("explained");
  });

  test("that are sent twice with an Idempotency-Key are added once for their caller", () => {
    const first = create(cat(1), { at: [0, 10] }, "k");
    const again = (isReplay: boolean, id: number, key = "free") =>
      create({ ...cat(1), id }, { at: [20, 30], key }, "k", isReplay);
    expect(animals([first, again(true, 1)])).toBe("explained");
    expect(animals([first, again(false, 2)])).toBe("animals");
    expect(animals([first, again(true, 2)])).toBe("animals");
    expect(animals([first, again(false, 2, "another")])).toBe("explained");
    expect(animals([first, again(true, 1, "another")])).toBe("animals");
    const asked = { do: "create", pet: newCat(cat(9)), once: "k" } as const;
    const refused = request(asked, { status: 400 }, { at: [20, 30] });
    expect(animals([first, refused])).toBe("explained");
    expect(animals([refused])).toBe("animals");
  });

  test("are on pages that say whether more follow", () => {
    const second = create(cat(2), { at: [0, 10], client: 1 });
    const page = (hasNext: boolean) =>
      request({ do: "list", limit: 1 }, { body: [cat(1)], hasNext }, { at: [20, 30] });
    expect(animals([added, second, page(true)])).toBe("explained");
    expect(animals([added, second, page(false)])).toBe("animals");
    expect(animals([added, page(true)])).toBe("animals");
  });
});

describe("a key", () => {
  const get = { do: "get", id: 9 } as const;
  /** A request with what its headers show, of a limit of 60 a minute unless it says otherwise. */
  const shown = (remaining: number, at: number, more: Partial<Answer> & Partial<When> = {}) =>
    request(get, { status: 404, remaining, ...more }, { at: [at, at + 5], ...more });
  const limited = (at: number, more: Partial<Answer> = {}) =>
    shown(0, at, { status: 429, retryAfterSeconds: 50, ...more });
  const of = (
    calls: readonly Call[],
    on: { perMinute?: number; store?: StoreKind; processes?: number } = {},
  ) => {
    const { perMinute = 60, store = "sqlite", processes = 1 } = on;
    const keys = new Map([["free", { perMinute, perDay: 10_000 }]]);
    return check({ store, processes, calls, keys }).violation?.object ?? "explained";
  };

  test("has one request less after each, and no more than its limit", () => {
    expect(of([shown(59, 0), shown(58, 10)])).toBe("explained");
    expect(of([shown(59, 0), shown(57, 10)])).toBe("free");
    expect(of([shown(59, 0), shown(59, 10)])).toBe("free");
    const two = { limit: 2 };
    const used = [shown(1, 0, two), shown(0, 10, two)];
    expect(of([...used, limited(20, two)], { perMinute: 2 })).toBe("explained");
    expect(of([...used, shown(0, 20, two)], { perMinute: 2 })).toBe("free");
    expect(of([shown(1, 0, two), limited(20, two)], { perMinute: 2 })).toBe("free");
    expect(of([...used, limited(20, { ...two, retryAfterSeconds: 30 })], { perMinute: 2 })).toBe(
      "free",
    );
  });

  test("has parallel requests in any order", () => {
    const parallel = request(get, { status: 404, remaining: 59 }, { at: [0, 20] });
    expect(of([parallel, shown(58, 5)])).toBe("explained");
    expect(of([parallel, shown(59, 5)])).toBe("free");
  });

  test("begins again with the next minute, when its headers said", () => {
    const [later, next] = [50_100, { resetSeconds: minuteEnd + 60 }];
    expect(of([shown(59, 0), shown(59, later, next)])).toBe("explained");
    expect(of([shown(59, 0), shown(58, later, next)])).toBe("free");
    expect(of([shown(59, 0), shown(58, later)])).toBe("free");
    expect(of([shown(59, 0, { resetSeconds: minuteEnd + 1 })])).toBe("free");
  });

  test("loses one reservation at most in a kill, and wins nothing", () => {
    const big = { limit: 300 };
    const killed = (remaining: number) =>
      of([shown(299, 0, big), kill([10, 20]), shown(remaining, 30, big)], { perMinute: 300 });
    expect(killed(298)).toBe("explained");
    expect(killed(293)).toBe("explained");
    expect(killed(292)).toBe("free");
    expect(killed(299)).toBe("free");
  });

  test("is bound by a change once its command returns, and may be before", () => {
    const set = { perMinute: 2, perDay: 10_000 };
    const change = command({ do: "change key", key: "free", set }, [10, 30], {});
    expect(of([change, shown(59, 20)])).toBe("explained");
    expect(of([change, shown(1, 20, { limit: 2 })])).toBe("explained");
    expect(of([change, shown(59, 40)])).toBe("free");
    const revoked = command(
      { do: "change key", key: "free", set: { isRevoked: true } },
      [10, 30],
      {},
    );
    expect(of([revoked, shown(59, 20)])).toBe("explained");
    expect(of([revoked, shown(59, 40)])).toBe("free");
    expect(of([revoked, shown(0, 40, { status: 401 })])).toBe("explained");
    expect(of([shown(0, 40, { status: 401 })])).toBe("free");
    // Each server on PostgreSQL learns of it at its own moment.
    const servers = [shown(0, 12, { status: 401, server: 1 }), shown(59, 20)];
    expect(of([revoked, ...servers])).toBe("free");
    expect(of([revoked, ...servers], { store: "postgres", processes: 2 })).toBe("explained");
  });

  test("that only reads adds nothing", () => {
    const readOnly = command(
      { do: "change key", key: "free", set: { readOnly: true } },
      [0, 10],
      {},
    );
    const sent = { do: "create", pet: newCat(cat(1)) } as const;
    const answer = (status: number) =>
      request(sent, { status, body: cat(1) }, { at: [20, 30], remaining: 59 });
    expect(of([readOnly, answer(403)])).toBe("explained");
    expect(of([readOnly, answer(201)])).toBe("free");
    expect(of([answer(403)])).toBe("free");
  });

  test("of several processes is refused early by their reservations at most", () => {
    const on = { perMinute: 130, store: "processes", processes: 4 } as const;
    const many = (count: number, from: number, client: number) =>
      Array.from({ length: count }, (_, at) =>
        shown(129 - at, from + at * 10, { limit: 130, client }),
      );
    const early = (count: number) => of([...many(count, 0, 0), limited(2_000, { limit: 130 })], on);
    // Three to each of three others.
    expect(early(121)).toBe("explained");
    expect(early(120)).toBe("free");
    expect(of(many(131, 0, 0), on)).toBe("free");
    // The only connection sees each number, until another one comes.
    expect(of([shown(59, 0), shown(57, 10)], { ...on, perMinute: 60 })).toBe("free");
    const others = [shown(58, 5, { client: 1 }), shown(56, 10)];
    expect(of([shown(59, 0), ...others], { ...on, perMinute: 60 })).toBe("explained");
  });
});

describe("the search", () => {
  /** A register: reads return what was written last. */
  type Access = { readonly write: number } | { readonly read: number };
  const register: Model<number, Access> = {
    isRead: (access) => "read" in access,
    key: String,
    step: (value, access) =>
      "write" in access ? [access.write] : access.read === value ? [value] : [],
  };

  /** Tries every order that the times allow. */
  function isExplainedByForce(value: number, left: readonly Entry<Access>[]): boolean {
    if (left.every(({ isMaybe }) => isMaybe)) return true;
    return left.some((entry) => {
      if (left.some((other) => !other.isMaybe && other.toMs < entry.fromMs)) return false;
      // One that may not have been can be left out where its time is over.
      const rest = left.filter(
        (other) => other !== entry && !(other.isMaybe && other.toMs < entry.fromMs),
      );
      return register.step(value, entry.operation).some((next) => isExplainedByForce(next, rest));
    });
  }

  const entry = fc
    .record({
      from: fc.integer({ min: 0, max: 12 }),
      takes: fc.integer({ min: 0, max: 6 }),
      value: fc.integer({ min: 0, max: 2 }),
      isRead: fc.boolean(),
      isMaybe: fc.boolean(),
    })
    .map(({ from, takes, value, isRead, isMaybe }): Entry<Access> => ({
      operation: isRead ? { read: value } : { write: value },
      fromMs: from,
      toMs: from + takes + 0.5,
      isMaybe: isMaybe && !isRead,
    }));

  test("finds an order exactly where there is one", () => {
    const seen = { explained: 0, not: 0 };
    fc.assert(
      fc.property(fc.array(entry, { minLength: 1, maxLength: 7 }), (entries) => {
        const isExplained = linearize(register, [0], entries).unexplained === undefined;
        seen[isExplained ? "explained" : "not"] += 1;
        expect(isExplained).toBe(isExplainedByForce(0, entries));
      }),
      { numRuns: 3_000 },
    );
    expect(Math.min(seen.explained, seen.not)).toBeGreaterThan(300);
  });
});

test("a seed decides what is done", () => {
  const schedule = (seed: number) => scheduleOf({ seed, store: "sqlite" });
  expect(schedule(7)).toEqual(schedule(7));
  expect(schedule(7)).not.toEqual(schedule(8));
});
