/**
 * Column types for a connection with `safeIntegers`, which hands every integer over as a bigint. Drizzle's own
 * `integer()` is typed `number` and would lie about that.
 */
import { customType } from "drizzle-orm/sqlite-core";

/** An integer over the full int64 range. */
export const int64 = customType<{ data: bigint; driverData: bigint }>({
  dataType: () => "integer",
});

/** An integer that stays within the exact range of a number: counters, labels, times in milliseconds. */
export const count = customType<{ data: number; driverData: number | bigint }>({
  dataType: () => "integer",
  fromDriver: Number,
});

/** A value kept as JSON text. */
export const json = <T>() =>
  customType<{ data: T; driverData: string }>({
    dataType: () => "text",
    toDriver: (value) => JSON.stringify(value),
    fromDriver: (value) => JSON.parse(value) as T,
  });

/** SHA-256 digests. */
export const digest = customType<{ data: Uint8Array; driverData: Uint8Array }>({
  dataType: () => "blob",
});
