/** Who may come in: invitations, the way in by a link, and the end of it. */
import { isLoopback } from "../../../domain/address.ts";
import { AppError } from "../../../domain/errors.ts";
import { personRoles } from "../../../storage/schema-values.ts";
import { html, trusted, type Html } from "../../../web/html.ts";
import { readForm } from "../body.ts";
import {
  isPersonName,
  isSecret,
  type ListedPerson,
  type PeopleService,
  type Secret,
} from "../people.ts";
import { keepSession, tooMany, type Failures } from "../session.ts";
import { query, type Arrival, type UnsentForms, type Visit } from "../visit.ts";
import { nameError } from "./animal.ts";
import { orNotFound, page, plainPage, seeOther } from "./page.ts";
import {
  card,
  copyField,
  desk,
  entry,
  Fields,
  isWrong,
  lines,
  mainForm,
  moment,
  notice,
  oneButton,
  type FieldErrors,
} from "./parts.ts";

/** `GET /people`: who may come in, and a form for one more. */
export async function peoplePage(visit: Visit, errors: FieldErrors = {}): Promise<Response> {
  const { words, people } = visit;
  const all = await people.list();
  const fields = new Fields(visit, { role: "staff" }, errors);
  const options = personRoles.map((each) => ({ value: each, text: words.roles[each] }));
  const invitation = html`${fields.text("name")}
    ${fields.select("role", options, { hint: words.people.roleHint })}
    <button>${words.buttons.invite}</button>`;
  return page(visit, {
    title: words.sections.people,
    section: "people",
    done: query(visit, "done") === "removed" ? notice("good", words.people.removed) : undefined,
    errors,
    at: "/people",
    body: desk(
      html`<section class="card">${lines(all.map((each) => personLine(visit, each)))}</section>`,
      card(words.people.addTitle, mainForm(visit, "/people", invitation)),
    ),
  });
}

function personLine(visit: Visit, person: ListedPerson): Html {
  const { words } = visit;
  const { id, name, role, seenAtMs, invitedUntilMs } = person;
  const state =
    seenAtMs !== undefined
      ? html`${words.people.seen} ${moment(visit, seenAtMs, "day")}`
      : invitedUntilMs === undefined
        ? html`${words.people.lapsed}`
        : html`${words.people.invited} ${moment(visit, invitedUntilMs)}`;
  const small = { kind: "quiet small", of: name };
  return entry(
    html`<strong>${name}</strong>`,
    html`${words.roles[role]} · ${state}`,
    html`<div class="acts">
      ${oneButton(`/people/${id}/invite`, words.buttons.newLink, small)}
      ${
        id === visit.person.id
          ? html`<span class="tag">${words.people.you}</span>`
          : html`<a
              class="button small bad"
              href="/people/${id}/remove"
              aria-label="${`${words.buttons.removePerson}: ${name}`}"
              >${words.buttons.removePerson} …</a
            >`
      }
    </div>`,
  );
}

/** `POST /people`: shows the link, this once. */
export async function invitePerson(visit: Visit): Promise<Response> {
  const { words, people, person } = visit;
  const typed = await readForm(visit);
  const sent = { name: typed.text("name"), role: typed.text("role") };
  const role = personRoles.find((each) => each === sent.role);
  const wrong = {
    name: nameError(sent.name, words) ?? (isPersonName(sent.name) ? undefined : words.errors.name),
    role: role === undefined ? words.errors.role : undefined,
  };
  if (role === undefined || isWrong(wrong)) return peoplePage({ ...visit, typed }, wrong);
  try {
    const { token } = await people.invite(sent.name, role, person.name);
    return linkPage(visit, sent.name, token);
  } catch (error) {
    const isTaken = error instanceof AppError && error.code === "personNameTaken";
    if (isTaken) return peoplePage({ ...visit, typed }, { name: words.people.taken });
    throw error;
  }
}

/** `POST /people/:id/invite`: another link for somebody who lost theirs, or has a new phone. */
export async function inviteAgain(visit: Visit, id: string): Promise<Response> {
  const { name } = orNotFound(await visit.people.byId(id));
  return linkPage(visit, name, await visit.people.link(id));
}

/** `POST /link`: another device of the person who asks. */
export async function ownLink(visit: Visit): Promise<Response> {
  const { people, person } = visit;
  return linkPage(visit, person.name, await people.link(person.id));
}

