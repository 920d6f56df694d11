import { AppError } from "../../../domain/errors.ts";
import { html } from "../../docs/html.ts";
import { ConsoleError } from "../web/console-error.ts";
import type { Form } from "../web/forms.ts";
import type { StatusName } from "../web/answer.ts";
import type { Arrival, Visit } from "../web/visit.ts";
import { consolePage, plainPage } from "./layout.ts";
import { hidden, notice } from "./parts.ts";

/** There is no such page, or no such animal, key or person. */
export function notFoundPage(visit: Visit): Response {
  return messagePage(visit, "notFound", visit.words.failures.notFound);
}

/** A page that says one thing, for somebody who is signed in. */
export function messagePage(visit: Visit, status: StatusName, text: string): Response {
  const { words } = visit;
  return consolePage(visit, {
    title: words.failures.title,
    section: "help",
    status,
    body: html`<h1>${words.failures.title}</h1>
      ${notice("bad", html`<p>${text}</p>`)}
      <p><a href="/animals">${words.failures.start}</a></p>`,
  });
}

/** The same for somebody who is not, or not known to be, signed in. */
export function plainMessagePage(
  arrival: Arrival,
  status: StatusName,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return plainPage(arrival, {
    title: arrival.words.failures.title,
    status,
    headers,
    body: html`<h1>${arrival.words.failures.title}</h1>
      <p>${text}</p>`,
  });
}

/**
 * For somebody whose session ended. What was filled in is kept on the page: once a new link was
 * opened beside it, the same form can be sent again.
 */
export function signedOutPage(
  arrival: Arrival,
  form: Form | undefined,
  headers: Readonly<Record<string, string>>,
): Response {
  const { words, url } = arrival;
  const fields = form?.entries() ?? [];
  return plainPage(arrival, {
    title: words.signedOut.title,
    status: "signedOut",
    headers,
    body: html`<h1>${words.signedOut.title}</h1>
      <p>${words.signedOut.what}</p>
      ${
        fields.length === 0
          ? html`<p><a href="${url.pathname + url.search}">${words.signedOut.again}</a></p>`
          : html`<p>${words.signedOut.kept}</p>
              <form method="post" action="${url.pathname + url.search}">
                ${fields.map(([name, value]) => hidden(name, value))}
                <button>${words.signedOut.send}</button>
              </form>`
      }`,
  });
}

/** What the page shows of a failure: why, of an AppError, and else only that it failed. */
export function failurePage(visit: Visit, error: unknown): Response {
  if (!(error instanceof AppError))
    return messagePage(visit, "failed", visit.words.failures.failed);
  const { failures } = visit.words;
  const { kind } = error;
  const said =
    error instanceof ConsoleError
      ? failures[error.word]
      : kind === "not_found"
        ? failures.notFound
        : failures.other(error.message);
  const text = kind === "unavailable" ? `${said} ${failures.later}` : said;
  return messagePage(visit, statuses[kind] ?? "failed", text);
}

/** The same for somebody who is not, or not known to be, signed in. */
export function plainFailurePage(arrival: Arrival, error: unknown): Response {
  const { failures } = arrival.words;
  return error instanceof ConsoleError
    ? plainMessagePage(arrival, statuses[error.kind] ?? "failed", failures[error.word])
    : plainMessagePage(arrival, "failed", failures.failed);
}

const statuses: Readonly<Partial<Record<AppError["kind"], StatusName>>> = {
  invalid_request: "invalid",
  not_found: "notFound",
  payload_too_large: "tooLarge",
  unsupported_media_type: "invalid",
  unavailable: "unavailable",
};
