/** Names as they are compared. */

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

/**
 * A text as a search compares it: without regard to case, to accents and to how a letter is
 * composed. `Ñandú` is found by `nandu`, and `ﬁ` by `fi`.
 */
export function fold(text: string): string {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}

/** True when every character is one of ASCII's, so that folding it only lowers A to Z. */
export function isAscii(text: string): boolean {
  // oxlint-disable-next-line no-control-regex -- ASCII begins with the control characters
  return /^[\u0000-\u007f]*$/.test(text);
}
