import { bucketOf, parseAddress } from "../domain/address.ts";
import type { Clock } from "../domain/clock.ts";
import { labelAt, viewOf, windowMs, type WindowView } from "../domain/windows.ts";
import { rateLimited, type Admission } from "./admission.ts";

/** Buckets in memory at most. More callers share one: dropping one would hand back its quota. */
export const bucketsMax = 200_000;
export const overflowBucket = "overflow";
/** Callers without an address (a Unix socket) share one bucket. */
const unknownBucket = "unknown";

export interface Granted {
  readonly label: number;
  /** What the bucket has given in that minute, these requests included. */
  readonly used: number;
  readonly granted: number;
}

/** The names of buckets by addresses as they are spelt, because reading an address costs most. */
export class BucketNames {
  readonly #names = new Map<string, string>();

  of(address: string | undefined): string {
    if (address === undefined) return unknownBucket;
    const known = this.#names.get(address);
    if (known !== undefined) return known;
    const parsed = parseAddress(address);
    const name = parsed === undefined ? unknownBucket : bucketOf(parsed);
    if (this.#names.size < bucketsMax) this.#names.set(address, name);
    return name;
  }

  /** Forgets addresses of an earlier minute, of which most do not come again. */
  forget(): void {
    this.#names.clear();
  }
}

/** Takes requests from a bucket that several processes share. */
export type ReserveShared = (bucket: string, want: number) => Promise<Granted>;

/** What a process holds of a bucket in the running minute. */
interface Reservation {
  used: number;
  left: number;
  reserving: Promise<void> | undefined;
}

/**
 * Limits callers without a valid key, by address. A process that serves alone holds all requests of
 * a minute. One of several takes one second of an address's requests ahead by `reserve`, like the
 * limiter of keys, and asks again when they are used.
 */
export class AddressLimiter {
  readonly #clock: Clock;
  readonly #perMinute: number;
  readonly #reserve: ReserveShared | undefined;
  readonly #names = new BucketNames();
  #label = 0;
  #reservations = new Map<string, Reservation>();

  constructor(clock: Clock, perMinute: number, reserve?: ReserveShared) {
    this.#clock = clock;
    this.#perMinute = perMinute;
    this.#reserve = reserve;
  }

  /** Charges one request to the bucket of `address`, unless it is used up. */
  admit(address: string | undefined): Admission | Promise<Admission> {
    this.#keepTime();
    const bucket = this.#names.of(address);
    return this.#admitFrom(this.#reservationOf(bucket)) ?? this.#admitLater(bucket);
  }

  /** What the bucket of an address shows when nothing is charged to it. */
  peek(address: string | undefined): WindowView {
    this.#keepTime();
    return this.#viewOf(this.#reservations.get(this.#names.of(address)) ?? this.#unused());
  }

  /** Forgets the minute before. A process alone keeps its counts when the clock is set back. */
  #keepTime(): void {
    const label = labelAt(this.#label, this.#clock(), windowMs.minute);
    if (label === this.#label) return;
    // Of several, the counting process keeps them, and hears of it by being asked.
    if (label > this.#label || this.#reserve !== undefined) this.#reservations = new Map();
    this.#label = label;
    // Most of them do not come again.
    this.#names.forget();
  }

  #unused(): Reservation {
    const all = this.#reserve === undefined ? this.#perMinute : 0;
    return { used: all, left: all, reserving: undefined };
  }

  #reservationOf(bucket: string): Reservation {
    const known = this.#reservations.get(bucket);
    if (known !== undefined) return known;
    const name = this.#reservations.size < bucketsMax ? bucket : overflowBucket;
    return this.#reservations.getOrInsertComputed(name, () => this.#unused());
  }

  #viewOf({ used, left }: Reservation): WindowView {
    return viewOf("minute", this.#label, this.#perMinute, this.#perMinute - used + left);
  }

  /** Decides from what this process holds, or returns undefined when it has to ask. */
  #admitFrom(reservation: Reservation): Admission | undefined {
    if (reservation.left > 0) {
      reservation.left -= 1;
      return admitted(this.#viewOf(reservation));
    }
    if (reservation.used < this.#perMinute) return undefined;
    const view = this.#viewOf(reservation);
    const refusal = rateLimited(view, this.#clock(), {
      allowance: "An address without a valid key may make",
      exceeded: "address's limit",
    });
    return { view, key: undefined, refusal };
  }

  async #admitLater(bucket: string): Promise<Admission> {
    for (;;) {
      this.#keepTime();
      const reservation = this.#reservationOf(bucket);
      const decided = this.#admitFrom(reservation);
      if (decided !== undefined) return decided;
      reservation.reserving ??= this.#fill(bucket, reservation);
      await reservation.reserving;
    }
  }

  async #fill(bucket: string, reservation: Reservation): Promise<void> {
    if (this.#reserve === undefined) return;
    const { label, used, granted } = await this.#reserve(bucket, Math.ceil(this.#perMinute / 60));
    reservation.reserving = undefined;
    // The counting process decides which minute it is. After a clock was set back, one of us may
    // have seen a later minute than the other.
    if (label !== this.#label) this.#reservations = new Map([[bucket, reservation]]);
    this.#label = label;
    reservation.used = used;
    reservation.left += granted;
  }
}

export function admitted(view: WindowView): Admission {
  return { view, key: undefined, refusal: undefined };
}
