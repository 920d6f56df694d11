/** Whole numbers over the full signed 64-bit range: the OpenAPI `integer` of format `int64`. */

export const int64Min = -(2n ** 63n);
export const int64Max = 2n ** 63n - 1n;

/** True when `value` lies within the signed 64-bit range. */
export function isInt64(value: bigint): boolean {
  return value >= int64Min && value <= int64Max;
}

const plainDecimal = /^-?(?:0|[1-9]\d{0,18})$/;

/** The int64 written in `text` as a plain decimal integer, or undefined: no sign `+`, no leading zero, no exponent. */
export function parseInt64(text: string): bigint | undefined {
  if (!plainDecimal.test(text)) return undefined;
  const value = BigInt(text);
  return isInt64(value) ? value : undefined;
}
