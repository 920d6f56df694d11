/** What is kept of the people who use the console. Secrets come as hashes only. */
import { addRecords, record } from "../../storage/records.ts";
import {
  forUpdate,
  row,
  rows,
  run,
  sql,
  type Statement,
  type Steps,
} from "../../storage/statement.ts";
import { storeState } from "../../storage/tables.ts";
import { invitations, people, type Role, sessions } from "./tables.ts";
import type { ListedPerson, Person } from "./people.ts";

interface NewInvitation {
  readonly hash: Uint8Array;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
}

interface NewSession extends NewInvitation {
  readonly seenAtMs: number;
}

interface NewPerson extends Person {
  readonly createdAtMs: number;
  readonly createdBy: string;
}

/** The name of the store's fact that says where the console is. */
const addressFact = "console";

interface PersonRow {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
}

const personOf = ({ id, name, role }: PersonRow): Person => ({ id, name, role });

/** Adds a person with an invitation; false, without a change, if somebody has this name. */
export function* addPerson(person: NewPerson, invitation: NewInvitation): Steps<boolean> {
  const same = sql`WHERE name = ${person.name} AND removed_at_ms IS NULL`;
  if ((yield* record(people, same)) !== undefined) return false;
  yield* addRecords(people, [person]);
  yield* addRecords(invitations, [{ ...invitation, personId: person.id }]);
  return true;
}

/** Ends the person's invitations that were not used, and adds this one. */
export function* replaceInvitation(personId: string, invitation: NewInvitation): Steps<void> {
  yield* run(sql`DELETE FROM ${invitations} WHERE person_id = ${personId} AND used_at_ms IS NULL`);
  yield* addRecords(invitations, [{ ...invitation, personId }]);
}

/**
 * Whom an invitation that is good at `nowMs` is for: it is good while it is not used, not over, and
 * its person was not removed.
 */
export function* invited(
  hash: Uint8Array,
  nowMs: number,
  lock: Statement = sql``,
): Steps<Person | undefined> {
  const good = sql`WHERE hash = ${hash} AND used_at_ms IS NULL AND expires_at_ms > ${nowMs} ${lock}`;
  const invitation = yield* record(invitations, good);
  if (invitation === undefined) return undefined;
  const known = sql`WHERE id = ${invitation.personId} AND removed_at_ms IS NULL`;
  const found = yield* record(people, known);
  return found && personOf(found);
}

/** Uses an invitation up and begins a session. Undefined when the invitation is not good. */
export function* join(hash: Uint8Array, session: NewSession): Steps<Person | undefined> {
  const nowMs = session.createdAtMs;
  const person = yield* invited(hash, nowMs, forUpdate);
  if (person === undefined) return undefined;
  yield* run(sql`UPDATE ${invitations} SET used_at_ms = ${nowMs} WHERE hash = ${hash}`);
  yield* addRecords(sessions, [{ ...session, personId: person.id }]);
  return person;
}

/** The session that is good at `nowMs`. */
export function* sessionOf(hash: Uint8Array, nowMs: number) {
  const found = yield* row<PersonRow & { readonly seen_at_ms: bigint }>(
    sql`SELECT person.id, person.name, person.role, session.seen_at_ms
      FROM ${sessions} AS session JOIN ${people} AS person ON person.id = session.person_id
      WHERE session.hash = ${hash} AND session.expires_at_ms > ${nowMs}
        AND person.removed_at_ms IS NULL`,
  );
  return found && { person: personOf(found), seenAtMs: Number(found.seen_at_ms) };
}

export function* renew(hash: Uint8Array, seenAtMs: number, expiresAtMs: number): Steps<void> {
  yield* run(
    sql`UPDATE ${sessions} SET seen_at_ms = ${seenAtMs}, expires_at_ms = ${expiresAtMs}
      WHERE hash = ${hash} AND expires_at_ms > ${seenAtMs}`,
  );
  // The last session of each person stays: it says when they were here.
  yield* run(
    sql`DELETE FROM ${sessions} AS old WHERE expires_at_ms <= ${seenAtMs} AND EXISTS
      (SELECT 1 FROM ${sessions} WHERE person_id = old.person_id AND seen_at_ms > old.seen_at_ms)`,
  );
}

/** Ends a session for good, whatever the clock says later. */
export function* endSession(hash: Uint8Array): Steps<void> {
  yield* run(sql`UPDATE ${sessions} SET expires_at_ms = 0 WHERE hash = ${hash}`);
}

export function* listed(nowMs: number): Steps<ListedPerson[]> {
  const found = yield* rows<
    PersonRow & {
      readonly created_at_ms: bigint;
      readonly seen_at_ms: bigint | null;
      readonly invited_until_ms: bigint | null;
    }
  >(
    sql`SELECT id, name, role, created_at_ms,
        (SELECT max(seen_at_ms) FROM ${sessions} WHERE person_id = person.id) AS seen_at_ms,
        (SELECT max(expires_at_ms) FROM ${invitations} WHERE person_id = person.id
          AND used_at_ms IS NULL AND expires_at_ms > ${nowMs}) AS invited_until_ms
      FROM ${people} AS person WHERE removed_at_ms IS NULL ORDER BY created_at_ms, id`,
  );
  return found.map((each) => ({
    ...personOf(each),
    createdAtMs: Number(each.created_at_ms),
    seenAtMs: numberOf(each.seen_at_ms),
    invitedUntilMs: numberOf(each.invited_until_ms),
  }));
}

const numberOf = (value: bigint | null) => (value === null ? undefined : Number(value));

/** Removes a person with all sessions and invitations. */
export function* removePerson(personId: string, nowMs: number): Steps<void> {
  yield* run(sql`DELETE FROM ${sessions} WHERE person_id = ${personId}`);
  yield* run(sql`DELETE FROM ${invitations} WHERE person_id = ${personId}`);
  yield* run(sql`UPDATE ${people} SET removed_at_ms = ${nowMs} WHERE id = ${personId}`);
}

export function* noteAddress(url: string): Steps<void> {
  yield* run(
    sql`INSERT INTO ${storeState} (name, value) VALUES (${addressFact}, ${url})
      ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
  );
}

export function* address(): Steps<string | undefined> {
  return (yield* record(storeState, sql`WHERE name = ${addressFact}`))?.value;
}
