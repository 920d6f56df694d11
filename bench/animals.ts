// The animals every store is filled with: the same ones, in the same order, for every target.

interface Animal {
  readonly name: string;
  readonly categoryId: number;
  readonly status?: "available" | "pending" | "sold";
}

const names = [
  "Rex",
  "Luna",
  "Bella",
  "Max",
  "Charlie",
  "Milo",
  "Nala",
  "Oscar",
  "Mäuschen",
  "Zoë",
];

/** The `i`-th animal, from 1: three in five are available, one in twenty has no status. */
export function animal(i: number): Animal {
  // Knuth's multiplicative hash: spread, and the same on every machine.
  const spread = Math.imul(i, 2_654_435_761) >>> 0;
  const base = { name: `${names[spread % 10]} ${i}`, categoryId: 1 + (spread % 4) };
  const kind = (spread >>> 8) % 20;
  if (kind === 0) return base;
  if (kind <= 12) return { ...base, status: "available" };
  return { ...base, status: kind <= 15 ? "pending" : "sold" };
}

/** Writes `count` animals from the `first` on to `file` as NDJSON, for an import. */
export async function writeAnimals(file: string, count: number, first = 1): Promise<void> {
  const lines = Array.from({ length: count }, (_, i) => JSON.stringify(animal(first + i)));
  await Bun.write(file, `${lines.join("\n")}\n`);
}
