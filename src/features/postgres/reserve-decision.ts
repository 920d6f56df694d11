import { settleReservation, type WindowCounts } from "../../domain/windows.ts";
import type { ReserveRequest, Reserved, UsageDelta } from "../../storage/contract.ts";

/** One call of `reserve`. */
export interface ReserveCall {
  readonly requests: readonly ReserveRequest[];
  readonly usage: readonly UsageDelta[];
}

export interface UsageAmounts {
  requests: number;
  refusals: number;
}

/** Counts to be kept, with the caller's address where the request has one. */
export interface ChangedWindows extends WindowCounts {
  readonly address: string | undefined;
}

interface Decision {
  readonly results: Reserved[][];
  readonly changed: ReadonlyMap<string, ChangedWindows>;
  /** By key and day, separated by a space. */
  readonly usage: ReadonlyMap<string, UsageAmounts>;
  /** For each key whose day ended, the first day whose usage is still kept. */
  readonly forgetBefore: ReadonlyMap<string, number>;
}

/** What the calls are granted and what is to be kept of it, one request after the other. */
export function decide(
  calls: readonly ReserveCall[],
  kept: Map<string, WindowCounts>,
  nowMs: number,
): Decision {
  const changed = new Map<string, ChangedWindows>();
  const usage = new Map<string, UsageAmounts>();
  const forgetBefore = new Map<string, number>();
  const add = (keyId: string, day: number, amounts: UsageAmounts) => {
    const sum = usage.getOrInsertComputed(`${keyId} ${day}`, () => ({ requests: 0, refusals: 0 }));
    sum.requests += amounts.requests;
    sum.refusals += amounts.refusals;
  };
  const reserveOne = (request: ReserveRequest): Reserved => {
    const { keyId } = request;
    const { result, mustPut, finished } = settleReservation(
      kept.get(keyId) as WindowCounts,
      request,
      nowMs,
    );
    if (mustPut) {
      kept.set(keyId, result.counts);
      const address = request.address ?? changed.get(keyId)?.address;
      changed.set(keyId, { ...result.counts, address });
    }
    if (finished !== undefined) {
      add(keyId, finished.day, { requests: finished.requests, refusals: 0 });
      forgetBefore.set(keyId, finished.forgetBefore);
    }
    return result;
  };
  const results = calls.map(({ requests, usage: deltas }) => {
    for (const { keyId, day, refusals } of deltas) add(keyId, day, { requests: 0, refusals });
    return requests.map(reserveOne);
  });
  return { results, changed, usage, forgetBefore };
}
