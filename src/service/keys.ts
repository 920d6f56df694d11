import {
  generateKey,
  generateKeyId,
  maskKey,
  withoutSecrets,
  type ApiKey,
  type Environment,
  type KeySecret,
  type PlainKey,
  type RandomBytes,
} from "../domain/api-key.ts";
import { noBan } from "../domain/ban.ts";
import type { Clock } from "../domain/clock.ts";
import { AppError } from "../domain/errors.ts";
import {
  isLimit,
  limitMax,
  type Limits,
  publishedLimits,
  type PlanName,
  planNames,
} from "../domain/plan.ts";
import type { KeyAction } from "../storage/contract.ts";
import type { KeyStore } from "../storage/keys.ts";
import { hashKey } from "./key-directory.ts";

export interface IssuedKey {
  readonly key: ApiKey;
  /** The secret. This is the only time that it exists outside of its holder's hands. */
  readonly secret: PlainKey;
}

/** What an operator may say of a key's plan and limits; the numbers go with Enterprise only. */
export interface PlanChange {
  readonly plan?: PlanName | undefined;
  readonly perMinute?: number | undefined;
  readonly perDay?: number | undefined;
}

export interface KeyIssuerOptions {
  readonly keys: KeyStore;
  readonly environment: Environment;
  readonly clock: Clock;
  readonly randomBytes: RandomBytes;
  readonly actor: string;
}

/** Makes keys. All other work on them is the keys feature's. */
export class KeyIssuer {
  constructor(readonly options: KeyIssuerOptions) {}

  async create(
    wanted: PlanChange & {
      name: string;
      plan: PlanName;
      readOnly?: boolean | undefined;
      expiresInMs?: number | undefined;
    },
  ): Promise<IssuedKey> {
    refuseSecretIn(wanted.name);
    const nowMs = this.options.clock();
    const key: ApiKey = {
      id: generateKeyId(this.options.randomBytes),
      name: wanted.name,
      plan: wanted.plan,
      limits: agreedLimits(wanted.plan, wanted),
      readOnly: wanted.readOnly ?? false,
      createdAtMs: nowMs,
      expiresAtMs: wanted.expiresInMs === undefined ? undefined : nowMs + wanted.expiresInMs,
      revokedAtMs: undefined,
      ban: noBan,
    };
    const { plain, secret } = this.newSecret(nowMs);
    await this.options.keys.insert(key, hashKey(plain), secret, this.by("create", nowMs));
    return { key, secret: plain };
  }

  async count(): Promise<number> {
    return this.options.keys.count();
  }

  protected by(action: string, nowMs: number): KeyAction {
    return { action, actor: this.options.actor, nowMs };
  }

  protected newSecret(nowMs: number): { plain: PlainKey; secret: KeySecret } {
    const plain = generateKey(this.options.environment, this.options.randomBytes);
    return { plain, secret: { mask: maskKey(plain), createdAtMs: nowMs, expiresAtMs: undefined } };
  }
}

export function refuseSecretIn(name: string): void {
  if (withoutSecrets(name) === name) return;
  throw new AppError("invalid_request", "A label must not hold a secret: every list shows it.", {
    code: "secretInName",
    hint: "Name the key after its user, such as --name website.",
  });
}

/** The limits of a plan, or `invalid_request`: Enterprise needs both numbers, no other has any. */
export function agreedLimits(
  plan: PlanName,
  { perMinute, perDay }: Omit<PlanChange, "plan">,
): Limits {
  const refused = (message: string, hint?: string) =>
    new AppError("invalid_request", message, hint === undefined ? {} : { hint });
  const given = [perMinute, perDay].filter((limit) => limit !== undefined);
  if (!given.every(isLimit)) throw refused(`A limit must be a whole number from 1 to ${limitMax}.`);
  if (plan === "enterprise") {
    if (perMinute !== undefined && perDay !== undefined) return { perMinute, perDay };
    const message = "The enterprise plan has no limits of its own; it needs both numbers.";
    throw refused(message, "Add --per-minute N --per-day N.");
  }
  if (given.length === 0) return publishedLimits[plan];
  throw refused(
    `The ${plan} plan has published limits; only enterprise takes its own.`,
    `Leave --per-minute and --per-day out, or choose --plan enterprise (plans: ${planNames.join(", ")}).`,
  );
}
