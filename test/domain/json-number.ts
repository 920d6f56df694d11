import * as fc from "fast-check";

/** `value` if it lies within 64 bits. */
export function inRange(value: bigint): bigint | undefined {
  return value >= -(1n << 63n) && value < 1n << 63n ? value : undefined;
}

/** The int64 of these parts, by rational arithmetic. */
function exactValue(whole: string, fraction: string, exponent: number) {
  const power = exponent - fraction.length;
  const scale = 10n ** BigInt(Math.abs(power));
  const unscaled = BigInt(whole + fraction);
  if (power >= 0) return inRange(unscaled * scale);
  return unscaled % scale === 0n ? inRange(unscaled / scale) : undefined;
}

const digits = fc.oneof(
  fc.constant(""),
  fc.stringMatching(/^\d{1,22}$/),
  fc.stringMatching(/^0+$/),
);

/** JSON numbers of all forms, of which about one in ten is an int64, and which one it is. */
export const jsonNumbers = fc
  .tuple(
    fc.stringMatching(/^-?(0|[1-9]\d{0,21})$/),
    digits,
    fc.option(fc.integer({ min: -40, max: 40 }), { nil: undefined }),
  )
  .map(([whole, fraction, exponent]) => ({
    source: whole + (fraction && `.${fraction}`) + (exponent === undefined ? "" : `e${exponent}`),
    int64: exactValue(whole, fraction, exponent ?? 0),
  }));
