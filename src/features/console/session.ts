/** How somebody comes in by a link, who is signed in, and the end of it. */
import { retryAfterSeconds } from "../../domain/windows.ts";
import { html } from "../../web/html.ts";
import { readForm } from "./body.ts";
import { messagePage, plainPage, seeOther, signedOutPage } from "./pages/page.ts";
import * as ui from "./pages/ui.ts";
import { isSecret, type Person, type Secret, sessionMs } from "./people.ts";
import { cookieAttributes, pathOf, type Arrival, type Frame } from "./visit.ts";

/** Over HTTPS a `__Host-` cookie comes from this very host, not a neighbour (RFC 6265bis). */
function sessionCookie({ cookies, isSecure }: Arrival) {
  return cookies[`${isSecure ? "__Host-" : ""}rehome_console`];
}

function keepSession(arrival: Arrival, value: Secret): void {
  const maxAge = sessionMs / 1_000;
  sessionCookie(arrival)?.set({ ...cookieAttributes(arrival), value, maxAge });
}

function dropSession(arrival: Arrival): void {
  sessionCookie(arrival)?.set({ ...cookieAttributes(arrival), value: "", maxAge: 0 });
}

/** Who sends a request of `page`, or the page for somebody who is not signed in. */
export async function signedIn(
  arrival: Arrival,
  frame: Frame,
  page = pathOf(arrival),
): Promise<Person | Response> {
  const { failures, waiting, options } = frame;
  const { people } = options.actions;
  const session = sessionCookie(arrival)?.value;
  // A browser sends no cookie after a link on another site: that session goes on.
  if (session === undefined || session === "") return signedOutPage(arrival, page);
  const found = isSecret(session) ? await people.find(session) : undefined;
  if (isSecret(session) && found !== undefined) {
    if (found.isRenewed) keepSession(arrival, session);
    return found.person;
  }
  const refused = tooMany(arrival, frame);
  void failures.admit(arrival.address);
  if (refused !== undefined) {
    options.refused(`Too many wrong sessions from ${arrival.address}.`);
    return refused;
  }
  dropSession(arrival);
  // Nobody else's form is read, let alone kept.
  const theirs = isSecret(session) ? await people.endedLately(session) : undefined;
  const form = theirs && (await readForm(arrival).catch(() => undefined));
  if (theirs === undefined || !form?.size) return signedOutPage(arrival, page);
  waiting.set(theirs.id, { path: frame.pageOf(page.replace(/\?.*/, "")), form, isLate: true });
  return signedOutPage(arrival, page, true);
}

function tooMany(arrival: Arrival, { failures }: Frame): Response | undefined {
  const { remaining, resetSeconds } = failures.peek(arrival.address);
  if (remaining > 0) return undefined;
  const page = messagePage(arrival, 429, arrival.words.failures.tooMany);
  const seconds = retryAfterSeconds(resetSeconds, arrival.nowMs);
  page.headers.set("retry-after", String(seconds));
  return page;
}

export async function signOut(arrival: Arrival, frame: Frame): Promise<void> {
  const session = sessionCookie(arrival)?.value;
  if (isSecret(session)) await frame.options.actions.people.signOut(session);
  dropSession(arrival);
}

/** `GET /join/:token`: who is invited, and a button: opening the link alone takes nothing. */
export async function joinPage(arrival: Arrival, frame: Frame, token: string): Promise<Response> {
  const { words } = arrival;
  const refused = tooMany(arrival, frame);
  if (refused !== undefined) return refused;
  const { people } = frame.options.actions;
  const person = isSecret(token) ? await people.invited(token) : undefined;
  if (person === undefined) return wrongLink(arrival, frame);
  return plainPage(arrival, {
    title: words.join.title(person.name),
    body: html`<p>${words.join[person.role]}</p>
      ${ui.oneButton(`/join/${token}`, words.buttons.join, { kind: "" })}
      <p class="hint">${words.join.once}</p>`,
  });
}

export async function join(arrival: Arrival, frame: Frame, token: string): Promise<Response> {
  const refused = tooMany(arrival, frame);
  if (refused !== undefined) return refused;
  const joined = isSecret(token) ? await frame.options.actions.people.join(token) : undefined;
  if (joined === undefined) return wrongLink(arrival, frame);
  keepSession(arrival, joined.session);
  return seeOther(frame.waiting.get(joined.person.id)?.path ?? "/animals");
}

/** With a way on for somebody whose session goes on: a link from elsewhere brings no cookie. */
function wrongLink(arrival: Arrival, { failures }: Frame): Response {
  const { words, address } = arrival;
  void failures.admit(address);
  return plainPage(arrival, {
    title: words.failures.title,
    status: 404,
    body: html`<p>${words.join.wrong}</p>
      <p>${ui.link("/animals", words.signedOut.again)}</p>`,
  });
}
