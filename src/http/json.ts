import type { ErrorKind } from "../domain/errors.ts";
import { petJson, type Pet, type PetStatus } from "../domain/pet.ts";

/**
 * A Pet as a client in JavaScript gets it. Handlers return JSON text cast to this type. Elysia sends the text unchanged, and
 * its typed client (Eden) takes its types from what handlers return.
 */
export interface PetBody {
  readonly id: number;
  readonly name: string;
  readonly categoryId: number;
  readonly status?: PetStatus;
}

/** An Error as a client gets it. */
export interface ErrorBody {
  readonly code: ErrorKind;
  readonly message: string;
  readonly status: number;
}

/** Pets: a JSON array of Pet. */
export function petsJson(pets: readonly Pet[]): string {
  return `[${pets.map((pet) => petJson(pet)).join(",")}]`;
}
