import * as fc from "fast-check";

/** A number as JSON may write it, and what it is worth: decided by rational arithmetic. */
interface JsonNumber {
  readonly source: string;
  /** The int64 that it denotes, if it denotes one. */
  readonly int64: bigint | undefined;
}

const digits = fc.stringMatching(/^\d{1,22}$/);

/** JSON numbers of all forms, of which about one in ten is an int64. */
export const jsonNumbers: fc.Arbitrary<JsonNumber> = fc
  .record({
    sign: fc.constantFrom("", "-"),
    whole: fc.oneof(fc.constant("0"), fc.stringMatching(/^[1-9]\d{0,21}$/)),
    fraction: fc.option(fc.oneof(digits, fc.stringMatching(/^0{1,22}$/)), { nil: undefined }),
    exponent: fc.option(fc.integer({ min: -40, max: 40 }), { nil: undefined }),
  })
  .map(({ sign, whole, fraction, exponent }) => ({
    source:
      `${sign}${whole}${fraction === undefined ? "" : `.${fraction}`}` +
      (exponent === undefined ? "" : `e${exponent}`),
    int64: exactValue(sign, whole, fraction ?? "", exponent ?? 0),
  }));

/** `value` if it lies within 64 bits. */
export function inRange(value: bigint): bigint | undefined {
  return value >= -(1n << 63n) && value < 1n << 63n ? value : undefined;
}

function exactValue(sign: string, whole: string, fraction: string, exponent: number) {
  const power = exponent - fraction.length;
  const scale = 10n ** BigInt(Math.abs(power));
  const unscaled = BigInt(`${sign}${whole}${fraction}`);
  if (power >= 0) return inRange(unscaled * scale);
  return unscaled % scale === 0n ? inRange(unscaled / scale) : undefined;
}
