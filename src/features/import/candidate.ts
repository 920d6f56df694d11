import type { NewPet } from "../../domain/pet.ts";
import type { Message } from "./messages.ts";

/**
 * The category as the input has it: our id (with its name where that is known), a name to look up,
 * or the id of a record elsewhere in the input whose name is known once all of it has been read
 * (`Reading.referenced`).
 */
export type CandidateCategory =
  | { readonly id: bigint; readonly name?: string }
  | { readonly name: string; readonly id?: undefined }
  | { readonly reference: string };

/** What every record comes to, whatever becomes of it. */
export interface FromLine {
  /** Where the record begins in the input, from 1. */
  readonly line: number;
  /** The animal's own id, which this catalogue gave. */
  readonly id?: bigint | undefined;
  /** `source:id`, so that two sources cannot take each other's animals; unique in the catalogue. */
  readonly externalId?: string | undefined;
  /** Whose id that is; absent for that of the whole import. */
  readonly source?: string | undefined;
  /**
   * Time of the record's last change as YYYYMMDDhhmmss, in UTC or in a zone that is not known; of
   * two records for one animal the greater one holds.
   */
  readonly version?: number | undefined;
}

/** An animal for the catalogue. */
export interface Candidate extends FromLine, Omit<NewPet, "categoryId"> {
  readonly kind: "pet";
  readonly category: CandidateCategory;
}

/**
 * A sound record of an animal that is not for adoption (any more): it died, left otherwise, or was
 * only found. It takes the animal out of the catalogue, and replaces an older record of it in the
 * same input.
 */
export interface Gone extends FromLine {
  readonly kind: "gone";
  readonly reason: string;
  /** What the record calls the animal, to find two animals under one id. */
  readonly name: string | undefined;
}

/** A record that cannot be imported, with the field at fault (empty: the record as a whole). */
export interface Rejection extends FromLine {
  readonly kind: "reject";
  readonly field: string;
  readonly problem: Message;
  /** The record itself: what `--rejects` writes down. */
  readonly record: unknown;
  /** Set when all that is missing is an id for the category's name. */
  readonly unknownCategory?: true;
  /** Set when all that is missing is the meaning of this status. */
  readonly unknownStatus?: string;
}

export type Outcome = Candidate | Gone | Rejection;

/** A record whose status the input names elsewhere: `settle` makes its outcome of that. */
export interface Deferred {
  readonly kind: "deferred";
  readonly reference: string;
  readonly settle: (status: string | undefined) => Outcome;
}
