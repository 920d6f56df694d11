/** What is done in a history, as a seed decides it. */
import { random } from "../random.ts";
import type { AskedList, ChangeOfPet, KeySettings, Limits, StoreKind } from "./history.ts";

/** An animal by its place among those that are known when the step begins. */
export type Reference = number | "first" | "last" | "next";

export type RequestStep =
  | { readonly do: "create"; readonly pet: number; readonly once?: number }
  | (Omit<AskedList, "after"> & { readonly after?: Reference })
  | { readonly do: "get"; readonly id: Reference };

export type KeyName = "roomy" | "limited";

export type OperatorStep =
  | { readonly do: "update"; readonly ids: readonly Reference[]; readonly set: ChangeOfPet }
  | { readonly do: "remove"; readonly ids: readonly Reference[] }
  /** By its place among the animals that were removed. */
  | { readonly do: "restore"; readonly at: number }
  | { readonly do: "undo" }
  | { readonly do: "change key"; readonly key: KeyName; readonly set: Partial<KeySettings> }
  | { readonly do: "kill" | "kill one" | "stop" | "replace"; readonly server: number };

export interface ClientPlan {
  readonly server: number;
  readonly steps: readonly (RequestStep & { readonly key: KeyName })[];
}

export interface Schedule {
  readonly seed: number;
  readonly store: StoreKind;
  readonly theme: Theme;
  readonly limits: Readonly<Record<KeyName, Limits>>;
  readonly clients: readonly ClientPlan[];
  /** One sends commands, or two at the same time. */
  readonly operators: readonly (readonly OperatorStep[])[];
}

const themes = ["plain", "edit", "keys", "faults"] as const;
type Theme = (typeof themes)[number];

/** How many of a hundred histories have a theme. Commands are slow, so most have few of them. */
const shares: Readonly<Record<StoreKind, readonly number[]>> = {
  sqlite: [44, 26, 15, 15],
  processes: [40, 24, 17, 19],
  postgres: [46, 27, 9, 18],
};

/** Calls of a history, those of the command line included. */
const callsInAll = 200;

export function scheduleOf(seed: number, store: StoreKind): Schedule {
  const dice = new Dice(random(seed));
  const theme = themes[dice.weighted(shares[store])] as Theme;
  const operators = operatorsOf(theme, store, dice);
  const requests = callsInAll - operators.flat().length;
  const limits = {
    roomy: { perMinute: 600, perDay: 100_000 },
    limited: dice.one(someLimits),
  };
  return { seed, store, theme, limits, clients: clientsOf(requests, store, dice), operators };
}

const someLimits: readonly Limits[] = [3, 20, 60, 1_000, 130, 300].map((perMinute) => {
  return { perMinute, perDay: perMinute === 1_000 ? 25 : 1_000 };
});
const statuses = ["available", "pending", "sold"] as const;

class Dice {
  constructor(readonly part: () => number) {}

  isBelow(chance: number): boolean {
    return this.part() < chance;
  }

  whole(from: number, to: number): number {
    return from + Math.floor(this.part() * (to - from + 1));
  }

  one<T>(choices: readonly T[]): T {
    return choices[this.whole(0, choices.length - 1)] as T;
  }

  weighted(weights: readonly number[]): number {
    let left = this.part() * weights.reduce((sum, weight) => sum + weight, 0);
    return weights.findIndex((weight) => (left -= weight) < 0);
  }

  several<T>(from: number, to: number, make: (at: number) => T): T[] {
    return Array.from({ length: this.whole(from, to) }, (_, at) => make(at));
  }
}

