import { AppError } from "../../../domain/errors.ts";
import { html, trusted, type Html } from "../../docs/html.ts";
import { isPersonName, type ListedPerson } from "../people.ts";
import { roles } from "../tables.ts";
import type { Secret } from "../secrets.ts";
import { redirect } from "../web/answer.ts";
import { param, query, type Visit } from "../web/visit.ts";
import { nameErrorOf } from "./animal-form.ts";
import { notFoundPage } from "./failures.ts";
import { consolePage } from "./layout.ts";
import {
  copyField,
  day,
  moment,
  notice,
  oneButton,
  selectField,
  textField,
  type FieldErrors,
} from "./parts.ts";

/** `GET /people`: who may come in, and a form for one more. */
export async function peoplePage(visit: Visit): Promise<Response> {
  return shown(visit, {});
}

async function shown(
  visit: Visit,
  sent: { name?: string; role?: string },
  errors: FieldErrors = {},
): Promise<Response> {
  const { words, desk } = visit;
  const people = await desk.people.list();
  return consolePage(visit, {
    title: words.sections.people,
    section: "people",
    errors,
    body: html`<h1>${words.sections.people}</h1>
      ${query(visit, "done") === "removed" && notice("good", html`<p>${words.people.removed}</p>`)}
      <div class="desk">
        <section class="card">
          <ul class="lines people">
            ${people.map((person) => personLine(visit, person))}
          </ul>
        </section>
        <section class="card" aria-labelledby="add-title">
          <h2 id="add-title">${words.people.addTitle}</h2>
          <form method="post" action="/people" novalidate>
            ${textField({
              name: "name",
              label: words.fields.name,
              value: sent.name ?? "",
              error: errors["name"],
            })}
            ${selectField(
              {
                name: "role",
                label: words.fields.role,
                value: sent.role ?? "staff",
                error: errors["role"],
                hint: words.people.roleHint,
              },
              roles.map((each) => ({ value: each, text: words.roles[each] })),
            )}
            <button>${words.buttons.invite}</button>
          </form>
        </section>
      </div>`,
  });
}

function personLine(visit: Visit, person: ListedPerson): Html {
  const { words } = visit;
  const isSelf = person.id === visit.person.id;
  const state =
    person.seenAtMs !== undefined
      ? html`${words.people.seen} ${day(visit, person.seenAtMs)}`
      : person.invitedUntilMs === undefined
        ? html`${words.people.lapsed}`
        : html`${words.people.invited} ${moment(visit, person.invitedUntilMs)}`;
  return html`<li>
    <div class="what">
      <strong>${person.name}</strong>
      <span class="soft">${words.roles[person.role]} · ${state}</span>
    </div>
    <div class="acts">
      ${oneButton(`/people/${person.id}/invite`, words.buttons.newLink, {
        kind: "quiet small",
        of: person.name,
      })}
      ${
        isSelf
          ? html`<span class="tag">${words.people.you}</span>`
          : oneButton(`/people/${person.id}/remove`, words.buttons.remove, {
              kind: "quiet small bad",
              of: person.name,
            })
      }
    </div>
  </li>`;
}

/** `POST /people`: shows the link, this once. */
export async function invitePerson(visit: Visit): Promise<Response> {
  const { form, words, desk, person } = visit;
  const name = form.text("name");
  const role = roles.find((each) => each === form.text("role"));
  const nameError =
    nameErrorOf(name, words) ?? (isPersonName(name) ? undefined : words.errors.name);
  if (nameError !== undefined || role === undefined) {
    return shown(
      visit,
      { name, role: form.text("role") },
      {
        ...(nameError !== undefined && { name: nameError }),
        ...(role === undefined && { role: words.errors.role }),
      },
    );
  }
  try {
    const { token } = await desk.people.invite(name, role, person.name);
    return linkPage(visit, name, token);
  } catch (error) {
    if (error instanceof AppError && error.kind === "invalid_request") {
      return shown(visit, { name, role }, { name: words.people.taken });
    }
    throw error;
  }
}

/** `POST /people/:id/invite`: another link for somebody who lost theirs, or has a new phone. */
export async function inviteAgain(visit: Visit): Promise<Response> {
  const person = await visit.desk.people.byId(param(visit, "id"));
  if (person === undefined) return notFoundPage(visit);
  return linkPage(visit, person.name, await visit.desk.people.inviteAgain(person.id));
}

async function linkPage(visit: Visit, name: string, token: Secret): Promise<Response> {
  const { words, url } = visit;
  // Loaded where it is wanted.
  const { renderSVG } = await import("uqr");
  const link = `${url.origin}/join/${token}`;
  return consolePage(visit, {
    title: words.people.linkTitle(name),
    section: "people",
    isOnce: true,
    body: html`<p class="trail"><a href="/people">${words.people.back}</a></p>
      <h1>${words.people.linkTitle(name)}</h1>
      <section class="card narrow">
        <p>${words.people.linkHint}</p>
        ${copyField(visit, "link", words.people.link, link)}
        <div class="qr" role="img" aria-label="${words.people.qr}">
          ${trusted(renderSVG(link, { border: 2 }))}
        </div>
      </section>`,
  });
}

/** `POST /people/:id/remove`: every session of theirs ends at once, and an import under way. */
export async function removePerson(visit: Visit): Promise<Response> {
  const { desk, person } = visit;
  const id = param(visit, "id");
  if (id === person.id || (await desk.people.byId(id)) === undefined) return notFoundPage(visit);
  await desk.people.remove(id);
  await desk.imports.drop(id);
  return redirect("/people?done=removed");
}
