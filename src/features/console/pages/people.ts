/** Who may come in: invitations, and the end of it. */
import { AppError } from "../../../domain/errors.ts";
import { personRoles } from "../../../storage/schema.ts";
import { html, trusted, type Html } from "../../../web/html.ts";
import { isPersonName, type ListedPerson, type Secret } from "../people.ts";
import { isHere } from "../reach.ts";
import { query, type Visit } from "../visit.ts";
import { nameError } from "./animal.ts";
import { askPage, orNotFound, page, seeOther } from "./page.ts";
import * as ui from "./ui.ts";

export async function peoplePage(visit: Visit, errors: ui.FieldErrors = {}): Promise<Response> {
  const { words, people } = visit;
  const all = await people.list();
  const fields = new ui.Fields(visit, { role: "staff" }, errors);
  const options = personRoles.map((each) => ({ value: each, text: words.roles[each] }));
  const invitation = html`${fields.text("name")}
  ${fields.select("role", options, { hint: words.people.roleHint })}
  ${ui.button(words.buttons.invite)}`;
  const lines = ui.lines(all.map((each) => personLine(visit, each)));
  return page(visit, {
    title: words.sections.people,
    section: "people",
    done: query(visit, "done") === "removed" ? ui.notice("good", words.people.removed) : undefined,
    errors,
    body: ui.desk(
      html`<section class="card">${lines}</section>`,
      ui.card(words.buttons.invite, ui.mainForm(visit, "/people", invitation)),
    ),
  });
}

function personLine(visit: Visit, person: ListedPerson): Html {
  const { words } = visit;
  const { id, name, role, seenAtMs, invitedUntilMs } = person;
  const { removePerson: remove, newLink } = words.buttons;
  const invited =
    invitedUntilMs === null
      ? html`${words.people.lapsed}`
      : html`${words.people.invited} ${ui.moment(visit, invitedUntilMs)}`;
  const seen = seenAtMs !== null && html`${words.people.seen} ${ui.moment(visit, seenAtMs, "day")}`;
  const removal = { class: "button small bad", "aria-label": `${remove}: ${name}` };
  return ui.entry(
    html`<strong>${name}</strong>`,
    html`${words.roles[role]} · ${seen || invited}`,
    html`<div class="acts">
      ${ui.oneButton(`/people/${id}/invite`, newLink, { kind: "quiet small", of: name })}
      ${
        id === visit.person.id
          ? html`<span class="tag">${words.people.you}</span>`
          : ui.link(`/people/${id}/remove`, `${remove} …`, removal)
      }
    </div>`,
  );
}

export async function invitePerson(visit: Visit): Promise<Response> {
  const { words, people, person, form } = visit;
  const name = form.text("name");
  const role = personRoles.find((each) => each === form.text("role"));
  const wrong = {
    name: nameError(name, words) ?? (isPersonName(name) ? undefined : words.errors.name),
    role: role === undefined ? words.errors.role : undefined,
  };
  if (role === undefined || ui.isWrong(wrong)) return peoplePage(visit, wrong);
  try {
    const { token } = await people.invite(name, role, person.name);
    return linkPage(visit, name, token);
  } catch (error) {
    const isTaken = error instanceof AppError && error.code === "personNameTaken";
    if (isTaken) return peoplePage(visit, { name: words.people.taken });
    throw error;
  }
}

export async function inviteAgain(visit: Visit, id: string): Promise<Response> {
  const { name } = orNotFound(await visit.people.byId(id));
  return linkPage(visit, name, await visit.people.link(id));
}

export async function ownLink(visit: Visit): Promise<Response> {
  const { people, person } = visit;
  return linkPage(visit, person.name, await people.link(person.id));
}

export function signOutPage(visit: Visit): Response {
  const { words } = visit;
  return page(visit, {
    title: words.layout.signOut,
    body: html`<p>${words.layout.signOutSure}</p>
      <div class="acts start">
        ${ui.oneButton("/sign-out", words.layout.signOut, { kind: "" })}
        ${ui.oneButton("/link", words.layout.ownLink)}
      </div>`,
  });
}

async function linkPage(visit: Visit, name: string, token: Secret): Promise<Response> {
  const { words, url, person } = visit;
  const { renderSVG } = await import("uqr");
  const link = `${url.origin}/join/${token}`;
  const { people } = words;
  const image = html`<div class="qr" role="img" aria-label="${people.qr}">
    ${trusted(renderSVG(link, { border: 2 }))}
  </div>`;
  const isOperator = person.role === "operator";
  return page(visit, {
    title: people.linkTitle(name),
    ...(isOperator && { section: "people" }),
    isOnce: true,
    body: ui.narrow(
      html`<p>${isHere(url) ? people.onlyHere : people.linkHint}</p>
        ${ui.copyField(visit, "link", people.link, link)} ${!isHere(url) && image}`,
    ),
  });
}

export async function removePage(visit: Visit, id: string): Promise<Response> {
  const { words, people, person } = visit;
  const { name } = orNotFound(id === person.id ? undefined : await people.byId(id));
  const kind = "quiet bad";
  return askPage(visit, {
    title: words.people.removeTitle(name),
    section: "people",
    sure: words.people.removeSure,
    does: ui.oneButton(`/people/${id}/remove`, words.buttons.removePerson, { kind }),
  });
}

/** `POST /people/:id/remove`: every session of theirs ends at once, and an import under way. */
export async function removePerson(visit: Visit, id: string): Promise<Response> {
  const { people, imports, person } = visit;
  orNotFound(id === person.id ? undefined : await people.byId(id));
  // An import that has begun is waited for: it would keep the store from the removal.
  await imports.drop(id);
  await people.remove(id);
  await imports.drop(id);
  return seeOther("/people?done=removed");
}
