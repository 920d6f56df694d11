/** What an import does to each animal, as people are told. */
import type { PetStatus } from "../../../domain/pet.ts";
import type { ImportCategories, ResolvedCategory } from "./categories.ts";
import type { Decision, ListField } from "./desk.ts";
import type { StoreAnimal } from "./store.ts";

/** A value before and after, as people read it; null for none. Of `presence`: there or gone. */
export interface FieldReport {
  readonly field: ListField | "presence";
  readonly before: string | null;
  readonly after: string | null;
}

/** An animal that was here, and what an import does to it. */
export interface AnimalReport {
  readonly id: bigint;
  readonly name: string;
  /** `kept` as people changed it, though the list says otherwise. */
  readonly did: "updated" | "withdrawn" | "restored" | "kept";
  /** From what to what; of one that is kept, from what is here to what the list says. */
  readonly fields: readonly FieldReport[];
}

/** What a list says of an animal. */
export interface Listed {
  readonly name: string | null;
  readonly category: ResolvedCategory | undefined;
  readonly status: PetStatus | null;
}

/** Animals that are reported one by one. */
export const reportsMax = 200;

export class Reports {
  readonly changed: AnimalReport[] = [];
  readonly kept: AnimalReport[] = [];
  readonly #categories: ImportCategories;

  constructor(categories: ImportCategories) {
    this.#categories = categories;
  }

  changes(animal: StoreAnimal, { takes }: Pick<Decision, "takes">, listed: Listed): void {
    if (this.changed.length === reportsMax) return;
    const { id, name, isRemoved } = animal;
    const fields = takes.map((field) => this.#field(field, animal, listed));
    this.changed.push({ id, name, did: isRemoved ? "restored" : "updated", fields });
  }

  withdraws({ id, name }: StoreAnimal): void {
    if (this.changed.length === reportsMax) return;
    const fields = [{ field: "presence", before: "there", after: "gone" } as const];
    this.changed.push({ id, name, did: "withdrawn", fields });
  }

  keeps(animal: StoreAnimal, { kept }: Decision, listed: Listed): void {
    if (this.kept.length === reportsMax) return;
    const { id, name, isRemoved } = animal;
    const presence: FieldReport = isRemoved
      ? { field: "presence", before: "gone", after: "there" }
      : { field: "presence", before: "there", after: "gone" };
    const fields = kept.map((field) =>
      field === "presence" ? presence : this.#field(field, animal, listed),
    );
    this.kept.push({ id, name, did: "kept", fields });
  }

  #field(field: ListField, animal: StoreAnimal, { name, status, category }: Listed): FieldReport {
    const before = { ...animal, category: this.#categories.nameOf(animal.categoryId) };
    const { id, name: word } = category ?? { id: undefined, name: undefined };
    const called = word ?? (id === undefined ? null : this.#categories.nameOf(id));
    return { field, before: before[field], after: { name, status, category: called }[field] };
  }
}
