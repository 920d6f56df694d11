/**
 * Decides whether calls that overlapped can be put in one order that explains what they returned:
 * linearizability (Herlihy and Wing, 1990). Wing and Gong's search ("Testing and Verifying
 * Concurrent Objects", 1993) in the form of Lowe's just-in-time linearization ("Testing for
 * linearizability", 2017): it goes through calls and returns in time, keeps each configuration
 * that is possible so far once, and lets a call take effect only when a return needs it. Objects
 * are checked one by one, which is enough (P-compositionality; Horn and Kroening, 2015).
 */

/** An object whose operations take effect one after another. */
export interface Model<State, Operation> {
  /** The states that the operation may lead to; none if it could not have returned this. */
  step(state: State, operation: Operation): readonly State[];
  /** True if the operation never changes the state. */
  isRead(operation: Operation): boolean;
  /** Equal for equal states. */
  key(state: State): string;
}

export interface Entry<Operation> {
  readonly operation: Operation;
  /** The operation takes effect between the two. */
  readonly fromMs: number;
  readonly toMs: number;
  /** True if nobody knows whether it took effect. */
  readonly isMaybe: boolean;
  /** Writes that it takes effect after. */
  readonly after?: readonly Entry<Operation>[];
}

export type Verdict<State, Operation> =
  | { readonly isExplained: true; readonly states: readonly State[] }
  /** `at` is the first entry whose return nothing explains. */
  | { readonly isExplained: false; readonly at: Entry<Operation> };

/** The state after some order of what has taken effect, and which entries under way have. */
interface Configuration<State> {
  readonly state: State;
  readonly done: bigint;
}

/** More are not looked at: the history is too parallel to be decided. */
const configurationsMax = 100_000;

/** Explains the entries from one of the states `initial`, or says which return nothing explains. */
export function linearize<State, Operation>(
  model: Model<State, Operation>,
  initial: readonly State[],
  entries: readonly Entry<Operation>[],
): Verdict<State, Operation> {
  /** Entries under way, with the bit that each of them has meanwhile. */
  const bits = new Map<Entry<Operation>, bigint>();
  const returned = new Set<Entry<Operation>>();
  let configurations: readonly Configuration<State>[] = initial.map((state) => ({
    state,
    done: 0n,
  }));

  const keyOf = ({ state, done }: Configuration<State>) => `${done} ${model.key(state)}`;
  const mayBe = ({ after = [] }: Entry<Operation>, done: bigint) =>
    after.every((each) => returned.has(each) || (done & (bits.get(each) ?? 0n)) !== 0n);

  /** A read that fits now may as well be now: it changes nothing, and nothing waits for it. */
  const withReads = ({ state, done: before }: Configuration<State>): Configuration<State> => {
    let done = before;
    for (const [entry, bit] of bits) {
      const isOpen = (done & bit) === 0n && model.isRead(entry.operation) && mayBe(entry, done);
      if (isOpen && model.step(state, entry.operation).length > 0) done |= bit;
    }
    return { state, done };
  };

  /** Lets writes under way take effect in all orders, until the entry of `wanted` has. */
  const explore = (
    from: Configuration<State>,
    wanted: bigint,
    keep: (found: Configuration<State>) => void,
  ) => {
    const seen = new Set<string>();
    const waiting = [from];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      for (const [entry, bit] of bits) {
        if ((next.done & bit) !== 0n || model.isRead(entry.operation)) continue;
        for (const state of model.step(next.state, entry.operation)) {
          const reached = withReads({ state, done: next.done | bit });
          const key = keyOf(reached);
          if (seen.has(key)) continue;
          if (seen.add(key).size > configurationsMax)
            throw new Error("too many orders are possible");
          if ((reached.done & wanted) !== 0n) keep(reached);
          else waiting.push(reached);
        }
      }
    }
  };

  for (const { entry, isReturn } of eventsOf(entries)) {
    if (!isReturn) {
      bits.set(entry, freeBit([...bits.values()]));
      configurations = configurations.map(withReads);
      continue;
    }
    const wanted = bits.get(entry) ?? 0n;
    const found = new Map<string, Configuration<State>>();
    const keep = ({ state, done }: Configuration<State>) => {
      const left = { state, done: done & ~wanted };
      found.set(keyOf(left), left);
    };
    for (const each of configurations) {
      const isDone = (each.done & wanted) !== 0n;
      if (isDone || entry.isMaybe) keep(each);
      if (!isDone) explore(each, wanted, keep);
    }
    if (found.size === 0) return { isExplained: false, at: entry };
    bits.delete(entry);
    returned.add(entry);
    configurations = [...found.values()];
  }
  const byKey = new Map(configurations.map(({ state }) => [model.key(state), state] as const));
  return { isExplained: true, states: [...byKey.values()] };
}

/** Calls and returns in time. A call at the very moment of a return may have been before it. */
function eventsOf<Operation>(entries: readonly Entry<Operation>[]) {
  return entries
    .flatMap((entry) => [
      { entry, isReturn: false, atMs: entry.fromMs },
      ...(entry.toMs === Infinity ? [] : [{ entry, isReturn: true, atMs: entry.toMs }]),
    ])
    .toSorted((a, b) => a.atMs - b.atMs || Number(a.isReturn) - Number(b.isReturn));
}

function freeBit(used: readonly bigint[]): bigint {
  let bit = 1n;
  while (used.includes(bit)) bit <<= 1n;
  return bit;
}
