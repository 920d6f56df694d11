import type { RandomBytes } from "../../domain/api-key.ts";
import type { Clock } from "../../domain/clock.ts";
import { AppError } from "../../domain/errors.ts";
import type { Engine } from "../../storage/contract.ts";
import * as statements from "./people-statements.ts";
import type { Role } from "./tables.ts";
import {
  hashSecret,
  invitationMs,
  newSecret,
  renewAfterMs,
  sessionMs,
  type Secret,
} from "./secrets.ts";
import { isVisible } from "../visible.ts";

/** Somebody who may use the console. */
export interface Person {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
}

/**
 * Control characters, those that turn the direction of what follows (UAX 9), and those that make
 * two names look the same: the soft hyphen, and blanks and joiners without a width.
 */
const misleading =
  // oxlint-disable-next-line no-control-regex -- these are what is looked for
  /[\u0000-\u001f\u007f-\u009f\u00ad\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/;

/** True for a name that lists and histories can show as it is. */
export function isPersonName(name: string): boolean {
  return isVisible(name) && !misleading.test(name);
}

/** A person as the list shows them. */
export interface ListedPerson extends Person {
  readonly createdAtMs: number;
  /** When they last came in; undefined before they joined. */
  readonly seenAtMs: number | undefined;
  /** When their link expires, or undefined if they have none. */
  readonly invitedUntilMs: number | undefined;
}

/** A session that was found good. */
interface FoundSession {
  readonly person: Person;
  /** True when it was renewed, so that the browser must keep its cookie for longer. */
  readonly isRenewed: boolean;
}

function invitationOf(token: Secret, nowMs: number) {
  return { hash: hashSecret(token), createdAtMs: nowMs, expiresAtMs: nowMs + invitationMs };
}

/** Who may use the console: invitations, sessions, and their end. */
export class PeopleService {
  readonly #store: Engine;
  readonly #clock: Clock;
  readonly #randomBytes: RandomBytes;

  constructor(store: Engine, clock: Clock, randomBytes: RandomBytes) {
    this.#store = store;
    this.#clock = clock;
    this.#randomBytes = randomBytes;
  }

  /**
   * Invites somebody. Throws `invalid_request` for a name that cannot be shown as it is, and when a
   * person of this name is there: histories go by names.
   */
  async invite(
    name: string,
    role: Role,
    invitedBy: string,
  ): Promise<{ readonly person: Person; readonly token: Secret }> {
    if (!isPersonName(name)) {
      throw new AppError("invalid_request", "A name must have characters that can be seen.", {
        hint: "Leave out line breaks, and marks that show nothing or change the direction of writing.",
      });
    }
    const token = newSecret(this.#randomBytes);
    const person = { id: this.#newId(), name, role };
    const nowMs = this.#clock();
    const isAdded = await this.#store.transact(() =>
      statements.addPerson(
        { ...person, createdAtMs: nowMs, createdBy: invitedBy },
        invitationOf(token, nowMs),
      ),
    );
    if (isAdded) return { person, token };
    throw new AppError("invalid_request", `There is a person named "${name}".`, {
      hint: "Choose another name, or give them a new link: rehome people invite again NAME",
    });
  }

  /** Makes a new link for somebody, and ends the ones that were not used. */
  async inviteAgain(personId: string): Promise<Secret> {
    const token = newSecret(this.#randomBytes);
    const nowMs = this.#clock();
    const invitation = invitationOf(token, nowMs);
    await this.#store.transact(() => statements.replaceInvitation(personId, invitation));
    return token;
  }

  /** The person whom a link invites, or undefined when it is not good (any more). */
  async invited(token: Secret): Promise<Person | undefined> {
    const nowMs = this.#clock();
    return this.#store.read(() => statements.invited(hashSecret(token), nowMs));
  }

  /** Uses an invitation up and begins a session. Undefined when the link is not good. */
  async join(token: Secret): Promise<Secret | undefined> {
    const session = newSecret(this.#randomBytes);
    const nowMs = this.#clock();
    const person = await this.#store.transact(() =>
      statements.join(hashSecret(token), {
        hash: hashSecret(session),
        createdAtMs: nowMs,
        expiresAtMs: nowMs + sessionMs,
        seenAtMs: nowMs,
      }),
    );
    return person === undefined ? undefined : session;
  }

  /** Whose session a cookie holds, if it is good. A session that is in use does not end. */
  async find(session: Secret): Promise<FoundSession | undefined> {
    const hash = hashSecret(session);
    const nowMs = this.#clock();
    const found = await this.#store.read(() => statements.sessionOf(hash, nowMs));
    if (found === undefined) return undefined;
    const isRenewed = nowMs - found.seenAtMs >= renewAfterMs;
    if (isRenewed) {
      await this.#store.transact(() => statements.renew(hash, nowMs, nowMs + sessionMs));
    }
    return { person: found.person, isRenewed };
  }

  /** Keeps where the console is, for the links of commands. */
  async noteAddress(url: string): Promise<void> {
    await this.#store.transact(() => statements.noteAddress(url));
  }

  /** Where the console of this store was last, or undefined when there never was one. */
  async address(): Promise<string | undefined> {
    return this.#store.read(statements.address);
  }

  now(): number {
    return this.#clock();
  }

  async signOut(session: Secret): Promise<void> {
    await this.#store.transact(() => statements.endSession(hashSecret(session)));
  }

  /** The people who may come in, in the order in which they were invited. */
  async list(): Promise<ListedPerson[]> {
    const nowMs = this.#clock();
    return this.#store.read(() => statements.listed(nowMs));
  }

  async byId(id: string): Promise<Person | undefined> {
    return (await this.list()).find((person) => person.id === id);
  }

  /** The person that `reference`, an id or a name, means. Throws `not_found`. */
  async resolve(reference: string): Promise<ListedPerson> {
    const people = await this.list();
    const person =
      people.find(({ id }) => id === reference) ?? people.find(({ name }) => name === reference);
    if (person !== undefined) return person;
    throw new AppError("not_found", `There is no person with the id or name "${reference}".`, {
      hint: "rehome people list",
    });
  }

  /** Removes somebody: no link and no session of theirs is good from now on. */
  async remove(personId: string): Promise<void> {
    const nowMs = this.#clock();
    await this.#store.transact(() => statements.removePerson(personId, nowMs));
  }

  /** `per_` and 12 characters without look-alikes. */
  #newId(): string {
    const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
    const letters = Array.from(this.#randomBytes(12), (byte) => alphabet.charAt(byte % 32));
    return `per_${letters.join("")}`;
  }
}
