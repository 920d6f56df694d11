import { bucketOfText } from "../../domain/address.ts";
import { minuteMs, type Clock } from "../../domain/clock.ts";
import { Form, readForm } from "./body.ts";
import { messagePage, signedOutPage } from "./pages/page.ts";
import type { PeopleService, Person } from "./people.ts";
import { isSecret, sessionMs, type Secret } from "./people.ts";
import { cookieAttributes, type Arrival } from "./visit.ts";

/** Links and cookies that may be wrong in a minute, for each address (an IPv6 /64 is one). */
export const failuresPerMinute = 5;
/** Addresses in memory at most. More share a count: forgetting one would hand back its tries. */
const addressesMax = 10_000;
const overflow = "overflow";

/** Counts wrong links and wrong cookies by address, a minute at a time. */
export class Failures {
  readonly #clock: Clock;
  #minute = 0;
  #counts = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns the seconds after which `address` may try again, or undefined when it may try now. */
  blockedSeconds(address: string): number | undefined {
    this.#roll();
    if ((this.#counts.get(this.#bucket(address)) ?? 0) < failuresPerMinute) return undefined;
    return Math.ceil(((this.#minute + 1) * minuteMs - this.#clock()) / 1_000);
  }

  /** Counts one failure. */
  note(address: string): void {
    this.#roll();
    const bucket = this.#bucket(address);
    this.#counts.set(bucket, (this.#counts.get(bucket) ?? 0) + 1);
  }

  #roll(): void {
    const minute = Math.floor(this.#clock() / minuteMs);
    if (minute <= this.#minute) return;
    this.#minute = minute;
    this.#counts = new Map();
  }

  #bucket(address: string): string {
    const bucket = bucketOfText(address) ?? address;
    return this.#counts.has(bucket) || this.#counts.size < addressesMax ? bucket : overflow;
  }
}

/** Over HTTPS a `__Host-` cookie comes from this very host, not a neighbour (RFC 6265bis). */
function sessionCookie({ cookies, isSecure }: Arrival) {
  return cookies[`${isSecure ? "__Host-" : ""}rehome_console`];
}

/** Gives the browser a session, or keeps the one that it has for longer. */
export function keepSession(arrival: Arrival, value: Secret): void {
  const maxAge = sessionMs / 1_000;
  sessionCookie(arrival)?.set({ ...cookieAttributes(arrival), value, maxAge });
}

/** Takes the session away from the browser. */
function dropSession(arrival: Arrival): void {
  sessionCookie(arrival)?.set({ ...cookieAttributes(arrival), value: "", maxAge: 0 });
}

/** Who sends a request, or the page for somebody who is not signed in. */
export async function signedIn(
  arrival: Arrival,
  { people, failures }: { readonly people: PeopleService; readonly failures: Failures },
  warn: (message: string) => void,
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
  failures.note(arrival.address);
  if (refused !== undefined) {
    warn(`Too many wrong sessions from ${arrival.address}.`);
    return refused;
  }
  dropSession(arrival);
  // Nobody else's form is read, let alone given back.
  const isTheirs = isSecret(session) && (await people.hasEndedLately(session));
  return signedOutPage(arrival, isTheirs ? await readForm(arrival).catch(noForm) : noForm());
}

const noForm = () => new Form();

/** The page for an address from which too much was wrong, until its minute ends. */
export function tooMany(arrival: Arrival, failures: Failures): Response | undefined {
  const seconds = failures.blockedSeconds(arrival.address);
  if (seconds === undefined) return undefined;
  const page = messagePage(arrival, "Too Many Requests", arrival.words.failures.tooMany);
  page.headers.set("retry-after", String(seconds));
  return page;
}

/** Ends the session of this request, here and in the browser. */
export async function signOut(arrival: Arrival, people: PeopleService): Promise<void> {
  const session = sessionCookie(arrival)?.value;
  if (isSecret(session)) await people.signOut(session);
  dropSession(arrival);
}
