import { int64OfJsonNumber } from "../domain/int64.ts";
import type { ErrorKind } from "../domain/errors.ts";
import type { Pet, PetStatus } from "../domain/pet.ts";

declare global {
  interface BigInt {
    toJSON(): unknown;
  }
  // ECMAScript's JSON.parse source text access, which TypeScript's library does not declare yet.
  interface JSON {
    rawJSON(text: string): unknown;
    parse(
      text: string,
      reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
    ): unknown;
  }
}

/** JSON numbers have no size limit, JavaScript's do: without this JSON.stringify throws on a bigint. */
BigInt.prototype.toJSON = function toJSON(this: bigint) {
  return JSON.rawJSON(this.toString());
};

/**
 * Where a double might not be what was written: an exponent, or more than the 15 digits that one always holds, with the
 * point among them or not.
 */
const mayBeInexact = /[\d.]{16}|\d[eE]/;

/**
 * Parses JSON (RFC 8259) so that integers stay exact over the whole int64 range: those that a double cannot hold come
 * as bigint. A number that is no int64, where a double might have rounded it to one, comes as NaN. Throws SyntaxError, and RangeError
 * for what is nested too deeply to be read.
 */
export function parseJson(text: string): unknown {
  if (!mayBeInexact.test(text)) return JSON.parse(text);
  return JSON.parse(text, (_key: string, value: unknown, context: { readonly source?: string }) => {
    if (typeof value !== "number" || context.source === undefined) return value;
    const exact = int64OfJsonNumber(context.source);
    if (exact === undefined) return Number.NaN;
    const number = Number(exact);
    return Number.isSafeInteger(number) ? number : exact;
  });
}

/**
 * A Pet as a client in JavaScript gets it. Handlers return text, which Elysia sends as it stands, and call it by what is
 * written in it: a typed client takes its types from the handlers.
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
