import { expect } from "bun:test";
import type { Limits } from "../../src/domain/plan.ts";
import {
  reservationSize,
  labelAt,
  retryAfterSeconds,
  settleReservation,
  unusedCounts,
  type WindowCounts,
  windowMs,
  windowView,
} from "../../src/domain/windows.ts";

export type Action =
  | { readonly kind: "request"; readonly process: number; readonly times: number }
  | { readonly kind: "clock"; readonly byMs: number }
  | { readonly kind: "plan"; readonly limits: Limits }
  | { readonly kind: "stop" | "kill"; readonly process: number };

/**
 * The model of a window: what was charged while its label stood or moved back, and what became of
 * it.
 */
interface Stay {
  admitted: number;
  held: number;
  lost: number;
  highestLimit: number;
}

/**
 * What a process holds: requests taken ahead, the windows and limits they were taken under, the
 * counts it saw then.
 */
interface Block {
  count: number;
  readonly limits: Limits;
  readonly counts: WindowCounts;
  readonly stays: readonly [minute: Stay, day: Stay];
}

/**
 * Processes that serve one key out of one row, as the service does it, and the model beside them.
 * The rules under test decide; the model only adds up who was admitted and is compared with the row
 * after every take.
 */
export class LimiterDriver {
  readonly totals = { admitted: 0, refused: 0, lost: 0, relabelled: 0 };
  private row: WindowCounts = unusedCounts;
  private readonly blocks: (Block | undefined)[] = [];
  /** What each minute was admitted, however often the clock came back to it. */
  readonly admittedByMinute = new Map<number, number>();
  private stays: [minute: Stay, day: Stay];

  constructor(
    private limits: Limits,
    private nowMs: number,
  ) {
    this.stays = [this.newStay("perMinute"), this.newStay("perDay")];
  }

  run(action: Action): void {
    if (action.kind === "request") this.request(action.process, action.times);
    else if (action.kind === "clock") this.moveClock(action.byMs);
    else if (action.kind === "plan") this.changeLimits(action.limits);
    else if (action.kind === "stop") this.take(action.process, 0);
    else this.kill(action.process);
  }

  private request(process: number, times: number): void {
    for (let i = 0; i < times; i += 1) {
      const held = this.blocks[process];
      if (held === undefined || held.count === 0 || !this.isInForce(held)) {
        this.take(process, reservationSize(this.limits));
      }
      const block = this.blocks[process];
      if (block === undefined) this.refuse();
      else this.admit(block);
    }
  }

  private admit(block: Block): void {
    const before = windowView(block.counts, this.limits, block.count).remaining;
    block.count -= 1;
    for (const stay of block.stays) {
      stay.held -= 1;
      stay.admitted += 1;
      expect(stay.admitted).toBeLessThanOrEqual(stay.highestLimit);
    }
    this.totals.admitted += 1;
    const { minuteLabel } = block.counts;
    this.admittedByMinute.set(minuteLabel, (this.admittedByMinute.get(minuteLabel) ?? 0) + 1);
    expect(windowView(block.counts, this.limits, block.count).remaining).toBe(before - 1);
  }

  private refuse(): void {
    const { minuteUsed, dayUsed } = this.row;
    const { perMinute, perDay } = this.limits;
    expect(minuteUsed >= perMinute || dayUsed >= perDay).toBe(true);
    const shown = windowView(this.row, this.limits, 0);
    const seconds = retryAfterSeconds(shown.resetSeconds, this.nowMs);
    expect(shown.remaining).toBe(0);
    expect(this.nowMs + seconds * 1000).toBeGreaterThanOrEqual(shown.resetSeconds * 1000);
    this.totals.refused += 1;
  }

