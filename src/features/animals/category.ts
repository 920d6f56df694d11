/** A kind of animal by name. The interface has only its id; other catalogues have names. */
export interface Category {
  readonly id: bigint;
  readonly name: string;
}

/** What names are compared by: case, blanks around and composition of accents do not count. */
export function categoryKey(name: string): string {
  return name.trim().normalize("NFC").toLowerCase();
}
