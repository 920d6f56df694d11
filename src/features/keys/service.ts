import { and, asc, eq, gt, isNull, or } from "drizzle-orm";
import {
  type ApiKey,
  endOf,
  isKeyBanned,
  type KeySecret,
  withoutSecrets,
} from "../../domain/api-key.ts";
import { type BanState, noBan, operatorReason, stepAt } from "../../domain/ban.ts";
import { AppError } from "../../domain/errors.ts";
import { hashKey } from "../../service/key-directory.ts";
import {
  agreedLimits,
  type IssuedKey,
  KeyIssuer,
  type PlanChange,
  refuseSecretIn,
} from "../../service/keys.ts";
import type { KeyAction, KeyHash } from "../../storage/contract.ts";
import { columnsOf, type Database, type Tx } from "../../storage/database.ts";
import { keyOf, lockedKey, storeChange } from "../../storage/keys.ts";
import type { Services } from "../../service/services.ts";
import { withRoom } from "./spare-room.ts";

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

/** A key with its secrets and its history. What it has used is the usage service's to say. */
export interface KeyDetails {
  readonly key: ApiKey;
  readonly secrets: readonly KeySecret[];
  readonly events: readonly KeyEvent[];
}

/** The operator's work on keys. Each change takes effect at the next request on every server. */
export class KeyService extends KeyIssuer {
  readonly #db: Database;
  readonly #place: string;

  /** In the name of `actor`, by default the one who runs this process. */
  constructor({ keys, place, store }: Services, actor = keys.options.actor) {
    super({ ...keys.options, actor });
    this.#db = store.db;
    this.#place = place;
  }

  async list(): Promise<ApiKey[]> {
    return this.#db.read(allKeys);
  }

  /** The key of an id, of a unique beginning of one, or of a label: a live key's before others'. */
  async resolve(reference: string): Promise<ApiKey> {
    const exact = await this.options.keys.byId(reference);
    if (exact !== undefined) return exact;
    if (withoutSecrets(reference) !== reference) {
      throw new AppError(
        "invalid_request",
        "That is a secret, and a key is named by its id or label.",
        { hint: "rehome keys list" },
      );
    }
    const all = await this.#db.read(allKeys);
    const sameName = all.filter(({ name }) => name === reference);
    // A key that was revoked keeps its label, and is not in the way of the one in its place.
    const live = sameName.filter(({ revokedAtMs }) => revokedAtMs === undefined);
    const byId = all.filter(({ id }) => id.startsWith(reference));
    const matches = [live, sameName, byId].find(({ length }) => length > 0) ?? [];
    if (matches.length > 1 && reference !== "") {
      throw new AppError(
        "invalid_request",
        `"${reference}" means ${matches.length} keys: ${matches.map(({ id }) => id).join(", ")}.`,
        { hint: "Use the whole id." },
      );
    }
    return found(reference === "" ? undefined : matches[0], reference);
  }

