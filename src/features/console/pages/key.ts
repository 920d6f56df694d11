/** One key: its plan and what it may do, another secret for it, and its end. */
import { accessOf, endOf, isKeyBanned, type ApiKey } from "../../../domain/api-key.ts";
import { durationRule, parseDuration } from "../../duration.ts";
import { html, type Html } from "../../../web/html.ts";
import { type KeyDetails, type KeyService, keyService, keyState } from "../../keys/service.ts";
import { readForm } from "../body.ts";
import { query, type Visit } from "../visit.ts";
import {
  keyErrors,
  keyFieldNames,
  keyFields,
  keyOf,
  planText,
  secretPage,
  sentKey,
  stateTag,
} from "./keys.ts";
import { orNotFound, page, seeOther } from "./page.ts";
import {
  desk,
  facts,
  Fields,
  keyName,
  mainForm,
  moment,
  notice,
  type FieldErrors,
} from "./parts.ts";

/** `GET /keys/:id`: one key, and what can be done with it. */
export async function keyPage(
  visit: Visit,
  id: string,
  errors: FieldErrors = {},
): Promise<Response> {
  const { words, nowMs } = visit;
  const details = await detailsOf(visit, id);
  const { key } = details;
  const state = keyState(key, nowMs);
  const fields = new Fields(visit, { ...formOf(key), grace: "24h" }, errors);
  const rest = html`${keyFields(visit, fields, { expires: words.keys.expiresLaterHint })}
    ${fields.was(...keyFieldNames)}
    <button>${words.buttons.save}</button>
    ${state !== "expired" && rotateFields(visit, key, fields)} ${endFields(visit, key, fields)}`;
  return page(visit, {
    title: keyName(key),
    section: "keys",
    beside: stateTag(visit, key),
    back: ["/keys", words.keys.back],
    done: query(visit, "done") === "yes" ? notice("good", words.keys.done) : undefined,
    errors,
    at: `/keys/${key.id}`,
    body: desk(
      html`${state !== "revoked" && html`<section class="card">${mainForm(visit, `/keys/${key.id}`, rest)}</section>`}`,
      html`<section class="card">
        ${keyFacts(visit, details)}
        <p class="hint">${words.keys.more} <code>rehome keys show ${key.id}</code></p>
      </section>`,
    ),
  });
}

function keyFacts(visit: Visit, { key, secrets }: KeyDetails): Html {
  const { words, nowMs } = visit;
  const ends = key.expiresAtMs === undefined ? words.keys.never : moment(visit, key.expiresAtMs);
  return facts([
    [words.keys.id, html`<code>${key.id}</code>`],
    [words.fields.plan, planText(visit, key.plan, key.limits)],
    [words.keys.access, words.keys.accesses[accessOf(key)]],
    [words.keys.created, moment(visit, key.createdAtMs)],
    [words.keys.ends, ends],
    endOf(key, nowMs) === undefined && [words.keys.secrets, goodSecrets(visit, secrets)],
    isKeyBanned(key, nowMs) && [words.keys.bannedUntil, moment(visit, key.ban.bannedUntilMs)],
  ]);
}

/** The secrets that are good, as they may be shown, and until when where they end. */
function goodSecrets(visit: Visit, secrets: KeyDetails["secrets"]): Html {
  const { until } = visit.words.keys;
  const good = secrets.filter(
    ({ expiresAtMs }) => expiresAtMs === undefined || expiresAtMs > visit.nowMs,
  );
  return html`${good.map(
    ({ mask, expiresAtMs }) =>
      html`<code>${mask}</code> ${
          expiresAtMs !== undefined && html`(${until} ${moment(visit, expiresAtMs)})`
        } `,
  )}`;
}

/** The form of a key as it is. Of a plan, the limits are not the key's own. */
function formOf({ name, plan, readOnly, limits }: ApiKey) {
  const own = plan === "enterprise" ? limits : { perMinute: "", perDay: "" };
  const [perMinute, perDay] = [String(own.perMinute), String(own.perDay)];
  return { name, plan, readOnly, perMinute, perDay, expires: "" };
}

function rotateFields({ words }: Visit, { id }: ApiKey, fields: Fields): Html {
  return html`<div class="apart">
    ${fields.text("grace", { hint: words.keys.graceHint })}
    <button class="quiet" formaction="/keys/${id}/rotate">${words.buttons.rotate}</button>
  </div>`;
}

function endFields({ words }: Visit, { id }: ApiKey, fields: Fields): Html {
  return html`<div class="apart">
    ${fields.check("sure")}
    <button class="quiet bad" formaction="/keys/${id}/revoke">${words.buttons.revoke}</button>
  </div>`;
}

/** `POST /keys/:id`: label, plan, end and what it may do, as far as its person changed them. */
export async function updateKey(visit: Visit, id: string): Promise<Response> {
  const typed = await readForm(visit);
  const { key } = await detailsOf(visit, id);
  const known = formOf(key);
  const sent = sentKey(typed);
  const isNew = (name: (typeof keyFieldNames)[number]) => typed.isChanged(name);
  // A plan goes with its numbers.
  const hasNewPlan = isNew("plan") || isNew("perMinute") || isNew("perDay");
  const { plan, perMinute, perDay } = hasNewPlan ? sent : known;
  const merged = {
    name: isNew("name") ? sent.name : known.name,
    readOnly: isNew("readOnly") ? sent.readOnly : known.readOnly,
    plan,
    perMinute,
    perDay,
    expires: sent.expires,
  };
  const isNever = ["never", visit.words.keys.never].includes(sent.expires.toLowerCase());
  const expiresInMs = isNever ? "never" : parseDuration(sent.expires);
  const { key: wanted, wrong } = keyOf(visit, merged, expiresInMs);
  if (wanted === undefined) return keyPage({ ...visit, typed }, id, wrong);
  return changed({ ...visit, typed }, id, (keys) => keys.update(id, wanted));
}

export async function rotateKey(visit: Visit, id: string): Promise<Response> {
  const { services, person, words } = visit;
  const typed = await readForm(visit);
  const graceMs = parseDuration(typed.text("grace"));
  if (graceMs === undefined) {
    return keyPage({ ...visit, typed }, id, { grace: words.errors.expires(durationRule) });
  }
  await detailsOf(visit, id);
  const issued = await keyService(services, person.name).rotate(id, graceMs);
  return secretPage(visit, issued, words.keys.rotated);
}

/** `POST /keys/:id/revoke`: for good, so that one box must be ticked. */
export async function revokeKey(visit: Visit, id: string): Promise<Response> {
  const typed = await readForm(visit);
  const asking = { ...visit, typed };
  if (!typed.has("sure")) return keyPage(asking, id, { sure: visit.words.errors.sure });
  return changed(asking, id, (keys) => keys.revoke(id));
}

async function changed(
  visit: Visit,
  id: string,
  change: (keys: KeyService) => Promise<unknown>,
): Promise<Response> {
  await detailsOf(visit, id);
  try {
    await change(keyService(visit.services, visit.person.name));
  } catch (error) {
    return keyPage(visit, id, keyErrors(visit, error));
  }
  return seeOther(`/keys/${id}?done=yes`);
}

/** The key with this id; a label means none here. Throws `not_found`. */
async function detailsOf({ services }: Visit, id: string): Promise<KeyDetails> {
  const details = await keyService(services).details(id);
  return orNotFound(details.key.id === id ? details : undefined);
}
