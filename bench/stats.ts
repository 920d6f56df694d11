// The few numbers the bench makes out of rounds.

/** The median of `values`, of an even count the mean of the middle two. Throws on none. */
export function median(values: readonly number[]): number {
  if (values.length === 0) throw new Error("no values to take a median of");
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] as number;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] as number) + upper) / 2;
}

/** What one round of one target measured. Times are per request unless the name says otherwise. */
export interface Round {
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** User and system time of the whole process, all threads, after it came to rest. */
  readonly cpuUs: number;
  readonly rssMiB: number;
  /** What the process caused to be written to the disk (write_bytes). */
  readonly writtenBytes: number;
  /** Bytes of one response on the wire, headers included. */
  readonly responseBytes: number;
  /** Share of its core the server used while the load ran, 0 to 1. */
  readonly busy: number;
  /** The larger share, 0 to 1, of the server's or the load's core that other programs took. */
  readonly others: number;
}

export type Figure = keyof Round;

/** A target with figures, those of its rounds and the median of each, or the reason for none. */
export type Outcome =
  | {
      readonly target: string;
      readonly ran: true;
      readonly rounds: readonly Round[];
      readonly median: Round;
    }
  | { readonly target: string; readonly ran: false; readonly reason: string };

export interface ScenarioResult {
  readonly name: string;
  readonly title: string;
  readonly outcomes: readonly Outcome[];
}

/** The median of every figure over the rounds. */
export function medianRound(rounds: readonly Round[]): Round {
  const figures = Object.keys(rounds[0] ?? {}) as Figure[];
  const medians = figures.map((figure) => [figure, median(rounds.map((round) => round[figure]))]);
  return Object.fromEntries(medians) as Round;
}

/**
 * The ratio of a figure between two targets of one scenario: the median of the ratios of rounds
 * that ran one after the other, so that a machine that slows down meanwhile slows both. Undefined
 * when either did not run or the other's figure is zero.
 */
export function ratio(result: ScenarioResult, target: string, other: string, figure: Figure) {
  const [top, bottom] = [target, other].map((name) =>
    result.outcomes.find((outcome) => outcome.target === name),
  );
  if (!top?.ran || !bottom?.ran) return undefined;
  const ratios = top.rounds.flatMap((round, i) => {
    const under = bottom.rounds[i]?.[figure];
    return under ? [round[figure] / under] : [];
  });
  if (ratios.length === 0) return undefined;
  return { median: median(ratios), least: Math.min(...ratios), most: Math.max(...ratios) };
}
