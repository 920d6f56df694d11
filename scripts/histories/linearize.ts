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

export interface Verdict<State, Operation> {
  /** The first entry whose return nothing explains, if there is one. */
  readonly unexplained?: Entry<Operation>;
  /** The states that are possible in the end. */
  readonly states: readonly State[];
}

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
  const bits = new Map(entries.map((entry, at) => [entry, 1n << BigInt(at)] as const));
  const bitOf = (entry: Entry<Operation>) => bits.get(entry) ?? 0n;
  const underWay = new Set<Entry<Operation>>();
  const returned = new Set<Entry<Operation>>();
  let configurations = initial.map((state): Configuration<State> => ({ state, done: 0n }));

  const keyOf = ({ state, done }: Configuration<State>) => `${done} ${model.key(state)}`;

  /** A read that fits now may as well be now: it changes nothing, and nothing waits for it. */
  const withReads = ({ state, done: before }: Configuration<State>): Configuration<State> => {
    let done = before;
    const hasBeen = (each: Entry<Operation>) => returned.has(each) || (done & bitOf(each)) !== 0n;
    for (const entry of underWay) {
      const { operation, after = [] } = entry;
      if (!model.isRead(operation) || hasBeen(entry) || !after.every(hasBeen)) continue;
      if (model.step(state, operation).length > 0) done |= bitOf(entry);
    }
    return { state, done };
  };

  /** Lets writes under way take effect in all orders, until the entry of `wanted` has. */
  const explore = (from: Configuration<State>, wanted: bigint): Configuration<State>[] => {
    const found: Configuration<State>[] = [];
    const waiting = [from];
    const seen = new Set<string>();
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      for (const entry of underWay) {
        const bit = bitOf(entry);
        if ((next.done & bit) !== 0n || model.isRead(entry.operation)) continue;
        for (const state of model.step(next.state, entry.operation)) {
          const reached = withReads({ state, done: next.done | bit });
          const key = keyOf(reached);
          if (seen.has(key)) continue;
          if (seen.add(key).size > configurationsMax)
            throw new Error("too many orders are possible");
          ((reached.done & wanted) === 0n ? waiting : found).push(reached);
        }
      }
    }
    return found;
  };

  for (const { entry, isReturn } of eventsOf(entries)) {
    if (!isReturn) {
      underWay.add(entry);
      configurations = configurations.map(withReads);
      continue;
    }
    const wanted = bitOf(entry);
    const possible = configurations.flatMap((each) => {
      if ((each.done & wanted) !== 0n) return [each];
      return [...(entry.isMaybe ? [each] : []), ...explore(each, wanted)];
    });
    if (possible.length === 0) return { unexplained: entry, states: [] };
    underWay.delete(entry);
    returned.add(entry);
    const left = possible.map(({ state, done }) => ({ state, done: done & ~wanted }));
    configurations = [...new Map(left.map((each) => [keyOf(each), each] as const)).values()];
  }
  return { states: configurations.map(({ state }) => state) };
}

/** Calls and returns in time. A call at the very moment of a return may have been before it. */
function eventsOf<Operation>(entries: readonly Entry<Operation>[]) {
  const calls = entries.map((entry) => ({ entry, isReturn: false, atMs: entry.fromMs }));
  const returns = entries.map((entry) => ({ entry, isReturn: true, atMs: entry.toMs }));
  const all = [...calls, ...returns].filter(({ atMs }) => atMs !== Infinity);
  return all.toSorted((a, b) => a.atMs - b.atMs || Number(a.isReturn) - Number(b.isReturn));
}
