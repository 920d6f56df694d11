import * as fc from "fast-check";

/** Checks `property` for `numRuns` values of `arbitrary`. */
export function checked<T>(
  arbitrary: fc.Arbitrary<T>,
  property: (value: T) => void,
  numRuns = 1000,
): void {
  fc.assert(fc.property(arbitrary, property), { numRuns });
}
