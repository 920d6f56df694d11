/** Who may use the console: invitations, sessions, and their end. Secrets are kept as hashes. */
import { createHash } from "node:crypto";
import { and, eq, gt, isNull, lte, max } from "drizzle-orm";
import type { RandomBytes } from "../../domain/api-key.ts";
import { dayMs, type Clock } from "../../domain/clock.ts";
import { AppError } from "../../domain/errors.ts";
import { type Database, patientWork, type Tx, getMeta } from "../../storage/database.ts";
import type { personRoles } from "../../storage/schema.ts";
import { addressMeta, setMeta } from "../meta.ts";
import { isVisible } from "../visible.ts";

export type PersonRole = (typeof personRoles)[number];

export const invitationMs = 7 * dayMs;
export const sessionMs = 30 * dayMs;
/** A session is renewed at most once in this time, so that reading a page is no write as a rule. */
const renewAfterMs = dayMs;

/** How long a session is known after its end, so that a form of it is not lost. */
const endedMs = dayMs;

export type Secret = string & { readonly Secret: unique symbol };

const secretBytes = 32;
const secretPattern = /^[\w-]{43}$/;

export function newSecret(randomBytes: RandomBytes): Secret {
  return Buffer.from(randomBytes(secretBytes)).toString("base64url") as Secret;
}

/** True for text that can be a secret. Anything else is not looked up. */
export function isSecret(text: unknown): text is Secret {
  return typeof text === "string" && secretPattern.test(text);
}

/** SHA-256 of a secret, for the store. A random secret needs no salt and no slow hash. */
function hashSecret(secret: Secret): Uint8Array {
  return createHash("sha256").update(secret).digest();
}

export interface Person {
  readonly id: string;
  readonly name: string;
  readonly role: PersonRole;
}

export interface ListedPerson extends Person {
  readonly createdAtMs: number;
  readonly seenAtMs: number | null;
  readonly invitedUntilMs: number | null;
}

/**
 * Control characters, those that turn the direction of what follows (UAX 9), and those that make
 * two names look the same: the soft hyphen, and blanks and joiners without a width.
 */
