/** What an import may do, as a person or a source says. */
import type { Tx } from "../../../storage/database.ts";
import type { Rejection } from "../understand/record.ts";
import type { StoreAnimal } from "./store.ts";

export interface ImportOptions {
  /** Makes new categories. By default only a catalogue without any gets them. */
  readonly createCategories?: boolean | undefined;
  /** Takes over the rest when records are rejected; otherwise nothing is. */
  readonly skipBad?: boolean | undefined;
  /** Takes ids for those of another catalogue; else a record with an unknown id is bad. */
  readonly newIds?: boolean | undefined;
  /** Leaves animals in the catalogue that are gone. */
  readonly keepGone?: boolean | undefined;
  /** The input is the source's whole list: its other animals are gone. */
  readonly complete?: boolean | undefined;
  /** Withdraws more than half of a source's animals when its whole list has no more. */
  readonly confirmed?: boolean | undefined;
  /** The list is right of every animal, whatever people changed. */
  readonly listWins?: boolean | undefined;
  /**
   * Chooses which of the animals that a whole list lacks are withdrawn, in place of the rules for a
   * list that a person imports: all of them, unless records are bad or they are more than half.
   */
  readonly withdraws?: ((lacking: Lacking) => Promise<readonly StoreAnimal[]>) | undefined;
  /**
   * Decides for the record on a line whether it is the one animal here of its name and category,
   * which no id says. By default it is a new one.
   */
  readonly isSame?: ((line: number) => boolean) | undefined;
}

/** What a whole list lacks of the animals of its source. */
export interface Lacking {
  readonly tx: Tx;
  readonly missing: readonly StoreAnimal[];
  /** How many animals of the source are here. */
  readonly sourceAnimals: number;
  readonly rejections: readonly Rejection[];
  /** Why the list may not be whole, so that nobody may be withdrawn. */
  readonly partial: string | undefined;
}
