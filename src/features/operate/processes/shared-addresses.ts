import type { Clock } from "../../../domain/clock.ts";
import { labelAt, viewOf, windowMs, type WindowView } from "../../../domain/windows.ts";
import type { Admission } from "../../../service/admission.ts";
import {
  admitted,
  BucketNames,
  usedUp,
  type AddressLimiter,
  type Taken,
} from "../../../service/anonymous.ts";

/** Takes requests from a bucket that several processes share. */
export type TakeShared = (bucket: string, want: number) => Promise<Taken>;

interface Block {
  used: number;
  left: number;
  taking: Promise<void> | undefined;
}

/**
 * Limits callers of one of several processes. Like the limiter of keys, it takes one second of an
 * address's requests ahead, and asks again when they are used.
 */
export class SharedAddressLimiter implements AddressLimiter {
  readonly #clock: Clock;
  readonly #perMinute: number;
  readonly #take: TakeShared;
  readonly #names = new BucketNames();
  #label = 0;
  #blocks = new Map<string, Block>();

  constructor(clock: Clock, perMinute: number, take: TakeShared) {
    this.#clock = clock;
    this.#perMinute = perMinute;
    this.#take = take;
  }

  admit(address: string | undefined): Admission | Promise<Admission> {
    const bucket = this.#names.of(address);
    return this.#admitFrom(this.#blockOf(bucket)) ?? this.#admitLater(bucket);
  }

  peek(address: string | undefined): WindowView {
    const { used, left } = this.#blockOf(this.#names.of(address));
    return viewOf("minute", this.#label, this.#perMinute, this.#perMinute - used + left);
  }

  /**
   * The block of the running minute. What is left of another one is forgotten. So the counting
   * process, which keeps the count, hears at once of a clock that was set back.
   */
  #blockOf(bucket: string): Block {
    const label = labelAt(this.#label, this.#clock(), windowMs.minute);
    if (label !== this.#label) {
      this.#blocks = new Map();
      this.#names.forget();
    }
    this.#label = label;
    const unused = () => ({ used: 0, left: 0, taking: undefined });
    return this.#blocks.getOrInsertComputed(bucket, unused);
  }

  /** Decides from what this process holds, or returns undefined when it has to ask. */
  #admitFrom(block: Block): Admission | undefined {
    if (block.left > 0) {
      block.left -= 1;
      return admitted(
        viewOf("minute", this.#label, this.#perMinute, this.#perMinute - block.used + block.left),
      );
    }
    if (block.used < this.#perMinute) return undefined;
    return usedUp(viewOf("minute", this.#label, this.#perMinute, 0), this.#clock());
  }

  async #admitLater(bucket: string): Promise<Admission> {
    for (;;) {
      const block = this.#blockOf(bucket);
      const decided = this.#admitFrom(block);
      if (decided !== undefined) return decided;
      block.taking ??= this.#fill(bucket, block);
      await block.taking;
    }
  }

  async #fill(bucket: string, block: Block): Promise<void> {
    const { label, used, granted } = await this.#take(bucket, Math.ceil(this.#perMinute / 60));
    block.taking = undefined;
    // The counting process decides which minute it is. After a clock was set back, one of us may
    // have seen a later minute than the other.
    if (label !== this.#label) this.#blocks = new Map([[bucket, block]]);
    this.#label = label;
    block.used = used;
    block.left += granted;
  }
}
