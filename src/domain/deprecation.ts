/** The fate of the operation getPet: deprecated since version 1.0.0, and removed on 5 December 2030. */
export const getPetDeprecatedAtMs = Date.UTC(2026, 10, 21);
export const getPetRemovedAtMs = Date.UTC(2030, 11, 5);

/** True once the operation is gone. */
export function isGetPetRemoved(nowMs: number): boolean {
  return nowMs >= getPetRemovedAtMs;
}