function clientsOf(requests: number, store: StoreKind, dice: Dice): ClientPlan[] {
  const servers = store === "postgres" ? 2 : 1;
  const count = dice.whole(2, 7);
  // Answers that are asked for again and again come from memory.
  const popular = dice.several(3, 8, () => someList(dice));
  const onces: number[] = [];
  let pets = 0;
  const step = (): RequestStep => {
    const kind = dice.weighted([30, 45, 25]);
    if (kind === 1) return dice.isBelow(0.75) ? dice.one(popular) : someList(dice);
    if (kind === 2) return { do: "get", id: dice.isBelow(0.15) ? "next" : dice.part() };
    pets += 1;
    if (dice.isBelow(0.7)) return { do: "create", pet: pets };
    const once = dice.whole(0, 9);
    // The same animal again, and once in a while another one, which is an error.
    if (dice.isBelow(0.85)) onces[once] ??= pets;
    return { do: "create", pet: onces[once] ?? pets, once };
  };
  // The only connection that uses the key sees each number.
  const isSolo = dice.isBelow(0.3);
  const share = dice.one([0.15, 0.3, 0.6]);
  const steps = Array.from({ length: count }, (): ClientPlan["steps"][number][] => []);
  for (let made = 0; made < requests; made += 1) {
    const client = dice.whole(0, count - 1);
    const mayLimit = !isSolo || client === 0;
    const key = mayLimit && dice.isBelow(isSolo ? 0.9 : share) ? "limited" : "roomy";
    steps[client]?.push({ ...step(), key });
  }
  return steps.map((own, client) => ({ server: client % servers, steps: own }));
}

function someList(dice: Dice): RequestStep {
  const after = dice.weighted([15, 45, 30, 10]);
  return {
    do: "list",
    limit: dice.one([1, 5, 20, 100, 100]),
    ...(dice.isBelow(0.35) && { status: dice.one(statuses) }),
    ...(after > 0 && { after: (["first", dice.part(), "last"] as const)[after - 1] ?? "first" }),
  };
}

function operatorsOf(theme: Theme, store: StoreKind, dice: Dice): OperatorStep[][] {
  const edits = (from: number, to: number) => dice.several(from, to, () => someEdit(dice));
  switch (theme) {
    case "plain":
      return [edits(0, 1)];
    case "edit":
      // An undo looks for a change before it undoes it, so it is no one's while others change.
      return dice.isBelow(0.3)
        ? [edits(1, 3).filter(isNoUndo), edits(1, 3).filter(isNoUndo)]
        : [edits(3, 6)];
    case "keys":
      return [
        [...dice.several(1, 3, () => someKeyChange(dice)), ...revocation(dice)],
        // Now and then an operator changes an animal meanwhile.
        ...(dice.isBelow(0.3) ? [[someEdit(dice)]] : []),
      ];
    case "faults":
      return [[...edits(0, 1), someFault(store, dice), ...edits(0, 2), someFault(store, dice)]];
  }
}

const isNoUndo = ({ do: what }: OperatorStep) => what !== "undo";

function revocation(dice: Dice): OperatorStep[] {
  if (dice.isBelow(0.5)) return [];
  return [{ do: "change key", key: "limited", set: { isRevoked: true } }];
}

function someEdit(dice: Dice): OperatorStep {
  const ids = dice.several(1, 3, () => dice.part());
  switch (dice.weighted([45, 22, 15, 18])) {
    case 0:
      return {
        do: "update",
        ids,
        set: {
          ...(dice.isBelow(0.3) && { name: `renamed ${dice.part()}` }),
          ...(dice.isBelow(0.2) && { categoryId: dice.whole(1, 3) }),
          status: dice.one([...statuses, "none"]),
        },
      };
    case 1:
      return { do: "remove", ids };
    case 2:
      return { do: "restore", at: dice.part() };
    default:
      return { do: "undo" };
  }
}

function someKeyChange(dice: Dice): OperatorStep {
  return dice.isBelow(0.3)
    ? { do: "change key", key: "limited", set: { readOnly: dice.isBelow(0.7) } }
    : { do: "change key", key: "limited", set: dice.one(someLimits) };
}

function someFault(store: StoreKind, dice: Dice): OperatorStep {
  const server = store === "postgres" ? dice.whole(0, 1) : 0;
  const kinds =
    store === "processes"
      ? (["kill one", "kill one", "kill", "stop", "replace"] as const)
      : (["kill", "kill", "stop"] as const);
  return { do: dice.one<"kill" | "kill one" | "stop" | "replace">(kinds), server };
}
