import {
  accesses,
  accessOf,
  keyState,
  keyStates,
  type ApiKey,
  type KeySecret,
} from "../../domain/api-key.ts";
import { isBanned, stepAt } from "../../domain/ban.ts";
import { isoDay, isoEnd, isoSeconds } from "../../domain/clock.ts";
import { planNames } from "../../domain/plan.ts";
import { windowMs } from "../../domain/windows.ts";
import type { IssuedKey, KeyDetails } from "../../service/keys.ts";
import type { KeyUse } from "../../service/usage.ts";
import type { KeyEvent, UsageDay } from "../../storage/contract.ts";
import { json, type Static } from "../json.ts";

const { text, count, time, day, oneOf, orNull, object, list } = json;

const keyFields = {
  id: text("id of the key; it stays the same when the secret is rotated"),
  name: text("label"),
  plan: oneOf(planNames, "plan"),
  limits: object({
    perMinute: count("requests per UTC minute"),
    perDay: count("requests per UTC day"),
  }),
  access: oneOf(accesses, "what the key may do"),
  state: oneOf(keyStates, "state now"),
  createdAt: time("when the key was made"),
  expiresAt: orNull(time("when the key expires")),
  revokedAt: orNull(time("when it was revoked")),
  bannedUntil: orNull(time("end of the current ban")),
};

export const keySchema = object(keyFields);
export const issuedSchema = object({
  key: text("the secret; this is the only time that it is shown"),
  ...keyFields,
});

const useFields = {
  lastUsedOn: orNull(day("last UTC day with an admitted request")),
  requestsToday: count("requests of the current UTC day"),
};
export const keyListSchema = list(object({ ...keyFields, ...useFields }));

const windowSchema = object({
  used: count("requests used in the current window"),
  limit: count("limit of the window"),
  remaining: count("requests left"),
  resetsAt: time("when it ends"),
});

const eventSchema = object({
  at: time("when"),
  actor: text("who: a user of the operating system, or server"),
  action: text("what was done, such as create, update, rotate or revoke"),
  changes: list(
    object({
      field: text("name of what changed"),
      before: orNull(text("value before, or null")),
      after: orNull(text("value after, or null")),
    }),
  ),
});

export const keyDetailsSchema = object({
  ...keyFields,
  ...useFields,
  lastAddress: orNull(text("address of the caller when the service last counted for the key")),
  windows: object({ minute: windowSchema, day: windowSchema }),
  days: list(
    object({
      day: day("UTC day, one of the last seven, today included; oldest first"),
      requests: count("admitted requests"),
      refusals: count("requests refused with 429"),
      bans: count("started automatic bans"),
    }),
  ),
  ban: object({
    strikes: count("recent bans, minus one per day without a ban; each makes the next ban longer"),
    noisyMinutes: list(time("start of a minute with too many requests after 429")),
    reason: orNull(text("reason of the current ban")),
  }),
  secrets: list(
    object({
      mask: text("beginning of the secret"),
      createdAt: time("when it was made"),
      expiresAt: orNull(time("when it ends or has ended, such as after a rotation")),
    }),
  ),
  events: list(eventSchema),
});

const atOrNull = (ms: number | undefined) => (ms === undefined ? null : isoSeconds(ms));
const endOrNull = (ms: number | undefined) => (ms === undefined ? null : isoEnd(ms));

/** A key as `--json` shows it. */
export function keyJson(key: ApiKey, nowMs: number): Static<typeof keySchema> {
  return {
    id: key.id,
    name: key.name,
    plan: key.plan,
    limits: key.limits,
    access: accessOf(key),
    state: keyState(key, nowMs),
    createdAt: isoSeconds(key.createdAtMs),
    expiresAt: endOrNull(key.expiresAtMs),
    revokedAt: atOrNull(key.revokedAtMs),
    bannedUntil: isBanned(key.ban, nowMs) ? isoEnd(key.ban.bannedUntilMs) : null,
  };
}

/** A key that was just issued: the one place where the secret is shown. */
export function issuedJson({ key, secret }: IssuedKey, nowMs: number): Static<typeof issuedSchema> {
  const { id, ...rest } = keyJson(key, nowMs);
  return { id, key: secret, ...rest };
}

/** A key with its use. */
export function usedKeyJson(key: ApiKey, use: KeyUse, nowMs: number) {
  return {
    ...keyJson(key, nowMs),
    lastUsedOn: use.lastUsedDay === undefined ? null : isoDay(use.lastUsedDay),
    requestsToday: use.counts.dayUsed,
  };
}

/** What is shown of a key's use: now, from where, and by day. */
interface KeyUsage {
  readonly use: KeyUse;
  readonly lastAddress: string | undefined;
  readonly days: readonly UsageDay[];
}

/** Everything about a key. */
export function keyDetailsJson(
  { key, secrets, events }: KeyDetails,
  { use, lastAddress, days }: KeyUsage,
  nowMs: number,
): Static<typeof keyDetailsSchema> {
  const { limits, ban } = key;
  const { minuteLabel, minuteUsed, dayLabel, dayUsed } = use.counts;
  return {
    ...usedKeyJson(key, use, nowMs),
    lastAddress: lastAddress ?? null,
    windows: {
      minute: windowJson(minuteUsed, limits.perMinute, (minuteLabel + 1) * windowMs.minute),
      day: windowJson(dayUsed, limits.perDay, (dayLabel + 1) * windowMs.day),
    },
    days: days.map(({ day, requests, refusals, bans }) => ({
      day: isoDay(day),
      requests,
      refusals,
      bans,
    })),
    ban: {
      strikes: stepAt(ban, nowMs),
      noisyMinutes: ban.noisyMinutes.map((label) => isoSeconds(label * windowMs.minute)),
      reason: isBanned(ban, nowMs) ? ban.reason : null,
    },
    secrets: secrets.map(({ mask, createdAtMs, expiresAtMs }) => ({
      mask,
      createdAt: isoSeconds(createdAtMs),
      expiresAt: endOrNull(expiresAtMs),
    })),
    events: events.map((event) => ({
      at: isoSeconds(event.atMs),
      actor: event.actor,
      action: event.action,
      changes: changesOf(event, secrets),
    })),
  };
}

function windowJson(used: number, limit: number, resetsAtMs: number) {
  return {
    used,
    limit,
    // A plan that was moved down may have used more than it now allows.
    remaining: Math.max(0, limit - used),
    resetsAt: isoSeconds(resetsAtMs),
  };
}

/**
 * The fields that differ between before and after; of an event without a before, all that it set. A
 * secret that came with it is shown by its beginning.
 */
export function changesOf({ atMs, before = {}, after }: KeyEvent, secrets: readonly KeySecret[]) {
  const shown = (value: unknown) =>
    value === undefined ? null : typeof value === "string" ? value : JSON.stringify(value);
  const fields = [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .map((field) => ({ field, before: shown(before[field]), after: shown(after[field]) }))
    .filter((change) => change.before !== change.after);
  const made = secrets.findIndex(({ createdAtMs }) => createdAtMs === atMs);
  if (made === -1) return fields;
  const [old, secret] = [secrets[made - 1], secrets[made]];
  return [...fields, { field: "secret", before: old?.mask ?? null, after: secret?.mask ?? null }];
}
