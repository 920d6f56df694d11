/** What a key is to an operator: the fields of `--json`, and the words of its texts. */
import {
  accesses,
  accessOf,
  type ApiKey,
  type KeySecret,
  isKeyBanned,
} from "../../domain/api-key.ts";
import { stepAt } from "../../domain/ban.ts";
import { isoEnd, isoSeconds } from "../../domain/clock.ts";
import { planNames } from "../../domain/plan.ts";
import { windowMs, windowNames } from "../../domain/windows.ts";
import type { IssuedKey } from "../../service/keys.ts";
import { declared, fieldOf, json, type Static } from "../json.ts";
import { type KeyDetails, type KeyEvent, keyState, keyStates } from "./service.ts";
import { isoDay, type KeyUse, planAdvice, type UsageDay } from "./usage.ts";

const { text, count, time, day, oneOf, orNull, object, list } = json;

const atOrNull = (ms: number | undefined) => (ms === undefined ? null : isoSeconds(ms));
const endOrNull = (ms: number | undefined) => (ms === undefined ? null : isoEnd(ms));

const ofKey = fieldOf<[key: ApiKey, nowMs: number]>();
const keyFields = declared({
  id: ofKey(text("id of the key; it stays the same when the secret is rotated"), ({ id }) => id),
  name: ofKey(text("label"), ({ name }) => name),
  plan: ofKey(oneOf(planNames, "plan"), ({ plan }) => plan),
  limits: ofKey(
    object({ perMinute: count("requests per UTC minute"), perDay: count("requests per UTC day") }),
    ({ limits }) => limits,
  ),
  access: ofKey(oneOf(accesses, "what the key may do"), accessOf),
  state: ofKey(oneOf(keyStates, "state now"), keyState),
  createdAt: ofKey(time("when the key was made"), (key) => isoSeconds(key.createdAtMs)),
  expiresAt: ofKey(orNull(time("when the key expires")), (key) => endOrNull(key.expiresAtMs)),
  revokedAt: ofKey(orNull(time("when it was revoked")), (key) => atOrNull(key.revokedAtMs)),
  bannedUntil: ofKey(orNull(time("end of the current ban")), (key, nowMs) =>
    isKeyBanned(key, nowMs) ? isoEnd(key.ban.bannedUntilMs) : null,
  ),
});

export const keySchema = object(keyFields.schemas);
export const keyJson = keyFields.make;

const { id: idSchema, ...otherSchemas } = keyFields.schemas;
export const issuedSchema = object({
  id: idSchema,
  key: text("the secret; this is the only time that it is shown"),
  ...otherSchemas,
});

/** A key that was just issued: the one place where the secret is shown. */
export function issuedJson({ key, secret }: IssuedKey, nowMs: number): Static<typeof issuedSchema> {
  const { id, ...rest } = keyJson(key, nowMs);
  return { id, key: secret, ...rest };
}

const ofUse = fieldOf<[use: KeyUse]>();
const useFields = declared({
  lastUsedOn: ofUse(orNull(day("last UTC day with an admitted request")), ({ lastUsedDay }) =>
    lastUsedDay === undefined ? null : isoDay(lastUsedDay),
  ),
  requestsToday: ofUse(count("requests of the current UTC day"), ({ counts }) => counts.dayUsed),
});

const adviceSchema = object(
  {
    window: oneOf(windowNames, "window whose limit is too low"),
    plan: oneOf(planNames, "plan that would fit"),
  },
  { description: "set when the key was near its limits in the last 30 days" },
);

export const keyListSchema = list(
  object({ ...keyFields.schemas, ...useFields.schemas, advice: orNull(adviceSchema) }),
);

export const listedKeyJson = (
  key: ApiKey,
  use: KeyUse,
  days: readonly UsageDay[],
  nowMs: number,
): Static<typeof keyListSchema>[number] => ({
  ...keyJson(key, nowMs),
  ...useFields.make(use),
  advice: (key.revokedAtMs === undefined && planAdvice(key.limits, days)) || null,
});

const windowSchema = object({
  used: count("requests used in the current window"),
  limit: count("limit of the window"),
  remaining: count("requests left"),
  resetsAt: time("when it ends"),
});

const windowJson = (used: number, limit: number, resetsAtMs: number) => ({
  used,
  limit,
  // A plan that was moved down may have used more than it now allows.
  remaining: Math.max(0, limit - used),
  resetsAt: isoSeconds(resetsAtMs),
});

export const keyDetailsSchema = object({
  ...keyFields.schemas,
  ...useFields.schemas,
  lastAddress: orNull(
    text("not kept any more, so always null; the log has the address of each request"),
  ),
  windows: object({ minute: windowSchema, day: windowSchema }),
  days: list(
    object({
      day: day("UTC day, one of those asked for, today included; oldest first"),
      requests: count("admitted requests"),
      refusals: count("requests over a limit, refused with 429"),
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
  events: list(
    object({
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
    }),
  ),
});

export function keyDetailsJson(
  { key, secrets, events }: KeyDetails,
  use: KeyUse,
  days: readonly UsageDay[],
  nowMs: number,
): Static<typeof keyDetailsSchema> {
  const { ban, limits } = key;
  const { minuteLabel, minuteUsed, dayLabel, dayUsed } = use.counts;
  return {
    ...keyJson(key, nowMs),
    ...useFields.make(use),
    lastAddress: null,
    windows: {
      minute: windowJson(minuteUsed, limits.perMinute, (minuteLabel + 1) * windowMs.minute),
      day: windowJson(dayUsed, limits.perDay, (dayLabel + 1) * windowMs.day),
    },
    days: days.map(({ day, requests, refusals, bans }) => {
      return { day: isoDay(day), requests, refusals, bans };
    }),
    ban: {
      strikes: stepAt(ban, nowMs),
      noisyMinutes: ban.noisyMinutes.map((label) => isoSeconds(label * windowMs.minute)),
      reason: isKeyBanned(key, nowMs) ? ban.reason : null,
    },
    secrets: secrets.map(({ mask, createdAtMs, expiresAtMs }) => {
      return { mask, createdAt: isoSeconds(createdAtMs), expiresAt: endOrNull(expiresAtMs) };
    }),
    events: events.map((event) => {
      const { actor, action, atMs } = event;
      return { at: isoSeconds(atMs), actor, action, changes: changesOf(event, secrets) };
    }),
  };
}

/** A secret that came with an event is shown by its beginning. */
function changesOf({ atMs, before = {}, after }: KeyEvent, secrets: readonly KeySecret[]) {
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

export function accessText({ access }: Pick<Static<typeof keySchema>, "access">): string {
  return access === "read-only" ? ", read-only" : "";
}
