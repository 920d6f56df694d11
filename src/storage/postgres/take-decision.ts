import { mustKeep, take, type WindowCounts } from "../../domain/windows.ts";
import type { TakeRequest, TakeResult, UsageDelta } from "../contract.ts";
import { finishedDay } from "../usage.ts";

/** One call of `take`. */
export interface TakeCall {
  readonly requests: readonly TakeRequest[];
  readonly usage: readonly UsageDelta[];
}

export interface UsageAmounts {
  readonly requests: number;
  readonly refusals: number;
  readonly bans: number;
}

export interface Decision {
  readonly results: TakeResult[][];
  readonly changed: ReadonlyMap<string, WindowCounts>;
  /** By key and day, separated by a space. */
  readonly usage: ReadonlyMap<string, UsageAmounts>;
  /** Keys whose day ended. */
  readonly rolledOver: ReadonlySet<string>;
}

/** What the calls are granted and what is to be kept of it: the domain's rule, one request after the other. */
export function decide(
  calls: readonly TakeCall[],
  kept: Map<string, WindowCounts>,
  nowMs: number,
): Decision {
  const changed = new Map<string, WindowCounts>();
  const usage = new Map<string, UsageAmounts>();
  const rolledOver = new Set<string>();
  const add = (keyId: string, day: number, amounts: UsageAmounts) => {
    const id = `${keyId} ${day}`;
    const sofar = usage.get(id) ?? { requests: 0, refusals: 0, bans: 0 };
    usage.set(id, {
      requests: sofar.requests + amounts.requests,
      refusals: sofar.refusals + amounts.refusals,
      bans: sofar.bans + amounts.bans,
    });
  };
  const takeOne = ({ keyId, limits, want, unused }: TakeRequest): TakeResult => {
    const before = kept.get(keyId) as WindowCounts;
    const taken = take(before, limits, want, nowMs, unused);
    const { granted, counts } = taken;
    if (unused !== undefined || mustKeep(taken, before)) {
      kept.set(keyId, counts);
      changed.set(keyId, counts);
      const finished = finishedDay(before, unused, counts);
      if (finished !== undefined) {
        add(keyId, finished.day, { requests: finished.requests, refusals: 0, bans: 0 });
        rolledOver.add(keyId);
      }
    }
    return { granted, counts, nowMs };
  };
  const results = calls.map(({ requests, usage: deltas }) => {
    for (const { keyId, day, refusals, bans } of deltas) {
      add(keyId, day, { requests: 0, refusals, bans });
    }
    return requests.map(takeOne);
  });
  return { results, changed, usage, rolledOver };
}
