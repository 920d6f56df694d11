/** Lengths of time in milliseconds; a UTC day has no leap second in Unix time. */
export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/** Times further ahead of the clock than this come from a wrong clock. */
export const clockToleranceMs = 5_000;

/** Milliseconds since the Unix epoch. Rules take the time as an argument; edges hold a Clock. */
export type Clock = () => number;

/** The machine's clock, and the only place that reads it. */
export const systemClock: Clock = Date.now;

/** `ms` as an ISO 8601 date and time in UTC, to the second: `2026-11-21T08:32:00Z`. */
export function isoSeconds(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d{3}Z$/, "Z");
}

/** The end of something, like `isoSeconds` but rounded up: at the time shown, it is over. */
export function isoEnd(ms: number): string {
  return isoSeconds(Math.ceil(ms / 1_000) * 1_000);
}

/** `ms` as an HTTP date (RFC 9110, section 5.6.7): `Thu, 05 Dec 2030 00:00:00 GMT`. */
export function httpDate(ms: number): string {
  return new Date(ms).toUTCString();
}
