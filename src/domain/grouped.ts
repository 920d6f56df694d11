/**
 * A whole number as a person reads it: `1,234,567`. Written out, because the first use of Intl
 * takes 1.5 to 4 ms and 1 MiB.
 */
export function grouped(count: number | bigint): string {
  return String(count).replaceAll(/\B(?=(?:\d{3})+$)/g, ",");
}
