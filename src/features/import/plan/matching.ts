/** Which animal a record without an id is, by its name and category. */
import { categoryKey } from "../../animals/categories.ts";
import type { SoundRecord } from "../understand/record.ts";
import { idPrefix } from "../understand/values.ts";
import type { StoreAnimal } from "./store.ts";

export const nameKey = (name: string, category: string): string =>
  `${categoryKey(name)}\0${category}`;

export const animalKey = ({ name, categoryId }: StoreAnimal): string =>
  nameKey(name, String(categoryId));

/** False where ids or sources say that they are two: equal ids are one animal's in one source. */
export function mayBeSame({ externalId, source }: SoundRecord, animal: StoreAnimal): boolean {
  if (source !== "" && animal.source !== "" && source !== animal.source) return false;
  if (externalId === undefined || animal.externalId === null) return true;
  const plain = (id: string, of: string) => (of === "" ? id : id.slice(idPrefix(of).length));
  return (
    source !== animal.source &&
    plain(externalId, source) === plain(animal.externalId, animal.source)
  );
}

/** True if it makes no difference which of the records is which of the animals. */
export function isSameState(
  records: readonly SoundRecord[],
  animals: readonly StoreAnimal[],
): boolean {
  const said = records.map((each) => (each.kind === "pet" ? (each.status ?? "") : "gone"));
  const known = animals.map(({ status }) => status ?? "");
  return said.toSorted().join() === known.toSorted().join();
}
