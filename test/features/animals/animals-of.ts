import { AnimalService } from "../../../src/features/animals/animals.ts";
import type { Store } from "../../../src/storage/contract.ts";

/** What people do with the animals of a store. */
export function animalsOf(store: Store): AnimalService {
  return new AnimalService({ db: store.db, clock: Date.now, actor: "tester" });
}
