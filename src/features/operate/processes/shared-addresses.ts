import type { Clock } from "../../../domain/clock.ts";
import { labelAt, viewOf, windowMs, type WindowView } from "../../../domain/windows.ts";
import type { Admission } from "../../../service/admission.ts";
import {
  admitted,
  BucketNames,
  usedUp,
  type AddressLimiter,
  type Granted,
} from "../../../service/anonymous.ts";

/** Takes requests from a bucket that several processes share. */
export type ReserveShared = (bucket: string, want: number) => Promise<Granted>;

interface Reservation {
  used: number;
  left: number;
  reserving: Promise<void> | undefined;
}

/**
 * Limits callers of one of several processes. Like the limiter of keys, it takes one second of an
 * address's requests ahead, and asks again when they are used.
 */
export class SharedAddressLimiter implements AddressLimiter {
  readonly #clock: Clock;
  readonly #perMinute: number;
  readonly #reserve: ReserveShared;
  readonly #names = new BucketNames();
  #label = 0;
  #reservations = new Map<string, Reservation>();

  constructor(clock: Clock, perMinute: number, reserve: ReserveShared) {
    this.#clock = clock;
    this.#perMinute = perMinute;
    this.#reserve = reserve;
  }

  admit(address: string | undefined): Admission | Promise<Admission> {
    const bucket = this.#names.of(address);
    return this.#admitFrom(this.#reservationOf(bucket)) ?? this.#admitLater(bucket);
  }

  peek(address: string | undefined): WindowView {
    const { used, left } = this.#reservationOf(this.#names.of(address));
    return viewOf("minute", this.#label, this.#perMinute, this.#perMinute - used + left);
  }

  /**
   * What is reserved in the running minute; the rest of another one is forgotten. So the counting
   * process, which keeps the count, hears at once of a clock that was set back.
   */
  #reservationOf(bucket: string): Reservation {
    const label = labelAt(this.#label, this.#clock(), windowMs.minute);
    if (label !== this.#label) {
      this.#reservations = new Map();
      this.#names.forget();
    }
    this.#label = label;
    const unused = () => ({ used: 0, left: 0, reserving: undefined });
    return this.#reservations.getOrInsertComputed(bucket, unused);
  }

  /** Decides from what this process holds, or returns undefined when it has to ask. */
  #admitFrom(reservation: Reservation): Admission | undefined {
    if (reservation.left > 0) {
      reservation.left -= 1;
      return admitted(
        viewOf(
          "minute",
          this.#label,
          this.#perMinute,
          this.#perMinute - reservation.used + reservation.left,
        ),
      );
    }
    if (reservation.used < this.#perMinute) return undefined;
    return usedUp(viewOf("minute", this.#label, this.#perMinute, 0), this.#clock());
  }

  async #admitLater(bucket: string): Promise<Admission> {
    for (;;) {
      const reservation = this.#reservationOf(bucket);
      const decided = this.#admitFrom(reservation);
      if (decided !== undefined) return decided;
      reservation.reserving ??= this.#fill(bucket, reservation);
      await reservation.reserving;
    }
  }

  async #fill(bucket: string, reservation: Reservation): Promise<void> {
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
