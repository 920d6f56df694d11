import { html } from "../../docs/html.ts";
import { isSecret } from "../secrets.ts";
import type { Desk } from "../desk.ts";
import { redirect } from "../web/answer.ts";
import { sessionCookie } from "../web/cookies.ts";
import type { Arrival } from "../web/visit.ts";
import { plainMessagePage } from "./failures.ts";
import { plainPage } from "./layout.ts";
import type { Failures } from "../failures.ts";

interface JoinVisit extends Arrival {
  readonly desk: Desk;
  readonly failures: Failures;
  /** What the link holds. */
  readonly token: string;
}

/** `GET /join/:token`: who is invited, and a button: opening the link alone takes nothing. */
export async function joinPage(visit: JoinVisit): Promise<Response> {
  const { words, desk, token } = visit;
  const refused = tooMany(visit);
  if (refused !== undefined) return refused;
  const person = isSecret(token) ? await desk.people.invited(token) : undefined;
  if (person === undefined) return wrongLink(visit);
  return plainPage(visit, {
    title: words.join.title(person.name),
    body: html`<h1>${words.join.title(person.name)}</h1>
      <p>${person.role === "operator" ? words.join.operator : words.join.staff}</p>
      <form method="post" action="/join/${token}">
        <button class="big">${words.buttons.join}</button>
      </form>
      <p class="hint">${words.join.once}</p>`,
  });
}

/** `POST /join/:token`: takes the invitation and begins a session. An old one is left alone. */
export async function join(visit: JoinVisit): Promise<Response> {
  const { desk, token, isSecure } = visit;
  const refused = tooMany(visit);
  if (refused !== undefined) return refused;
  const session = isSecret(token) ? await desk.people.join(token) : undefined;
  if (session === undefined) return wrongLink(visit);
  return redirect("/animals", { "set-cookie": sessionCookie(session, isSecure) });
}

function tooMany(visit: JoinVisit): Response | undefined {
  const seconds = visit.failures.blockedSeconds(visit.address);
  if (seconds === undefined) return undefined;
  return plainMessagePage(visit, "tooMany", visit.words.failures.tooMany, {
    "retry-after": String(seconds),
  });
}

/** With a way on for somebody whose session goes on: a link from elsewhere brings no cookie. */
function wrongLink(visit: JoinVisit): Response {
  const { words, failures, address } = visit;
  failures.note(address);
  return plainPage(visit, {
    title: words.failures.title,
    status: "notFound",
    body: html`<h1>${words.failures.title}</h1>
      <p>${words.join.wrong}</p>
      <p><a href="/animals">${words.signedOut.again}</a></p>`,
  });
}
