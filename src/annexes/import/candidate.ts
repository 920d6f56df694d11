import type { PetStatus } from "../../domain/pet.ts";

/**
 * The category as the input has it: our id, a name to look up, or the id of a record elsewhere in the input
 * whose name is known once all of it has been read (`Reading.referenced`).
 */
export type CandidateCategory =
  { readonly id: bigint } | { readonly name: string } | { readonly reference: string };

/** What every record comes to, whatever becomes of it. */
interface FromLine {
  /** Where the record begins in the input, from 1. */
  readonly line: number;
  /** `source:id`, so that two sources cannot take each other's animals; unique in the catalogue. */
  readonly externalId?: string | undefined;
  /** Local time of the record's last change as YYYYMMDDhhmmss; of two records for one animal the greater one holds. */
  readonly version?: number | undefined;
}

/** An animal for the catalogue. */
export interface Candidate extends FromLine {
  readonly kind: "pet";
  readonly name: string;
  readonly category: CandidateCategory;
  readonly status?: PetStatus | undefined;
}

/**
 * A sound record that is not an animal for the catalogue (a found animal, one that went elsewhere). It still
 * replaces an older record of the same animal in the same input.
 */
export interface Skip extends FromLine {
  readonly kind: "skip";
  readonly reason: string;
}

/** A record that cannot be taken over, with the field at fault (empty: the record as a whole). */
export interface Rejection extends FromLine {
  readonly kind: "reject";
  readonly field: string;
  readonly problem: string;
  /** The record itself: what `--rejects` writes down. */
  readonly record: unknown;
  /** Set when all that is missing is an id for the category's name. */
  readonly unknownCategory?: true;
}

export type Outcome = Candidate | Skip | Rejection;
