import type { Pet, PetStatus } from "../../domain/pet.ts";
import type { HistoryEvent } from "../animals/events.ts";
import type { PetPatch } from "../animals/statements/changes.ts";
import type { OptionalTextName } from "../optional-texts.ts";

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

/** What to set in animals. What is absent stays. */
export interface AnimalChange extends Pick<PetPatch, OptionalTextName> {
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
  readonly did: HistoryEvent["did"];
  readonly changed: HistoryEvent["changed"];
}

/** What a change came to. */
export interface ChangeMade {
  /** Undefined where nothing was changed. */
  readonly changeId: bigint | undefined;
}