/** `GET /sign-out`: who signs out comes back by a link only. */
export function signOutPage(visit: Visit): Response {
  const { words } = visit;
  return page(visit, {
    title: words.layout.signOut,
    body: html`<p>${words.layout.signOutSure}</p>
      <div class="acts start">
        ${oneButton("/sign-out", words.layout.signOut, { kind: "" })}
        ${oneButton("/link", words.layout.ownLink)}
      </div>`,
  });
}

async function linkPage(visit: Visit, name: string, token: Secret): Promise<Response> {
  const { words, url, person } = visit;
  // Loaded where it is wanted.
  const { renderSVG } = await import("uqr");
  const isHere = isLoopback(url.hostname.replace(/^\[(.*)\]$/, "$1"));
  const link = `${url.origin}/join/${token}`;
  return page(visit, {
    title: words.people.linkTitle(name),
    ...(person.role === "operator" && {
      section: "people" as const,
      back: ["/people", words.people.back] as const,
    }),
    isOnce: true,
    body: html`<section class="card narrow">
      <p>${isHere ? words.people.onlyHere : words.people.linkHint}</p>
      ${copyField(visit, "link", words.people.link, link)}
      ${
        !isHere &&
        html`<div class="qr" role="img" aria-label="${words.people.qr}">
          ${trusted(renderSVG(link, { border: 2 }))}
        </div>`
      }
    </section>`,
  });
}

/** `GET /people/:id/remove`: nobody is removed by one tap. */
export async function removePage(visit: Visit, id: string): Promise<Response> {
  const { words, people, person } = visit;
  const { name } = orNotFound(id === person.id ? undefined : await people.byId(id));
  return page(visit, {
    title: words.people.removeTitle(name),
    section: "people",
    back: ["/people", words.people.back],
    body: html`<section class="card narrow">
      <p>${words.people.removeSure}</p>
      ${oneButton(`/people/${id}/remove`, words.buttons.removePerson, { kind: "quiet bad" })}
    </section>`,
  });
}

/** `POST /people/:id/remove`: every session of theirs ends at once, and an import under way. */
export async function removePerson(visit: Visit, id: string): Promise<Response> {
  const { people, imports, person } = visit;
  await readForm(visit);
  orNotFound(id === person.id ? undefined : await people.byId(id));
  // An import that has begun is waited for: it would keep the store from the removal.
  await imports.drop(id);
  await people.remove(id);
  await imports.drop(id);
  return seeOther("/people?done=removed");
}

interface Link {
  readonly people: PeopleService;
  readonly unsent: UnsentForms;
  readonly failures: Failures;
  /** What the link holds. */
  readonly token: string;
}

/** `GET /join/:token`: who is invited, and a button: opening the link alone takes nothing. */
export async function joinPage(arrival: Arrival, link: Link): Promise<Response> {
  const { words } = arrival;
  const { people, failures, token } = link;
  const refused = tooMany(arrival, failures);
  if (refused !== undefined) return refused;
  const person = isSecret(token) ? await people.invited(token) : undefined;
  if (person === undefined) return wrongLink(arrival, link);
  return plainPage(arrival, {
    title: words.join.title(person.name),
    body: html`<p>${words.join[person.role]}</p>
      ${oneButton(`/join/${token}`, words.buttons.join, { kind: "" })}
      <p class="hint">${words.join.once}</p>`,
  });
}

/** `POST /join/:token`: takes the invitation and begins a session. An old one is left alone. */
export async function join(arrival: Arrival, link: Link): Promise<Response> {
  const { people, failures, token, unsent } = link;
  const refused = tooMany(arrival, failures);
  if (refused !== undefined) return refused;
  const joined = isSecret(token) ? await people.join(token) : undefined;
  if (joined === undefined) return wrongLink(arrival, link);
  keepSession(arrival, joined.session);
  return seeOther(unsent.of(joined.person) === undefined ? "/animals" : "/unsent");
}

/** With a way on for somebody whose session goes on: a link from elsewhere brings no cookie. */
function wrongLink(arrival: Arrival, { failures }: Link): Response {
  const { words, address } = arrival;
  void failures.admit(address);
  return plainPage(arrival, {
    title: words.failures.title,
    status: "Not Found",
    body: html`<p>${words.join.wrong}</p>
      <p><a href="/animals">${words.signedOut.again}</a></p>`,
  });
}
