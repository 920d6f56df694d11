import type { CatalogueStore } from "../../src/features/import/catalogue.ts";
import type { Arrangement, StagedAnimal } from "../../src/features/import/stage.ts";

/** An animal as an import keeps it aside. */
export function staged(name: string, fields: Partial<StagedAnimal> = {}): StagedAnimal {
  return {
    line: 1,
    id: undefined,
    name,
    categoryId: 1n,
    categoryKey: undefined,
    status: undefined,
    externalId: undefined,
    source: "",
    version: 0,
    isGone: false,
    ...fields,
  };
}

/**
 * Takes `animals` over through a stage of their own, two at a time, and returns what each step
 * said. Calls `between` after each step.
 */
export async function takeOver(
  catalogue: CatalogueStore,
  animals: readonly StagedAnimal[],
  ids: readonly (bigint | undefined)[] = [],
  arrangement: Partial<Arrangement> = {},
  between?: () => Promise<void>,
) {
  const stage = await catalogue.beginImport({ actor: "tester", nowMs: () => 1_000 });
  await stage.add(animals);
  const arranged = await stage.arrange({ ...arrangement, categoryIds: ids });
  const compared = await stage.compare();
  const taken = [];
  for (
    let counts = await stage.takeOver(2);
    counts !== undefined;
    counts = await stage.takeOver(2)
  ) {
    taken.push(counts);
    await between?.();
  }
  await stage.finish({ of: "a test" });
  await stage.close();
  return { ready: arranged.animals, arranged, compared, taken };
}
