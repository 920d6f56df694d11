/** One key: what it may do, what happened to it, and its end. */
import { changesOf } from "../../keys/fields.ts";
import { accessOf, endOf, type ApiKey, isKeyBanned } from "../../../domain/api-key.ts";
import { keyState } from "../../keys/state.ts";
import { isOperatorReason } from "../../../domain/ban.ts";
import { durationRule, parseDuration } from "../../duration.ts";
import { type KeyDetails, type KeyService, keyService } from "../../keys/service.ts";
import { type KeyUse, UsageService } from "../../keys/usage.ts";
import { html, type Html } from "../../../web/html.ts";
import { readForm } from "../body.ts";
import { query, type Visit } from "../visit.ts";
import {
  keyErrors,
  keyFields,
  keyOf,
  planText,
  secretPage,
  sentKey,
  stateTag,
  useMeter,
  type KeyForm,
} from "./keys.ts";
import { by } from "./changes.ts";
import { orNotFound, page, seeOther } from "./page.ts";
import {
  card,
  desk,
  entry,
  facts,
  Fields,
  keyName,
  lines,
  moment,
  notice,
  oneButton,
  postForm,
  wordFor,
  type FieldErrors,
} from "./parts.ts";

/** A key that is noisy for long has many events; a person reads the last ones. */
const eventsShownMax = 30;

/** `GET /keys/:id`: one key, what it does, and what can be done with it. */
export async function keyPage(
  visit: Visit,
  id: string,
  errors: FieldErrors = {},
  sent?: KeyForm,
): Promise<Response> {
  const { words, services, nowMs } = visit;
  const details = await detailsOf(visit, id);
  const { key } = details;
  const state = keyState(key, nowMs);
  const use = await new UsageService(services).now(key);
  return page(visit, {
    title: keyName(key),
    section: "keys",
    beside: stateTag(visit, key),
    back: ["/keys", words.keys.back],
    done: query(visit, "done") === "yes" ? notice("good", words.keys.done) : undefined,
    errors,
    body: desk(
      html`<section class="card">
          ${keyFacts(visit, details, use)}
          <p><a href="/usage?key=${key.id}">${words.usage.perDay(30)}</a></p>
        </section>
        ${state !== "revoked" && updateForm(visit, sent ?? formOf(key), key.id, errors)}`,
      html`${!["revoked", "expired"].includes(state) && rotateForm(visit, key, errors)}
      ${state !== "revoked" && endForms(visit, key, errors)}
      ${card(words.history.title, eventList(visit, details))}`,
    ),
  });
}

