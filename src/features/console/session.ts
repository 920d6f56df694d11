import type { Clock } from "../../domain/clock.ts";
import { retryAfterSeconds } from "../../domain/windows.ts";
import { AddressLimiter } from "../../service/anonymous.ts";
import { readForm } from "./body.ts";
import { messagePage, signedOutPage } from "./pages/page.ts";
import { isSecret, type PeopleService, type Person, type Secret, sessionMs } from "./people.ts";
import {
  cookieAttributes,
  pathOf,
  type Arrival,
  type ConsoleOptions,
  type UnsentForms,
} from "./visit.ts";

/** Counts wrong links and wrong cookies by address (an IPv6 /64 is one), a minute at a time. */
export const countFailures = (clock: Clock) => new AddressLimiter(clock, 5);
export type Failures = ReturnType<typeof countFailures>;

/** Over HTTPS a `__Host-` cookie comes from this very host, not a neighbour (RFC 6265bis). */
function sessionCookie({ cookies, isSecure }: Arrival) {
  return cookies[`${isSecure ? "__Host-" : ""}rehome_console`];
}

export function keepSession(arrival: Arrival, value: Secret): void {
  const maxAge = sessionMs / 1_000;
  sessionCookie(arrival)?.set({ ...cookieAttributes(arrival), value, maxAge });
}

function dropSession(arrival: Arrival): void {
  sessionCookie(arrival)?.set({ ...cookieAttributes(arrival), value: "", maxAge: 0 });
}

interface Sessions {
  readonly people: PeopleService;
  readonly failures: Failures;
  readonly unsent: UnsentForms;
}

/** Who sends a request, or the page for somebody who is not signed in. */
export async function signedIn(
  arrival: Arrival,
  { people, failures, unsent }: Sessions,
  refuse: ConsoleOptions["refused"],
): Promise<Person | Response> {
  const session = sessionCookie(arrival)?.value;
  // A browser sends no cookie after a link on another site: that session goes on.
  if (session === undefined || session === "") return signedOutPage(arrival);
  const found = isSecret(session) ? await people.find(session) : undefined;
  if (isSecret(session) && found !== undefined) {
    if (found.isRenewed) keepSession(arrival, session);
    return found.person;
  }
  const refused = tooMany(arrival, failures);
  void failures.admit(arrival.address);
  if (refused !== undefined) {
    refuse(arrival.sender, `Too many wrong sessions from ${arrival.address}.`);
    return refused;
  }
  dropSession(arrival);
  // Nobody else's form is read, let alone kept.
  const theirs = isSecret(session) ? await people.endedLately(session) : undefined;
  if (theirs === undefined) return signedOutPage(arrival);
  const reading = arrival.carried?.typed(arrival) ?? readForm(arrival);
  const form = await Promise.resolve(reading).catch(() => undefined);
  if (form === undefined || form.size === 0) return signedOutPage(arrival);
  unsent.set(theirs.id, { path: pathOf(arrival), form });
  return signedOutPage(arrival, true);
}

/** The page for an address from which too much was wrong, until its minute ends. */
export function tooMany(arrival: Arrival, failures: Failures): Response | undefined {
  const { remaining, resetSeconds } = failures.peek(arrival.address);
  if (remaining > 0) return undefined;
  const page = messagePage(arrival, 429, arrival.words.failures.tooMany);
  const seconds = retryAfterSeconds(resetSeconds, arrival.nowMs);
  page.headers.set("retry-after", String(seconds));
  return page;
}

/** Ends the session of this request, here and in the browser. */
export async function signOut(arrival: Arrival, people: PeopleService): Promise<void> {
  const session = sessionCookie(arrival)?.value;
  if (isSecret(session)) await people.signOut(session);
  dropSession(arrival);
}