  async details(reference: string): Promise<KeyDetails> {
    const key = await this.resolve(reference);
    const secrets = await this.#db.read((tx) => secretsOf(tx, key.id));
    return { key, secrets, events: await this.#db.read((tx) => eventsOf(tx, key.id)) };
  }

  /**
   * Changes plan, limits, access, label or expiry. Used requests stay used. `expiresInMs` counts
   * from now, even for an expired key; "never" removes the expiry. Throws `invalid_request` for
   * numbers that do not fit the plan, and for a label in use.
   */
  async update(
    reference: string,
    wanted: PlanChange & {
      name?: string | undefined;
      readOnly?: boolean | undefined;
      expiresInMs?: number | "never" | undefined;
    },
  ): Promise<ApiKey> {
    const { expiresInMs } = wanted;
    refuseSecretIn(wanted.name ?? "");
    return this.#change(reference, "update", (key, nowMs) => {
      const end = expiresInMs === "never" ? undefined : nowMs + (expiresInMs ?? 0);
      const plan = wanted.plan ?? key.plan;
      const agreed = plan === "enterprise" && key.plan === "enterprise" ? key.limits : undefined;
      const numbers = {
        perMinute: wanted.perMinute ?? agreed?.perMinute,
        perDay: wanted.perDay ?? agreed?.perDay,
      };
      return {
        ...key,
        plan,
        limits: agreedLimits(plan, numbers),
        readOnly: wanted.readOnly ?? key.readOnly,
        name: wanted.name ?? key.name,
        expiresAtMs: expiresInMs === undefined ? key.expiresAtMs : end,
      };
    });
  }

  /** Ends the key for good, also on a full disk. */
  async revoke(reference: string): Promise<ApiKey> {
    return withRoom(this.#place, (give) =>
      this.#change(reference, "revoke", (key, nowMs) => {
        // Behind the store's lock, so that nobody else fills it.
        give();
        return key.revokedAtMs === undefined ? { ...key, revokedAtMs: nowMs } : key;
      }),
    );
  }

  /** The old secrets stay valid for `graceMs`; 0 ends them at once. The key's expiry stays. */
  async rotate(reference: string, graceMs: number): Promise<IssuedKey> {
    const before = await this.resolve(reference);
    const { id } = before;
    const nowMs = this.options.clock();
    if (keyState(before, nowMs) === "revoked") {
      throw new AppError("invalid_request", `The key ${id} is revoked; it gets no new secret.`, {
        hint: "Make a new key with rehome keys create.",
      });
    }
    const { plain, secret } = this.newSecret(nowMs);
    const by = this.by("rotate", nowMs);
    const rotation = { hash: hashKey(plain), secret, oldExpireAtMs: nowMs + graceMs };
    const key = await this.options.keys.ending((tx) => rotateKey(tx, id, rotation, by));
    return { key: found(key, reference), secret: plain };
  }

  /** Bans the key for `durationMs` in place of any other ban. It is no step towards longer ones. */
  async ban(reference: string, durationMs: number): Promise<ApiKey> {
    return this.#change(reference, "ban", (key, nowMs) => {
      return { ...key, ban: imposeBan(key.ban, durationMs, nowMs) };
    });
  }

  /** The next automatic ban is as long as it would have been. */
  async unban(reference: string): Promise<ApiKey> {
    return this.#change(reference, "unban", (key, nowMs) => {
      return { ...key, ban: liftBan(key.ban, nowMs) };
    });
  }

  async #change(
    reference: string,
    action: string,
    change: (key: ApiKey, nowMs: number) => ApiKey,
  ): Promise<ApiKey> {
    const { id } = await this.resolve(reference);
    const { clock, keys } = this.options;
    const by = this.by(action, clock());
    return found(await keys.change(id, by, (key) => change(key, by.nowMs)), reference);
  }
}

function found(key: ApiKey | undefined, reference: string): ApiKey {
  if (key !== undefined) return key;
  throw new AppError("not_found", `There is no key with the id or label "${reference}".`, {
    hint: "rehome keys list",
  });
}

/** A change of a key, stored for the operator. The event that made the key has no `before`. */
export interface KeyEvent {
  readonly atMs: number;
  readonly actor: string;
  readonly action: string;
  readonly before: Readonly<Record<string, unknown>> | undefined;
  readonly after: Readonly<Record<string, unknown>>;
}

export async function allKeys(tx: Tx): Promise<ApiKey[]> {
  const { apiKeys } = tx.t;
  const all = tx.select(columnsOf(apiKeys)).from(apiKeys);
  return (await all.orderBy(asc(apiKeys.createdAtMs), asc(apiKeys.id))).map(keyOf);
}

export async function secretsOf(tx: Tx, id: string): Promise<KeySecret[]> {
  const { keySecrets } = tx.t;
  const own = tx.select().from(keySecrets).where(eq(keySecrets.keyId, id));
  const found = await own.orderBy(asc(keySecrets.createdAtMs));
  return found.map(({ mask, createdAtMs, expiresAtMs }) => {
    return { mask, createdAtMs, expiresAtMs: expiresAtMs ?? undefined };
  });
}

export async function eventsOf(tx: Tx, id: string): Promise<KeyEvent[]> {
  const { keyEvents } = tx.t;
  const own = tx.select(columnsOf(keyEvents)).from(keyEvents).where(eq(keyEvents.keyId, id));
  const found = await own.orderBy(asc(keyEvents.id));
  return found.map(({ before, ...event }) => ({ ...event, before: before ?? undefined }));
}

/** Ends the other secrets at `oldExpireAtMs`. Undefined if the key is gone or revoked. */
export async function rotateKey(
  tx: Tx,
  id: string,
  { oldExpireAtMs, ...made }: { hash: KeyHash; secret: KeySecret; oldExpireAtMs: number },
  by: KeyAction,
): Promise<ApiKey | undefined> {
  const key = await lockedKey(tx, id);
  // It may have been revoked meanwhile.
  if (key === undefined || key.revokedAtMs !== undefined) return undefined;
  const { keySecrets } = tx.t;
  const { keyId, expiresAtMs } = keySecrets;
  await tx
    .update(keySecrets)
    .set({ expiresAtMs: oldExpireAtMs })
    .where(and(eq(keyId, id), or(isNull(expiresAtMs), gt(expiresAtMs, oldExpireAtMs))));
  await tx.insert(keySecrets).values({ ...made.secret, hash: made.hash, keyId: id });
  await storeChange(tx, key, key, by);
  return key;
}
