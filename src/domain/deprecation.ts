import { dateInWords } from "./clock.ts";

/** Since when the operation getPet is deprecated: version 1.0.0. */
export const getPetDeprecatedAtMs = Date.UTC(2026, 10, 21);
/** From when on it is removed. */
export const getPetRemovedAtMs = Date.UTC(2030, 11, 5);
/** The day of its removal, in words. */
export const getPetRemovedOn = dateInWords(getPetRemovedAtMs);

/** True once the operation is gone. */
export function isGetPetRemoved(nowMs: number): boolean {
  return nowMs >= getPetRemovedAtMs;
}