  /** One transaction: what `process` holds goes back, and it takes `want`. */
  private take(process: number, want: number): void {
    const old = this.blocks[process];
    const unused = old && {
      minuteLabel: old.counts.minuteLabel,
      dayLabel: old.counts.dayLabel,
      count: old.count,
    };
    this.blocks[process] = undefined;
    if (old !== undefined) this.giveBack(old);
    const request = { keyId: "", limits: this.limits, want, unused };
    const { granted, counts } = settleReservation(this.row, request, this.nowMs).result;
    this.followLabels(counts);
    this.row = counts;
    for (const stay of this.stays) stay.held += granted;
    if (granted > 0) {
      this.blocks[process] = {
        count: granted,
        limits: this.limits,
        counts,
        stays: [...this.stays],
      };
    }
    this.compare();
    expect(granted).toBeGreaterThanOrEqual(0);
    expect(granted).toBeLessThanOrEqual(want);
  }

  /**
   * What is not used goes back where the window still stands; a window that ended, or moved back
   * since, keeps it.
   */
  private giveBack({ stays, counts, count }: Block): void {
    const moved = [
      counts.minuteLabel !== this.row.minuteLabel,
      counts.dayLabel !== this.row.dayLabel,
    ];
    stays.forEach((stay, i) => {
      stay.held -= count;
      if (stay !== this.stays[i] || moved[i] === true) stay.lost += count;
    });
  }

  /** Checks where the labels went, and begins a new stay for each that went forward. */
  private followLabels(next: WindowCounts): void {
    const moves = [
      [this.row.minuteLabel, next.minuteLabel, windowMs.minute, "perMinute"],
      [this.row.dayLabel, next.dayLabel, windowMs.day, "perDay"],
    ] as const;
    moves.forEach(([from, to, lengthMs, limit], i) => {
      const current = Math.floor(this.nowMs / lengthMs);
      const isFarAhead = from > current + 1;
      if (isFarAhead) this.totals.relabelled += 1;
      if (to === from) expect([current, current + 1]).toContain(from);
      else expect(to).toBe(current);
      expect(to < from).toBe(isFarAhead);
      if (to > from) this.stays[i] = this.newStay(limit);
    });
  }

  /**
   * The row says what the model added up: each request is charged to both windows, once, and
   * nothing else is.
   */
  private compare(): void {
    const charged = this.stays.map(({ admitted, held, lost }) => admitted + held + lost);
    expect([this.row.minuteUsed, this.row.dayUsed]).toEqual(charged);
  }

  private changeLimits(limits: Limits): void {
    this.limits = limits;
    const [minute, day] = this.stays;
    minute.highestLimit = Math.max(minute.highestLimit, limits.perMinute);
    day.highestLimit = Math.max(day.highestLimit, limits.perDay);
  }

  private kill(process: number): void {
    const block = this.blocks[process];
    this.blocks[process] = undefined;
    if (block === undefined) return;
    for (const stay of block.stays) {
      stay.held -= block.count;
      stay.lost += block.count;
    }
    this.totals.lost += block.count;
  }

  /**
   * A process that finds its clock set back by more than a window drops what it holds. Another one
   * may have moved the row's label back meanwhile; when the clock comes to the old label again it
   * is a new window, in which nothing of it is charged.
   */
  private moveClock(byMs: number): void {
    this.nowMs += byMs;
    for (const [process, block] of this.blocks.entries()) {
      if (block !== undefined && this.isFarAhead(block.counts)) this.kill(process);
    }
  }

  private isFarAhead({ minuteLabel, dayLabel }: WindowCounts): boolean {
    const { minute, day } = windowMs;
    const isFar = (label: number, lengthMs: number) =>
      label > Math.floor(this.nowMs / lengthMs) + 1;
    return isFar(minuteLabel, minute) || isFar(dayLabel, day);
  }

  private isInForce({ counts, limits }: Block): boolean {
    return (
      limits === this.limits &&
      labelAt(counts.minuteLabel, this.nowMs, windowMs.minute) === counts.minuteLabel &&
      labelAt(counts.dayLabel, this.nowMs, windowMs.day) === counts.dayLabel
    );
  }

  private newStay(limit: keyof Limits): Stay {
    return { admitted: 0, held: 0, lost: 0, highestLimit: this.limits[limit] };
  }
}
