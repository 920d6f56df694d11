/** Which name a typing error means. */

/**
 * The number of letters to insert, delete, replace or swap with their neighbour to turn `a` into
 * `b` (optimal string alignment distance).
 */
export function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const isSame = a[i - 1] === b[j - 1];
      let least = Math.min(
        (last[j] ?? 0) + 1,
        (row[j - 1] ?? 0) + 1,
        (last[j - 1] ?? 0) + (isSame ? 0 : 1),
      );
      if (a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        least = Math.min(least, (beforeLast[j - 2] ?? 0) + 1);
      }
      row.push(least);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length] ?? 0;
}

/** A name with more changes than this share of its letters is another name. */
const slipShareMax = 0.4;

/**
 * The one of `names` that `name` most likely means, or undefined if none is near. It finds typing
 * errors, a beginning of the name, and a name with more behind it. Case does not count.
 */
export function nearest(name: string, names: readonly string[]): string | undefined {
  const given = name.toLowerCase();
  const isNear = (candidate: string, distance: number) =>
    distance <= candidate.length * slipShareMax ||
    (given !== "" && candidate.startsWith(given)) ||
    given.startsWith(candidate);
  const [best] = names
    .map((candidate) => ({ candidate, distance: editDistance(given, candidate.toLowerCase()) }))
    .filter(({ candidate, distance }) => isNear(candidate.toLowerCase(), distance))
    .toSorted((a, b) => a.distance - b.distance);
  return best?.candidate;
}
