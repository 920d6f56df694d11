import type { ApiKey } from "../domain/api-key.ts";
import type { BanState } from "../domain/ban.ts";
import { isoSeconds } from "../domain/clock.ts";
import type { ErrorKind } from "../domain/errors.ts";
import { retryAfterSeconds, type WindowView } from "../domain/windows.ts";

/** Why a request is not served: a value, because refusing is part of the job. */
export interface Refusal {
  readonly kind: ErrorKind;
  readonly message: string;
  /** Of a 429: the seconds until its window or ban ends. */
  readonly retryAfterSeconds?: number;
  /** The reason in the operator's log, such as how a credential was bad. Callers never see it. */
  readonly detail?: string;
}

/** The guard's decision: whose numbers the headers show, and the refusal, if any. */
export interface Admission {
  readonly view: WindowView;
  /** The key that the caller named, though it may be revoked or expired; undefined without one. */
  readonly key: ApiKey | undefined;
  readonly refusal: Refusal | undefined;
}

export const unavailable: Refusal = {
  kind: "unavailable",
  message: "The request could not be counted at the moment.",
};

const recentMax = 1_000;
const recent = new Map<string, Refusal>();

/**
 * `refusal`, or an equal earlier one. A caller that does not wait repeats its request, so the body
 * and the log text of a refusal are made once.
 */
function recurring(refusal: Refusal): Refusal {
  const text = `${refusal.retryAfterSeconds} ${refusal.message}`;
  const known = recent.get(text);
  if (known !== undefined) return known;
  if (recent.size >= recentMax) recent.clear();
  recent.set(text, refusal);
  return refusal;
}

/** The same for every invalid key, so that nobody learns which ones exist. */
const invalidKey = "The API key is not valid: it may be mistyped, expired, revoked or replaced.";

/** Messages without a valid key. Only the log has what would help to guess one. */
const messages = {
  "no credential":
    "This request needs an API key: send the header Authorization: Bearer <API_KEY>.",
  "no bearer key": "The header must have this form: Authorization: Bearer <API_KEY>.",
  malformed: invalidKey,
  "Bearer twice": "The header says Bearer twice: send Authorization: Bearer <API_KEY>.",
  "of another environment":
    "This key is of another installation: rehome_live_ keys are for production, rehome_test_ keys for staging.",
  unknown: invalidKey,
  revoked: invalidKey,
  expired: invalidKey,
} as const;

export const unauthorized = Object.fromEntries(
  Object.entries(messages).map(([detail, message]) => [
    detail,
    { kind: "unauthorized", message, detail },
  ]),
) as Readonly<Record<keyof typeof messages, Refusal>>;

export const readOnlyKey: Refusal = {
  kind: "forbidden",
  message: "This API key is read-only: it can read animals but not add them.",
  detail: "read-only key",
};

interface Overrun {
  readonly allowance: string;
  readonly exceeded: "limit" | "address's limit";
  readonly warning?: boolean;
}

/**
 * The refusal of a request over the limit of the window that `view` shows. `allowance` begins the
 * sentence, `exceeded` is for the log, and `warning` is true if the caller risks a ban.
 */
export function rateLimited(
  view: { window: string; limit: number; resetSeconds: number },
  nowMs: number,
  { allowance, exceeded, warning = false }: Overrun,
): Refusal {
  const seconds = retryAfterSeconds(view.resetSeconds, nowMs);
  const requests = view.limit === 1 ? "1 request" : `${view.limit} requests`;
  const when = view.window === "day" ? `at 00:00 UTC, in ${seconds} s` : `in ${seconds} s`;
  const advice = warning ? ", because going on without waiting leads to a temporary ban" : "";
  return recurring({
    kind: "rate_limited",
    message: `${allowance} ${requests} per ${view.window}, and that limit is reached; try again ${when}${advice}.`,
    retryAfterSeconds: seconds,
    detail: `over the ${exceeded} per ${view.window}`,
  });
}

/** The refusal of a banned key, which says what led to the ban and when it ends. */
export function banned(ban: BanState, resetSeconds: number, nowMs: number): Refusal {
  const seconds = retryAfterSeconds(resetSeconds, nowMs);
  const end = isoSeconds(resetSeconds * 1000);
  return recurring({
    kind: "key_banned",
    message: `This key is banned for another ${seconds} s, until ${end}, because ${ban.reason}. Waiting is enough.`,
    retryAfterSeconds: seconds,
    detail: "banned",
  });
}
