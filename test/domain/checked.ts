import * as fc from "fast-check";

/** The seed of every property here. fast-check prints it, and the shrunk case, when one fails. */
const seed = 20_261_121;

/** Checks `property` for `numRuns` values of `arbitrary`: the same ones in every run. */
export function checked<T>(
  arbitrary: fc.Arbitrary<T>,
  property: (value: T) => void,
  numRuns = 1000,
): void {
  fc.assert(fc.property(arbitrary, property), { seed, numRuns });
}
