import { accessOf, type ApiKey } from "../domain/api-key.ts";
import { isBanned, recordNoisyMinute } from "../domain/ban.ts";
import { isoEnd, isoSeconds } from "../domain/clock.ts";
import { limitsOf, type PlanName } from "../domain/plan.ts";

/** The columns of a key, named alike in both databases. */
export interface KeyRow {
  readonly id: string;
  readonly name: string;
  readonly plan: PlanName;
  readonly perMinute: number | null;
  readonly perDay: number | null;
  readonly readOnly: number;
  readonly createdAtMs: number;
  readonly expiresAtMs: number | null;
  readonly revokedAtMs: number | null;
  readonly bannedUntilMs: number;
  readonly banStep: number;
  readonly banReason: string;
  readonly noisyMinutes: readonly number[];
}

/** The key that a row stands for. */
export function keyOf(row: KeyRow): ApiKey {
  const custom =
    row.perMinute === null || row.perDay === null
      ? undefined
      : { perMinute: row.perMinute, perDay: row.perDay };
  const limits = limitsOf(row.plan, custom);
  if (limits === undefined) throw new Error(`key ${row.id} has numbers that do not fit its plan`);
  return {
    id: row.id,
    name: row.name,
    plan: row.plan,
    limits,
    readOnly: row.readOnly !== 0,
    createdAtMs: row.createdAtMs,
    expiresAtMs: row.expiresAtMs ?? undefined,
    revokedAtMs: row.revokedAtMs ?? undefined,
    ban: {
      noisyMinutes: row.noisyMinutes,
      step: row.banStep,
      bannedUntilMs: row.bannedUntilMs,
      reason: row.banReason,
    },
  };
}

/** The row that keeps `key`. Published limits are not copied into it: they follow the plan. */
export function rowOf(key: ApiKey) {
  const custom = key.plan === "enterprise" ? key.limits : undefined;
  return {
    id: key.id,
    name: key.name,
    plan: key.plan,
    perMinute: custom?.perMinute ?? null,
    perDay: custom?.perDay ?? null,
    readOnly: key.readOnly ? 1 : 0,
    createdAtMs: key.createdAtMs,
    expiresAtMs: key.expiresAtMs ?? null,
    revokedAtMs: key.revokedAtMs ?? null,
    bannedUntilMs: key.ban.bannedUntilMs,
    banStep: key.ban.step,
    banReason: key.ban.reason,
    noisyMinutes: [...key.ban.noisyMinutes],
  };
}

/**
 * What a noisy minute makes of a key, and by what name the change goes among its events; undefined
 * when nothing changes.
 */
export function noisyMinuteOf(
  key: ApiKey,
  minuteLabel: number,
  nowMs: number,
): { readonly after: ApiKey; readonly action: "noisy-minute" | "automatic-ban" } | undefined {
  const ban = recordNoisyMinute(key.ban, minuteLabel, nowMs);
  if (ban === key.ban) return undefined;
  return {
    after: { ...key, ban },
    action: isBanned(ban, nowMs) ? "automatic-ban" : "noisy-minute",
  };
}

/** What an event shows of a key, before and after a change. */
export function keySnapshot(key: ApiKey): Record<string, unknown> {
  const end = (ms: number | undefined) => (ms === undefined ? undefined : isoEnd(ms));
  return {
    name: key.name,
    plan: key.plan,
    perMinute: key.limits.perMinute,
    perDay: key.limits.perDay,
    access: accessOf(key),
    expiresAt: end(key.expiresAtMs),
    revokedAt: key.revokedAtMs === undefined ? undefined : isoSeconds(key.revokedAtMs),
    bannedUntil: key.ban.bannedUntilMs === 0 ? undefined : end(key.ban.bannedUntilMs),
    banReason: key.ban.reason === "" ? undefined : key.ban.reason,
    noisyMinutes: key.ban.noisyMinutes.length === 0 ? undefined : key.ban.noisyMinutes.length,
  };
}
