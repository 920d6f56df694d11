import { accessOf, endOf, keyState, type ApiKey } from "../../../domain/api-key.ts";
import { isBanned } from "../../../domain/ban.ts";
import { durationRule, parseDuration } from "../../../domain/duration.ts";
import { AppError } from "../../../domain/errors.ts";
import type { KeyDetails } from "../../../service/keys.ts";
import type { KeyUse } from "../../../service/usage.ts";
import { html, type Html } from "../../docs/html.ts";
import { redirect } from "../web/answer.ts";
import { param, query, type Visit } from "../web/visit.ts";
import { notFoundPage } from "./failures.ts";
import { stateTag, useMeter } from "./key-list.ts";
import { keyErrors, keyFields, keyOf, secretPage, sentKey } from "./keys.ts";
import { banReason, eventList } from "./key-history.ts";
import { consolePage } from "./layout.ts";
import {
  checkField,
  fact,
  formError,
  keyName,
  moment,
  notice,
  number,
  oneButton,
  textField,
  type FieldErrors,
} from "./parts.ts";

/** `GET /keys/:id`: one key, what it does, and what can be done with it. */
export async function keyPage(visit: Visit): Promise<Response> {
  return shown(visit);
}

async function shown(visit: Visit, errors: FieldErrors = {}): Promise<Response> {
  const { words, desk, nowMs } = visit;
  const details = await detailsOf(visit);
  if (details === undefined) return notFoundPage(visit);
  const { key } = details;
  const use = await desk.services.usage.now(key);
  const isOver = ["revoked", "expired"].includes(keyState(key, nowMs));
  return consolePage(visit, {
    title: keyName(key),
    section: "keys",
    errors,
    body: html`<p class="trail"><a href="/keys">${words.keys.back}</a></p>
      <h1>${keyName(key)} ${stateTag(visit, key)}</h1>
      ${query(visit, "done") === "yes" && notice("good", html`<p>${words.keys.done}</p>`)}
      ${formError(errors)}
      <div class="desk">
        <div>
          <section class="card">${facts(visit, details, use)}</section>
          ${keyState(key, nowMs) !== "revoked" && updateForm(visit, key, errors)}
        </div>
        <div>
          ${!isOver && rotateForm(visit, key, errors)}
          ${keyState(key, nowMs) !== "revoked" && endForms(visit, key, errors)}
          <section class="card">
            <h2>${words.history.title}</h2>
            ${eventList(visit, details)}
          </section>
        </div>
      </div>`,
  });
}

function facts(visit: Visit, { key, secrets }: KeyDetails, use: KeyUse): Html {
  const { words, nowMs } = visit;
  const { perMinute, perDay } = key.limits;
  const limits = words.keys.limits(number(visit, perMinute), number(visit, perDay));
  const { bannedUntilMs, reason } = key.ban;
  return html`<dl class="facts">
      ${fact(words.keys.id, html`<code>${key.id}</code>`)}
      ${fact(words.fields.plan, `${words.plans[key.plan]}: ${limits}`)}
      ${fact(words.keys.access, words.keys.accesses[accessOf(key)])}
      ${fact(words.keys.today, useMeter(visit, use.counts.dayUsed, perDay))}
      ${fact(words.keys.created, moment(visit, key.createdAtMs))}
      ${fact(
        words.keys.ends,
        key.expiresAtMs === undefined ? words.keys.never : moment(visit, key.expiresAtMs),
      )}
      ${
        endOf(key, nowMs) === undefined &&
        fact(words.keys.secrets, html`${goodSecrets(visit, secrets)}`)
      }
      ${
        isBanned(key.ban, nowMs) &&
        fact(
          words.keys.banned,
          html`${words.keys.until} ${moment(visit, bannedUntilMs)}: ${banReason(visit, reason)}`,
        )
      }
    </dl>
    <p><a href="/usage?key=${key.id}">${words.keys.usage}</a></p>`;
}

/** The secrets that are good, as they may be shown, and until when where they end. */
function goodSecrets(visit: Visit, secrets: KeyDetails["secrets"]): Html[] {
  return secrets
    .filter(({ expiresAtMs }) => expiresAtMs === undefined || expiresAtMs > visit.nowMs)
    .map(
      ({ mask, expiresAtMs }) =>
        html`<code>${mask}</code> ${
            expiresAtMs !== undefined &&
            html`(${visit.words.keys.until} ${moment(visit, expiresAtMs)})`
          } `,
    );
}

/** Of a plan whose limits are not the key's own. */
const noLimits = { perMinute: "", perDay: "" } as const;

