import type { ErrorKind } from "../domain/errors.ts";
import type { Pet, PetStatus } from "../domain/pet.ts";

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

/** A Pet as JSON text. Built by hand, because a bigint costs JSON.stringify more than all the rest of the animal. */
export function petJson({ id, name, categoryId, status }: Pet): string {
  const shown = status === undefined ? "" : `,"status":"${status}"`;
  return `{"id":${id},"name":${JSON.stringify(name)},"categoryId":${categoryId}${shown}}`;
}

/** Pets: a JSON array of Pet. */
export function petsJson(pets: readonly Pet[]): string {
  return `[${pets.map(petJson).join(",")}]`;
}