const misleading =
  // oxlint-disable-next-line no-control-regex -- these are what is looked for
  /[\u0000-\u001f\u007f-\u009f\u00ad\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/;

export function isPersonName(name: string): boolean {
  return isVisible(name) && !misleading.test(name);
}

function invitationOf(token: Secret, personId: string, nowMs: number) {
  const expiresAtMs = nowMs + invitationMs;
  return { hash: hashSecret(token), personId, createdAtMs: nowMs, expiresAtMs };
}

/** Whom a good invitation is for. What `uses` it locks it. */
async function invitedBy(
  tx: Tx,
  token: Secret,
  nowMs: number,
  uses: boolean,
): Promise<Person | undefined> {
  const { invitations } = tx.t;
  const isGood = and(
    eq(invitations.hash, hashSecret(token)),
    isNull(invitations.usedAtMs),
    gt(invitations.expiresAtMs, nowMs),
  );
  const found = tx.select().from(invitations).where(isGood);
  const [invitation] = await (uses ? tx.forUpdate(found) : found);
  if (invitation === undefined) return undefined;
  return personOf(tx, invitation.personId);
}

async function personOf(tx: Tx, personId: string): Promise<Person | undefined> {
  const { people } = tx.t;
  const { id, name, role } = people;
  const isThem = and(eq(id, personId), isNull(people.removedAtMs));
  return (await tx.select({ id, name, role }).from(people).where(isThem))[0];
}

/**
 * Throws `forbidden` for the change of somebody who was removed while it was on its way. Their row
 * stays locked: a removal waits for a change that has begun.
 */
export async function refuseRemoved(tx: Tx, name: string): Promise<void> {
  const { people } = tx.t;
  const { removedAtMs } = people;
  const rows = await tx.forUpdate(
    tx.select({ removedAtMs }).from(people).where(eq(people.name, name)),
  );
  if (rows.length === 0 || rows.some((row) => row.removedAtMs === null)) return;
  throw new AppError("forbidden", `${name} was removed, and changes nothing any more.`);
}

export class PeopleService {
  constructor(
    private readonly db: Database,
    private readonly clock: Clock,
    private readonly randomBytes: RandomBytes,
  ) {}

  /** Histories go by names, so that nobody is invited under one that is there. */
  async invite(name: string, role: PersonRole, invitedBy: string) {
    if (!isPersonName(name)) {
      throw new AppError("invalid_request", "A name must have characters that can be seen.", {
        hint: "Leave out line breaks, and marks that show nothing or change the direction of writing.",
      });
    }
    const token = newSecret(this.randomBytes);
    const nowMs = this.clock();
    const person = { id: this.#newId(), name, role };
    const isAdded = await this.db.transaction(async (tx) => {
      const { people, invitations } = tx.t;
      const row = { ...person, createdAtMs: nowMs, createdBy: invitedBy };
      // The index of names decides, also between two who invite at the same time.
      const added = await tx.run(tx.insert(people).values(row).onConflictDoNothing());
      if (added === 0) return false;
      await tx.insert(invitations).values(invitationOf(token, person.id, nowMs));
      return true;
    });
    if (isAdded) return { person, token };
    throw new AppError("invalid_request", `There is a person named "${name}".`, {
      code: "personNameTaken",
      hint: "Choose another name, or give them a new link: rehome people link NAME",
    });
  }

  async link(personId: string): Promise<Secret> {
    const token = newSecret(this.randomBytes);
    const nowMs = this.clock();
    await this.db.transaction(async (tx) => {
      const { invitations } = tx.t;
      const isUnused = and(eq(invitations.personId, personId), isNull(invitations.usedAtMs));
      await tx.delete(invitations).where(isUnused);
      await tx.insert(invitations).values(invitationOf(token, personId, nowMs));
    });
    return token;
  }

  async invited(token: Secret): Promise<Person | undefined> {
    const nowMs = this.clock();
    return this.db.read((tx) => invitedBy(tx, token, nowMs, false));
  }

  /** Uses an invitation up and begins a session. Undefined when the link is not good. */
  async join(token: Secret) {
    const session = newSecret(this.randomBytes);
    const nowMs = this.clock();
    return this.db.transaction(async (tx) => {
      const { invitations, sessions } = tx.t;
      const person = await invitedBy(tx, token, nowMs, true);
      if (person === undefined) return undefined;
      const isUsed = eq(invitations.hash, hashSecret(token));
      await tx.update(invitations).set({ usedAtMs: nowMs }).where(isUsed);
      const hasEnded = lte(sessions.expiresAtMs, nowMs - endedMs);
      await tx.delete(sessions).where(and(eq(sessions.personId, person.id), hasEnded));
      await tx.insert(sessions).values({
        hash: hashSecret(session),
        personId: person.id,
        createdAtMs: nowMs,
        expiresAtMs: nowMs + sessionMs,
        seenAtMs: nowMs,
      });
      return { session, person };
    });
  }

  /** Whose session a cookie holds. If it was renewed, the browser must keep the cookie longer. */
  async find(session: Secret) {
    const hash = hashSecret(session);
    const nowMs = this.clock();
    const found = await this.#sessionOf(hash, nowMs);
    if (found === undefined) return undefined;
    const isRenewed = nowMs - found.seenAtMs >= renewAfterMs;
    if (isRenewed) await this.#renew(hash, nowMs);
    return { person: found.person, isRenewed };
  }

  /** Whose session ended lately by itself, if they may come back by a link. */
  async endedLately(session: Secret): Promise<Person | undefined> {
    return (await this.#sessionOf(hashSecret(session), this.clock() - endedMs))?.person;
  }

  async #sessionOf(hash: Uint8Array, atMs: number) {
    return this.db.read(async (tx) => {
      const { people, sessions } = tx.t;
      const isGood = and(
        eq(sessions.hash, hash),
        gt(sessions.expiresAtMs, atMs),
        isNull(people.removedAtMs),
      );
      const { id, name, role } = people;
      const [row] = await tx
        .select({ person: { id, name, role }, seenAtMs: sessions.seenAtMs })
        .from(sessions)
        .innerJoin(people, eq(id, sessions.personId))
        .where(isGood);
      return row;
    });
  }

  async #renew(hash: Uint8Array, nowMs: number): Promise<void> {
    await this.db.transaction(async (tx) => {
      const { sessions } = tx.t;
      const isGood = and(eq(sessions.hash, hash), gt(sessions.expiresAtMs, nowMs));
      const longer = { seenAtMs: nowMs, expiresAtMs: nowMs + sessionMs };
      await tx.update(sessions).set(longer).where(isGood);
    });
  }

  /** Ends a session for good, whatever the clock says later. */
  async signOut(session: Secret): Promise<void> {
    await this.db.transaction(async (tx) => {
      const { sessions } = tx.t;
      const isIt = eq(sessions.hash, hashSecret(session));
      await tx.update(sessions).set({ expiresAtMs: 0 }).where(isIt);
    });
  }

  async list(): Promise<ListedPerson[]> {
    const nowMs = this.clock();
    return this.db.read((tx) => {
      const { people, sessions, invitations } = tx.t;
      const { id, name, role, createdAtMs } = people;
      const isGood = and(
        eq(invitations.personId, id),
        isNull(invitations.usedAtMs),
        gt(invitations.expiresAtMs, nowMs),
      );
      const [seenAtMs, invitedUntilMs] = [max(sessions.seenAtMs), max(invitations.expiresAtMs)];
      return tx
        .select({ id, name, role, createdAtMs, seenAtMs, invitedUntilMs })
        .from(people)
        .leftJoin(sessions, eq(sessions.personId, id))
        .leftJoin(invitations, isGood)
        .where(isNull(people.removedAtMs))
        .groupBy(id, name, role, createdAtMs)
        .orderBy(createdAtMs, id);
    });
  }

  async byId(id: string): Promise<Person | undefined> {
    return this.db.read((tx) => personOf(tx, id));
  }

  /** The person that `reference`, an id or a name, means. Throws `not_found`. */
  async resolve(reference: string): Promise<ListedPerson> {
    const all = await this.list();
    const person =
      all.find(({ id }) => id === reference) ?? all.find(({ name }) => name === reference);
    if (person !== undefined) return person;
    throw new AppError("not_found", `There is no person with the id or name "${reference}".`, {
      hint: "rehome people list",
    });
  }

  async remove(personId: string): Promise<void> {
    const removedAtMs = this.clock();
    await this.db.transaction(async (tx) => {
      const { people, sessions, invitations } = tx.t;
      await tx.update(people).set({ removedAtMs }).where(eq(people.id, personId));
      await tx.delete(sessions).where(eq(sessions.personId, personId));
      await tx.delete(invitations).where(eq(invitations.personId, personId));
    }, patientWork);
  }

  async noteAddress(url: string): Promise<void> {
    await this.db.transaction((tx) => setMeta(tx, addressMeta, url));
  }

  async address(): Promise<string | undefined> {
    return this.db.read((tx) => getMeta(tx, addressMeta));
  }

  now(): number {
    return this.clock();
  }

  /** `per_` and 12 characters without look-alikes. */
  #newId(): string {
    const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
    const letters = Array.from(this.randomBytes(12), (byte) => alphabet.charAt(byte % 32));
    return `per_${letters.join("")}`;
  }
}
