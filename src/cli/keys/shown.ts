import { keyState, type ApiKey } from "../../domain/api-key.ts";
import { isBanned } from "../../domain/ban.ts";
import { isoSeconds } from "../../domain/clock.ts";
import type { IssuedKey } from "../../service/keys.ts";

const atOrNull = (ms: number | undefined) => (ms === undefined ? null : isoSeconds(ms));

/** A key as `--json` shows it. The fields are a contract; they are added to, never changed. */
export function keyJson(key: ApiKey, nowMs: number) {
  return {
    id: key.id,
    name: key.name,
    plan: key.plan,
    limits: { perMinute: key.limits.perMinute, perDay: key.limits.perDay },
    state: keyState(key, nowMs),
    createdAt: isoSeconds(key.createdAtMs),
    expiresAt: atOrNull(key.expiresAtMs),
    revokedAt: atOrNull(key.revokedAtMs),
    bannedUntil: isBanned(key.ban, nowMs) ? isoSeconds(key.ban.bannedUntilMs) : null,
  };
}

/** A key that was just issued: the one place where the secret is shown. */
export function issuedJson({ key, secret }: IssuedKey, nowMs: number) {
  const { id, ...rest } = keyJson(key, nowMs);
  return { id, key: secret, ...rest };
}

/** A plan's limits in words: `60/min, 1,000/day`. */
export function limitsText({ limits }: ApiKey): string {
  return `${limits.perMinute.toLocaleString("en")}/min, ${limits.perDay.toLocaleString("en")}/day`;
}
