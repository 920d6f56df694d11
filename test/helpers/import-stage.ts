import type { CatalogueStore, StagedAnimal } from "../../src/storage/contract.ts";

/** Takes `animals` over through a stage of their own, two at a time, and returns what each step said. */
export async function takeOver(
  catalogue: CatalogueStore,
  animals: readonly StagedAnimal[],
  ids: readonly (bigint | undefined)[] = [],
) {
  const stage = await catalogue.beginImport();
  await stage.add(animals);
  const ready = await stage.arrange(ids);
  const compared = await stage.compare();
  const taken = [];
  for (
    let counts = await stage.takeOver(2);
    counts !== undefined;
    counts = await stage.takeOver(2)
  ) {
    taken.push(counts);
  }
  await stage.close();
  return { ready, compared, taken };
}
