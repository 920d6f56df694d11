/**
 * A kind of animal by name. Only its id is part of the interface; names are what other catalogues
 * have instead of ids.
 */
export interface Category {
  readonly id: bigint;
  readonly name: string;
}

/**
 * The form in which names are compared: without regard to case, blanks around or composition of
 * accents.
 */
export function categoryKey(name: string): string {
  return name.trim().normalize("NFC").toLowerCase();
}
