/** The states of a key as operators see and set them. */
import { type ApiKey, endOf, isKeyBanned, type PlainKey } from "../../domain/api-key.ts";
import { type BanState, noBan, operatorReason, stepAt } from "../../domain/ban.ts";

export const keyStates = ["active", "banned", "expired", "revoked"] as const;
export type KeyState = (typeof keyStates)[number];

export function keyState(
  key: Pick<ApiKey, "revokedAtMs" | "expiresAtMs" | "ban" | "readOnly">,
  nowMs: number,
): KeyState {
  return endOf(key, nowMs) ?? (isKeyBanned(key, nowMs) ? "banned" : "active");
}

/** The state after an operator's ban of `durationMs`, which lengthens no automatic ban. */
export function imposeBan(state: BanState, durationMs: number, nowMs: number): BanState {
  return {
    ...state,
    noisyMinutes: [],
    step: stepAt(state, nowMs),
    bannedUntilMs: nowMs + durationMs,
    reason: operatorReason,
  };
}

/** The state after a ban was lifted at `nowMs`. What was noisy is forgotten, the step is not. */
export function liftBan(state: BanState, nowMs: number): BanState {
  const bannedUntilMs = Math.min(state.bannedUntilMs, nowMs);
  return { ...state, noisyMinutes: [], bannedUntilMs, reason: noBan.reason };
}

/** The secret in `text`, as it is copied from a header or a file, or undefined if there is none. */
export function pastedSecret(text: string): PlainKey | undefined {
  const [, secret] =
    /^(?:authorization: *)?(?:bearer +)?(rehome_(?:live|test)_\S+)$/i.exec(text.trim()) ?? [];
  return secret as PlainKey | undefined;
}
