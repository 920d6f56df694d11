import type { Category } from "../animals/category.ts";
import type { Clock } from "../../domain/clock.ts";
import type { NewPet, OptionalTextName, Pet, PetPatch, PetStatus } from "../../domain/pet.ts";
import type { Happening } from "../animals/happenings.ts";
import type { ExportedPet } from "../import/catalogue.ts";
import type { Services } from "../../service/services.ts";
import type { HealthDesk } from "./health.ts";
import type { ImportDesk } from "./import-desk.ts";
import type { PeopleService } from "./people.ts";
import type { Traffic } from "../operate/traffic.ts";

/** Everything that the pages call. */
export interface Desk {
  readonly services: Services;
  readonly people: PeopleService;
  readonly imports: ImportDesk;
  readonly health: HealthDesk;
  readonly animals: AnimalDesk;
  readonly clock: Clock;
  /** What the service that this console belongs to did in the last hour. */
  traffic(): Promise<Traffic>;
}

export interface AnimalQuery {
  readonly text: string;
  readonly categoryId: bigint | undefined;
  /** `"none"` finds the animals without a status. */
  readonly status: PetStatus | "none" | undefined;
  readonly limit: number;
  /** Only animals with a lower id: the next page of the newest first. */
  readonly before: bigint | undefined;
}

export interface FoundAnimals {
  readonly animals: readonly Pet[];
  /** How many fit the query; with `isMore` there are more, and nobody counted them. */
  readonly found: number;
  readonly isMore: boolean;
  readonly total: number;
  readonly more: boolean;
}

interface AnimalChange extends Pick<PetPatch, OptionalTextName> {
  readonly name?: string;
  readonly category?: string;
  readonly status?: PetStatus | "none";
}

export interface ChangeRecord {
  readonly id: bigint;
  readonly atMs: number;
  readonly actor: string;
  readonly action: string;
  readonly animals: number;
  /** Animals that an undo left as they were, because they were changed since. */
  readonly left: number;
  /** The name of its only animal. */
  readonly name: string | undefined;
  readonly isUndone: boolean;
  readonly undoes: bigint | undefined;
}

export interface AnimalEvent {
  readonly atMs: number | undefined;
  readonly actor: string | undefined;
  readonly action: string;
  readonly did: Happening["did"];
  readonly changed: Happening["changed"];
}

interface RemovedAnimal {
  readonly name: string;
  /** Undefined where the change is no longer kept. */
  readonly change: ChangeRecord | undefined;
}

/** What a change came to. */
export interface ChangeMade {
  /** Undefined where nothing was changed. */
  readonly changeId: bigint | undefined;
}

interface CountedCategory extends Category {
  readonly animals: number;
}

export interface AnimalDesk {
  /** Gets ready for searches among many animals, in the background. */
  prepare(): Promise<void>;
  find(query: AnimalQuery): Promise<FoundAnimals>;
  /** The animals that fit, in batches, the oldest first. */
  all(query: AnimalQuery): AsyncGenerator<readonly ExportedPet[]>;
  byId(id: bigint): Promise<Pet | undefined>;
  categories(): Promise<readonly Category[]>;
  countedCategories(): Promise<readonly CountedCategory[]>;
  /** An animal that was removed, and the change that did it. Undefined for any other id. */
  removed(id: bigint): Promise<RemovedAnimal | undefined>;
  /** Newest first. */
  history(id: bigint): Promise<readonly AnimalEvent[]>;
  changeById(id: bigint): Promise<ChangeRecord | undefined>;
  /** The newest changes by people and imports, newest first. */
  recentChanges(limit: number): Promise<readonly ChangeRecord[]>;
  add(
    animal: Omit<NewPet, "categoryId"> & { readonly category: string },
    actor: string,
  ): Promise<ChangeMade>;
  update(ids: readonly bigint[], change: AnimalChange, actor: string): Promise<ChangeMade>;
  remove(ids: readonly bigint[], actor: string): Promise<ChangeMade>;
  undo(changeId: bigint, actor: string): Promise<ChangeMade>;
  addCategory(name: string, actor: string): Promise<ChangeMade>;
  renameCategory(id: bigint, name: string, actor: string): Promise<ChangeMade>;
  mergeCategories(id: bigint, into: bigint, actor: string): Promise<ChangeMade>;
}