function keyFacts(visit: Visit, { key, secrets }: KeyDetails, use: KeyUse): Html {
  const { words, nowMs } = visit;
  const { perDay } = key.limits;
  const { bannedUntilMs, reason } = key.ban;
  const ends = key.expiresAtMs === undefined ? words.keys.never : moment(visit, key.expiresAtMs);
  const banned = html`${words.keys.until} ${moment(visit, bannedUntilMs)}:
  ${banReason(visit, reason)}`;
  return facts([
    [words.keys.id, html`<code>${key.id}</code>`],
    [words.fields.plan, planText(visit, key.plan, key.limits)],
    [words.keys.fields.access, words.keys.accesses[accessOf(key)]],
    [words.keys.today, useMeter(visit, use.counts.dayUsed, perDay)],
    [words.keys.actions.create, moment(visit, key.createdAtMs)],
    [words.keys.fields.expiresAt, ends],
    endOf(key, nowMs) === undefined && [words.keys.secrets, goodSecrets(visit, secrets)],
    isKeyBanned(key, nowMs) && [words.keys.actions.ban, banned],
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
function formOf({ name, plan, readOnly, limits }: ApiKey): KeyForm {
  const own = plan === "enterprise" ? limits : { perMinute: "", perDay: "" };
  const [perMinute, perDay] = [String(own.perMinute), String(own.perDay)];
  return { name, plan, readOnly, perMinute, perDay, expires: "" };
}

function updateForm(visit: Visit, sent: KeyForm, id: string, errors: FieldErrors): Html {
  const { words } = visit;
  const fields = keyFields(visit, sent, errors, { expires: words.keys.expiresLaterHint });
  return card(words.keys.changeTitle, postForm(`/keys/${id}`, fields, words.buttons.save));
}

function rotateForm(visit: Visit, { id }: ApiKey, errors: FieldErrors): Html {
  const { keys, buttons } = visit.words;
  const grace = new Fields(visit, { grace: "24h" }, errors).text("grace", { hint: keys.graceHint });
  const form = postForm(`/keys/${id}/rotate`, grace, buttons.rotate, "quiet");
  return card(keys.actions.rotate, form);
}

function endForms(visit: Visit, key: ApiKey, errors: FieldErrors): Html {
  const { words, nowMs } = visit;
  const fields = new Fields(visit, { for: "1h" }, errors);
  const { unban, ban, revoke } = words.buttons;
  return card(
    words.keys.endTitle,
    html`${
        isKeyBanned(key, nowMs)
          ? oneButton(`/keys/${key.id}/unban`, unban)
          : postForm(`/keys/${key.id}/ban`, fields.text("for"), ban, "quiet")
      }
      <div class="apart">
        ${postForm(`/keys/${key.id}/revoke`, fields.check("sure"), revoke, "quiet bad")}
      </div>`,
  );
}

function eventList(visit: Visit, { events, secrets }: KeyDetails): Html {
  const { words } = visit;
  const labels = { ...words.fields, ...words.keys.fields };
  const newest = events.toReversed().slice(0, eventsShownMax);
  return lines(
    newest.map((event) => {
      const changed = changesOf(event, secrets).map(({ field, before, after }) => {
        const from = before !== null && html`${eventValue(visit, field, before)} → `;
        const to = after === null ? "–" : eventValue(visit, field, after);
        return html`<br />${wordFor(field, labels)}: ${from}${to}`;
      });
      const what = wordFor(event.action, words.keys.actions);
      return entry(html`${what}<span class="soft">${changed}</span>`, by(visit, event));
    }),
  );
}

const instants = ["expiresAt", "revokedAt", "bannedUntil"];

/** The value of a field in a history; one that has words of its own in these. */
function eventValue(visit: Visit, field: string, value: string): string | Html {
  if (field === "access") return wordFor(value, visit.words.keys.accesses);
  if (instants.includes(field)) return moment(visit, Date.parse(value));
  return field === "banReason" ? banReason(visit, value) : value;
}

/** Why a key is banned, in the words of the reader. */
function banReason({ words }: Visit, reason: string): string {
  return words.keys.banReasons[isOperatorReason(reason) ? "operator" : "automatic"];
}

/** `POST /keys/:id`: label, plan, end and what it may do. */
export async function updateKey(visit: Visit, id: string): Promise<Response> {
  const sent = sentKey(await readForm(visit));
  const isNever = ["never", visit.words.keys.never].includes(sent.expires.toLowerCase());
  const { key, wrong } = keyOf(visit, sent, isNever ? "never" : parseDuration(sent.expires));
  if (key === undefined) return keyPage(visit, id, wrong, sent);
  return changed(visit, id, (keys) => keys.update(id, key), sent);
}

export async function rotateKey(visit: Visit, id: string): Promise<Response> {
  const { services, person, words } = visit;
  const graceMs = parseDuration((await readForm(visit)).text("grace"));
  if (graceMs === undefined)
    return keyPage(visit, id, { grace: words.errors.expires(durationRule) });
  await detailsOf(visit, id);
  const issued = await keyService(services, person.name).rotate(id, graceMs);
  return secretPage(visit, issued, words.keys.rotated);
}

export async function banKey(visit: Visit, id: string): Promise<Response> {
  const ms = parseDuration((await readForm(visit)).text("for"));
  if (!ms) return keyPage(visit, id, { for: visit.words.errors.expires(durationRule) });
  return changed(visit, id, (keys) => keys.ban(id, ms));
}

export async function unbanKey(visit: Visit, id: string): Promise<Response> {
  return changed(visit, id, (keys) => keys.unban(id));
}

/** `POST /keys/:id/revoke`: for good, so that one box must be ticked. */
export async function revokeKey(visit: Visit, id: string): Promise<Response> {
  const isSure = (await readForm(visit)).has("sure");
  if (!isSure) return keyPage(visit, id, { sure: visit.words.errors.sure });
  return changed(visit, id, (keys) => keys.revoke(id));
}

async function changed(
  visit: Visit,
  id: string,
  change: (keys: KeyService) => Promise<unknown>,
  sent?: KeyForm,
): Promise<Response> {
  await detailsOf(visit, id);
  try {
    await change(keyService(visit.services, visit.person.name));
  } catch (error) {
    return keyPage(visit, id, keyErrors(visit, error), sent);
  }
  return seeOther(`/keys/${id}?done=yes`);
}

/** The key with this id; a label means none here. Throws `not_found`. */
async function detailsOf({ services }: Visit, id: string): Promise<KeyDetails> {
  const details = await keyService(services).details(id);
  return orNotFound(details.key.id === id ? details : undefined);
}