function updateForm(visit: Visit, key: ApiKey, errors: FieldErrors): Html {
  const { words, form } = visit;
  const { name, plan, readOnly } = key;
  const { perMinute, perDay } = plan === "enterprise" ? key.limits : noLimits;
  const known = {
    name,
    plan,
    perMinute: String(perMinute),
    perDay: String(perDay),
    expires: "",
    readOnly,
  };
  const shownKey = form.has("plan") ? sentKey(visit) : known;
  return html`<section class="card" aria-labelledby="change-title">
    <h2 id="change-title">${words.keys.changeTitle}</h2>
    <form method="post" action="/keys/${key.id}" novalidate>
      ${keyFields(visit, shownKey, errors, { expires: words.keys.expiresLaterHint })}
      <button>${words.buttons.save}</button>
    </form>
  </section>`;
}

function rotateForm({ words }: Visit, { id }: ApiKey, errors: FieldErrors): Html {
  return html`<section class="card" aria-labelledby="rotate-title">
    <h2 id="rotate-title">${words.keys.rotateTitle}</h2>
    <form method="post" action="/keys/${id}/rotate" novalidate>
      ${textField({
        name: "grace",
        label: words.keys.grace,
        value: "24h",
        error: errors["grace"],
        hint: words.keys.graceHint,
      })}
      <button class="quiet">${words.buttons.rotate}</button>
    </form>
  </section>`;
}

function endForms({ words, nowMs }: Visit, key: ApiKey, errors: FieldErrors): Html {
  return html`<section class="card" aria-labelledby="end-title">
    <h2 id="end-title">${words.keys.endTitle}</h2>
    ${
      isBanned(key.ban, nowMs)
        ? oneButton(`/keys/${key.id}/unban`, words.buttons.unban)
        : html`<form method="post" action="/keys/${key.id}/ban" novalidate>
            ${textField({
              name: "for",
              label: words.keys.banFor,
              value: "1h",
              error: errors["for"],
            })}
            <button class="quiet">${words.buttons.ban}</button>
          </form>`
    }
    <form method="post" action="/keys/${key.id}/revoke" class="apart" novalidate>
      ${checkField({ name: "sure", label: words.keys.sure, isOn: false, error: errors["sure"] })}
      <button class="quiet bad">${words.buttons.revoke}</button>
    </form>
  </section>`;
}

/** `POST /keys/:id`: label, plan, end and what it may do. */
export async function updateKey(visit: Visit): Promise<Response> {
  const sent = sentKey(visit);
  const isNever = ["never", visit.words.keys.never].includes(sent.expires.toLowerCase());
  const { key, wrong } = keyOf(visit, sent, isNever ? "never" : parseDuration(sent.expires));
  if (key === undefined) return shown(visit, wrong);
  return changed(visit, (keys, id) => keys.update(id, key));
}

/** `POST /keys/:id/rotate`. */
export async function rotateKey(visit: Visit): Promise<Response> {
  const { desk, form, person, words } = visit;
  const graceMs = parseDuration(form.text("grace"));
  if (graceMs === undefined) return shown(visit, { grace: words.errors.expires(durationRule) });
  const details = await detailsOf(visit);
  if (details === undefined) return notFoundPage(visit);
  const issued = await desk.services.keys.as(person.name).rotate(details.key.id, graceMs);
  return secretPage(visit, issued, words.keys.rotated);
}

/** `POST /keys/:id/ban`. */
export async function banKey(visit: Visit): Promise<Response> {
  const ms = parseDuration(visit.form.text("for"));
  if (!ms) return shown(visit, { for: visit.words.errors.expires(durationRule) });
  return changed(visit, (keys, id) => keys.ban(id, ms));
}

/** `POST /keys/:id/unban`. */
export async function unbanKey(visit: Visit): Promise<Response> {
  return changed(visit, (keys, id) => keys.unban(id));
}

/** `POST /keys/:id/revoke`: for good, so that one box must be ticked. */
export async function revokeKey(visit: Visit): Promise<Response> {
  if (!visit.form.has("sure")) return shown(visit, { sure: visit.words.errors.sure });
  return changed(visit, (keys, id) => keys.revoke(id));
}

type Keys = Visit["desk"]["services"]["keys"];

async function changed(
  visit: Visit,
  change: (keys: Keys, id: string) => Promise<unknown>,
): Promise<Response> {
  const details = await detailsOf(visit);
  if (details === undefined) return notFoundPage(visit);
  const { id } = details.key;
  try {
    await change(visit.desk.services.keys.as(visit.person.name), id);
  } catch (error) {
    return shown(visit, await keyErrors(visit, error));
  }
  return redirect(`/keys/${id}?done=yes`);
}

async function detailsOf(visit: Visit): Promise<KeyDetails | undefined> {
  try {
    const details = await visit.desk.services.keys.details(param(visit, "id"));
    return details.key.id === param(visit, "id") ? details : undefined;
  } catch (error) {
    if (error instanceof AppError && error.kind === "not_found") return undefined;
    throw error;
  }
}
